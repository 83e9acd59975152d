// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/args_table.hpp>

#include <rondo/graph/freeze.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
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

std::vector<std::uint64_t> offsets_of(const TaskGraph& graph) {
  std::vector<std::uint64_t> offsets;
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) offsets.push_back(1000 * t + 64);
  return offsets;
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
  args::ArgsTable table{frozen.view()};
  const std::vector<std::uint64_t> offsets = {64, 128};
  table.write(frozen.view(), offsets, 0x10000);
  const auto word = [](std::uint32_t block) { return ArgWord{3} << 32 | block; };
  const std::vector<ArgWord> expected = {
      0x10040, word(0), 0x10080, 0xFFFF'FFFF, 2, 3, 6,  //
      0x10040, word(1), 0x10080, 0xFFFF'FFFF, 2, 3, 6,  //
      0x10040, word(2), 0x10080, 0xFFFF'FFFF, 2, 3, 6,
  };
  const std::vector<ArgWord> image(table.image().begin(), table.image().end());
  CHECK(image == expected);
}

TEST_CASE("The table of a random graph is what a rebuild from the tasks gives, at any base") {
  std::mt19937 random{21};
  for (int round = 0; round < 200; ++round) {
    const Plan plan = random_plan(random);
    const FrozenGraph frozen = freeze(plan.graph);
    const std::vector<std::uint64_t> offsets = offsets_of(plan.graph);
    args::ArgsTable table{frozen.view()};
    for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{0x7FFF'0000'0000}, std::uint64_t{4096}}) {
      std::vector<ArgWord> expected;
      for (const graph::TaskRecord& record : frozen.view().tasks) {
        const Plan::Task& task = plan.tasks[record.added_as];
        for (std::uint32_t b = 0; b < task.blocks; ++b) {
          for (const std::uint32_t t : task.tensors) expected.push_back(static_cast<ArgWord>(base + offsets[t]));
          for (const ArgWord s : task.scalars) expected.push_back(s);
        }
      }
      table.write(frozen.view(), offsets, base);
      const std::vector<ArgWord> image(table.image().begin(), table.image().end());
      REQUIRE(image == expected);
      REQUIRE(args::words_before(frozen.view(), frozen.view().tasks.size()) == expected.size());
    }
  }
}

TEST_CASE("The words before a task are those of the tasks before it, blocks counted") {
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {2});
  graph.add_raw("a", CoreType::vector, Blocks{4}, no_kernel, updates(x), 1, 2);
  graph.add_raw("b", CoreType::vector, no_kernel, updates(x));
  graph.add_raw("c", CoreType::vector, Blocks{2}, no_kernel, updates(x), 5);
  const FrozenGraph frozen = freeze(graph);
  CHECK(args::words_before(frozen.view(), 0) == 0);
  CHECK(args::words_before(frozen.view(), 1) == 12);
  CHECK(args::words_before(frozen.view(), 2) == 13);
  CHECK(args::words_before(frozen.view(), 3) == 17);
}

TEST_CASE("The words keep their place when the table moves") {
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {2});
  graph.add_raw("a", CoreType::vector, no_kernel, updates(x), 42);
  const FrozenGraph frozen = freeze(graph);
  args::ArgsTable table{frozen.view()};
  table.write(frozen.view(), offsets_of(graph), 0);
  const ArgWord* words = table.words();
  const args::ArgsTable moved = std::move(table);
  CHECK(moved.image().data() == words);
  CHECK(moved.image()[1] == 42);
}

TEST_CASE("A graph without tasks has a table without words") {
  const FrozenGraph frozen = freeze(TaskGraph{});
  args::ArgsTable table{frozen.view()};
  table.write(frozen.view(), {}, 0);
  CHECK(table.image().empty());
}
