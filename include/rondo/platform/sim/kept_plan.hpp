// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/bytes.hpp>
#include <rondo/platform/sim/schedule.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

/// Schedules as bytes, so that they need not be searched for again. The edges follow from the graph; what is written is
/// how chains are cut, and the distribution over threads.
namespace rondo::platform::sim {

/// Whether there is a schedule for rounds that overlap: not searched for yet, found, or not worthwhile.
enum class OverlapPlan : std::uint8_t { unknown, planned, declined };

/// The state of a PoolProgram, as bytes; the first three are 0 or 1.
struct KeptFlags {
  std::uint8_t is_settled = 0;
  std::uint8_t is_forced_alone = 0;
  std::uint8_t is_spread = 0;  ///< over several threads, by a plan that follows
  OverlapPlan overlap = OverlapPlan::unknown;
};

inline void write_plan(rondo::detail::ByteWriter& to, const Plan& plan) {
  to.put(std::uint64_t{plan.nodes.nodes.size()});
  for (const NodeGraph::Node& node : plan.nodes.nodes) to.put(node.parts);
  to.put(plan.schedule.makespan);
  to.put_all(plan.schedule.start);
  to.put_all(plan.schedule.end);
  to.put(std::uint64_t{plan.schedule.order.size()});
  for (const std::vector<std::uint32_t>& thread : plan.schedule.order) to.put_all(thread);
}

/// Whether each node is on one thread, after the node before it and after all of its predecessors, so that no two
/// threads wait for each other. Linear.
[[nodiscard]] inline bool is_valid(const NodeGraph& graph, const Schedule& schedule) {
  const std::size_t n = graph.nodes.size();
  if (schedule.start.size() != n || schedule.end.size() != n || !std::isfinite(schedule.makespan)) return false;
  std::size_t placed = 0;
  std::vector<char> is_placed(n);
  for (const std::vector<std::uint32_t>& thread : schedule.order) {
    double free_at = 0;
    for (const std::uint32_t node : thread) {
      if (node >= n || is_placed[node] != 0) return false;
      is_placed[node] = 1;
      ++placed;
      const double start = schedule.start[node];
      const double end = schedule.end[node];
      if (!(start >= free_at && end > start && end <= std::numeric_limits<double>::max())) return false;
      for (const std::uint32_t p : graph.predecessors[node]) {
        if (!(start >= schedule.end[p])) return false;
      }
      free_at = end;
    }
  }
  return placed == n;
}

/// Reads a plan for 2 to `most` threads. `calls`: the nodes for which it was made. Returns none if it does not fit.
[[nodiscard]] inline std::optional<Plan> read_plan(rondo::detail::ByteReader& from, const NodeGraph& calls,
                                                   std::size_t most) {
  Plan plan;
  const auto parts = from.get_all<std::uint32_t>();
  plan.schedule.makespan = from.get<double>();
  plan.schedule.start = from.get_all<double>();
  plan.schedule.end = from.get_all<double>();
  const auto threads = from.get<std::uint64_t>();
  if (!from.ok() || threads < 2 || threads > most) return std::nullopt;
  for (std::uint64_t t = 0; t < threads; ++t) plan.schedule.order.push_back(from.get_all<std::uint32_t>());
  if (!from.ok()) return std::nullopt;
  plan.nodes = fuse_chains_if(calls, [&](std::uint32_t node, const NodeGraph::Node& chain, const NodeGraph::Node&) {
    return node < parts.size() && chain.parts < parts[node];
  });
  if (!std::equal(parts.begin(), parts.end(), plan.nodes.nodes.begin(), plan.nodes.nodes.end(),
                  [](std::uint32_t expected, const NodeGraph::Node& node) { return expected == node.parts; })) {
    return std::nullopt;
  }
  if (!is_valid(plan.nodes, plan.schedule)) return std::nullopt;
  return plan;
}

}  // namespace rondo::platform::sim
