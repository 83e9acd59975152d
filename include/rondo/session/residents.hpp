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

/// Tracks the resident tensors of a graph that need a first upload: those that a task, or an output that is a view of
/// them, reads before any task writes them, or after only tasks of a `when` did.
class Residents {
 public:
  static constexpr std::size_t none = ~std::size_t{0};

  /// An orchestration's tasks are not known here, so every resident needs an upload. @throws std::bad_alloc
  Residents(const graph::GraphView& graph, bool is_orchestrated);

  /// The first tensor that needs an upload, or `none`.
  [[nodiscard]] std::size_t first_awaited() const noexcept {
    for (std::size_t t = 0; t < awaited_.size(); ++t) {
      if (awaited_[t] != 0) return t;
    }
    return none;
  }
  void note_upload(std::size_t tensor) noexcept { awaited_[tensor] = 0; }
  /// Marks the contents of all residents in the arena as lost.
  void forget_arena(const graph::GraphView& graph) noexcept {
    for (std::size_t t = 0; t < awaited_.size(); ++t) {
      if (!graph.tensors[t].is_outside_arena()) awaited_[t] = read_first_[t];
    }
  }

 private:
  std::vector<char> read_first_;  ///< by tensor
  std::vector<char> awaited_;     ///< by tensor
};

#if RONDO_HAS_BODIES
RONDO_INLINE Residents::Residents(const graph::GraphView& graph, bool is_orchestrated)
    : read_first_(graph.tensors.size()) {
  std::vector<char> written(graph.tensors.size());
  graph::Definitions definitions(graph.loops, graph.tasks, graph.tensors.size());
  for (std::uint32_t position = 0; position < graph.tasks.size(); ++position) {
    for (const graph::ArgRecord& arg : graph.args_of(graph.tasks[position])) {
      if (arg.kind != graph::ArgRecord::Kind::address) continue;
      const std::uint32_t root = graph::root_of(graph.tensors, arg.tensor);
      if (reads(arg.access) && !(written[root] != 0 && definitions.holds(root, position))) read_first_[root] = 1;
      if (!writes(arg.access)) continue;
      written[root] = 1;
      definitions.note(root, position);
    }
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const bool is_resident = graph.tensors[t].direction == Direction::resident;
    const bool is_defined = written[t] != 0 && definitions.holds_at_end(t);
    if (is_orchestrated || (graph.tensors[t].delivered && !is_defined)) read_first_[t] = 1;
    if (!is_resident) read_first_[t] = 0;
  }
  awaited_ = read_first_;
}
#endif

}  // namespace rondo::detail
