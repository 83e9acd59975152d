// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/records.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

/// The distribution of a graph's tasks over host threads.
namespace rondo::platform::sim {

/// The overhead of a parallel round beyond its tasks, in nanoseconds; measured on two cores of a Xeon of 2023. It
/// decides how many threads are worthwhile, so a factor of two changes little.
struct ReplayCosts {
  double per_node = 15;         ///< to claim a node and to mark it as done
  double across_threads = 120;  ///< until another thread sees that it is done
  double per_round = 400;       ///< to start a round on threads that still spin, and to see its end
};

/// Pairs of nodes.
using NodePair = std::pair<std::uint32_t, std::uint32_t>;
using NodePairs = std::vector<NodePair>;
/// The first or the second of a pair.
using NodeOfPair = decltype(&NodePair::first);

/// For each node, a list of other nodes. All lists share two arrays. A default one has no nodes.
class NodeLists {
 public:
  NodeLists() = default;
  /// The list of node n has the item of each pair whose owner is n, in the order of the pairs.
  NodeLists(std::size_t nodes, const NodePairs& pairs, NodeOfPair owner, NodeOfPair item)
      : begin_(nodes + 1), items_(pairs.size()) {
    for (const NodePair& pair : pairs) ++begin_[pair.*owner + 1];
    for (std::size_t n = 0; n < nodes; ++n) begin_[n + 1] += begin_[n];
    std::vector<std::uint32_t> next = begin_;
    for (const NodePair& pair : pairs) items_[next[pair.*owner]++] = pair.*item;
  }

  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t node) const noexcept {
    return {items_.data() + begin_[node], begin_[node + 1] - begin_[node]};
  }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> items_;
};

/// The nodes of a schedule. A node is a sequence of calls on one thread: a task is one node, or one node per block and
/// an empty node where they join; chains are fused into one node.
struct NodeGraph {
  /// Consecutive calls and their cost.
  struct Node {
    std::uint32_t first_call = 0;  ///< position in `calls`
    std::uint32_t call_count = 0;
    double cost = 0;  ///< nanoseconds
  };
  std::vector<Node> nodes;           ///< each after its predecessors
  std::vector<std::uint32_t> calls;  ///< the numbers of (task, block) pairs, in the order of the graph
  NodeLists predecessors;
  NodeLists successors;
  NodeLists carried;  ///< by node: nodes of the previous round that must precede it

  /// Sets the lists from pairs of nodes, of which the second must run after the first: of the same round, or for
  /// `from_previous`, of the previous round.
  void connect(const NodePairs& edges, const NodePairs& from_previous = {}) {
    predecessors = {nodes.size(), edges, &NodePair::second, &NodePair::first};
    successors = {nodes.size(), edges, &NodePair::first, &NodePair::second};
    carried = {nodes.size(), from_previous, &NodePair::second, &NodePair::first};
  }
  /// The cost of all nodes, in nanoseconds.
  [[nodiscard]] double cost() const noexcept {
    double sum = 0;
    for (const Node& node : nodes) sum += node.cost;
    return sum;
  }
};

/// Makes the nodes. `call_costs`: one per task and block, in the order of the graph. `carried`: pairs of tasks; the
/// second must run after the first task of the previous round.
[[nodiscard]] inline NodeGraph make_node_graph(const graph::GraphView& graph, std::span<const double> call_costs,
                                               std::span<const NodePair> carried = {}) {
  NodeGraph g;
  NodePairs edges;
  std::vector<std::uint32_t> first_of;  // the nodes of a task are consecutive
  std::uint32_t call = 0;
  for (const graph::TaskRecord& task : graph.tasks) {
    const auto first = static_cast<std::uint32_t>(g.nodes.size());
    for (std::uint32_t b = 0; b < task.blocks; ++b, ++call) {
      if (task.blocks != 1) edges.emplace_back(first + b, first + task.blocks);
      g.nodes.push_back({call, 1, call_costs[call]});
      g.calls.push_back(call);
    }
    if (task.blocks != 1) g.nodes.push_back({call, 0, 0});
    first_of.push_back(first);
  }
  first_of.push_back(static_cast<std::uint32_t>(g.nodes.size()));
  const auto add_edges = [&](NodePairs& to, std::uint32_t before, std::uint32_t after) {
    for (std::uint32_t b = 0; b < graph.tasks[after].blocks; ++b) {
      to.emplace_back(first_of[before + 1] - 1, first_of[after] + b);
    }
  };
  for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
    for (const std::uint32_t s : graph.successors_of(t)) add_edges(edges, t, s);
  }
  NodePairs from_previous;
  for (const auto& [before, after] : carried) add_edges(from_previous, before, after);
  g.connect(edges, from_previous);
  return g;
}

/// Fuses each node with its only predecessor if it is that node's only successor, up to nodes of `most_cost`
/// nanoseconds.
[[nodiscard]] inline NodeGraph fuse_chains(const NodeGraph& g,
                                           double most_cost = std::numeric_limits<double>::infinity()) {
  constexpr std::uint32_t none = 0xFFFF'FFFF;
  NodeGraph fused;
  fused.calls.reserve(g.calls.size());
  std::vector<std::uint32_t> head(g.nodes.size(), none);  // node -> fused node
  const auto continues = [&](std::uint32_t n) {
    return g.predecessors[n].size() == 1 && g.successors[g.predecessors[n][0]].size() == 1;
  };
  for (std::uint32_t n = 0; n < g.nodes.size(); ++n) {
    if (head[n] != none) continue;
    const auto id = static_cast<std::uint32_t>(fused.nodes.size());
    NodeGraph::Node node{static_cast<std::uint32_t>(fused.calls.size())};
    for (std::uint32_t m = n;; m = g.successors[m][0]) {
      head[m] = id;
      node.cost += g.nodes[m].cost;
      node.call_count += g.nodes[m].call_count;
      for (std::uint32_t c = 0; c < g.nodes[m].call_count; ++c)
        fused.calls.push_back(g.calls[g.nodes[m].first_call + c]);
      if (g.successors[m].size() != 1 || !continues(g.successors[m][0])) break;
      if (node.cost + g.nodes[g.successors[m][0]].cost > most_cost) break;
    }
    fused.nodes.push_back(node);
  }
  NodePairs edges;
  NodePairs from_previous;
  const auto add = [&](NodePairs& to, std::uint32_t before, std::uint32_t after) {
    if (head[before] != head[after]) to.emplace_back(head[before], head[after]);
  };
  for (std::uint32_t n = 0; n < g.nodes.size(); ++n) {
    for (const std::uint32_t p : g.predecessors[n]) add(edges, p, n);
    for (const std::uint32_t p : g.carried[n]) add(from_previous, p, n);
  }
  fused.connect(edges, from_previous);
  return fused;
}

/// The nodes of each thread, in order.
struct Schedule {
  std::vector<std::vector<std::uint32_t>> order;  ///< for each thread its nodes
  std::vector<double> start;                      ///< of each node, expected, in nanoseconds from the round's start
  std::vector<double> end;
  double makespan = 0;  ///< expected, in nanoseconds
};

/// List scheduling: of the nodes that can run, the one with the longest path to the end is placed first, on the thread
/// that can start it earliest. O(nodes · (log nodes + threads) + edges).
[[nodiscard]] inline Schedule schedule_on(const NodeGraph& g, std::size_t threads, const ReplayCosts& costs) {
  const std::size_t n = g.nodes.size();
  // Each node must take some time: batches rely on it (see Replay).
  const double per_node = std::max(1.0, costs.per_node);
  std::vector<double> to_end(n);
  for (std::size_t i = n; i-- > 0;) {
    for (const std::uint32_t s : g.successors[i]) to_end[i] = std::max(to_end[i], to_end[s]);
    to_end[i] += g.nodes[i].cost + per_node;
  }

  Schedule result;
  result.order.resize(threads);
  result.start.resize(n);
  result.end.resize(n);
  std::vector<double> free_at(threads, costs.per_round);
  std::vector<double>& done_at = result.end;
  std::vector<std::uint32_t> runs_on(n);
  // Nodes become candidates when their last predecessor is placed; the longest path to the end wins, then the lower
  // number, so that the schedule is the same on every machine.
  const auto later = [&](std::uint32_t a, std::uint32_t b) {
    return to_end[a] != to_end[b] ? to_end[a] < to_end[b] : a > b;
  };
  // A node whose data has not arrived must not be placed before nodes that could run meanwhile: candidates are sorted
  // by the time at which they may start, and become ready when the clock of the earliest thread reaches it.
  using Arrival = std::pair<double, std::uint32_t>;  // the time and the node
  const auto arrives_later = [](const Arrival& a, const Arrival& b) { return a > b; };
  // Heaps with the next node on top. <queue> is not used: it has 3,400 preprocessed lines.
  std::vector<Arrival> arriving;
  std::vector<std::uint32_t> ready;
  const auto arrive = [&](double time, std::uint32_t node) {
    arriving.emplace_back(time, node);
    std::push_heap(arriving.begin(), arriving.end(), arrives_later);
  };
  std::vector<std::size_t> waiting(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    waiting[i] = g.predecessors[i].size();
    if (waiting[i] == 0) arrive(0, i);
  }
  for (std::size_t placed = 0; placed < n; ++placed) {
    const double now = *std::min_element(free_at.begin(), free_at.end());
    while (!arriving.empty() && (ready.empty() || arriving.front().first <= now)) {
      ready.push_back(arriving.front().second);
      std::push_heap(ready.begin(), ready.end(), later);
      std::pop_heap(arriving.begin(), arriving.end(), arrives_later);
      arriving.pop_back();
    }
    const std::uint32_t node = ready.front();
    std::pop_heap(ready.begin(), ready.end(), later);
    ready.pop_back();
    std::size_t best = 0;
    double best_start = 0;
    for (std::size_t t = 0; t < threads; ++t) {
      double start = free_at[t];
      for (const std::uint32_t p : g.predecessors[node]) {
        start = std::max(start, done_at[p] + (runs_on[p] == t ? 0 : costs.across_threads));
      }
      if (t == 0 || start < best_start) {
        best = t;
        best_start = start;
      }
    }
    runs_on[node] = static_cast<std::uint32_t>(best);
    result.start[node] = best_start;
    done_at[node] = best_start + g.nodes[node].cost + per_node;
    free_at[best] = done_at[node];
    result.order[best].push_back(node);
    result.makespan = std::max(result.makespan, done_at[node]);
    for (const std::uint32_t s : g.successors[node]) {
      if (--waiting[s] != 0) continue;
      double earliest = done_at[g.predecessors[s][0]];
      for (const std::uint32_t p : g.predecessors[s]) earliest = std::max(earliest, done_at[p]);
      arrive(earliest, s);
    }
  }
  return result;
}

/// The ends of consecutive rounds with this schedule, in nanoseconds from the start of the first, if its nodes cost
/// what `g` says and up to `depth` rounds are in flight. O(nodes · log nodes + rounds · (nodes + edges)).
[[nodiscard]] inline std::vector<double> ends_of(const NodeGraph& g, const Schedule& schedule, std::size_t rounds,
                                                 std::size_t depth, const ReplayCosts& costs) {
  const double per_node = std::max(1.0, costs.per_node);
  std::vector<std::uint32_t> order;
  std::vector<std::size_t> thread(g.nodes.size());
  for (std::size_t t = 0; t < schedule.order.size(); ++t) {
    for (const std::uint32_t node : schedule.order[t]) thread[node] = t;
    order.insert(order.end(), schedule.order[t].begin(), schedule.order[t].end());
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return schedule.start[a] != schedule.start[b] ? schedule.start[a] < schedule.start[b] : a < b;
  });
  std::vector<double> free_at(schedule.order.size());
  std::vector<double> before(g.nodes.size());  // when each node was done in the previous round
  std::vector<double> done(g.nodes.size());
  std::vector<double> ends(rounds);
  for (std::size_t round = 0; round < rounds; ++round) {
    const double begin = costs.per_round + (round < depth ? 0 : ends[round - depth]);
    for (const std::uint32_t node : order) {
      const auto seen = [&](std::uint32_t other, double at) {
        return at + (thread[other] == thread[node] ? 0 : costs.across_threads);
      };
      double start = std::max(begin, free_at[thread[node]]);
      for (const std::uint32_t p : g.predecessors[node]) start = std::max(start, seen(p, done[p]));
      for (const std::uint32_t p : g.carried[node]) start = std::max(start, seen(p, before[p]));
      done[node] = free_at[thread[node]] = start + g.nodes[node].cost + per_node;
      ends[round] = std::max(ends[round], done[node]);
    }
    std::swap(before, done);
  }
  return ends;
}

/// The number of threads to try after this one: each number up to 8, then steps of a quarter, and always `most`.
[[nodiscard]] constexpr std::size_t next_thread_count(std::size_t threads, std::size_t most) noexcept {
  if (threads == most) return most + 1;
  return std::min(most, threads < 8 ? threads + 1 : threads + threads / 4);
}

/// The best schedule on 1 to `most` threads. One thread costs only the tasks; more threads must gain at least a
/// twentieth over that, since they take cores from other programs.
[[nodiscard]] inline Schedule best_schedule(const NodeGraph& g, std::size_t most, const ReplayCosts& costs) {
  Schedule best;
  best.order.resize(1);
  best.makespan = g.cost();
  for (std::uint32_t n = 0; n < g.nodes.size(); ++n) best.order[0].push_back(n);
  for (std::size_t threads = 2; threads <= most; threads = next_thread_count(threads, most)) {
    Schedule candidate = schedule_on(g, threads, costs);
    if (candidate.makespan < 0.95 * best.makespan) best = std::move(candidate);
  }
  return best;
}

/// The decisions of a search for a plan. With the costs of the calls, it determines the plan.
struct PlanChoice {
  double most_cost = std::numeric_limits<double>::infinity();  ///< of a node of fused calls, in nanoseconds
  std::uint32_t threads = 1;
  std::uint32_t in_stages = 0;  ///< 1: by stages_on(), 0: by schedule_on()
};

/// A graph cut into nodes, and their schedule.
struct Plan {
  PlanChoice choice;
  NodeGraph nodes;
  Schedule schedule;
};

/// The best schedule of calls on 1 to `most` threads. Chains are whole nodes, or cut if that helps: on two threads, one
/// of three chains has to change threads half-way.
[[nodiscard]] inline Plan plan_round(const NodeGraph& calls, std::size_t most, const ReplayCosts& costs) {
  const auto best_of = [&](double most_cost) {
    Plan plan{{most_cost}, fuse_chains(calls, most_cost), {}};
    plan.schedule = best_schedule(plan.nodes, most, costs);
    plan.choice.threads = static_cast<std::uint32_t>(plan.schedule.order.size());
    return plan;
  };
  Plan whole = best_of(PlanChoice{}.most_cost);
  double longest = 0;
  for (const NodeGraph::Node& node : whole.nodes.nodes) longest = std::max(longest, node.cost);
  const double most_cost = calls.cost() / static_cast<double>(most) / 64;
  if (most < 2 || longest <= most_cost) return whole;
  Plan cut = best_of(most_cost);
  return cut.schedule.makespan < 0.98 * whole.schedule.makespan ? cut : whole;
}

}  // namespace rondo::platform::sim
