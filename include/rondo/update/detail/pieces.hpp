// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rondo::update::detail {

/// Bytes of the args table, [begin, end).
struct Segment {
  std::uint64_t begin;
  std::uint64_t end;
};

/// Combines a set of segments into copies to the device: at most `most`, in ascending order. Segments are merged into
/// one piece if copying the bytes between them costs no more than another copy. For efficient copies, a piece begins at
/// a multiple of 64 bytes and ends at a multiple of 32.
class Pieces {
 public:
  static constexpr std::size_t most = 4;

  /// `worth`: the number of bytes that cost as much to copy as one more copy.
  explicit Pieces(std::uint64_t worth) noexcept : worth_{worth} {}

  void add(Segment s) noexcept {
    s = {s.begin & ~std::uint64_t{63}, align_up(s.end, 32)};
    std::size_t first = 0;
    while (first < count_ && pieces_[first].end + worth_ < s.begin) ++first;
    std::size_t last = first;  // pieces in [first, last) are merged with it
    for (; last < count_ && pieces_[last].begin <= s.end + worth_; ++last) {
      if (pieces_[last].begin < s.begin) s.begin = pieces_[last].begin;
      if (pieces_[last].end > s.end) s.end = pieces_[last].end;
    }
    if (first == last) {
      for (std::size_t i = count_++; i > first; --i) pieces_[i] = pieces_[i - 1];
    } else if (last - first > 1) {
      remove(first + 1, last);
    }
    pieces_[first] = s;
    if (count_ > most) [[unlikely]]
      join_nearest();
  }

  [[nodiscard]] std::span<const Segment> all() const noexcept { return {pieces_, count_}; }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (const Segment& piece : all()) sum += piece.end - piece.begin;
    return sum;
  }

 private:
  void remove(std::size_t begin, std::size_t end) noexcept {
    for (std::size_t i = end; i < count_; ++i) pieces_[i - (end - begin)] = pieces_[i];
    count_ -= end - begin;
  }
  void join_nearest() noexcept {
    std::size_t best = 1;
    for (std::size_t i = 2; i < count_; ++i) {
      if (pieces_[i].begin - pieces_[i - 1].end < pieces_[best].begin - pieces_[best - 1].end) best = i;
    }
    pieces_[best - 1].end = pieces_[best].end;
    remove(best, best + 1);
  }

  std::uint64_t worth_;
  std::size_t count_ = 0;
  Segment pieces_[most + 1];
};

}  // namespace rondo::update::detail
