// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::graph {

/// How the tasks of a frozen graph are dealt to lanes, such as the streams of a device. Lanes run at the same time; the
/// tasks of one lane run one after the other. What else has to come before a task is a wait for a task of another lane.
/// A plain value that knows tasks by their positions in the graph; deal_lanes() makes one.
///
/// Lane 0 is the one that a round begins and ends on: every other lane starts by waiting for its start or for a task,
/// and every other lane's last task is waited for.
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

  std::uint32_t count = 1;               ///< of lanes; if there is only one, everything below is empty
  std::vector<std::uint32_t> order{};    ///< the tasks in an order that edges, lanes and waits allow
  std::vector<std::uint32_t> lane_of{};  ///< by task; none: the fill, which comes before all lanes
  std::vector<Wait> waits{};             ///< in the order of their tasks; none of them follows from the others
  std::vector<Join> joins{};             ///< in the order in which they are made
  double one_lane_ns = 0;                ///< what a round would take on one lane, as far as costs tell
  double predicted_ns = 0;               ///< what it takes on these lanes

  std::vector<std::uint32_t> place{};  ///< by task: how many tasks of its lane come before it
  std::vector<std::uint32_t>
      known{};  ///< by task and lane: how many tasks of the lane come before it on every schedule

  /// Does the one task end before the other starts, on every schedule?
  [[nodiscard]] constexpr bool precedes(std::size_t before, std::size_t after) const noexcept {
    if (lane_of[after] == none) return false;
    if (lane_of[before] == none) return true;
    return place[before] < known[after * count + lane_of[before]];
  }
};

}  // namespace rondo::graph
