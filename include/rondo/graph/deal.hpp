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

/// Set-up only: deals the tasks of a frozen graph to lanes that run at the same time.
namespace rondo::graph {

/// By what a graph is dealt to lanes.
struct LaneRules {
  /// The chip whose cores the lanes share, and whose costs count.
  arch::Chip chip{};
  /// 0: as many as make a round shorter; 1: one; more: so many, whatever the costs.
  std::uint32_t lanes = 0;
  /// There are never more.
  std::uint32_t most_lanes = 64;
  /// What each task takes, in nanoseconds, by TaskId; where a figure is missing or not positive, an estimate counts.
  std::span<const double> task_ns{};
};

/// A graph of more tasks is not dealt: the plan of its memory would take too long.
inline constexpr std::size_t most_dealt_tasks = 16'384;

/// What each task takes, in nanoseconds, by position: what the rules say, else what its kernel states for a block, else
/// the chip's floor and the bytes that it touches at its cores' share of the bandwidth.
/// @throws Error invalid_argument if a kernel states a cost that is negative or no number
[[nodiscard]] RONDO_INLINE std::vector<double> task_costs(const GraphView& graph, const LaneRules& rules);

/// Deals the tasks by list scheduling: of the tasks that may start, the one that the graph has first goes first, or, if
/// that is faster by more than 2 %, the one with the longest way to the end; it takes a lane whose last task it waits
/// for anyway, where there is one. Of 2, 4, 8, … lanes up to the number of cores, more are taken where that shortens
/// the predicted round by more than 2 %; and one, where all of them do not by a tenth. Cost: O((tasks + edges) · (log
/// tasks + lanes)) for each number of lanes.
/// @throws Error what task_costs() throws
[[nodiscard]] RONDO_INLINE Lanes deal_lanes(const GraphView& graph, const LaneRules& rules);

}  // namespace rondo::graph

namespace rondo {

/// The same graph with its tasks dealt to lanes; its view says how. @throws Error what task_costs() throws
[[nodiscard]] RONDO_INLINE FrozenGraph deal(FrozenGraph graph, const graph::LaneRules& rules);

}  // namespace rondo

#if RONDO_HAS_BODIES
#include <rondo/graph/deal_impl.hpp>  // IWYU pragma: export
#endif
