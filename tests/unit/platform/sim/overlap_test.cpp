// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/overlap.hpp>

#include <rondo/graph/freeze.hpp>
#include <rondo/graph/task_graph.hpp>
#include <unit/platform/sim/programs.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
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

/// `count` nodes of 1 µs; each after the one before it in its chain of `length`.
NodeGraph chains(std::uint32_t count, std::uint32_t length) {
  NodeGraph g;
  for (std::uint32_t n = 0; n < count; ++n) {
    g.nodes.push_back({n, 1, 1000});
    g.calls.push_back(n);
    g.predecessors.emplace_back();
    g.successors.emplace_back();
    if (n % length != 0) {
      g.predecessors[n].push_back(n - 1);
      g.successors[n - 1].push_back(n);
    }
  }
  g.carried.resize(count);
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
  REQUIRE(carried.has_value());
  CHECK(Pairs(carried->begin(), carried->end()) == Pairs{{0, 2}, {2, 0}});
}

TEST_CASE("Too many pairs of tasks to look at in each round are none to overlap by") {
  TaskGraph graph;
  const auto r = graph.resident<Word>("r", {4});
  for (int i = 0; i < 100; ++i) graph.add<Bump<CoreType::vector>>(r, Word{1});
  CHECK(!find_carried(freeze(graph).view()).has_value());
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
  NodeGraph g = chains(1000, 1000);
  g.carried[0].push_back(999);
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
  NodeGraph two = chains(1000, 500);
  two.carried[0].push_back(499);
  two.carried[500].push_back(999);
  const auto plan = plan_overlap(two, 2, 4, free_of_charge);
  REQUIRE(plan.has_value());
  CHECK(period_of(plan->nodes, plan->schedule, 4, free_of_charge) == doctest::Approx(500 * 1001.0).epsilon(0.02));
}
