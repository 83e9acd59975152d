// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/lanes.hpp>
#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::memory::detail {

/// For each task of a frozen graph, the tasks that precede it on every schedule, one bit each.
/// Cost: tasks² / 8 bytes; edges · tasks / 64 steps.
class Ancestors {
 public:
  /// The bits for this many tasks take 32 MiB.
  static constexpr std::size_t most_tasks = 16'384;

  constexpr explicit Ancestors(const graph::GraphView& graph)
      : words_{(graph.tasks.size() + 63) / 64}, bits_(words_ * graph.tasks.size(), std::uint64_t{0}) {
    for (std::size_t p = 0; p < graph.tasks.size(); ++p) {
      for (const std::uint32_t s : graph.successors_of(p)) {
        for (std::size_t w = 0; w < words_; ++w) bits_[s * words_ + w] |= bits_[p * words_ + w];
        bits_[s * words_ + p / 64] |= std::uint64_t{1} << (p % 64);
      }
    }
  }

  [[nodiscard]] constexpr bool precedes(std::size_t before, std::size_t after) const noexcept {
    return (bits_[after * words_ + before / 64] >> (before % 64) & 1U) != 0;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

/// The known part of the order of a graph's tasks: all of it if they run one after the other, otherwise the part that
/// lanes or edges imply. Refers to its constructor's arguments.
class Certainty {
 public:
  constexpr Certainty() = default;
  constexpr explicit Certainty(const Ancestors& ancestors) noexcept : ancestors_{&ancestors} {}
  constexpr explicit Certainty(const graph::Lanes& lanes) noexcept : lanes_{&lanes} {}

  /// The task at a position, counted from 0, in the planning order: the order of the graph, or of its lanes.
  [[nodiscard]] constexpr std::uint32_t task_at(std::size_t turn) const noexcept {
    return lanes_ == nullptr ? static_cast<std::uint32_t>(turn) : lanes_->order[turn];
  }
  [[nodiscard]] constexpr bool is_total() const noexcept { return ancestors_ == nullptr && lanes_ == nullptr; }
  /// Whether one task ends before the other starts on every schedule. `before` must come first in the planning order.
  [[nodiscard]] constexpr bool precedes(std::size_t before, std::size_t after) const noexcept {
    if (lanes_ != nullptr) return lanes_->precedes(before, after);
    return ancestors_ == nullptr || ancestors_->precedes(before, after);
  }
  [[nodiscard]] constexpr bool all_precede(const std::vector<std::uint32_t>& before,
                                           const std::vector<std::uint32_t>& after) const noexcept {
    if (is_total()) return true;
    for (const std::uint32_t b : before) {
      for (const std::uint32_t a : after) {
        if (!precedes(b, a)) return false;
      }
    }
    return true;
  }

 private:
  const Ancestors* ancestors_ = nullptr;
  const graph::Lanes* lanes_ = nullptr;
};

}  // namespace rondo::memory::detail
