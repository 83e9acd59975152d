// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::graph {

/// For each memory that tasks have written, the `when` in which it was first written: a task that reads it elsewhere
/// may find it undefined. Without loops, nothing is kept.
class Definitions {
 public:
  /// `loops` and `tasks`: of a TaskGraph or of a GraphView, which outlives this.
  constexpr Definitions(std::span<const LoopRecord> loops, std::span<const TaskRecord> tasks, std::size_t memories)
      : loops_{loops}, tasks_{tasks}, under_(loops.empty() ? 0 : memories, nowhere) {}

  /// Notes that `task` writes the memory.
  constexpr void note(std::size_t memory, std::uint32_t task) {
    if (!under_.empty() && !holds_for(memory, guard(task))) under_[memory] = guard(task);
  }
  /// Whether memory that was written is certainly defined when `task` reads it.
  [[nodiscard]] constexpr bool holds(std::size_t memory, std::uint32_t task) const {
    return under_.empty() || holds_for(memory, guard(task));
  }
  /// Whether memory that was written is certainly defined after all tasks.
  [[nodiscard]] constexpr bool holds_at_end(std::size_t memory) const {
    return under_.empty() || holds_for(memory, TaskRecord::no_loop);
  }

 private:
  static constexpr std::uint32_t nowhere = 0xFFFF'FFFE;

  [[nodiscard]] constexpr bool holds_for(std::size_t memory, std::uint32_t loop) const {
    return under_[memory] != nowhere && is_within(loops_, loop, under_[memory]);
  }
  /// The innermost `when` whose condition decides whether the task runs.
  [[nodiscard]] constexpr std::uint32_t guard(std::uint32_t task) const {
    std::uint32_t l = tasks_[task].loop;
    while (l != TaskRecord::no_loop && (loops_[l].kind != LoopRecord::Kind::when || loops_[l].decision == task)) {
      l = loops_[l].parent;
    }
    return l;
  }

  std::span<const LoopRecord> loops_;
  std::span<const TaskRecord> tasks_;
  std::vector<std::uint32_t> under_;  ///< by memory
};

}  // namespace rondo::graph
