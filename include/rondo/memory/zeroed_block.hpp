// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/algorithm.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/list.hpp>
#include <rondo/memory/lifetimes.hpp>
#include <rondo/memory/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace rondo::memory {

/// Workspaces that are set to zero in one go lie side by side: to the planner they are one buffer, wanted as long as
/// any of them. Set-up only, and usable in constant expressions.
class ZeroedBlock {
 public:
  /// Joins the buffers of all tensors that are zeroed at this time into that of the first.
  constexpr ZeroedBlock(const graph::GraphView& graph, Lifetimes& lives, Zeroed when) {
    Problem& problem = lives.problem;
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      if (graph.tensors[t].zeroed != when || graph.tensors[t].bytes == 0) continue;
      const std::uint32_t b = lives.buffer_of[t];
      Buffer& buffer = problem.buffers[b];
      const std::int64_t inner = aligned(bytes_, buffer.alignment);
      bytes_ = inner + buffer.size;
      members_.push_back({b, inner});
      if (members_.size() == 1) {
        buffer.gaps.clear();
        continue;
      }
      Buffer& block = problem.buffers[members_[0].buffer];
      block.lower = rondo::detail::min(block.lower, buffer.lower);
      block.upper = rondo::detail::max(block.upper, buffer.upper);
      block.alignment = rondo::detail::max(block.alignment, buffer.alignment);
      buffer = Buffer{};
    }
    if (members_.size() < 2) return;
    problem.buffers[members_[0].buffer].size = bytes_;
    List<Conflict> conflicts;
    for (const auto& [a, b] : problem.conflicts) {
      const std::uint32_t x = leader_of(a);
      const std::uint32_t y = leader_of(b);
      if (x != y && !in_use_together(problem.buffers[x], problem.buffers[y])) {
        conflicts.emplace_back(rondo::detail::min(x, y), rondo::detail::max(x, y));
      }
    }
    rondo::detail::sort(conflicts);
    rondo::detail::keep_unique(conflicts);
    problem.conflicts = conflicts;
  }

  /// Gives each its place in the block.
  constexpr void place(Plan& plan) const {
    if (members_.empty()) return;
    const std::int64_t base = plan.offsets[members_[0].buffer];
    for (const Member& member : members_) plan.offsets[member.buffer] = base + member.inner;
  }

 private:
  struct Member {
    std::uint32_t buffer;
    std::int64_t inner;  ///< bytes from the start of the block
  };
  [[nodiscard]] constexpr std::uint32_t leader_of(std::uint32_t buffer) const noexcept {
    for (const Member& member : members_) {
      if (member.buffer == buffer) return members_[0].buffer;
    }
    return buffer;
  }

  List<Member> members_{};
  std::int64_t bytes_ = 0;
};

}  // namespace rondo::memory
