// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/problem.hpp>

#include <range/v3/algorithm/sort.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace rondo::search::detail {

using memory::Buffer;
using memory::Problem;
using memory::Span;

/// Finds the buffers that must be kept apart from a given one: those in use at the same time, and explicit conflicts.
/// Refers to the problem. Cost: O(n log n) to build, O(k + log n) for k lifetimes that overlap.
class OverlapIndex {
 public:
  explicit OverlapIndex(const Problem& problem) : problem_{problem}, conflicts_of_(problem.size() + 1, 0) {
    for (std::uint32_t i = 0; i < problem.size(); ++i) {
      if (problem.buffers[i].occupies()) by_start_.push_back(i);
    }
    ::ranges::sort(by_start_, {}, [&](std::uint32_t i) { return std::pair{problem.buffers[i].lower, i}; });
    while (leaves_ < by_start_.size()) leaves_ *= 2;
    latest_.assign(2 * leaves_, std::numeric_limits<std::int64_t>::min());
    for (std::size_t k = 0; k < by_start_.size(); ++k) latest_[leaves_ + k] = problem.buffers[by_start_[k]].upper;
    for (std::size_t node = leaves_ - 1; node > 0; --node) {
      latest_[node] = std::max(latest_[2 * node], latest_[2 * node + 1]);
    }
    for (const auto& [a, b] : problem.conflicts) ++conflicts_of_[a + 1], ++conflicts_of_[b + 1];
    for (std::size_t i = 0; i < problem.size(); ++i) conflicts_of_[i + 1] += conflicts_of_[i];
    conflicts_.resize(conflicts_of_.back());
    std::vector<std::uint32_t> next(conflicts_of_.begin(), conflicts_of_.end() - 1);
    for (const auto& [a, b] : problem.conflicts) {
      conflicts_[next[a]++] = b;
      conflicts_[next[b]++] = a;
    }
  }

  /// Calls visit(number) for each buffer with bytes whose lifetime overlaps `span`.
  template <class Visit>
  void for_each_alive(Span span, Visit&& visit) const {
    if (!span.empty()) descend(1, 0, leaves_, span, visit);
  }

  /// Calls visit(number) for each buffer that must not share bytes with `i`, possibly twice.
  template <class Visit>
  void for_each_rival(std::uint32_t i, Visit&& visit) const {
    const Buffer& b = problem_.buffers[i];
    if (b.size == 0) return;
    for_each_alive(b.lifetime(), [&](std::uint32_t other) {
      const Buffer& o = problem_.buffers[other];
      if (other != i && ((b.gaps.empty() && o.gaps.empty()) || in_use_together(b, o))) visit(other);
    });
    for (std::uint32_t k = conflicts_of_[i]; k < conflicts_of_[i + 1]; ++k) {
      if (problem_.buffers[conflicts_[k]].size > 0) visit(conflicts_[k]);
    }
  }

 private:
  template <class Visit>
  void descend(std::size_t node, std::size_t from, std::size_t count, Span span, Visit& visit) const {
    if (from >= by_start_.size() || latest_[node] <= span.lower) return;
    if (problem_.buffers[by_start_[from]].lower >= span.upper) return;
    if (count == 1) {
      visit(by_start_[from]);
      return;
    }
    descend(2 * node, from, count / 2, span, visit);
    descend(2 * node + 1, from + count / 2, count / 2, span, visit);
  }

  const Problem& problem_;
  std::vector<std::uint32_t> by_start_{};
  std::vector<std::uint32_t> conflicts_of_, conflicts_{};
  std::vector<std::int64_t> latest_{};
  std::size_t leaves_ = 1;
};

}  // namespace rondo::search::detail
