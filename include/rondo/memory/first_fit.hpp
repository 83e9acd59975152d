// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/keyed.hpp>
#include <rondo/memory/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::memory {

/// How a buffer's place is chosen among the free ones.
enum class Fit : std::uint8_t {
  first,  ///< the lowest
  best,   ///< the smallest between two others, or the lowest of several; above all others if there is none
};

/// Places buffers one after another, without collision with those already placed. Usable in constant expressions.
///
/// To find the placed buffers that are in use at the same time as a new one, it keeps blocks of buffers with similar
/// start times, and a tree over these blocks that holds, for each subtree, the latest end of a placed buffer in it.
///
/// Lifetime: refers to the problem. Thread safety: one thread at a time; several objects may share a problem. Cost:
/// O(n) memory; about O((k + log n) log k) for a buffer that overlaps k placed ones in time.
class FirstFit {
 public:
  constexpr explicit FirstFit(const Problem& problem)
      : problem_{&problem},
        position_(problem.size(), 0),
        conflicts_of_(problem.size() + 1, 0),
        entries_(problem.size(), Entry{}),
        offsets_(problem.size(), 0) {
    std::vector<rondo::detail::Keyed> by_start;
    by_start.reserve(problem.size());
    for (std::size_t i = 0; i < problem.size(); ++i) by_start.push_back({problem.buffers[i].lower, i});
    sort_keyed(by_start);
    for (std::size_t k = 0; k < by_start.size(); ++k) {
      position_[by_start[k].item] = static_cast<std::uint32_t>(k);
      entries_[k].lower = by_start[k].key;
      entries_[k].buffer = static_cast<std::uint32_t>(by_start[k].item);
    }
    while (blocks_ * block < problem.size()) blocks_ *= 2;
    latest_ = std::vector<std::int64_t>(2 * blocks_, nothing);
    for (const Buffer& b : problem.buffers) has_gaps_ = has_gaps_ || !b.gaps.empty();

    for (const auto& [a, b] : problem.conflicts) ++conflicts_of_[a + 1], ++conflicts_of_[b + 1];
    for (std::size_t i = 0; i < problem.size(); ++i) conflicts_of_[i + 1] += conflicts_of_[i];
    conflicts_ = std::vector<std::uint32_t>(conflicts_of_.back(), 0);
    std::vector<std::uint32_t> next = conflicts_of_;
    for (const auto& [a, b] : problem.conflicts) {
      conflicts_[next[a]++] = b;
      conflicts_[next[b]++] = a;
    }
    if (!problem.conflicts.empty()) placed_ = std::vector<char>(problem.size(), 0);
  }

  /// Places the buffers in the given order and returns their offsets. Buffers with a fixed offset are placed first, and
  /// so are those for which `preset`, unless empty, has an offset (not -1), which must be valid.
  [[nodiscard]] constexpr const std::vector<std::int64_t>& run(const std::vector<std::uint32_t>& order,
                                                               Fit fit = Fit::first,
                                                               const std::vector<std::int64_t>& preset = {}) {
    for (std::int64_t& each : latest_) each = nothing;
    for (char& each : placed_) each = 0;
    for (Entry& e : entries_) e.upper = nothing;
    for (std::uint32_t i = 0; i < problem_->size(); ++i) {
      if (problem_->buffers[i].is_fixed()) {
        put(i, problem_->buffers[i].fixed_offset);
      } else if (!preset.empty() && preset[i] >= 0) {
        put(i, preset[i]);
      }
    }
    for (const std::uint32_t i : order) {
      const Buffer& b = problem_->buffers[i];
      if (b.is_fixed() || (!preset.empty() && preset[i] >= 0)) continue;
      collect(i);
      put(i, find_place(b, fit));
    }
    return offsets_;
  }

 private:
  static constexpr std::int64_t nothing = INT64_MIN;
  static constexpr std::size_t block = 8;

  struct Entry {
    std::int64_t lower = 0;
    std::int64_t upper = nothing;  // `nothing` until the buffer is placed
    std::int64_t low = 0;
    std::int64_t high = 0;
    std::uint32_t buffer = 0;
  };

  constexpr void put(std::uint32_t i, std::int64_t offset) {
    const Buffer& b = problem_->buffers[i];
    offsets_[i] = offset;
    if (b.size == 0) return;
    if (!placed_.empty()) placed_[i] = 1;
    if (b.lower >= b.upper) return;
    Entry& e = entries_[position_[i]];
    e.upper = b.upper;
    e.low = offset;
    e.high = offset + b.size;
    for (std::size_t node = blocks_ + position_[i] / block; node > 0 && latest_[node] < b.upper; node /= 2) {
      latest_[node] = b.upper;
    }
  }

  constexpr void take(std::int64_t low, std::int64_t high) {
    taken_.push_back({low, static_cast<std::uint64_t>(high)});
  }
  /// Fills taken_ with the bytes that are not free for buffer i, in ascending order.
  constexpr void collect(std::uint32_t i) {
    const Buffer& b = problem_->buffers[i];
    taken_.clear();
    if (b.size == 0) return;
    if (b.lower < b.upper) visit(1, 0, blocks_, b);
    for (std::uint32_t k = conflicts_of_[i]; k < conflicts_of_[i + 1]; ++k) {
      const std::uint32_t other = conflicts_[k];
      if (placed_[other] != 0) take(offsets_[other], offsets_[other] + problem_->buffers[other].size);
    }
    sort_keyed(taken_);
  }

  constexpr void visit(std::size_t node, std::size_t from, std::size_t count, const Buffer& b) {
    if (latest_[node] <= b.lower || from * block >= entries_.size() || entries_[from * block].lower >= b.upper) return;
    if (count > 1) {
      visit(2 * node, from, count / 2, b);
      visit(2 * node + 1, from + count / 2, count / 2, b);
      return;
    }
    const std::size_t last = (from + 1) * block;
    const std::size_t end = last < entries_.size() ? last : entries_.size();
    for (std::size_t k = from * block; k < end; ++k) {
      const Entry& e = entries_[k];
      if (e.upper <= b.lower || e.lower >= b.upper) continue;
      if (has_gaps_ && !in_use_together(b, problem_->buffers[e.buffer])) continue;
      take(e.low, e.high);
    }
  }

  /// The lowest free place, or the smallest one, compared by the bytes that an aligned buffer can use.
  [[nodiscard]] constexpr std::int64_t find_place(const Buffer& b, Fit fit) const {
    std::int64_t best = -1;
    std::int64_t best_room = 0;
    std::int64_t offset = 0;
    for (const auto& [low, end] : taken_) {
      const auto high = static_cast<std::int64_t>(end);
      const std::int64_t room = low - offset;
      if (room >= b.size && (best < 0 || room < best_room)) {
        if (fit == Fit::first) return offset;
        best = offset;
        best_room = room;
      }
      if (high > offset) offset = aligned(high, b.alignment);
    }
    return best < 0 ? offset : best;
  }

  const Problem* problem_;
  std::vector<std::uint32_t> position_;  // the position of each buffer in entries_
  std::vector<std::uint32_t> conflicts_of_, conflicts_{};
  std::vector<Entry> entries_;  // by start
  std::vector<char> placed_{};  // filled only if there are explicit conflicts
  std::vector<std::int64_t> offsets_;
  std::vector<std::int64_t> latest_{};  // implicit binary tree over the blocks of entries_
  std::size_t blocks_ = 1;
  bool has_gaps_ = false;
  std::vector<rondo::detail::Keyed> taken_{};  // occupied stretches: first byte, end
};

}  // namespace rondo::memory
