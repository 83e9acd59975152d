// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/records.hpp>
#include <rondo/platform/sim/schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

/// Schedules for overlapping rounds: a thread that is done with its part of a round continues with the next round.
namespace rondo::platform::sim {

/// Returns pairs of tasks: the second task of a pair must run after the first task in the previous round, because one
/// of them writes memory that both use and that all rounds share: residents, kept workspace, and workspace that is
/// zeroed once. All other tensors have their own memory in each slot. The edges within a round, and the order of a
/// block after itself, imply all further orders.
[[nodiscard]] inline std::vector<std::pair<std::uint32_t, std::uint32_t>> find_carried(const graph::GraphView& graph) {
  struct User {
    std::uint32_t task;
    bool writes;
  };
  std::vector<std::vector<User>> users(graph.tensors.size());
  for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
    for (const graph::ArgRecord& arg : graph.args_of(graph.tasks[t])) {
      if (!arg.is_address()) continue;
      const std::uint32_t root = graph::root_of(graph.tensors, arg.tensor);
      if (!graph.tensors[root].is_shared_by_rounds()) continue;
      std::vector<User>& list = users[root];
      if (list.empty() || list.back().task != t) list.push_back({t, false});
      list.back().writes = list.back().writes || writes(arg.access);
    }
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> carried;
  const auto is_writer = [](const User& user) { return user.writes; };
  for (const std::vector<User>& list : users) {
    const auto first_writer = std::find_if(list.begin(), list.end(), is_writer);
    if (first_writer == list.end()) continue;
    const auto last_writer = std::find_if(list.rbegin(), list.rend(), is_writer).base() - 1;
    // Within a round, edges order each writer and every other user. So between rounds it is enough to order those that
    // begin, up to the first writer, after those that end, from the last writer on.
    for (auto before = last_writer; before != list.end(); ++before) {
      for (auto after = list.begin(); after <= first_writer; ++after) {
        // A block always comes after itself in the previous round, but not after the other blocks of its task.
        if (before->task == after->task && graph.tasks[after->task].blocks == 1) continue;
        if (before->writes || after->writes) carried.emplace_back(before->task, after->task);
      }
    }
  }
  return carried;
}

/// Divides the nodes, in order, into one stage for each thread, of equal costs: while a thread runs its stage of one
/// round, the previous thread runs its own stage of the next round. Whatever the edges within a round, this keeps all
/// threads busy as long as enough rounds are in flight.
[[nodiscard]] inline Schedule stages_on(const NodeGraph& g, std::size_t threads, const ReplayCosts& costs) {
  const double per_node = std::max(1.0, costs.per_node);
  double total = 0;
  for (const NodeGraph::Node& node : g.nodes) total += node.cost + per_node;
  Schedule stages;
  stages.order.resize(threads);
  double at = 0;
  for (std::uint32_t n = 0; n < g.nodes.size(); ++n) {
    const double cost = g.nodes[n].cost + per_node;
    const auto stage = static_cast<std::size_t>((at + cost / 2) / total * static_cast<double>(threads));
    stages.order[std::min(stage, threads - 1)].push_back(n);
    stages.start.push_back(at);
    stages.end.push_back(at += cost);
  }
  stages.makespan = at;
  return stages;
}

/// The time from the end of one round to the end of the next, in nanoseconds, when `depth` rounds are always in flight.
/// O(depth · (nodes · log nodes + edges)).
[[nodiscard]] inline double period_of(const NodeGraph& g, const Schedule& schedule, std::size_t depth,
                                      const ReplayCosts& costs) {
  const double per_node = std::max(1.0, costs.per_node);
  std::vector<std::uint32_t> order(g.nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return schedule.start[a] != schedule.start[b] ? schedule.start[a] < schedule.start[b] : a < b;
  });
  std::vector<std::size_t> thread(g.nodes.size());
  for (std::size_t t = 0; t < schedule.order.size(); ++t) {
    for (const std::uint32_t node : schedule.order[t]) thread[node] = t;
  }
  const std::size_t measured = 4 * depth;  // rounds may end in bursts of `depth`
  const std::size_t rounds = measured + 2 * depth + 6;
  std::vector<double> free_at(schedule.order.size());
  std::vector<double> before(g.nodes.size());  // when each node was done in the previous round
  std::vector<double> done(g.nodes.size());
  std::vector<double> ends(rounds);
  for (std::size_t round = 0; round < rounds; ++round) {
    const double begin = round < depth ? 0 : ends[round - depth] + costs.per_round;
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
  return (ends[rounds - 1] - ends[rounds - 1 - measured]) / static_cast<double>(measured);
}

/// Returns the schedule on up to `most` threads with the shortest period, or none if one thread is as fast. It compares
/// stages with schedules for a single round, in which each thread continues with the next round.
[[nodiscard]] inline std::optional<Plan> plan_overlap(const NodeGraph& calls, std::size_t most, std::size_t depth,
                                                      const ReplayCosts& costs) {
  double alone = 0;
  for (const NodeGraph::Node& node : calls.nodes) alone += node.cost;
  double best = 0.95 * alone;
  std::optional<Plan> plan;
  for (std::size_t threads = 2; threads <= most;) {
    // Small enough to be distributed evenly, large enough that the overhead per node does not matter.
    const NodeGraph nodes = fuse_chains(calls, alone / static_cast<double>(threads) / 128);
    for (Schedule schedule : {stages_on(nodes, threads, costs), schedule_on(nodes, threads, costs)}) {
      // Stages are preferred, since their threads seldom wait for each other, and so are fewer threads.
      const double period = period_of(nodes, schedule, depth, costs);
      if (period >= best) continue;
      best = 0.98 * period;
      plan = Plan{nodes, std::move(schedule)};
    }
    if (threads == most) break;
    threads = std::min(most, threads < 8 ? threads + 1 : threads + threads / 4);
  }
  return plan;
}

}  // namespace rondo::platform::sim
