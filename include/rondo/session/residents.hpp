// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/definitions.hpp>
#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::detail {

/// The resident tensors of a graph that need a first upload, in their order: those that a task, or an output that is a
/// view of them, reads before any task writes them, or after only tasks of a `when` did. An orchestration's tasks are
/// not known, so there every resident needs one. @throws std::bad_alloc
[[nodiscard]] std::vector<std::uint32_t> residents_read_first(const graph::GraphView& graph, bool is_orchestrated);

#if RONDO_HAS_BODIES
RONDO_INLINE std::vector<std::uint32_t> residents_read_first(const graph::GraphView& graph, bool is_orchestrated) {
  std::vector<char> read_first(graph.tensors.size());
  std::vector<char> written(graph.tensors.size());
  graph::Definitions definitions(graph.loops, graph.tasks, graph.tensors.size());
  for (std::uint32_t position = 0; position < graph.tasks.size(); ++position) {
    for (const graph::ArgRecord& arg : graph.args_of(graph.tasks[position])) {
      if (arg.kind != graph::ArgRecord::Kind::address) continue;
      const std::uint32_t root = graph::root_of(graph.tensors, arg.tensor);
      if (reads(arg.access) && !(written[root] != 0 && definitions.holds(root, position))) read_first[root] = 1;
      if (!writes(arg.access)) continue;
      written[root] = 1;
      definitions.note(root, position);
    }
  }
  std::vector<std::uint32_t> residents;
  for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].direction != Direction::resident) continue;
    const bool is_defined = written[t] != 0 && definitions.holds_at_end(t);
    const bool is_shown = graph.tensors[t].delivered && !is_defined;
    if (is_orchestrated || read_first[t] != 0 || is_shown) residents.push_back(t);
  }
  return residents;
}
#endif

}  // namespace rondo::detail
