// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace rondo::search::detail {

using memory::Buffer;
using memory::Problem;

/// A placed buffer, and the bytes that it takes up.
struct Rival {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::uint32_t buffer = 0;
};

/// The buffers that have a place at present, for finding those that must be kept apart from a given one, by ascending
/// offset. Time is cut into periods; each has a list of its placed buffers, sorted by offset.
///
/// Lifetime: refers to the problem. Thread safety: one thread at a time. Cost: O(n) memory. For a short-lived buffer,
/// rivals() is linear in the number of buffers alive at once, without sorting; for a long-lived one, it is
/// O(n + k log k) with k rivals.
class PlacedBuffers {
 public:
  /// `overlaps` is the number of pairs that overlap in time. It affects the number of periods, not the results.
  PlacedBuffers(const Problem& problem, std::int64_t overlaps)
      : problem_{problem}, items_(problem.size()), conflicts_of_(problem.size() + 1, 0) {
    std::vector<std::int64_t> starts;
    for (const Buffer& b : problem.buffers) {
      if (b.occupies()) starts.push_back(b.lower);
    }
    std::sort(starts.begin(), starts.end());
    // Enough periods that all their lists together have a few entries per buffer.
    const std::int64_t n = std::max<std::int64_t>(1, static_cast<std::int64_t>(problem.size()));
    const std::size_t periods = static_cast<std::size_t>(std::clamp<std::int64_t>(n * n / (overlaps / 2 + 1), 1, n));
    for (std::size_t k = 1; k < periods && !starts.empty(); ++k) {
      const std::int64_t start = starts[k * starts.size() / periods];
      if (cuts_.empty() || cuts_.back() < start) cuts_.push_back(start);
    }
    lists_.resize(cuts_.size() + 1);
    const auto period = [&](std::int64_t time) {
      return static_cast<std::uint32_t>(std::upper_bound(cuts_.begin(), cuts_.end(), time) - cuts_.begin());
    };
    for (std::size_t i = 0; i < problem.size(); ++i) {
      const Buffer& b = problem.buffers[i];
      items_[i] = {b.lower, b.upper, 0, b.size, 0, 0, !b.gaps.empty(), false};
      if (!b.occupies()) continue;
      items_[i].first = period(b.lower);
      items_[i].last = period(b.upper - 1);
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

  [[nodiscard]] bool is_placed(std::uint32_t i) const noexcept { return items_[i].placed; }
  [[nodiscard]] std::int64_t offset(std::uint32_t i) const noexcept { return items_[i].offset; }
  /// The entries of lists that have been read so far: a measure of time that does not depend on the machine.
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

  /// Places a buffer that has no place, whether or not other buffers are there.
  void place(std::uint32_t i, std::int64_t offset) {
    Item& item = items_[i];
    item.offset = offset;
    item.placed = true;
    if (!problem_.buffers[i].occupies()) return;
    for (std::uint32_t p = item.first; p <= item.last; ++p) lists_[p].insert(position(p, offset), i);
  }

  /// Takes its place from a buffer that has one.
  void remove(std::uint32_t i) {
    Item& item = items_[i];
    item.placed = false;
    if (!problem_.buffers[i].occupies()) return;
    for (std::uint32_t p = item.first; p <= item.last; ++p) {
      lists_[p].erase(std::find(position(p, item.offset), lists_[p].end(), i));
    }
  }

  /// The placed buffers that must not share bytes with `i`, by ascending offset; one that conflicts for several reasons
  /// may appear several times. Valid until the next call.
  [[nodiscard]] const std::vector<Rival>& rivals(std::uint32_t i) {
    const Item& item = items_[i];
    found_.clear();
    if (item.size == 0) return found_;
    const auto by_offset = [](const Rival& a, const Rival& b) { return a.low < b.low; };
    if (item.lower < item.upper) collect(i, item.first, true);
    const auto sorted = static_cast<std::ptrdiff_t>(found_.size());
    if (item.lower < item.upper) {
      for (std::uint32_t p = item.first + 1; p <= item.last; ++p) collect(i, p, false);
    }
    for (std::uint32_t k = conflicts_of_[i]; k < conflicts_of_[i + 1]; ++k) {
      const std::uint32_t other = conflicts_[k];
      if (items_[other].placed && items_[other].size > 0 && !meet(i, other)) add(other);
    }
    steps_ += conflicts_of_[i + 1] - conflicts_of_[i];
    if (found_.begin() + sorted != found_.end()) {
      std::sort(found_.begin() + sorted, found_.end(), by_offset);
      merged_.clear();
      std::merge(found_.begin(), found_.begin() + sorted, found_.begin() + sorted, found_.end(),
                 std::back_inserter(merged_), by_offset);
      found_.swap(merged_);
    }
    return found_;
  }

 private:
  struct Item {
    std::int64_t lower = 0;
    std::int64_t upper = 0;
    std::int64_t offset = 0;
    std::int64_t size = 0;
    std::uint32_t first = 0;  ///< its periods
    std::uint32_t last = 0;
    bool has_gaps = false;
    bool placed = false;
  };

  [[nodiscard]] std::vector<std::uint32_t>::iterator position(std::uint32_t period, std::int64_t offset) {
    std::vector<std::uint32_t>& list = lists_[period];
    return std::lower_bound(list.begin(), list.end(), offset,
                            [&](std::uint32_t other, std::int64_t o) { return items_[other].offset < o; });
  }

  [[nodiscard]] bool meet(std::uint32_t a, std::uint32_t b) const {
    const Item& x = items_[a];
    const Item& y = items_[b];
    if (x.lower >= y.upper || y.lower >= x.upper || x.lower >= x.upper || y.lower >= y.upper) return false;
    return !(x.has_gaps || y.has_gaps) || in_use_together(problem_.buffers[a], problem_.buffers[b]);
  }

  void add(std::uint32_t i) { found_.push_back({items_[i].offset, items_[i].offset + items_[i].size, i}); }

  /// Adds the rivals in a period: all of them, or only those that start in it.
  void collect(std::uint32_t i, std::uint32_t period, bool all) {
    steps_ += lists_[period].size();
    for (const std::uint32_t other : lists_[period]) {
      if (other != i && (all || items_[other].first == period) && meet(i, other)) add(other);
    }
  }

  const Problem& problem_;
  std::vector<Item> items_;
  std::vector<std::int64_t> cuts_{};  ///< the starts of all periods but the first
  std::vector<std::vector<std::uint32_t>> lists_{};
  std::vector<std::uint32_t> conflicts_of_, conflicts_{};
  std::vector<Rival> found_{};
  std::vector<Rival> merged_{};
  std::uint64_t steps_ = 0;
};

}  // namespace rondo::search::detail
