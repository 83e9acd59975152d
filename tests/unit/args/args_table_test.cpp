// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/args_table_impl.hpp>

#include <random.hpp>
#include <rondo/graph/freeze.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Blocked {
  static constexpr std::string_view name = "blocked";
  static constexpr auto core = CoreType::vector;
  static void run(In<float, 2>, Block, InOut<float>, std::int32_t) {}
};

/// All tensors relative to one base, as in an arena.
constexpr args::BaseLayout one_arena{3, 3};
std::vector<args::Source> sources_of(const TaskGraph& graph) {
  std::vector<args::Source> sources;
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) sources.push_back({2, 1000 * t + 64});
  return sources;
}

/// The words of all blocks of all tasks, in the order of the graph, wherever they stand in the table.
std::vector<ArgWord> words_of(const args::ArgsTable& table, const graph::GraphView& graph) {
  std::vector<ArgWord> words;
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    for (std::uint32_t b = 0; b < graph.tasks[t].blocks; ++b) {
      const ArgWord* block = table.block(t, b);
      words.insert(words.end(), block, block + graph.tasks[t].block_bytes / sizeof(ArgWord));
    }
  }
  return words;
}

/// What a random graph is made of, remembered beside the graph so that the table can be rebuilt without it.
struct Plan {
  struct Task {
    std::uint32_t blocks;
    std::vector<std::uint32_t> tensors;
    std::vector<ArgWord> scalars;
  };
  TaskGraph graph;
  std::vector<Task> tasks;
};

Plan random_plan(std::mt19937& random) {
  Plan plan;
  std::vector<InputOutput<float>> tensors;
  const std::size_t count = 2 + random() % 5;
  for (std::size_t t = 0; t < count; ++t) tensors.push_back(plan.graph.inout<float>("t" + std::to_string(t), {4}));
  const std::size_t tasks = random() % 12;
  for (std::size_t k = 0; k < tasks; ++k) {
    const auto blocks = static_cast<std::uint32_t>(1 + random() % 5);
    const auto a = static_cast<std::uint32_t>(random() % count);
    const auto b = static_cast<std::uint32_t>((a + 1 + random() % (count - 1)) % count);
    const auto scalar = static_cast<std::int64_t>(random());
    switch (random() % 3) {
      case 0:
        plan.graph.add_raw("k", CoreType::vector, Blocks{blocks}, no_kernel, updates(tensors[a]));
        plan.tasks.push_back({blocks, {a}, {}});
        break;
      case 1:
        plan.graph.add_raw("k", CoreType::cube, Blocks{blocks}, no_kernel, reads(tensors[a]), updates(tensors[b]),
                           scalar);
        plan.tasks.push_back({blocks, {a, b}, {scalar}});
        break;
      default:
        plan.graph.add_raw("k", CoreType::cube, Blocks{blocks}, no_kernel);
        plan.tasks.push_back({blocks, {}, {}});
        break;
    }
  }
  return plan;
}

}  // namespace

TEST_CASE("Each block of a task has its own words, which differ in the block word only") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2, 3});
  const auto y = graph.inout<float>("y", {6});
  graph.add<Blocked>(Blocks{3}, x, y, -1);
  const FrozenGraph frozen = freeze(graph);
  const std::vector<args::Source> sources = {{2, 64}, {2, 128}};
  args::ArgsTable table{frozen.view(), {one_arena, sources, {}}};
  CHECK(table.rewrite(2, 0x10000) == 6);
  const auto word = [](std::uint32_t block) { return ArgWord{3} << 32 | block; };
  const std::vector<ArgWord> expected = {
      0x10040, word(0), 0x10080, 0xFFFF'FFFF, 2, 3, 6,  //
      0x10040, word(1), 0x10080, 0xFFFF'FFFF, 2, 3, 6,  //
      0x10040, word(2), 0x10080, 0xFFFF'FFFF, 2, 3, 6,
  };
  CHECK(words_of(table, frozen.view()) == expected);
}

TEST_CASE("The slots of a base are in the order of the table, whatever the order of tasks and arguments") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto w = graph.workspace<float>("w", {4});
  const auto v = graph.workspace<float>("v", {4});
  const auto y = graph.output<float>("y", {4});
  const auto word = [](TensorKey tensor, Access access, std::uint32_t offset) {
    graph::ArgRecord arg;
    arg.kind = graph::ArgRecord::Kind::address;
    arg.access = access;
    arg.tensor = index(tensor.tensor());
    arg.offset = offset;
    return arg;
  };
  // The first and the last task bind x and y, so they come after the others in the table.
  graph.add_laid_out("backwards", CoreType::vector, Blocks{2}, no_kernel,
                     {word(w.key, Access::write, 16), word(v.key, Access::write, 8), word(x.key, Access::read, 0)}, 24);
  graph.add_raw("middle", CoreType::vector, no_kernel, reads(w), updates(v));
  graph.add_laid_out("end", CoreType::vector, Blocks{1}, no_kernel,
                     {word(y.key, Access::write, 16), word(w.key, Access::read, 8), word(v.key, Access::read, 0)}, 24);
  const FrozenGraph frozen = freeze(graph);
  const std::vector<args::Source> sources = {{3, 0}, {2, 0}, {2, 64}, {4, 0}};
  const args::ArgsTable table{frozen.view(), {{3, 5}, sources, {}}};
  CHECK(table.uses(2) == 8);
  CHECK(table.uses(3) == 2);
  CHECK(table.uses(4) == 1);
  for (const std::uint32_t base : {2U, 3U, 4U}) {
    const auto slots = table.slots_of(base);
    for (std::size_t s = 1; s < slots.size(); ++s) CHECK(slots[s - 1].at < slots[s].at);
  }
}

TEST_CASE("The table of a random graph is what a rebuild from the tasks gives, at any base") {
  auto random = rondo::test::make_random(21);
  for (int round = 0; round < 200; ++round) {
    const Plan plan = random_plan(random);
    const FrozenGraph frozen = freeze(plan.graph);
    const std::vector<args::Source> sources = sources_of(plan.graph);
    args::ArgsTable table{frozen.view(), {one_arena, sources, {}}};
    for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{0x7FFF'0000'0000}, std::uint64_t{4096}}) {
      std::vector<ArgWord> expected;
      for (const graph::TaskRecord& record : frozen.view().tasks) {
        const Plan::Task& task = plan.tasks[record.added_as];
        for (std::uint32_t b = 0; b < task.blocks; ++b) {
          for (const std::uint32_t t : task.tensors) expected.push_back(static_cast<ArgWord>(base + sources[t].offset));
          for (const ArgWord s : task.scalars) expected.push_back(s);
        }
      }
      CHECK(table.rewrite(2, base) == table.uses(2));
      REQUIRE(words_of(table, frozen.view()) == expected);
      for (std::size_t t = 0; t < frozen.view().tasks.size(); ++t) {
        REQUIRE(table.block(t, 0) == table.words() + args::words_before(frozen.view(), t));
      }
    }
  }
}

TEST_CASE("Tasks stand in the partition of their most volatile slot, the blocks of each side by side") {
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {2});
  const auto w = graph.workspace<float>("w", {2});
  graph.add_raw("io", CoreType::vector, Blocks{4}, no_kernel, updates(x), 1, 2);
  graph.add_raw("map", CoreType::vector, Blocks{3}, no_kernel, writes(w));
  graph.add_raw("both", CoreType::vector, no_kernel, updates(x), reads(w));
  graph.add_raw("never", CoreType::vector, Blocks{2}, no_kernel, 5);
  const FrozenGraph frozen = freeze(graph);
  const args::TableShape shape = args::shape_of(frozen.view());
  CHECK(shape[args::Partition::never] == 0);
  CHECK(shape[args::Partition::feature_map] == 64);        // 16 bytes and the guard
  CHECK(shape[args::Partition::model_io] == 64 + 64);      // 24
  CHECK(shape[args::Partition::host_input] == 128 + 192);  // 4 · 24 + 16 = 112
  CHECK(shape.size() == 320);                              // no host input, no partition
  CHECK(args::words_before(frozen.view(), 0) == 16);
  CHECK(args::words_before(frozen.view(), 1) == 8);
  CHECK(args::words_before(frozen.view(), 2) == 28);
  CHECK(args::words_before(frozen.view(), 3) == 0);
}

TEST_CASE("A partition is whole lines with room for a read beyond its end") {
  CHECK(args::partition_bytes(0) == 0);
  CHECK(args::partition_bytes(32) == 64);
  CHECK(args::partition_bytes(80) == 128);
  CHECK(args::partition_bytes(120) == 192);
}

TEST_CASE("The words keep their place when the table moves, and the image starts at a whole line") {
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {2});
  graph.add_raw("a", CoreType::vector, no_kernel, updates(x), 42);
  const FrozenGraph frozen = freeze(graph);
  args::ArgsTable table{frozen.view(), {one_arena, sources_of(graph), {}}};
  const ArgWord* words = table.words();
  CHECK(reinterpret_cast<std::uintptr_t>(words) % 64 == 0);
  const args::ArgsTable moved = std::move(table);
  CHECK(moved.words() == words);
  CHECK(moved.words()[1] == 42);
}

TEST_CASE("A graph without tasks has a table without bytes") {
  const FrozenGraph frozen = freeze(TaskGraph{});
  const args::ArgsTable table{frozen.view(), {one_arena, {}, {}}};
  CHECK(table.image().empty());
  CHECK(table.relocations().size() == 0);
}

TEST_CASE("Each base knows its own slots, and relocations list all of them in the order of the table") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.inout<float>("y", {2});
  const auto w = graph.workspace<float>("w", {2});
  graph.add_raw("a", CoreType::vector, Blocks{2}, no_kernel, reads(x), writes(w), 7);
  graph.add_raw("b", CoreType::vector, no_kernel, reads(w));
  graph.add_raw("c", CoreType::vector, no_kernel, reads(x), updates(y));
  const FrozenGraph frozen = freeze(graph);
  const std::vector<args::Source> sources = {{3, 0}, {4, 16}, {2, 1024}};
  args::ArgsTable table{frozen.view(), {{3, 5}, sources, {}}};
  CHECK(table.uses(args::BaseLayout::absolute) == 0);
  CHECK(table.uses(2) == 3);
  CHECK(table.uses(3) == 3);
  CHECK(table.uses(4) == 1);
  const auto relocations = table.relocations();
  REQUIRE(relocations.size() == 7);
  for (std::size_t i = 1; i < relocations.size(); ++i) CHECK(relocations[i - 1].at < relocations[i].at);

  // What the device computes from the relocations is what the host writes base by base.
  const std::uint64_t bases[] = {0, 0, 0x1000, 0x2000, 0x3000};
  std::vector<std::byte> device(table.image().begin(), table.image().end());
  args::run_refresh(device.data(), relocations.data(), relocations.size(), bases);
  for (std::uint32_t b = 2; b < 5; ++b) (void)table.rewrite(b, bases[b]);
  CHECK(std::vector<std::byte>(table.image().begin(), table.image().end()) == device);
  CHECK(table.block(1, 0)[0] == 0x1000 + 1024);
  CHECK(table.block(2, 0)[1] == 0x3000 + 16);
}

TEST_CASE("The tensors of a task with fixed addresses are absolute: written once, in the part that never changes") {
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {2});
  graph.fix_addresses(graph.add_raw("a", CoreType::vector, no_kernel, updates(x)));
  const FrozenGraph frozen = freeze(graph);
  const std::vector<args::Source> sources = {{args::BaseLayout::absolute, 0x5000}};
  const args::ArgsTable table{frozen.view(), {one_arena, sources, {}}};
  CHECK(table.block(0, 0)[0] == 0x5000);
  CHECK(table.shape()[args::Partition::feature_map] == table.shape().size());
}

namespace {

/// A task of one slot for each record: an address of `tensor`, or a scalar.
graph::ArgRecord record(graph::ArgRecord::Kind kind, std::uint32_t tensor, std::uint32_t offset, std::uint8_t width) {
  graph::ArgRecord arg{kind, Access::read, tensor, 0, offset};
  arg.width = width;
  return arg;
}
/// The two slots of four bytes in a word, in the order in which they are in memory.
std::array<std::uint32_t, 2> halves_of(ArgWord word) {
  std::array<std::uint32_t, 2> halves{};
  std::memcpy(halves.data(), &word, sizeof(word));
  return halves;
}

}  // namespace

TEST_CASE("Slots of four bytes take the low half of an address, and leave what stands next to them") {
  TaskGraph graph;
  const auto x = index(graph.input<float>("x", {2}).key.tensor());
  using Kind = graph::ArgRecord::Kind;
  graph.add_laid_out("a", CoreType::vector, Blocks{2}, no_kernel,
                     {record(Kind::address, x, 0, 4), record(Kind::scalar, 0, 4, 4), record(Kind::address, x, 8, 8)},
                     16);
  const FrozenGraph frozen = freeze(graph);
  const std::vector<args::Source> sources = {{3, 8}};
  args::ArgsTable table{frozen.view(), {{3, 4}, sources, {}}};
  // On every machine, a slot is the bytes at its offset, not a half of a word.
  const auto slot = [&](std::uint32_t b, std::size_t offset) {
    std::uint32_t value = 0;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(table.block(0, b)) + offset, sizeof(value));
    return value;
  };
  CHECK(table.rewrite(3, 0x1'2345'6700) == 4);
  for (const std::uint32_t b : {0U, 1U}) {
    CHECK(slot(b, 0) == 0x2345'6708);
    CHECK(slot(b, 4) == 0);
    CHECK(table.block(0, b)[1] == 0x1'2345'6708);
  }
  // A constant of four bytes, in both blocks.
  table.set_constant(frozen.view(), 0, frozen.view().args_of(frozen.view().tasks[0])[1], ArgWord{0x7'0000'0005});
  for (const std::uint32_t b : {0U, 1U}) {
    CHECK(slot(b, 0) == 0x2345'6708);
    CHECK(slot(b, 4) == 5);
    CHECK(table.block(0, b)[1] == 0x1'2345'6708);
  }
}

TEST_CASE("Slots of four bytes may be the only addresses, computed by the host or by the device") {
  TaskGraph graph;
  const auto x = index(graph.input<float>("x", {2}).key.tensor());
  using Kind = graph::ArgRecord::Kind;
  graph.add_laid_out("a", CoreType::vector, Blocks{1}, no_kernel,
                     {record(Kind::scalar, 0, 4, 4), record(Kind::address, x, 0, 4)}, 8);
  const FrozenGraph frozen = freeze(graph);
  const std::vector<args::Source> sources = {{3, 8}};
  args::ArgsTable table{frozen.view(), {{3, 4}, sources, {}}};
  table.set_constant(frozen.view(), 0, frozen.view().args_of(frozen.view().tasks[0])[0], 6);
  CHECK(table.rewrite(3, 0x1'2345'6700) == 1);
  CHECK(halves_of(table.block(0, 0)[0]) == std::array{0x2345'6708U, 6U});

  const auto relocations = table.relocations();
  std::vector<std::byte> device(table.image().begin(), table.image().end());
  const std::uint64_t bases[] = {0, 0, 0, 0x2'0000'1000};
  args::run_refresh(device.data(), relocations.data(), relocations.size(), bases);
  (void)table.rewrite(3, bases[3]);
  CHECK(std::vector<std::byte>(table.image().begin(), table.image().end()) == device);
  CHECK(halves_of(table.block(0, 0)[0]) == std::array{0x1008U, 6U});
}

TEST_CASE("A constant of four bytes leaves the one behind it, whichever is written first") {
  TaskGraph graph;
  using Kind = graph::ArgRecord::Kind;
  std::vector<graph::ArgRecord> args = {record(Kind::scalar, 0, 8, 8), record(Kind::scalar, 0, 4, 4),
                                        record(Kind::scalar, 0, 0, 4)};
  args[0].bits = 0x1'0000'0009;
  args[1].bits = 5;
  args[2].bits = 7;
  graph.add_laid_out("a", CoreType::vector, Blocks{1}, no_kernel, args, 16);
  const FrozenGraph frozen = freeze(graph);
  const args::ArgsTable table{frozen.view(), {one_arena, sources_of(graph), {}}};
  CHECK(halves_of(table.block(0, 0)[0]) == std::array{7U, 5U});
  CHECK(table.block(0, 0)[1] == 0x1'0000'0009);
}

TEST_CASE("A task is in the group of the tensor that the fewest tasks share, and of two such in that of the first") {
  TaskGraph graph;
  const auto a = graph.input<float>("a", {2});
  const auto b = graph.input<float>("b", {2});
  const auto c = graph.input<float>("c", {2});
  graph.add_raw("reads_c", CoreType::vector, no_kernel, reads(c));
  graph.add_raw("reads_a", CoreType::vector, no_kernel, reads(a));
  graph.add_raw("reads_b", CoreType::vector, no_kernel, reads(b));
  graph.add_raw("reads_c_too", CoreType::vector, no_kernel, reads(c));
  graph.add_raw("reads_all", CoreType::vector, no_kernel, reads(c), reads(a), reads(b));
  const auto own = graph.input<float>("own", {2});
  graph.add_raw("reads_its_own", CoreType::vector, no_kernel, reads(c), reads(own));
  CHECK(args::groups_of(freeze(graph).view()) == std::vector<std::uint32_t>{0, 1, 2, 0, 1, 0});
}

TEST_CASE("A constant of eight bytes is changed in all blocks of its task, and of no other") {
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {2});
  for (int task = 0; task < 3; ++task) graph.add_raw("a", CoreType::vector, Blocks{3}, no_kernel, updates(x), 7, 8);
  const FrozenGraph frozen = freeze(graph);
  args::ArgsTable table{frozen.view(), {one_arena, sources_of(graph), {}}};
  table.set_constant(frozen.view(), 1, frozen.view().args_of(frozen.view().tasks[1])[2], ArgWord{0x1'0000'0009});
  for (std::size_t task = 0; task < 3; ++task) {
    for (std::uint32_t b = 0; b < 3; ++b) {
      CHECK(table.block(task, b)[1] == 7);
      CHECK(table.block(task, b)[2] == (task == 1 ? ArgWord{0x1'0000'0009} : ArgWord{8}));
    }
  }
}

TEST_CASE("A base with one slot that holds its address as it is has a word of its own; any other has none") {
  struct Case {
    const char* what;
    std::uint64_t addend;
    std::uint8_t width;
    std::uint32_t offset;
    std::uint32_t tasks;
    bool has_word;
  };
  for (const Case& c : {Case{"as it is", 0, 8, 8, 1, true}, Case{"with an offset", 64, 8, 8, 1, false},
                        Case{"four bytes", 0, 4, 8, 1, false}, Case{"at an odd place", 0, 8, 3, 1, false},
                        Case{"used twice", 0, 8, 8, 2, false}, Case{"not used", 0, 8, 8, 0, false}}) {
    CAPTURE(c.what);
    TaskGraph graph;
    const auto x = index(graph.input<float>("x", {2}).key.tensor());
    const auto y = index(graph.input<float>("y", {2}).key.tensor());
    using Kind = graph::ArgRecord::Kind;
    for (std::uint32_t t = 0; t < c.tasks; ++t) {
      graph.add_laid_out("a", CoreType::vector, Blocks{1}, no_kernel, {record(Kind::address, x, c.offset, c.width)},
                         16);
    }
    graph.add_laid_out("b", CoreType::vector, Blocks{1}, no_kernel, {record(Kind::address, y, 0, 8)}, 8);
    const FrozenGraph frozen = freeze(graph);
    const std::vector<args::Source> sources = {{3, c.addend}, {4, 0}};
    args::ArgsTable table{frozen.view(), {{3, 5}, sources, {}}};
    ArgWord* const word = table.only_slot(3);
    CHECK((word != nullptr) == c.has_word);
    if (word != nullptr) CHECK(word == table.block(0, 0) + 1);
    CHECK(table.only_slot(4) == table.block(c.tasks, 0));
  }
}

TEST_CASE("Values that travel in the table have places of their own, which others have not") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto h = graph.host_input<float>("h", {20});
  const auto k = graph.host_input<float>("k", {1});
  graph.add_raw("a", CoreType::vector, no_kernel, reads(x), reads(h), reads(k));
  const FrozenGraph frozen = freeze(graph);
  const std::vector<args::Source> sources = {{3, 0}, {3, 0}, {3, 0}};
  args::ArgsTable table{frozen.view(), {{3, 4}, sources, {}}};
  const std::uint64_t begin = table.shape()[args::Partition::host_input];
  CHECK(table.host_input_begin(1) == begin);
  CHECK(table.host_input_begin(2) == begin + 96);
  CHECK(table.shape().host_inputs == 96 + 32);
  CHECK(table.shape().size() == begin + 192);
  CHECK(table.uses(3) == 1);
}

TEST_CASE("A table of 4 GiB or more is refused before it takes memory, and its size stated") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  (void)graph.add_raw("wide", CoreType::vector, Blocks{0xFFFF'FFFF}, no_kernel, reads(x), reads(x));
  const FrozenGraph frozen = freeze(graph);
  const Raised r = raised([&] { args::ArgsTable(frozen.view(), {one_arena, sources_of(graph), {}}); });
  CHECK(r.code == Errc::overflow);
  CHECK(says(r.text, "takes 68719476", "4 GiB"));
}
