// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/overlap.hpp>

#include <rondo/graph/freeze.hpp>
#include <rondo/graph/task_graph.hpp>
#include <unit/platform/sim/programs.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;
using namespace rondo::platform::sim;

namespace {

using Pairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;
using FoldOne = Fold<CoreType::vector>;
using BlendOne = Blend<CoreType::vector>;

constexpr ReplayCosts free_of_charge{.per_node = 1, .across_threads = 0, .per_round = 0};

/// `count` nodes of 1 µs; each after the one before it in its chain of `length`. `from_previous`: see
/// NodeGraph::connect().
NodeGraph chains(std::uint32_t count, std::uint32_t length, const NodePairs& from_previous = {}) {
  NodeGraph g;
  NodePairs edges;
  for (std::uint32_t n = 0; n < count; ++n) {
    g.nodes.push_back({n, 1, 1000});
    g.calls.push_back(n);
    if (n % length != 0) edges.emplace_back(n - 1, n);
  }
  g.connect(edges, from_previous);
  return g;
}

}  // namespace

TEST_CASE("Tasks of two rounds are ordered where one writes what all rounds share, and only there") {
  TaskGraph graph;
  const auto x = graph.input<Word>("x", {4});
  const auto weights = graph.resident<Word>("weights", {4});
  const auto constant = graph.resident<Word>("constant", {4});
  const auto w = graph.workspace<Word>("w", {4});
  const auto y = graph.output<Word>("y", {4});
  graph.add<BlendOne>(x, weights, w);   // 0 reads the weights
  graph.add<BlendOne>(w, constant, y);  // 1 touches nothing that another round changes
  graph.add<FoldOne>(w, weights);       // 2 updates the weights
  const FrozenGraph frozen = freeze(graph);
  const auto carried = find_carried(frozen.view());
  CHECK(Pairs(carried.begin(), carried.end()) == Pairs{{2, 0}});
}

TEST_CASE("Edges of a round and orders between rounds leave no users of shared memory without an order") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    auto random = make_random(seed);
    TaskGraph graph;
    std::vector<Resident<Word>> all;
    for (int r = 0; r < 3; ++r) all.push_back(graph.resident<Word>("r" + std::to_string(r), {4}));
    const auto pick = [&] { return all[random() % all.size()]; };
    for (std::size_t t = 1 + random() % 12; t != 0; --t) {
      const Blocks blocks{static_cast<std::uint32_t>(1 + random() % 2)};
      const auto from = pick(), to = pick();
      if (random() % 3 == 0 || from.key == to.key) {
        graph.add<Bump<CoreType::vector>>(blocks, to, Word{1});
      } else if (random() % 2 == 0) {
        graph.add<FoldOne>(blocks, from, to);
      } else {
        graph.add<BlendOne>(blocks, from, to, graph.workspace<Word>("w" + std::to_string(t), {4}));
      }
    }
    const auto shown = graph.workspace<Word>("shown", {2});
    graph.make_view(shown, all[0], 2);
    if (random() % 2 == 0) graph.add<BlendOne>(shown, shown, graph.output<Word>("y", {2}));
    const FrozenGraph frozen = freeze(graph);
    const graph::GraphView view = frozen.view();
    const auto carried = find_carried(view);
    const std::size_t tasks = view.tasks.size();
    // Two rounds, task t of the second as tasks + t.
    std::vector<std::vector<bool>> before(2 * tasks, std::vector<bool>(2 * tasks));
    for (std::size_t round = 0; round < 2; ++round) {
      for (std::size_t t = 0; t < tasks; ++t) {
        for (const std::uint32_t s : view.successors_of(t)) before[round * tasks + t][round * tasks + s] = true;
      }
    }
    for (std::size_t t = 0; t < tasks; ++t) before[t][tasks + t] = view.tasks[t].blocks == 1;
    for (const auto& [first, second] : carried) before[first][tasks + second] = true;
    for (std::size_t middle = 0; middle < 2 * tasks; ++middle) {
      for (std::size_t a = 0; a < 2 * tasks; ++a) {
        for (std::size_t b = 0; before[a][middle] && b < 2 * tasks; ++b) {
          if (before[middle][b]) before[a][b] = true;
        }
      }
    }
    const auto uses = [&](std::size_t task, std::uint32_t root, bool as_writer) {
      for (const graph::ArgRecord& arg : view.args_of(view.tasks[task])) {
        if (!arg.is_address() || graph::root_of(view.tensors, arg.tensor) != root) continue;
        if (!as_writer || writes(arg.access)) return true;
      }
      return false;
    };
    for (std::uint32_t root = 0; root < 3; ++root) {
      for (std::size_t a = 0; a < tasks; ++a) {
        for (std::size_t b = 0; b < tasks; ++b) {
          const bool conflict =
              (uses(a, root, true) && uses(b, root, false)) || (uses(a, root, false) && uses(b, root, true));
          if (conflict && (a != b || view.tasks[a].blocks != 1)) CHECK(before[a][tasks + b]);
        }
      }
    }
  }
}

TEST_CASE("Long chains on shared memory need few orders between rounds") {
  TaskGraph graph;
  const auto r = graph.resident<Word>("r", {4});
  for (int i = 0; i < 100; ++i) graph.add<Bump<CoreType::vector>>(r, Word{1});
  const auto carried = find_carried(freeze(graph).view());
  CHECK(Pairs(carried.begin(), carried.end()) == Pairs{{99, 0}});
}

TEST_CASE("Stages hold each node once, in order, and cost the same but for a node") {
  const NodeGraph g = chains(1000, 1000);
  for (const std::size_t threads : {2U, 3U, 7U}) {
    const Schedule stages = stages_on(g, threads, free_of_charge);
    std::uint32_t next = 0;
    for (const std::vector<std::uint32_t>& stage : stages.order) {
      CHECK(stage.size() >= 1000 / threads);
      CHECK(stage.size() <= 1000 / threads + 1);
      for (const std::uint32_t node : stage) REQUIRE(node == next++);
    }
    CHECK(next == 1000);
  }
}

TEST_CASE("A chain has the period of its longest stage, with as many rounds in flight as stages") {
  const NodeGraph g = chains(1000, 1000);
  const Schedule stages = stages_on(g, 4, free_of_charge);
  const double alone = 1000 * 1001.0;
  CHECK(period_of(g, stages, 8, free_of_charge) == doctest::Approx(alone / 4).epsilon(0.01));
  CHECK(period_of(g, stages, 4, free_of_charge) == doctest::Approx(alone / 4).epsilon(0.01));
  CHECK(period_of(g, stages, 2, free_of_charge) == doctest::Approx(alone / 2).epsilon(0.01));
}

TEST_CASE("A round that needs the end of the round before overlaps with nothing, and then one thread is as good") {
  const NodeGraph g = chains(1000, 1000, {{999, 0}});
  CHECK(period_of(g, stages_on(g, 2, free_of_charge), 4, free_of_charge) ==
        doctest::Approx(1000 * 1001.0).epsilon(0.01));
  CHECK(!plan_overlap(g, 2, 4, free_of_charge).has_value());
}

TEST_CASE(
    "A plan halves the time of every shape on two threads, and takes a round's own schedule where it is shorter") {
  for (const NodeGraph& g : {chains(1000, 1000), chains(1001, 143), chains(1000, 1)}) {
    const auto plan = plan_overlap(g, 2, 4, free_of_charge);
    REQUIRE(plan.has_value());
    const double alone = 1000.0 * static_cast<double>(g.nodes.size());
    CHECK(period_of(plan->nodes, plan->schedule, 4, free_of_charge) == doctest::Approx(alone / 2).epsilon(0.02));
  }
  // Two chains, each of which goes on where it ended in the round before: stages would run one after the other.
  const NodeGraph two = chains(1000, 500, {{499, 0}, {999, 500}});
  const auto plan = plan_overlap(two, 2, 4, free_of_charge);
  REQUIRE(plan.has_value());
  CHECK(period_of(plan->nodes, plan->schedule, 4, free_of_charge) == doctest::Approx(500 * 1001.0).epsilon(0.02));
}
