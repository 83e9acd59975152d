// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/keyed.hpp>
#include <rondo/memory/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::memory {

/// A half-open range [first, last) of section numbers.
struct SectionRange {
  std::int32_t first = 0;
  std::int32_t last = 0;
  friend constexpr bool operator==(SectionRange, SectionRange) noexcept = default;
};

/// Divides time into sections, such that two buffers are in use at the same time if and only if they share a section.
///
/// A section represents one maximal set of buffers in use at the same time: between two sections, at least one buffer
/// ends and, after it, at least one starts. Each pair of Problem::conflicts adds one section after those of time. Holds
/// no reference to the problem. Cost: O(n log n) time, O(n) memory.
class Sections {
 public:
  constexpr explicit Sections(const Problem& problem) : begin_(problem.size() + 1, 0) {
    // At the same time, ends precede starts: lifetimes that only touch do not overlap.
    std::vector<rondo::detail::Keyed> events;
    constexpr std::uint64_t start = std::uint64_t{1} << 32;
    std::vector<std::uint32_t> uses(problem.size(), 0);
    for (std::uint32_t i = 0; i < problem.size(); ++i) {
      const Buffer& b = problem.buffers[i];
      if (b.size == 0) continue;
      for_each_use(b, [&](Span use) {
        events.push_back({use.lower, start | i});
        events.push_back({use.upper, i});
        ++uses[i];
      });
    }
    for (const auto& [a, b] : problem.conflicts) {
      if (apart(problem, a, b)) ++uses[a], ++uses[b];
    }
    for (std::size_t i = 0; i < uses.size(); ++i) begin_[i + 1] = begin_[i] + uses[i];
    ranges_ = std::vector<SectionRange>(begin_.back(), SectionRange{});

    sort_keyed(events);
    std::vector<std::uint32_t> next = begin_;
    bool open = false;  // whether a buffer has started since the last end
    for (const auto& [time, event] : events) {
      const std::uint64_t buffer = event % start;
      if (event >= start) {
        open = true;
        ranges_[next[buffer]].first = count_;
      } else {
        if (open) ++count_;
        open = false;
        ranges_[next[buffer]++].last = count_;
      }
    }
    for (const auto& [a, b] : problem.conflicts) {
      if (!apart(problem, a, b)) continue;
      ranges_[next[a]++] = {count_, count_ + 1};
      ranges_[next[b]++] = {count_, count_ + 1};
      ++count_;
    }
  }

  [[nodiscard]] constexpr std::int32_t count() const noexcept { return count_; }

  /// The sections of a buffer: ascending, disjoint ranges; none if it occupies nothing.
  [[nodiscard]] constexpr const SectionRange* begin(std::size_t buffer) const noexcept {
    return ranges_.data() + begin_[buffer];
  }
  [[nodiscard]] constexpr const SectionRange* end(std::size_t buffer) const noexcept {
    return ranges_.data() + begin_[buffer + 1];
  }
  [[nodiscard]] constexpr bool empty(std::size_t buffer) const noexcept { return begin_[buffer] == begin_[buffer + 1]; }
  /// The range from a buffer's first section to its last; sections between need not all be the buffer's.
  [[nodiscard]] constexpr SectionRange hull(std::size_t buffer) const noexcept {
    return empty(buffer) ? SectionRange{} : SectionRange{begin(buffer)->first, (end(buffer) - 1)->last};
  }

  [[nodiscard]] constexpr bool meet(std::size_t a, std::size_t b) const noexcept {
    const SectionRange* p = begin(a);
    const SectionRange* q = begin(b);
    while (p != end(a) && q != end(b)) {
      if (p->first < q->last && q->first < p->last) return true;
      p->last <= q->last ? ++p : ++q;
    }
    return false;
  }

 private:
  static constexpr bool apart(const Problem& problem, std::size_t a, std::size_t b) {
    return problem.buffers[a].size > 0 && problem.buffers[b].size > 0;
  }

  std::vector<std::uint32_t> begin_;  // the index of each buffer's first range
  std::vector<SectionRange> ranges_{};
  std::int32_t count_ = 0;
};

}  // namespace rondo::memory
