// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/task_graph.hpp>

#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Transpose {
  static constexpr std::string_view name = "transpose";
  static constexpr auto core = CoreType::cube;
  static void run(In<float, 2>, Out<float, 2>) {}
};

struct Blocked {
  static constexpr std::string_view name = "blocked";
  static constexpr auto core = CoreType::vector;
  static void run(Block, In<float>, Block, InOut<float>, std::int64_t) {}
};

struct Nameless {
  static constexpr std::string_view name = "";
  static constexpr auto core = CoreType::vector;
  static void run(In<float>) {}
};

/// Everything that can be seen of a graph, to compare before and after.
struct Snapshot {
  std::size_t tensors, tasks, args, edges, text;
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};
Snapshot look(const TaskGraph& g) {
  return {g.tensors().size(), g.tasks().size(), g.args().size(), g.explicit_edges().size(), g.text().size()};
}

/// The call throws `code`, its text contains the parts, and the graph is as before.
template <class... Parts>
void refuses(TaskGraph& graph, Errc code, const std::function<void()>& call, const Parts&... parts) {
  const Snapshot before = look(graph);
  const Raised r = raised(call);
  CAPTURE(r.text);
  CHECK(r.code == code);
  CHECK(says(r.text, parts...));
  CHECK(look(graph) == before);
}

}  // namespace

TEST_CASE("A tensor keeps its name, type, direction, shape and size") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4, 8});
  const auto y = graph.output<std::int16_t>("y", {3});
  const auto s = graph.inout<std::uint64_t>("s", {});
  const auto r = graph.resident<BFloat16>("r", {1, 1, 1, 1, 7});
  const auto w = graph.workspace<bool>("w", {std::size_t{9}});
  REQUIRE(graph.tensors().size() == 5);
  struct Row {
    TensorKey key;
    const char* name;
    DataType type;
    Direction direction;
    Shape shape;
    std::uint64_t count, bytes;
  };
  const Row rows[] = {
      {x.key, "x", DataType::float32, Direction::in, {4, 8}, 32, 128},
      {y.key, "y", DataType::int16, Direction::out, {3}, 3, 6},
      {s.key, "s", DataType::uint64, Direction::inout, {}, 1, 8},
      {r.key, "r", DataType::bfloat16, Direction::resident, {1, 1, 1, 1, 7}, 7, 14},
      {w.key, "w", DataType::boolean, Direction::workspace, {9}, 9, 9},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(row.key.graph() == graph.tag());
    const graph::TensorRecord& record = graph.tensors()[index(row.key.tensor())];
    CHECK(graph.name(record.name) == row.name);
    CHECK(record.type == row.type);
    CHECK(record.direction == row.direction);
    CHECK(record.shape == row.shape);
    CHECK(record.count == row.count);
    CHECK(record.bytes == row.bytes);
  }
}

TEST_CASE("A graph owns its names: those it was given may change afterwards") {
  TaskGraph graph;
  std::string name = "first";
  const auto x = graph.input<float>(name, {1});
  name = "XXXXX";
  CHECK(graph.name(graph.tensors()[0].name) == "first");
  name = "task";
  graph.add_raw(name, CoreType::vector, no_kernel, reads(x));
  name = "YYYY";
  CHECK(graph.name(graph.tasks()[0].name) == "task");
}

namespace {
// The compiler may give these their value.
TaskGraph global;
TaskGraph other_global;
}  // namespace

TEST_CASE("Graphs have different tags, and copies share theirs") {
  TaskGraph a;
  const auto x = a.input<float>("x", {1});
  TaskGraph b;
  const auto y = b.input<float>("y", {1});
  const TaskGraph copy = a;  // NOLINT(performance-unnecessary-copy-initialization)
  CHECK(a.tag() != b.tag());
  CHECK(copy.tag() == a.tag());
  CHECK(a.tag() != 0);
  CHECK(x.key.graph() == a.tag());
  CHECK(y.key.graph() == b.tag());
  const auto of_global = global.input<float>("x", {1});
  CHECK(of_global.key.graph() != 0);
  CHECK(of_global.key != other_global.input<float>("x", {1}).key);
}

TEST_CASE("A graph that was moved and is used again does not take the handles of the first") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {1});
  const auto taken = std::move(graph);
  const auto gain = graph.input<float>("gain", {1});  // NOLINT(bugprone-use-after-move)
  CHECK(gain.key.graph() != taken.tag());
  CHECK_THROWS_AS(graph.add_raw("a", CoreType::vector, no_kernel, reads(x)), Error);
  CHECK(graph.tasks().empty());
  TaskGraph target;
  const auto before = target.input<float>("before", {1});
  target = std::move(graph);
  CHECK(target.tag() == gain.key.graph());
  CHECK_THROWS_AS(target.add_raw("a", CoreType::vector, no_kernel, reads(before)), Error);
}

TEST_CASE("A tensor without a name, or with a name that is taken, is refused") {
  TaskGraph graph;
  (void)graph.input<float>("x", {1});
  refuses(graph, Errc::invalid_argument, [&] { (void)graph.output<float>("", {1}); }, "tensor 1", "name");
  refuses(graph, Errc::invalid_argument, [&] { (void)graph.output<float>("x", {2}); }, "'x'", "its own name");
  (void)graph.output<float>("X", {2});
  CHECK(graph.tensors().size() == 2);
}

TEST_CASE("A tensor with an extent of zero is refused, wherever it stands") {
  TaskGraph graph;
  refuses(
      graph, Errc::invalid_argument, [&] { (void)graph.input<float>("empty", {0}); }, "'empty'", "extent 0", "zero",
      "at least 1");
  refuses(graph, Errc::invalid_argument, [&] { (void)graph.input<float>("empty", {4, 0, 4}); }, "'empty'", "extent 1");
}

TEST_CASE("A tensor with an extent that is negative or above 2^63-1 is refused") {
  TaskGraph graph;
  refuses(graph, Errc::invalid_argument, [&] { (void)graph.input<float>("x", {-1}); }, "'x'", "extent 0", "negative");
  refuses(
      graph, Errc::invalid_argument,
      [&] { (void)graph.input<float>("x", {1, std::numeric_limits<std::uint64_t>::max()}); }, "'x'", "extent 1",
      "above 2^63-1");
}

TEST_CASE("A tensor with six dimensions is refused, one with five is not") {
  TaskGraph graph;
  refuses(
      graph, Errc::invalid_argument, [&] { (void)graph.input<float>("deep", {1, 1, 1, 1, 1, 1}); }, "'deep'",
      "6 dimensions", "5");
  (void)graph.input<float>("deep", {1, 1, 1, 1, 1});
  CHECK(graph.tensors().size() == 1);
}

TEST_CASE("A tensor whose size does not fit into 63 bits is refused, the largest one is not") {
  TaskGraph graph;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  refuses(
      graph, Errc::overflow, [&] { (void)graph.input<float>("big", {most / 4 + 1}); }, "'big'", "2^63",
      "smaller extents");
  refuses(graph, Errc::overflow, [&] { (void)graph.input<std::int8_t>("big", {most, 2}); }, "'big'");
  refuses(
      graph, Errc::overflow,
      [&] { (void)graph.input<std::int8_t>("big", {1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30}); }, "'big'");
  // 2^32 * 2^32 elements wrap to none in 64 bits.
  refuses(
      graph, Errc::overflow,
      [&] { (void)graph.input<std::int8_t>("big", {std::int64_t{1} << 32, std::int64_t{1} << 32}); }, "'big'");
  (void)graph.input<std::int8_t>("big", {most});
  CHECK(graph.tensors()[0].bytes == static_cast<std::uint64_t>(most));
}

TEST_CASE("An error about a tensor points to the line that asked for it") {
  TaskGraph graph;
  const Raised r = raised([&] { (void)graph.input<float>("x", {0}); });
  CHECK(says(r.file, "task_graph_test.cpp"));
}

TEST_CASE("A task's words are its parameters in order, then the extents of its tensors") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2, 3});
  const auto y = graph.output<float>("y", {3, 2});
  const auto z = graph.inout<float>("z", {6});
  CHECK(graph.add<Transpose>(x, y) == TaskId{0});
  CHECK(graph.add<Blocked>(Blocks{4}, x, z, std::int64_t{-9}) == TaskId{1});
  using Kind = graph::ArgRecord::Kind;

  const graph::TaskRecord& first = graph.tasks()[0];
  CHECK(graph.name(first.name) == "transpose");
  CHECK(first.core == CoreType::cube);
  CHECK(first.blocks == 1);
  CHECK(first.added_as == 0);
  CHECK((first.entry == &detail::kernel_entry<Transpose>));
  REQUIRE(first.arg_count == 6);
  const auto* a = graph.args().data() + first.first_arg;
  CHECK((a[0].kind == Kind::address && a[0].access == Access::read && a[0].tensor == 0));
  CHECK((a[1].kind == Kind::address && a[1].access == Access::write && a[1].tensor == 1));
  CHECK((a[2].kind == Kind::extent && a[2].bits == 2));
  CHECK((a[3].kind == Kind::extent && a[3].bits == 3));
  CHECK((a[4].kind == Kind::extent && a[4].bits == 3));
  CHECK((a[5].kind == Kind::extent && a[5].bits == 2));

  const graph::TaskRecord& second = graph.tasks()[1];
  CHECK(second.blocks == 4);
  CHECK(second.core == CoreType::vector);
  REQUIRE(second.arg_count == 7);
  const auto* b = graph.args().data() + second.first_arg;
  CHECK(b[0].kind == Kind::block);
  CHECK((b[1].kind == Kind::address && b[1].access == Access::read && b[1].tensor == 0));
  CHECK(b[2].kind == Kind::block);
  CHECK((b[3].kind == Kind::address && b[3].access == Access::read_write && b[3].tensor == 2));
  CHECK((b[4].kind == Kind::scalar && b[4].bits == -9));
  CHECK((b[5].kind == Kind::extent && b[5].bits == 6));  // a view of one dimension sees the elements in a row
  CHECK((b[6].kind == Kind::extent && b[6].bits == 6));
}

TEST_CASE("A raw task's words are its arguments as they stand, and nothing else") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  const auto z = graph.inout<float>("z", {2});
  graph.add_raw("raw", CoreType::cube, Blocks{3}, no_kernel, std::int32_t{-1}, reads(x), 2.5, writes(y), updates(z),
                true);
  const graph::TaskRecord& task = graph.tasks()[0];
  using Kind = graph::ArgRecord::Kind;
  CHECK((task.entry == &no_kernel));
  CHECK(task.blocks == 3);
  REQUIRE(task.arg_count == 6);
  const auto* a = graph.args().data() + task.first_arg;
  CHECK((a[0].kind == Kind::scalar && a[0].bits == 0xFFFF'FFFF));
  CHECK((a[1].kind == Kind::address && a[1].access == Access::read && a[1].tensor == 0));
  CHECK((a[2].kind == Kind::scalar && a[2].bits == detail::to_word(2.5)));
  CHECK((a[3].kind == Kind::address && a[3].access == Access::write && a[3].tensor == 1));
  CHECK((a[4].kind == Kind::address && a[4].access == Access::read_write && a[4].tensor == 2));
  CHECK((a[5].kind == Kind::scalar && a[5].bits == 1));
}

TEST_CASE("A tensor of another graph is refused, and the task that got it named") {
  TaskGraph graph;
  TaskGraph other;
  const auto mine = graph.input<float>("x", {2});
  const auto theirs = other.output<float>("y", {2});
  refuses(graph, Errc::invalid_argument, [&] { graph.add<Scale>(mine, theirs, 1.0F); }, "'scale'", "another graph");
  refuses(
      graph, Errc::invalid_argument,
      [&] { graph.add_raw("raw", CoreType::cube, no_kernel, reads(mine), writes(theirs)); }, "'raw'", "another graph");
}

TEST_CASE("A handle of a copy's later tensor is refused by the graph that has no such tensor") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  TaskGraph copy = graph;
  const auto y = copy.output<float>("y", {2});
  copy.add<Scale>(x, y, 1.0F);  // x serves both
  refuses(graph, Errc::invalid_argument, [&] { graph.add<Scale>(x, y, 1.0F); }, "'scale'", "another graph");
  CHECK(copy.tasks().size() == 1);
}

TEST_CASE("A tensor that is handed over twice and written is refused; twice read is fine") {
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {2});
  refuses(graph, Errc::invalid_argument, [&] { graph.add<Accumulate>(x, x); }, "'accumulate'", "'x'", "twice", "InOut");
  refuses(
      graph, Errc::invalid_argument, [&] { graph.add_raw("raw", CoreType::vector, no_kernel, writes(x), reads(x)); },
      "'raw'", "'x'", "twice");
  graph.add_raw("raw", CoreType::vector, no_kernel, reads(x), reads(x));
  CHECK(graph.tasks().size() == 1);
}

TEST_CASE("A tensor of another rank than the parameter's is refused, with both ranks") {
  TaskGraph graph;
  const auto x = graph.input<float>("flat", {6});
  const auto y = graph.output<float>("y", {3, 2});
  refuses(
      graph, Errc::invalid_argument, [&] { graph.add<Transpose>(x, y); }, "'transpose'", "2 dimensions", "'flat'",
      "has 1");
}

TEST_CASE("A task of no blocks, without a name or without a function is refused") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.inout<float>("y", {2});
  refuses(
      graph, Errc::invalid_argument, [&] { graph.add<Accumulate>(Blocks{0}, x, y); }, "'accumulate'", "0 blocks",
      "at least 1");
  refuses(graph, Errc::invalid_argument, [&] { graph.add<Nameless>(x); }, "no name");
  refuses(graph, Errc::invalid_argument, [&] { graph.add_raw("", CoreType::vector, no_kernel, reads(x)); }, "no name");
  refuses(
      graph, Errc::invalid_argument, [&] { graph.add_raw("raw", CoreType::vector, nullptr, reads(x)); }, "'raw'",
      "no function", "void(*)(int64_t*)");
}

TEST_CASE("After refused calls a graph goes on as if they had not been made") {
  TaskGraph graph;
  TaskGraph untouched;
  const auto build = [](TaskGraph& g, bool with_mistakes) {
    const auto x = g.input<float>("x", {2});
    if (with_mistakes) CHECK(raised([&] { (void)g.input<float>("x", {2}); }).code == Errc::invalid_argument);
    const auto y = g.output<float>("y", {2});
    if (with_mistakes) CHECK(raised([&] { (void)g.input<float>("z", {0}); }).code == Errc::invalid_argument);
    if (with_mistakes) CHECK(raised([&] { g.add<Scale>(Blocks{0}, x, y, 1.0F); }).code == Errc::invalid_argument);
    CHECK(g.add<Scale>(x, y, 2.0F) == TaskId{0});
    if (with_mistakes) CHECK(raised([&] { g.add_edge(TaskId{0}, TaskId{9}); }).code == Errc::invalid_argument);
  };
  build(graph, true);
  build(untouched, false);
  CHECK(look(graph) == look(untouched));
  CHECK(graph.text() == untouched.text());
}

TEST_CASE("An edge to a task that is not there is refused, and the task named") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const TaskId a = graph.add_raw("a", CoreType::vector, no_kernel, reads(x));
  const TaskId b = graph.add_raw("b", CoreType::vector, no_kernel, reads(x));
  refuses(graph, Errc::invalid_argument, [&] { graph.add_edge(a, TaskId{7}); }, "task 7", "has 2");
  refuses(graph, Errc::invalid_argument, [&] { graph.add_edge(TaskId{8}, a); }, "task 8", "has 2");
  graph.add_edge(a, b);
  REQUIRE(graph.explicit_edges().size() == 1);
  CHECK(graph.explicit_edges()[0] == TaskGraph::Edge{0, 1});
}

TEST_CASE("Declarations about tensors and tasks that cannot be kept are refused, by name") {
  TaskGraph graph;
  TaskGraph other;
  const auto foreign = other.resident<float>("foreign", {2});
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {4});
  const auto w = graph.workspace<float>("w", {4});
  graph.make_view(w, x);
  refuses(graph, Errc::invalid_argument, [&] { graph.fix_addresses(TaskId{0}); }, "no task 0", "the graph has 0");
  refuses(
      graph, Errc::invalid_argument, [&] { (void)graph.host_input<float>("h", {1025}); }, "'h' takes 4100 bytes",
      "the most is 4096; make it an input");
  refuses(graph, Errc::invalid_argument, [&] { graph.alias(y, x); }, "output 'y' takes 16 bytes, input 'x' 32");
  refuses(graph, Errc::invalid_argument, [&] { graph.zero(w); }, "'w' is a view; zero what it shows");
  const graph::RoundValue descriptor{.kind = graph::ValueKind::descriptor};
  refuses(
      graph, Errc::invalid_argument, [&] { (void)graph.add_value("map", descriptor, 64, foreign.key); },
      "value 'map' describes a tensor of another graph");
  refuses(
      graph, Errc::invalid_argument, [&] { (void)graph.add_value("map", descriptor, 4097, x.key); },
      "value 'map' takes 4097 bytes, the most is 4096");
  std::vector<graph::ArgRecord> args(1);
  args[0].kind = graph::ArgRecord::Kind::address;
  args[0].tensor = 2;
  args[0].width = 8;
  const auto laid_out = [&] { (void)graph.add_laid_out("kernel", CoreType::vector, Blocks{1}, no_kernel, args, 8); };
  args[0].offset = 1;
  refuses(graph, Errc::invalid_argument, laid_out, "'kernel'", "a word outside of its argument block");
  args[0].offset = 0;
  args[0].tensor = 3;
  refuses(graph, Errc::invalid_argument, laid_out, "'kernel'", "of no tensor of this graph");
  args[0].kind = graph::ArgRecord::Kind::extent;
  refuses(graph, Errc::invalid_argument, laid_out, "'kernel'", "of no tensor of this graph");
  args[0].kind = graph::ArgRecord::Kind::address;
  args[0].tensor = 2;
  laid_out();
  CHECK(graph.tasks().size() == 1);
  refuses(
      graph, Errc::invalid_argument,
      [&] { (void)graph.add_laid_out("none", CoreType::vector, Blocks{1}, no_kernel, {}, 4); }, "'none'", "4 bytes");
}

TEST_CASE("A number of blocks without symbols is a number, however it is written") {
  CHECK(Blocks{ceil_div(Dim{16}, 4)}.count == 4);
  CHECK(Blocks{ceil_div(Dim{16}, 4)}.dim.empty());
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {4});
  graph.add_raw("four", CoreType::vector, Blocks{Dim{2} * 2}, no_kernel, updates(x));
  CHECK(graph.tasks()[0].blocks == 4);
  refuses(
      graph, Errc::invalid_argument,
      [&] { graph.add_raw("none", CoreType::vector, Blocks{Dim{0}}, no_kernel, updates(x)); }, "'none'", "0 blocks");
}

TEST_CASE("A view of a view ends where that one ends") {
  TaskGraph graph;
  const auto z = graph.input<float>("z", {64});
  const auto v = graph.workspace<float>("v", {8});
  const auto w = graph.workspace<float>("w", {16});
  const auto u = graph.workspace<float>("u", {4});
  graph.make_view(v, z, 8);
  refuses(graph, Errc::invalid_argument, [&] { graph.make_view(w, v); }, "'w' of 16 elements", "the 8 of 'v'");
  refuses(graph, Errc::invalid_argument, [&] { graph.make_view(u, v, 5); }, "'u' of 4 elements", "the 8 of 'v'");
  graph.make_view(u, v, 4);
  CHECK(graph.tensors()[3].view_first == 12);
}

TEST_CASE("To keep a view keeps the memory of its source") {
  TaskGraph graph;
  const auto x = graph.workspace<float>("x", {64});
  const auto v = graph.workspace<float>("v", {32});
  const auto w = graph.workspace<float>("w", {16});
  graph.make_view(v, x);
  graph.make_view(w, v);
  graph.keep(w);
  CHECK(graph.tensors()[0].kept);
}

TEST_CASE("An output and the input that it reuses have fixed addresses together") {
  for (const bool is_fixed_first : {true, false}) {
    for (const bool is_by_input : {true, false}) {
      TaskGraph graph;
      const auto x = graph.input<float>("x", {64});
      const auto y = graph.output<float>("y", {64});
      const auto v = graph.workspace<float>("v", {16});
      const auto other = graph.output<float>("other", {64});
      graph.make_view(v, x);
      const TaskId task = is_by_input ? graph.add_raw("a", CoreType::vector, no_kernel, reads(v))
                                      : graph.add_raw("a", CoreType::vector, no_kernel, writes(y));
      if (is_fixed_first) graph.fix_addresses(task);
      graph.alias(y, x);
      if (!is_fixed_first) graph.fix_addresses(task);
      CHECK(graph.tensors()[index(x.key.tensor())].fixed);
      CHECK(graph.tensors()[index(y.key.tensor())].fixed);
      CHECK_FALSE(graph.tensors()[index(other.key.tensor())].fixed);
    }
  }
}

TEST_CASE("A graph is a value: a copy grows apart from its source") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  TaskGraph copy = graph;
  copy.add_raw("a", CoreType::vector, no_kernel, reads(x));
  CHECK(graph.tasks().empty());
  CHECK(copy.tasks().size() == 1);
  const TaskGraph moved = std::move(copy);
  CHECK(moved.tasks().size() == 1);
  CHECK(moved.tag() == graph.tag());
}
