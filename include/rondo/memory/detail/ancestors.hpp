// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::memory::detail {

/// For each task of a frozen graph the tasks that come before it on every schedule, one bit each.
/// Cost: tasks² / 8 bytes; edges · tasks / 64 steps.
class Ancestors {
 public:
  /// The bits of so many tasks take 32 MiB.
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
  [[nodiscard]] constexpr bool all_precede(const std::vector<std::uint32_t>& before,
                                           const std::vector<std::uint32_t>& after) const noexcept {
    for (const std::uint32_t b : before) {
      for (const std::uint32_t a : after) {
        if (!precedes(b, a)) return false;
      }
    }
    return true;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace rondo::memory::detail
