// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/graph/lanes.hpp>
#include <rondo/graph/records.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

/// Set-up only: computes the waits between lanes whose tasks are known.
namespace rondo::graph {

/// Merges lanes until there are at most `most`. All orders between tasks are preserved, so a memory plan for `lanes`
/// remains valid for the result.
[[nodiscard]] RONDO_INLINE Lanes fold_lanes(const GraphView& graph, const Lanes& lanes, std::size_t most);

namespace detail {

/// The predecessors of each task, in ascending order.
using Predecessors = std::vector<std::vector<std::uint32_t>>;
[[nodiscard]] inline Predecessors predecessors_in(const GraphView& graph) {
  Predecessors before(graph.tasks.size());
  for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
    for (const std::uint32_t s : graph.successors_of(t)) before[s].push_back(t);
  }
  return before;
}

/// Computes the waits, joins and guaranteed orders of lanes whose tasks and order are set.
inline void connect(Lanes& lanes, const GraphView& graph, const Predecessors& predecessors) {
  const std::size_t tasks = graph.tasks.size();
  const std::size_t count = lanes.count;
  lanes.place = std::vector<std::uint32_t>(tasks, 0U);
  lanes.known = std::vector<std::uint32_t>(tasks * count, 0U);
  std::vector<std::uint32_t> turn(tasks, 0U);
  for (std::uint32_t i = 0; i < tasks; ++i) turn[lanes.order[i]] = i;
  std::vector<std::uint32_t> last(count, Lanes::none);
  std::vector<char> is_awaited(tasks, '\0');
  for (const std::uint32_t task : lanes.order) {
    const std::uint32_t lane = lanes.lane_of[task];
    if (lane == Lanes::none) continue;
    std::uint32_t* const known = &lanes.known[task * count];
    const auto learn = [&](std::uint32_t other) {
      const std::uint32_t* const more = &lanes.known[other * count];
      for (std::size_t l = 0; l < count; ++l) known[l] = std::max(known[l], more[l]);
      known[lanes.lane_of[other]] = std::max(known[lanes.lane_of[other]], lanes.place[other] + 1);
    };
    const bool is_first = last[lane] == Lanes::none;
    if (!is_first) learn(last[lane]);
    lanes.place[task] = known[lane];
    // The latest predecessor first: waits that it implies are known by then and can be omitted.
    std::vector<std::uint32_t> before = predecessors[task];
    std::sort(before.begin(), before.end(), [&](std::uint32_t a, std::uint32_t b) { return turn[a] > turn[b]; });
    bool waits = false;
    for (const std::uint32_t other : before) {
      if (lanes.lane_of[other] == Lanes::none || lanes.place[other] < known[lanes.lane_of[other]]) continue;
      lanes.waits.push_back({task, other});
      is_awaited[other] = 1;
      waits = true;
      learn(other);
    }
    if (is_first && lane != 0 && !waits) lanes.waits.push_back({task, Lanes::none});
    last[lane] = task;
  }
  // Joins pairs of lanes, then pairs of pairs, so that the waits of one step can take place concurrently.
  std::vector<std::uint32_t> open{0};
  for (std::uint32_t l = 1; l < count; ++l) {
    if (last[l] != Lanes::none && is_awaited[last[l]] == 0) open.push_back(l);
  }
  for (std::size_t step = 1; step < open.size(); step *= 2) {
    for (std::size_t i = 0; i + step < open.size(); i += 2 * step) lanes.joins.push_back({open[i], open[i + step]});
  }
}

}  // namespace detail

#if RONDO_HAS_BODIES
RONDO_INLINE Lanes fold_lanes(const GraphView& graph, const Lanes& lanes, std::size_t most) {
  if (lanes.count <= most) return lanes;
  if (most <= 1) return {};
  Lanes folded;
  folded.count = static_cast<std::uint32_t>(most);
  folded.order = lanes.order;
  folded.lane_of = lanes.lane_of;
  for (std::uint32_t& lane : folded.lane_of) lane = lane == Lanes::none ? lane : lane % folded.count;
  detail::connect(folded, graph, detail::predecessors_in(graph));
  return folded;
}
#endif

}  // namespace rondo::graph
