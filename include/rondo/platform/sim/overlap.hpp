// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/records.hpp>
#include <rondo/platform/sim/schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

/// Schedules for overlapping rounds: a thread that is done with its part of a round continues with the next round.
namespace rondo::platform::sim {

/// Whether there is a schedule for rounds that overlap: not searched for yet, found, or not worthwhile.
enum class OverlapPlan : std::uint8_t { unknown, planned, declined };

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
  const double total = g.cost() + per_node * static_cast<double>(g.nodes.size());
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

/// Makes the plan that was chosen for calls of these costs.
[[nodiscard]] inline Plan make_plan(const NodeGraph& calls, const PlanChoice& choice, const ReplayCosts& costs) {
  Plan plan{choice, fuse_chains(calls, choice.most_cost), {}};
  plan.schedule = choice.in_stages != 0 ? stages_on(plan.nodes, choice.threads, costs)
                                        : schedule_on(plan.nodes, choice.threads, costs);
  return plan;
}

/// The time from the end of one round to the end of the next, in nanoseconds, when `depth` rounds are always in flight.
[[nodiscard]] inline double period_of(const NodeGraph& g, const Schedule& schedule, std::size_t depth,
                                      const ReplayCosts& costs) {
  const std::size_t measured = 4 * depth;  // rounds may end in bursts of `depth`
  const std::vector<double> ends = ends_of(g, schedule, measured + 2 * depth + 6, depth, costs);
  return (ends.back() - ends[ends.size() - 1 - measured]) / static_cast<double>(measured);
}

/// Returns the schedule on up to `most` threads with the shortest period, or none if one thread is as fast. It compares
/// stages with schedules for a single round, in which each thread continues with the next round.
[[nodiscard]] inline std::optional<Plan> plan_overlap(const NodeGraph& calls, std::size_t most, std::size_t depth,
                                                      const ReplayCosts& costs) {
  const double alone = calls.cost();
  double best = 0.95 * alone;
  std::optional<Plan> plan;
  for (std::size_t threads = 2; threads <= most; threads = next_thread_count(threads, most)) {
    // Small enough to be distributed evenly, large enough that the overhead per node does not matter.
    const double most_cost = alone / static_cast<double>(threads) / 128;
    for (const std::uint32_t in_stages : {1U, 0U}) {
      Plan candidate = make_plan(calls, {most_cost, static_cast<std::uint32_t>(threads), in_stages}, costs);
      // Stages are preferred, since their threads seldom wait for each other, and so are fewer threads.
      const double period = period_of(candidate.nodes, candidate.schedule, depth, costs);
      if (period >= best) continue;
      best = 0.98 * period;
      plan = std::move(candidate);
    }
  }
  return plan;
}

}  // namespace rondo::platform::sim
