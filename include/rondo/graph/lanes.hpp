// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::graph {

/// The distribution of a frozen graph's tasks over lanes, such as the streams of a device. Lanes run concurrently; the
/// tasks of one lane run one after another. All other orders are waits for a task of another lane. A plain value that
/// identifies tasks by their positions in the graph; made by deal_lanes().
///
/// A round begins and ends on lane 0. Every other lane starts by waiting for the start of lane 0 or for a task, and the
/// round waits for the last task of every lane.
struct Lanes {
  static constexpr std::uint32_t none = 0xFFFF'FFFF;

  /// Before `task` starts, its lane waits until `after` is done.
  struct Wait {
    std::uint32_t task = 0;
    std::uint32_t after = none;  ///< a task of another lane; none: the start of lane 0
  };
  /// After its last task, `lane` waits for the end of `joined`.
  struct Join {
    std::uint32_t lane = 0;
    std::uint32_t joined = 0;
  };

  std::uint32_t count = 1;               ///< number of lanes; if there is only one, all members below are empty
  std::vector<std::uint32_t> order{};    ///< the tasks in an order that edges, lanes and waits allow
  std::vector<std::uint32_t> lane_of{};  ///< by task; none: the fill, which comes before all lanes
  std::vector<Wait> waits{};             ///< in the order of their tasks; none is implied by the others
  std::vector<Join> joins{};             ///< in the order in which they take place
  double predicted_ns = 0;               ///< predicted time of a round on these lanes

  std::vector<std::uint32_t> place{};  ///< by task: the number of tasks before it in its lane
  std::vector<std::uint32_t>
      known{};  ///< by task and lane: the number of tasks of the lane that come before it on every schedule

  /// Whether one task ends before the other starts, on every schedule.
  [[nodiscard]] constexpr bool precedes(std::size_t before, std::size_t after) const noexcept {
    if (lane_of[after] == none) return false;
    if (lane_of[before] == none) return true;
    return place[before] < known[after * count + lane_of[before]];
  }
};

}  // namespace rondo::graph
