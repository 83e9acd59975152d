// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/keyed.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/lifetimes.hpp>
#include <rondo/memory/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rondo::memory {

/// Workspaces that are zeroed together are adjacent: for the planner they are one buffer, in use as long as any of
/// them.
class ZeroedBlock {
 public:
  /// Merges the buffers of all tensors that are zeroed at this time into that of the first.
  constexpr ZeroedBlock(const graph::GraphView& graph, Lifetimes& lives, Zeroed when) {
    Problem& problem = lives.problem;
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      if (graph.tensors[t].zeroed != when || graph.tensors[t].bytes == 0) continue;
      const std::uint32_t b = lives.buffer_of[t];
      Buffer& buffer = problem.buffers[b];
      const std::int64_t inner = aligned(bytes_, buffer.alignment);
      bytes_ = inner + buffer.size;
      members_.push_back({inner, b});
      if (members_.size() == 1) {
        buffer.gaps.clear();
        continue;
      }
      Buffer& block = problem.buffers[leader()];
      block.lower = std::min(block.lower, buffer.lower);
      block.upper = std::max(block.upper, buffer.upper);
      block.alignment = std::max(block.alignment, buffer.alignment);
      buffer = Buffer{};
    }
    if (members_.size() < 2) return;
    problem.buffers[leader()].size = bytes_;
    std::vector<rondo::detail::Keyed> conflicts;
    for (const auto& [a, b] : problem.conflicts) {
      const std::uint32_t x = leader_of(a);
      const std::uint32_t y = leader_of(b);
      if (x != y && !in_use_together(problem.buffers[x], problem.buffers[y])) {
        conflicts.push_back({std::min(x, y), std::max(x, y)});
      }
    }
    set_conflicts(problem, std::move(conflicts));
  }

  constexpr void place(Plan& plan) const {
    if (members_.empty()) return;
    const std::int64_t base = plan.offsets[leader()];
    for (const auto& [inner, buffer] : members_) plan.offsets[buffer] = base + inner;
  }

 private:
  [[nodiscard]] constexpr std::uint32_t leader() const noexcept { return static_cast<std::uint32_t>(members_[0].item); }
  [[nodiscard]] constexpr std::uint32_t leader_of(std::uint32_t buffer) const noexcept {
    for (const auto& [inner, member] : members_) {
      if (member == buffer) return leader();
    }
    return buffer;
  }

  std::vector<rondo::detail::Keyed> members_{};  ///< bytes from the start of the block, buffer
  std::int64_t bytes_ = 0;
};

}  // namespace rondo::memory
