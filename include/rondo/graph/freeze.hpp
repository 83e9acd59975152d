// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/analysis.hpp>
#include <rondo/graph/frozen_graph.hpp>
#include <rondo/graph/task_graph.hpp>

namespace rondo {

inline FrozenGraph::FrozenGraph(const TaskGraph& source, const graph::Analysis& analysis)
    : tensors_{detail::OwnedArray<graph::TensorRecord>::copy_of(source.tensors())},
      tasks_(analysis.order.size()),
      args_{detail::OwnedArray<graph::ArgRecord>::copy_of(source.args())},
      successor_begin_{detail::OwnedArray<std::uint32_t>::copy_of(analysis.successor_begin)},
      successors_{detail::OwnedArray<std::uint32_t>::copy_of(analysis.successors)},
      predecessor_count_{detail::OwnedArray<std::uint32_t>::copy_of(analysis.predecessor_count)},
      text_{detail::OwnedArray<char>::copy_of(source.text())},
      tag_{source.tag()} {
  for (std::size_t p = 0; p < tasks_.size(); ++p) tasks_[p] = source.tasks()[analysis.order[p]];
}

/// Checks and orders a graph, for good. The graph itself is left as it was; its handles serve the frozen one.
/// @throws Error cycle, race, uninitialized_read, invalid_argument; each names the tasks and tensors
[[nodiscard]] inline FrozenGraph freeze(const TaskGraph& graph) {
  if (!graph::has_zeroed(graph)) return {graph, graph::analyze(graph)};
  const TaskGraph filled = graph::with_fill(graph);
  return {filled, graph::analyze(filled)};
}

}  // namespace rondo
