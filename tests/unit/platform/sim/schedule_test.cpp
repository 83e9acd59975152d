// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/schedule.hpp>

#include <random.hpp>
#include <unit/platform/sim/programs.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

using namespace rondo;
using namespace rondo::test;
using namespace rondo::platform::sim;

namespace {

struct Sample {
  FrozenGraph graph;
  std::vector<double> costs;
  NodeGraph nodes;

  Sample(std::mt19937& random, std::size_t tasks)
      : graph{freeze(RandomWork{random, tasks, 2 + random() % 8, 1}.graph)} {
    for (const graph::TaskRecord& task : graph.view().tasks) {
      for (std::uint32_t b = 0; b < task.blocks; ++b) costs.push_back(static_cast<double>(random() % 5000));
    }
    nodes = make_node_graph(graph.view(), costs);
  }
};

void check_calls_once(const NodeGraph& g, std::size_t calls) {
  std::vector<int> seen(calls, 0);
  for (const auto& node : g.nodes) {
    for (std::uint32_t c = 0; c < node.call_count; ++c) ++seen[g.calls[node.first_call + c]];
  }
  REQUIRE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
}

/// before[a][b]: must call a be done before call b starts?
std::vector<std::vector<bool>> call_order(const NodeGraph& g, std::size_t calls) {
  const std::size_t n = g.nodes.size();
  std::vector<std::vector<bool>> reach(n, std::vector<bool>(n, false));
  for (std::uint32_t b = 0; b < n; ++b) {
    for (const std::uint32_t p : g.predecessors[b]) {
      REQUIRE(p < b);
      REQUIRE(std::count(g.successors[p].begin(), g.successors[p].end(), b) == 1);
      reach[p][b] = true;
      for (std::size_t a = 0; a < n; ++a) {
        if (reach[a][p]) reach[a][b] = true;
      }
    }
  }
  std::vector<std::vector<bool>> before(calls, std::vector<bool>(calls, false));
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      for (std::uint32_t i = 0; i < g.nodes[a].call_count; ++i) {
        for (std::uint32_t j = 0; j < g.nodes[b].call_count; ++j) {
          if (reach[a][b] || (a == b && i < j)) {
            before[g.calls[g.nodes[a].first_call + i]][g.calls[g.nodes[b].first_call + j]] = true;
          }
        }
      }
    }
  }
  return before;
}

void check_schedule(const NodeGraph& g, const Schedule& s) {
  std::vector<int> seen(g.nodes.size(), 0);
  for (const auto& lane : s.order) {
    for (std::size_t i = 0; i < lane.size(); ++i) {
      ++seen[lane[i]];
      if (i > 0) REQUIRE(s.start[lane[i]] >= s.end[lane[i - 1]]);
    }
  }
  REQUIRE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
  for (std::size_t n = 0; n < g.nodes.size(); ++n) {
    REQUIRE(s.end[n] > s.start[n]);
    REQUIRE(s.makespan >= s.end[n]);
    for (const std::uint32_t p : g.predecessors[n]) REQUIRE(s.start[n] >= s.end[p]);
  }
}

}  // namespace

TEST_CASE("Nodes hold each call once, and order calls exactly as the graph's edges order their tasks") {
  auto random = rondo::test::make_random(41);
  for (int i = 0; i < 60; ++i) {
    const Sample sample{random, random() % 25};
    const graph::GraphView view = sample.graph.view();
    check_calls_once(sample.nodes, sample.costs.size());

    std::vector<std::uint32_t> task_of;
    for (std::uint32_t t = 0; t < view.tasks.size(); ++t) task_of.insert(task_of.end(), view.tasks[t].blocks, t);
    std::vector<std::vector<bool>> reach(view.tasks.size(), std::vector<bool>(view.tasks.size(), false));
    for (std::size_t t = view.tasks.size(); t-- > 0;) {
      for (const std::uint32_t s : view.successors_of(t)) {
        reach[t][s] = true;
        for (std::size_t u = 0; u < reach.size(); ++u) {
          if (reach[s][u]) reach[t][u] = true;
        }
      }
    }
    const auto before = call_order(sample.nodes, sample.costs.size());
    for (std::size_t a = 0; a < task_of.size(); ++a) {
      for (std::size_t b = 0; b < task_of.size(); ++b) REQUIRE(before[a][b] == reach[task_of[a]][task_of[b]]);
    }
  }
}

TEST_CASE("Fusing chains keeps each call once, loses no order, and leaves no chain") {
  auto random = rondo::test::make_random(42);
  for (int i = 0; i < 60; ++i) {
    const Sample sample{random, random() % 25};
    const NodeGraph fused = fuse_chains(sample.nodes);
    check_calls_once(fused, sample.costs.size());
    const auto before = call_order(sample.nodes, sample.costs.size());
    const auto after = call_order(fused, sample.costs.size());
    REQUIRE(before == after);
    for (std::size_t n = 0; n < fused.nodes.size(); ++n) {
      const auto& p = fused.predecessors[n];
      REQUIRE_FALSE((p.size() == 1 && fused.successors[p[0]].size() == 1));
    }
    const auto total = [](const NodeGraph& g) {
      return std::accumulate(g.nodes.begin(), g.nodes.end(), 0.0, [](double a, const auto& n) { return a + n.cost; });
    };
    REQUIRE(total(fused) == doctest::Approx(total(sample.nodes)));
  }
}

TEST_CASE("A schedule places each node once, after its predecessors, on any number of threads") {
  auto random = rondo::test::make_random(43);
  for (int i = 0; i < 60; ++i) {
    const Sample sample{random, random() % 40};
    const NodeGraph fused = fuse_chains(sample.nodes);
    for (const std::size_t threads : {1U, 2U, 3U, 7U}) {
      const Schedule s = schedule_on(fused, threads, {});
      REQUIRE(s.order.size() == threads);
      check_schedule(fused, s);
    }
  }
}

TEST_CASE("Two long tasks take two threads, two short ones the calling thread alone") {
  NodeGraph g;
  for (int i = 0; i < 2; ++i) g.nodes.push_back({static_cast<std::uint32_t>(i), 1, 1'000'000.0});
  g.calls = {0, 1};
  g.connect({});
  CHECK(best_schedule(g, 4, {}).order.size() == 2);
  for (auto& node : g.nodes) node.cost = 50;
  const Schedule alone = best_schedule(g, 4, {});
  CHECK(alone.order.size() == 1);
  CHECK(alone.order[0] == std::vector<std::uint32_t>{0, 1});
  CHECK(best_schedule(g, 1, {}).order.size() == 1);
}

TEST_CASE("A schedule's makespan is found again from its nodes, and follows what they cost") {
  auto random = rondo::test::make_random(44);
  for (int i = 0; i < 40; ++i) {
    const Sample sample{random, 1 + random() % 40};
    NodeGraph g = fuse_chains(sample.nodes);
    const Schedule s = schedule_on(g, 3, {});
    CHECK(ends_of(g, s, 1, 1, {})[0] == doctest::Approx(s.makespan));
    double longest = 0;
    for (auto& node : g.nodes) longest = std::max(longest, node.cost *= 10);
    CHECK(ends_of(g, s, 1, 1, {})[0] > longest);
  }
}

TEST_CASE("Where whole chains do not divide evenly, one is cut half-way") {
  NodeGraph g;  // three chains of 20 calls of 1 us
  NodePairs edges;
  for (std::uint32_t n = 0; n < 60; ++n) {
    g.nodes.push_back({n, 1, 1000.0});
    g.calls.push_back(n);
    if (n % 20 != 0) edges.emplace_back(n - 1, n);
  }
  g.connect(edges);
  CHECK(best_schedule(fuse_chains(g), 2, {}).makespan > 40'000);
  const Plan plan = plan_round(g, 2, {});
  CHECK(plan.schedule.order.size() == 2);
  CHECK(plan.schedule.makespan < 33'000);
  check_schedule(plan.nodes, plan.schedule);
  // Chains that divide evenly stay whole.
  for (std::uint32_t n = 40; n < 60; ++n) g.nodes[n].cost = 0;
  CHECK(plan_round(g, 2, {}).nodes.nodes.size() == 3);
}

TEST_CASE("No node, no schedule to speak of") {
  const NodeGraph g;
  CHECK(best_schedule(g, 4, {}).order.size() == 1);
  CHECK(best_schedule(g, 4, {}).makespan == 0);
}
