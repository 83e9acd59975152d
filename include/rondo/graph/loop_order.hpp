// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/keyed.hpp>
#include <rondo/graph/task_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

/// The order of loops among the other tasks of a graph.
namespace rondo::graph {

/// @throws Error invalid_argument if the body of the loop is still adding tasks
constexpr void refuse_open_loop(const LoopRecord& loop) {
  if (loop.decision != LoopRecord::none) return;
  throw Error(Errc::invalid_argument, Error::Text("the body of a loop freezes the graph that it is part of; freeze "
                                                  "it after the call of repeat_until() or when()"));
}

/// Edges between tasks, from `key` to `item`; sorted, without duplicates.
using EdgeList = std::vector<rondo::detail::Keyed>;
[[nodiscard]] constexpr std::uint32_t task_before(const rondo::detail::Keyed& edge) noexcept {
  return static_cast<std::uint32_t>(edge.key);
}
[[nodiscard]] constexpr std::uint32_t task_after(const rondo::detail::Keyed& edge) noexcept {
  return static_cast<std::uint32_t>(edge.item);
}

/// Visits the loops that contain a task, from the innermost outwards.
template <class Visit>
constexpr void for_each_loop_of(const TaskGraph& graph, std::uint32_t task, const Visit& visit) {
  for (std::uint32_t l = graph.tasks()[task].loop; l != TaskRecord::no_loop; l = graph.loops()[l].parent) visit(l);
}

/// Orders loops as wholes: an edge between a task of a loop and one outside becomes edges between the other one and the
/// tasks with which the loop begins or ends. Orders decisions, which come last in a `repeat_until` and first in a
/// `when`. O(edges · depth), and for a `when` before a `repeat_until` the tasks that end the one times those that begin
/// the other.
constexpr void order_loops(const TaskGraph& graph, EdgeList& edges) {
  const auto& loops = graph.loops();
  const auto tasks = static_cast<std::uint32_t>(graph.tasks().size());
  // The outermost loop that contains `task` but not `other`, after the tasks; or the task itself.
  const auto item = [&](std::uint32_t task, std::uint32_t other) {
    std::uint32_t result = task;
    for_each_loop_of(graph, task, [&](std::uint32_t l) {
      if (!is_within(loops, graph.tasks()[other].loop, l)) result = tasks + l;
    });
    return result;
  };
  std::vector<std::vector<std::uint32_t>> members(loops.size());
  for (std::uint32_t task = 0; task < tasks; ++task) {
    for_each_loop_of(graph, task, [&](std::uint32_t l) { members[l].push_back(task); });
  }
  // The innermost loop in which a task has a successor, or a predecessor: it ends, or begins, only loops within.
  std::vector<std::uint32_t> goes_on(tasks, TaskRecord::no_loop);
  std::vector<std::uint32_t> follows(tasks, TaskRecord::no_loop);
  const auto note = [&](std::uint32_t& innermost, std::uint32_t task, std::uint32_t other) {
    std::uint32_t l = graph.tasks()[task].loop;
    while (!is_within(loops, graph.tasks()[other].loop, l)) l = loops[l].parent;
    if (is_within(loops, l, innermost)) innermost = l;
  };
  EdgeList items;
  for (const auto& edge : edges) {
    note(goes_on[task_before(edge)], task_before(edge), task_after(edge));
    note(follows[task_after(edge)], task_after(edge), task_before(edge));
    items.push_back({item(task_before(edge), task_after(edge)), item(task_after(edge), task_before(edge))});
  }
  for (std::uint32_t l = 0; l < loops.size(); ++l) {
    for (const std::uint32_t task : members[l]) {
      if (task == loops[l].decision) continue;
      const bool is_first = loops[l].kind == LoopRecord::Kind::when;
      items.push_back({is_first ? loops[l].decision : task, is_first ? task : loops[l].decision});
    }
  }
  sort_once_each(items);
  edges.clear();
  const auto ends = [&](std::uint32_t of, bool is_start) {
    if (of < tasks) return std::vector<std::uint32_t>{of};
    const LoopRecord& loop = loops[of - tasks];
    if ((loop.kind == LoopRecord::Kind::when) == is_start) return std::vector<std::uint32_t>{loop.decision};
    std::vector<std::uint32_t> result;
    for (const std::uint32_t task : members[of - tasks]) {
      if (!is_within(loops, (is_start ? follows : goes_on)[task], of - tasks)) result.push_back(task);
    }
    return result;
  };
  for (const auto& edge : items) {
    for (const std::uint32_t before : ends(task_before(edge), false)) {
      for (const std::uint32_t after : ends(task_after(edge), true)) edges.push_back({before, after});
    }
  }
  sort_once_each(edges);
}

/// Writes the positions of loops in `tasks`, which are in order, so that the tasks of each loop are consecutive.
template <class Tasks>
constexpr void place_loops(std::vector<LoopRecord>& loops, const Tasks& tasks) {
  std::vector<std::uint32_t> decisions(loops.size(), 0U);
  for (std::size_t l = 0; l < loops.size(); ++l) {
    decisions[l] = loops[l].decision;
    loops[l].decision = LoopRecord::none;
  }
  for (std::uint32_t p = 0; p < tasks.size(); ++p) {
    const std::uint32_t innermost = tasks[p].loop;
    if (innermost != TaskRecord::no_loop && tasks[p].added_as == decisions[innermost]) loops[innermost].decision = p;
    for (std::uint32_t l = innermost; l != TaskRecord::no_loop; l = loops[l].parent) {
      if (!loops[l].has_work()) loops[l].first = p;
      loops[l].last = p + 1;
    }
  }
}

}  // namespace rondo::graph
