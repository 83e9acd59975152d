// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/lanes.hpp>
#include <rondo/graph/records.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rondo::memory::detail {

/// Divides the tasks of a frozen graph into lanes, such that each task comes after those before it in its lane on every
/// schedule: the lanes state the order that edges imply, and no more. A task without successors is in no lane, as it
/// comes before no other: its place is Lanes::none. No lanes if they would take more than 128 MiB, as for a large graph
/// that is wide. Cost: 4 bytes for each task and lane; edges · lanes steps.
[[nodiscard]] constexpr graph::Lanes find_chains(const graph::GraphView& graph) {
  constexpr std::size_t most = std::size_t{32} << 20;
  const std::size_t tasks = graph.tasks.size();
  graph::Lanes chains;
  chains.count = 0;
  std::size_t width = 16;  // the number of lanes that `known` has room for
  if (tasks > most / width) return chains;
  chains.known = std::vector<std::uint32_t>(tasks * width, 0U);
  std::vector<std::uint32_t> last;  // of each lane
  for (std::uint32_t p = 0; p < tasks; ++p) {
    chains.order.push_back(p);
    chains.lane_of.push_back(0);
    chains.place.push_back(graph::Lanes::none);
    if (graph.successors_of(p).empty()) continue;
    // The lane that ended last, of those whose tasks all come before this one.
    std::uint32_t lane = chains.count;
    for (std::uint32_t l = 0; l < chains.count; ++l) {
      const bool is_free = chains.known[p * width + l] == chains.place[last[l]] + 1;
      if (is_free && (lane == chains.count || last[l] > last[lane])) lane = l;
    }
    if (lane == width) {
      const std::size_t more = std::min(2 * width, most / tasks);
      if (more == width) return graph::Lanes{.count = 0};
      std::vector<std::uint32_t> wider(tasks * more, 0U);
      for (std::size_t i = 0; i < chains.known.size(); ++i) wider[i / width * more + i % width] = chains.known[i];
      chains.known = std::move(wider);
      width = more;
    }
    const bool is_new = lane == chains.count;
    if (is_new) ++chains.count, last.push_back(p);
    chains.lane_of[p] = lane;
    chains.place[p] = is_new ? 0 : chains.place[last[lane]] + 1;
    last[lane] = p;
    const std::uint32_t* const before = &chains.known[p * width];
    for (const std::uint32_t s : graph.successors_of(p)) {
      std::uint32_t* const known = &chains.known[s * width];
      for (std::uint32_t l = 0; l < chains.count; ++l) known[l] = std::max(known[l], before[l]);
      known[lane] = std::max(known[lane], chains.place[p] + 1);
    }
  }
  chains.count = std::max(chains.count, 1U);
  for (std::size_t i = 0; i < tasks * chains.count; ++i) {
    chains.known[i] = chains.known[i / chains.count * width + i % chains.count];
  }
  chains.known.resize(tasks * chains.count);
  return chains;
}

/// The known part of the order of a graph's tasks: all of it if they run one after the other, otherwise the part that
/// lanes imply.
struct Certainty {
  const graph::Lanes* lanes = nullptr;  ///< null: the tasks run one after the other

  /// The task at a position, counted from 0, in the planning order: the order of the graph, or of its lanes.
  [[nodiscard]] constexpr std::uint32_t task_at(std::size_t turn) const noexcept {
    return lanes == nullptr ? static_cast<std::uint32_t>(turn) : lanes->order[turn];
  }
  /// Whether one task ends before the other starts on every schedule. `before` must come first in the planning order.
  [[nodiscard]] constexpr bool precedes(std::size_t before, std::size_t after) const noexcept {
    return lanes == nullptr || lanes->precedes(before, after);
  }
  [[nodiscard]] constexpr bool all_precede(const std::vector<std::uint32_t>& before,
                                           const std::vector<std::uint32_t>& after) const noexcept {
    if (lanes == nullptr) return true;
    for (const std::uint32_t b : before) {
      for (const std::uint32_t a : after) {
        if (!precedes(b, a)) return false;
      }
    }
    return true;
  }
};

}  // namespace rondo::memory::detail
