// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/graph/lanes.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

/// Predicts the time of a round whose tasks are dealt to lanes.
namespace rondo::graph {

/// A task in a predicted round: its start and end in nanoseconds since the start of the round, and the cores that its
/// blocks use in turn, numbered from 0 for each type.
struct LaneRun {
  std::uint32_t task = 0;
  double start = 0;
  double end = 0;
  std::span<const std::uint32_t> cores{};
};

namespace detail {

[[nodiscard]] inline std::uint32_t cores_of(const arch::Chip& chip, CoreType type) noexcept {
  return std::max(1U, chip.cores(type));
}
/// The number of cores that a task uses at the same time.
[[nodiscard]] inline std::uint32_t needed_cores(const GraphView& graph, const arch::Chip& chip, std::uint32_t task) {
  return std::min(graph.tasks[task].blocks, cores_of(chip, graph.tasks[task].core));
}

}  // namespace detail

/// The time of a block in nanoseconds: the cost that its kernel states for these argument words, or else the chip's
/// minimum plus the time for its bytes at its core's share of the bandwidth. @throws Error invalid_argument if the
/// kernel states a cost that is negative or not a number
[[nodiscard]] inline double block_cost(const GraphView& graph, const TaskRecord& task, const arch::Chip& chip,
                                       const ArgWord* words) {
  if (task.cost == nullptr) {
    double bytes = 0;
    for (const ArgRecord& arg : graph.args_of(task)) {
      if (arg.is_address()) bytes += static_cast<double>(graph.tensors[arg.tensor].bytes);
    }
    return chip.costs.task_floor_ns + bytes / task.blocks * detail::cores_of(chip, task.core) / chip.costs.memory_gbps;
  }
  const double cost = task.cost(words);
  if (cost >= 0 && cost < 1e18) return cost;
  throw Error(Errc::invalid_argument, Error::Text{"task ", task.added_as, " '", graph.name(task.name),
                                                  "' states a cost that is negative or no number of nanoseconds; "
                                                  "correct its cost()"});
}

/// Simulates a round on lanes that share the chip's cores. A task starts when its lane is free, the tasks that it waits
/// for are done, and as many cores are free as it needs. `ns` is the time of each task, by position. Each wait costs
/// the chip's stream_wait_ns. Calls `visit(const LaneRun&)` for each task except the fill, in the order of the lanes.
/// Returns the time of the round in nanoseconds. Cost: O(tasks + waits + blocks · log cores); allocates. @throws
/// std::bad_alloc
template <class Visit>
[[nodiscard]] double play_lanes(const GraphView& graph, const Lanes& lanes, const arch::Chip& chip,
                                std::span<const double> ns, const Visit& visit) {
  using Core = std::pair<double, std::uint32_t>;  // the time when it becomes free, and its number
  const auto is_later = [](const Core& a, const Core& b) { return a > b; };
  const double wait_ns = std::max(0.0, chip.costs.stream_wait_ns);
  std::vector<double> lane_at(lanes.count, 0.0);
  std::vector<double> ended(graph.tasks.size(), 0.0);
  std::vector<Core> free_at[core_type_count];  // heaps
  for (std::size_t type = 0; type < core_type_count; ++type) {
    const std::uint32_t count = detail::cores_of(chip, static_cast<CoreType>(type));
    for (std::uint32_t core = 0; core < count; ++core) free_at[type].emplace_back(0.0, core);
  }
  std::vector<std::uint32_t> cores;
  std::size_t w = 0;
  for (const std::uint32_t task : lanes.order) {
    if (lanes.lane_of[task] == Lanes::none) continue;
    double& lane = lane_at[lanes.lane_of[task]];
    for (; w < lanes.waits.size() && lanes.waits[w].task == task; ++w) {
      const std::uint32_t after = lanes.waits[w].after;
      lane = std::max(lane, after == Lanes::none ? 0.0 : ended[after]) + wait_ns;
    }
    std::vector<Core>& heap = free_at[static_cast<std::size_t>(graph.tasks[task].core)];
    const auto needed = static_cast<std::ptrdiff_t>(detail::needed_cores(graph, chip, task));
    cores.clear();
    for (std::ptrdiff_t c = 0; c < needed; ++c) {
      std::pop_heap(heap.begin(), heap.end() - c, is_later);
      const Core& core = *(heap.end() - c - 1);
      lane = std::max(lane, core.first);
      cores.push_back(core.second);
    }
    const double start = lane;
    ended[task] = lane += ns[task];
    for (std::ptrdiff_t c = needed; c-- > 0;) {
      (heap.end() - c - 1)->first = lane;
      std::push_heap(heap.begin(), heap.end() - c, is_later);
    }
    visit(LaneRun{task, start, lane, cores});
  }
  for (const Lanes::Join& join : lanes.joins) {
    lane_at[join.lane] = std::max(lane_at[join.lane], lane_at[join.joined]) + wait_ns;
  }
  return lane_at[0];
}

}  // namespace rondo::graph
