// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/instantiate.hpp>
#include <rondo/rondo.hpp>
#include <rondo/session/shaped_session.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Double {
  static constexpr std::string_view name = "double";
  static constexpr auto core = CoreType::vector;
  static void run(Block b, In<float, 2> x, Out<float> y) noexcept {
    for (std::size_t i = b.index; i < y.size(); i += b.count) y[i] = 2 * x[i] + static_cast<float>(x.extent(0));
  }
};

struct Rows {
  Rows() { graph.add<Double>(Blocks{ceil_div(n, 4)}, x, y); }
  TaskGraph graph;
  Dim n = graph.dim("n");
  Input<float> x = graph.input<float>("x", {n, 3});
  Output<float> y = graph.output<float>("y", {n * 3});
};

constexpr std::int64_t worth(const Dim& dim, std::int64_t n, std::int64_t m = 0) {
  const std::int64_t values[] = {n, m};
  const Dim::Value v = dim.evaluate(values);
  return v.ok ? v.value : -1;
}
constexpr Dim n = Dim::symbol(0);
constexpr Dim m = Dim::symbol(1);

static_assert(worth(n, 7) == 7 && worth(Dim{5}, 7) == 5);
static_assert(worth(ceil_div(n * 3 + 1, 128) * 128, 100) == 384);
static_assert(worth(n / 4, 7) == 1 && worth(ceil_div(n, 4), 7) == 2);
static_assert(worth(max(n, m) - min(n, m), 3, 10) == 7);
static_assert(worth(n - 10, 3) == -7);
static_assert(worth(n / m, 3, 0) == -1);
static_assert(worth(n * m, std::int64_t{1} << 40, std::int64_t{1} << 40) == -1);
static_assert(!(n + n + n + n + n + n + n).valid() && (n + n + n + n + n + n).valid());
static_assert(!Dim{-1}.valid() && !Dim{std::int64_t{1} << 31}.valid());

}  // namespace

TEST_CASE("A symbolic graph becomes a plain one for each value of its symbols, its handles serve all") {
  const Rows rows;
  for (const std::int64_t count : {1, 4, 9, 4}) {
    const std::int64_t values[] = {count};
    const TaskGraph plain = instantiate(rows.graph, values);
    CHECK_FALSE(plain.is_symbolic());
    CHECK(plain.tasks()[0].blocks == (count + 3) / 4);
    CHECK(plain.tensors()[0].shape == Shape{count, 3});
    auto session = open<A2A3Sim>(plain);
    std::vector<float> x(static_cast<std::size_t>(3 * count), 1), y(x.size());
    REQUIRE(session.run_round(bind(rows.x, x), bind(rows.y, y)));
    CHECK(y == std::vector<float>(x.size(), 2 + static_cast<float>(count)));
  }
}

TEST_CASE("A symbolic graph cannot be frozen, and says what to do") {
  const Rows rows;
  const Raised r = raised([&] { (void)freeze(rows.graph); });
  CHECK(r.code == Errc::invalid_argument);
  CHECK(says(r.text, "'n'", "open_shaped", "instantiate"));
}

TEST_CASE("Values that make no tensor are refused, naming tensor and values") {
  TaskGraph graph;
  const Dim a = graph.dim("a");
  const Dim b = graph.dim("b");
  (void)graph.resident<float>("x", {a - b, 2});
  (void)graph.resident<float>("big", {a * b, 4});
  const auto refused = [&](std::int64_t va, std::int64_t vb) {
    const std::int64_t values[] = {va, vb};
    return raised([&] { (void)instantiate(graph, values); });
  };
  CHECK(refused(3, 2).code == Errc::ok);
  CHECK(refused(2, 3).code == Errc::invalid_argument);
  CHECK(says(refused(2, 3).text, "'x'", "negative", "a = 2, b = 3"));
  const std::int64_t large = std::int64_t{1} << 31;
  CHECK(refused(large, large).code == Errc::overflow);
  CHECK(says(refused(large, large - 1).text, "'big'", "2^63"));
  CHECK(refused(large * large, 4).code == Errc::overflow);
  const std::int64_t one[] = {1};
  CHECK(raised([&] { (void)instantiate(graph, one); }).code == Errc::invalid_argument);
}

TEST_CASE("Values that suit a tensor but not its use are refused, naming tensor or task and values") {
  using limits = std::numeric_limits<std::int64_t>;
  const auto refused = [](const TaskGraph& graph, std::int64_t value) {
    const std::int64_t values[] = {value};
    return raised([&] { (void)instantiate(graph, values); });
  };
  const auto refuses = [&](const TaskGraph& graph, std::int64_t value, Errc code, std::string_view a,
                           std::string_view b) {
    const Raised r = refused(graph, value);
    CAPTURE(r.text);
    CHECK(r.code == code);
    CHECK(says(r.text, a, b, "n = " + std::to_string(value)));
  };
  {
    TaskGraph graph;
    const Dim size = graph.dim("n");
    (void)graph.resident<float>("x", {size + size});
    refuses(graph, limits::max(), Errc::overflow, "'x'", "an extent that does not fit into 64 bits");
  }
  {
    TaskGraph graph;
    const Dim size = graph.dim("n");
    (void)graph.host_input<float>("scale", {size});
    CHECK(refused(graph, 1024).code == Errc::ok);
    refuses(graph, 1025, Errc::invalid_argument, "host input 'scale'", "more than 4096 bytes");
  }
  {
    TaskGraph graph;
    const Dim size = graph.dim("n");
    const auto x = graph.input<float>("x", {8});
    const auto y = graph.output<float>("y", {size});
    graph.alias(y, x);
    CHECK(refused(graph, 8).code == Errc::ok);
    refuses(graph, 9, Errc::invalid_argument, "output 'y'", "not as large as the input that it reuses");
  }
  {
    TaskGraph graph;
    const Dim size = graph.dim("n");
    const auto x = graph.input<float>("x", {8});
    graph.make_view(graph.output<float>("y", {4}), x, size - 4);
    CHECK(refused(graph, 4).code == Errc::ok);
    CHECK(refused(graph, 8).code == Errc::ok);
    refuses(graph, 3, Errc::invalid_argument, "view 'y'", "a negative element");
    refuses(graph, limits::min(), Errc::invalid_argument, "view 'y'", "beyond 2^63");
    refuses(graph, 9, Errc::invalid_argument, "view 'y'", "beyond the end");
  }
  {
    TaskGraph graph;
    const Dim size = graph.dim("n");
    const auto x = graph.input<float>("x", {8});
    (void)graph.add_raw("wide", CoreType::vector, Blocks{size}, no_kernel, reads(x));
    CHECK(refused(graph, 0xFFFF'FFFF).code == Errc::ok);
    refuses(graph, 0x1'0000'0000, Errc::invalid_argument, "task 'wide'", "blocks below 0 or above 2^32-1");
    refuses(graph, -1, Errc::invalid_argument, "task 'wide'", "blocks below 0");
  }
}

TEST_CASE("A view of a view of symbolic size ends where that one ends") {
  TaskGraph graph;
  const Dim size = graph.dim("n");
  const auto x = graph.input<float>("x", {128});
  const auto outer = graph.workspace<float>("outer", {size});
  const auto inner = graph.workspace<float>("inner", {16});
  const auto last = graph.output<float>("last", {8});
  graph.make_view(outer, x, size - 16);
  graph.make_view(inner, outer, 16);
  graph.make_view(last, inner, 8);
  const auto with = [&](std::int64_t elements) {
    const std::int64_t values[] = {elements};
    return instantiate(graph, values);
  };
  for (const std::int64_t elements : {32, 48, 64}) {
    CAPTURE(elements);
    const TaskGraph plain = with(elements);
    const auto first_of = [&](TensorKey key) { return plain.tensors()[index(key.tensor())].view_first; };
    CHECK(first_of(outer.key) == static_cast<std::uint64_t>(elements) - 16);
    CHECK(first_of(inner.key) == static_cast<std::uint64_t>(elements));
    CHECK(first_of(last.key) == static_cast<std::uint64_t>(elements) + 8);
  }
  const Raised r = raised([&] { (void)with(31); });  // within x, but not within `outer`
  CAPTURE(r.text);
  CHECK(r.code == Errc::invalid_argument);
  CHECK(says(r.text, "view 'inner'", "beyond the end", "n = 31"));
}

TEST_CASE("A task whose outputs have no elements does nothing") {
  TaskGraph graph;
  const Dim size = graph.dim("size");
  const auto x = graph.input<float>("x", {4});
  const auto t = graph.workspace<float>("t", {size});
  const auto y = graph.output<float>("y", {4});
  graph.add_raw(
      "never", CoreType::vector, +[](ArgWord*) { FAIL("a task with nothing to do ran"); }, reads(x), writes(t));
  graph.add<Scale>(x, y, 2.0F);
  const std::int64_t values[] = {0};
  auto session = open<A5Sim>(instantiate(graph, values));
  std::vector<float> hx{1, 2, 3, 4}, hy(4);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)));
  CHECK(hy == std::vector<float>{2, 4, 6, 8});
}

TEST_CASE("Tasks with nothing to do are left out when the graph is frozen, and the order through them stays") {
  TaskGraph graph;
  const Dim size = graph.dim("size");
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  const auto z = graph.output<float>("z", {4});
  const auto a = graph.output<float>("a", {size});
  const auto b = graph.output<float>("b", {size});
  const TaskId first = graph.add<Scale>(x, y, 2.0F);
  const TaskId idle = graph.add<Scale>(x, a, 2.0F);
  const TaskId idle_too = graph.add<Scale>(x, b, 2.0F);
  const TaskId last = graph.add<Scale>(x, z, 3.0F);
  graph.add_edge(first, idle);
  graph.add_edge(idle, idle_too);
  graph.add_edge(idle_too, last);
  const auto frozen = [&](std::int64_t value) {
    const std::int64_t values[] = {value};
    return freeze(instantiate(graph, values));
  };
  CHECK(frozen(3).view().tasks.size() == 4);
  const FrozenGraph small = frozen(0);
  const graph::GraphView view = small.view();
  REQUIRE(view.tasks.size() == 2);
  CHECK(view.tasks[0].added_as == index(first));
  CHECK(view.tasks[1].added_as == index(last));
  REQUIRE(view.successors_of(0).size() == 1);
  CHECK(view.successors_of(0)[0] == 1);
  CHECK(view.predecessor_count[0] == 0);
  CHECK(view.predecessor_count[1] == 1);
  // Its number is the one that add() gave out, as before.
  auto session = open<A2A3Sim>(frozen(0));
  REQUIRE(session.set_scalar(last, 0, 5.0F).ok());
  std::vector<float> hx{1, 2, 3, 4}, hy(4), hz(4), none(1);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy), bind(z, hz), bind(a, std::span<float>(none.data(), 0)),
                            bind(b, std::span<float>(none.data(), 0))));
  CHECK(hy[3] == 8);
  CHECK(hz[3] == 20);
}

TEST_CASE("A task of no blocks is left out, and what fans in and out of it stays in order") {
  TaskGraph graph;
  const Dim blocks = graph.dim("blocks");
  const auto x = graph.input<float>("x", {4});
  std::vector<TaskId> before, after;
  const auto t = graph.workspace<float>("t", {4});
  for (int i = 0; i < 3; ++i) {
    before.push_back(graph.add<Scale>(x, graph.output<float>("before" + std::to_string(i), {4}), 1.0F));
  }
  const TaskId middle = graph.add<Scale>(Blocks{blocks}, x, t, 1.0F);
  for (int i = 0; i < 3; ++i) {
    after.push_back(graph.add<Scale>(x, graph.output<float>("after" + std::to_string(i), {4}), 1.0F));
  }
  for (const TaskId task : before) graph.add_edge(task, middle);
  for (const TaskId task : after) graph.add_edge(middle, task);
  const std::int64_t values[] = {0};
  const FrozenGraph frozen = freeze(instantiate(graph, values));
  REQUIRE(frozen.view().tasks.size() == 6);
  for (std::size_t i = 0; i < 3; ++i) CHECK(frozen.view().successors_of(i).size() == 3);
  for (std::size_t i = 3; i < 6; ++i) CHECK(frozen.view().predecessor_count[i] == 3);
}

TEST_CASE("Tensors are taken under symbolic shapes, which are held against the sizes of each shape") {
  TaskGraph graph;
  const Dim size = graph.dim("size");
  const auto x = graph.input<float>("x", {size * 3});
  const auto fixed = graph.input<float>("fixed", {12});
  const auto y = graph.output<float>("y", {size * 3});
  const auto z = graph.output<float>("z", {12});
  graph.add<Double>(reshape(x, {size, 3}), y);
  graph.add<Double>(reshape(fixed, {12 / size, size}), z);
  const auto with = [&](std::int64_t value) {
    const std::int64_t values[] = {value};
    return instantiate(graph, values);
  };
  for (const std::int64_t value : {4, 6}) {
    auto session = open<A5Sim>(with(value));
    std::vector<float> hx(static_cast<std::size_t>(3 * value), 1), hy(hx.size()), hf(12, 1), hz(12);
    REQUIRE(session.run_round(bind(x, hx), bind(fixed, hf), bind(y, hy), bind(z, hz)));
    CHECK(hy == std::vector<float>(hx.size(), 2 + static_cast<float>(value)));
    CHECK(hz == std::vector<float>(12, 2 + static_cast<float>(12 / value)));
  }
  const Raised refused = raised([&] { (void)with(5); });
  CHECK(refused.code == Errc::wrong_size);
  CHECK(says(refused.text, "'double'", "size = 5"));
  CHECK(raised([&] { graph.add<Double>(reshape(x, {size, size, 3}), y); }).code == Errc::invalid_argument);
  CHECK(raised([&] { graph.add<Double>(reshape(x, {size, 0}), y); }).code == Errc::invalid_argument);
  CHECK(graph.tasks().size() == 2);
}

TEST_CASE("A size made of numbers alone is a number, with and without symbols in the graph") {
  TaskGraph graph;
  const Dim eight{8};
  const auto x = graph.input<float>("x", {eight, 2 * eight - 1});
  const auto y = graph.output<float>("y", {eight});
  graph.add<Double>(x, y);
  CHECK(graph.tensors()[0].bytes == 4 * 8 * 15);
  CHECK(!graph.tensors()[0].is_symbolic());
  CHECK(freeze(graph).view().tensors[0].count == 120);
  CHECK(raised([&] { (void)graph.input<float>("z", {eight - 9}); }).code == Errc::invalid_argument);
  CHECK(raised([&] { (void)graph.input<float>("z", {eight / (eight - 8)}); }).code == Errc::invalid_argument);
  CHECK(raised([&] { (void)graph.input<float>("z", {Dim{}}); }).code == Errc::invalid_argument);
}

TEST_CASE("An expression that is too long, or whose numbers are out of range, is refused where it is used") {
  TaskGraph graph;
  const Dim size = graph.dim("n");
  const Dim long_sum = size + size + size + size + size + size + size;
  CHECK(!long_sum.valid());
  CHECK(!(long_sum + 1).valid());
  for (const Dim& dim : {long_sum, Dim{-1}, Dim{std::int64_t{1} << 31}, size * (std::int64_t{1} << 31)}) {
    CHECK(raised([&] { (void)graph.input<float>("x", {dim}); }).code == Errc::invalid_argument);
  }
  CHECK(Extent(Dim{3} * 4).value == 12);
  CHECK(Extent(min(Dim{3}, 4)).value == 3);
  CHECK(Extent(Dim{3} - 4).value == -1);
  CHECK(Extent(Dim{3} / 0).value == -1);
}

TEST_CASE("Symbols have names of their own, and serve their own graph") {
  TaskGraph graph;
  (void)graph.dim("n");
  CHECK(says(raised([&] { (void)graph.dim("n"); }).text, "'n'", "already"));
  CHECK(raised([&] { (void)graph.dim(""); }).code == Errc::invalid_argument);
  TaskGraph other;
  (void)other.dim("a");
  const Dim second = other.dim("b");
  const Raised foreign = raised([&] { (void)graph.input<float>("x", {second}); });
  CHECK(says(foreign.text, "'x'", "another graph"));
  const Dim s = Dim::symbol(0);
  const Raised many = raised([&] { (void)graph.input<float>("x", {s * s * s * s * s * s * s}); });
  CHECK(says(many.text, "'x'", "too many parts"));
  const Raised hollow = raised([&] { (void)graph.input<float>("x", {s + Dim{}}); });
  CHECK(says(hollow.text, "'x'", "an empty one"));
  const std::int64_t one = 1;
  CHECK_FALSE((Dim{} - s).evaluate(&one).ok);
  for (int i = 1; i < Dim::max_symbols; ++i) (void)graph.dim("s" + std::to_string(i));
  CHECK(raised([&] { (void)graph.dim("one more"); }).code == Errc::limit_exceeded);
}

TEST_CASE("A graph of symbols and no tensors is instantiated") {
  TaskGraph graph;
  const Dim blocks = graph.dim("blocks");
  (void)graph.add_raw("kernel", CoreType::vector, Blocks{blocks}, +[](ArgWord*) {}, 5);
  const std::int64_t values[] = {3};
  CHECK(instantiate(graph, values).tasks()[0].blocks == 3);
}

TEST_CASE("A task of no blocks writes nothing that others could read") {
  TaskGraph graph;
  const Dim blocks = graph.dim("blocks");
  const auto x = graph.input<float>("x", {2, 3});
  const auto t = graph.workspace<float>("t", {6});
  const auto y = graph.output<float>("y", {6});
  graph.add<Double>(Blocks{blocks}, x, t);
  graph.add<Scale>(t, y, 1.0F);
  const auto frozen = [&](const TaskGraph& source, std::int64_t value) {
    const std::int64_t values[] = {value};
    return freeze(instantiate(source, values));
  };
  CHECK(frozen(graph, 1).view().tasks.size() == 2);
  const Raised read = raised([&] { (void)frozen(graph, 0); });
  CHECK(read.code == Errc::uninitialized_read);
  CHECK(says(read.text, "'scale'", "reads tensor 't'"));
  TaskGraph output;
  const Dim number = output.dim("number");
  output.add<Double>(Blocks{number}, output.input<float>("x", {2, 3}), output.output<float>("y", {6}));
  CHECK(raised([&] { (void)frozen(output, 0); }).code == Errc::invalid_argument);
}
