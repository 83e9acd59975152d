// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/detail/compiled.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/graph/lanes.hpp>
#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Set-up only: deals the tasks of a frozen graph to lanes that run concurrently.
namespace rondo::graph {

/// The rules for dealing a graph's tasks to lanes.
struct LaneRules {
  /// The chip whose cores the lanes share, and whose costs apply.
  arch::Chip chip{};
  /// The number of lanes, at most `most_lanes` and one per task, with any costs; 0: as many as shorten a round.
  std::uint32_t lanes = 0;
  /// The most lanes.
  std::uint32_t most_lanes = 64;
  /// The time of each task in nanoseconds, by TaskId. A figure that is missing or not positive is estimated.
  std::span<const double> task_ns{};
};

/// Graphs with more tasks are not dealt to lanes, because planning their memory would take too long.
inline constexpr std::size_t most_dealt_tasks = 16'384;

/// The time of each task in nanoseconds, by position: from the rules; otherwise from the cost that its kernel states
/// for a block; otherwise the chip's minimum plus the time for its bytes at its cores' share of the bandwidth. @throws
/// Error invalid_argument if a kernel states a cost that is negative or not a number
[[nodiscard]] RONDO_INLINE std::vector<double> task_costs(const GraphView& graph, const LaneRules& rules);

/// Distributes the tasks by list scheduling. Among ready tasks, the first in the graph's order starts first, or, if
/// that is faster by more than 2 %, the one with the longest path to the end. It prefers a lane whose last task is one
/// of its predecessors. Tries 2, 4, 8, … lanes up to the number of cores, and uses more if that shortens the predicted
/// round by more than 2 %; uses one lane if none of these numbers saves a tenth, and for a graph with loops. Cost:
/// O((tasks + edges) · (log tasks + lanes)) for each number of lanes.
/// @throws Error as task_costs() does
[[nodiscard]] RONDO_INLINE Lanes deal_lanes(const GraphView& graph, const LaneRules& rules);

}  // namespace rondo::graph

namespace rondo {

/// Returns the graph with its tasks dealt to lanes (view().lanes). @throws Error as task_costs() does
[[nodiscard]] RONDO_INLINE FrozenGraph deal(FrozenGraph graph, const graph::LaneRules& rules);

}  // namespace rondo

#if RONDO_HAS_BODIES
#include <rondo/graph/deal_impl.hpp>  // IWYU pragma: export
#endif
