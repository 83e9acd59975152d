// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace rondo::observe {

/// Counts integers in buckets whose width grows with the number: each number below 256 has its own bucket, larger ones
/// share one with numbers that differ by less than 1/128. The largest number is stored exactly.
///
/// Thread safety: none. Cost of add(): an addition in an array of 35 KB, of which similar numbers use few cache lines;
/// it never allocates.
class Histogram {
 public:
  /// This number and all larger ones are counted in the last bucket.
  static constexpr std::uint64_t end_of_range = std::uint64_t{1} << 40;
  /// The largest relative error of a percentile, which is never too small.
  static constexpr double precision = 1.0 / 128;

  Histogram() : counts_(bucket_of(end_of_range - 1) + 1) {}

  void add(std::uint64_t number) noexcept {
    if (number > greatest_) [[unlikely]]
      greatest_ = number;
    ++counts_[bucket_of(number < end_of_range ? number : end_of_range - 1)];
  }
  void clear() noexcept {
    std::fill(counts_.begin(), counts_.end(), 0);
    greatest_ = 0;
  }

  [[nodiscard]] std::uint64_t count() const noexcept {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
  }
  /// The largest number; 0 if there are none.
  [[nodiscard]] std::uint64_t greatest() const noexcept { return greatest_; }

  /// A number that at least `share` (0 to 1) of all numbers do not exceed: the largest of its bucket. 0 if there are
  /// none.
  [[nodiscard]] std::uint64_t percentile(double share) const noexcept {
    const std::uint64_t all = count();
    const auto wanted = static_cast<std::uint64_t>(std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(all)));
    if (wanted >= all) return greatest_;
    std::uint64_t seen = 0;
    for (std::size_t b = 0; b < counts_.size(); ++b) {
      seen += counts_[b];
      if (seen != 0 && seen >= wanted) return std::min(begin_of(b + 1) - 1, greatest_);
    }
    return greatest_;
  }

  /// Calls `f(begin, end, count)` for each bucket that is not empty, in ascending order; its numbers are in [begin,
  /// end).
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t b = 0; b < counts_.size(); ++b) {
      if (counts_[b] != 0) f(begin_of(b), begin_of(b + 1), counts_[b]);
    }
  }

 private:
  static constexpr unsigned bits = 7;  ///< the bits below a number's highest bit that determine its bucket

  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t number) noexcept {
    const auto shift = static_cast<unsigned>(std::bit_width(number | 1U << bits)) - (bits + 1);
    return (std::size_t{shift} << bits) + static_cast<std::size_t>(number >> shift);
  }
  [[nodiscard]] static constexpr std::uint64_t begin_of(std::size_t bucket) noexcept {
    if (bucket < std::size_t{2} << bits) return bucket;
    const std::size_t shift = (bucket >> bits) - 1;
    return (bucket - (shift << bits)) << shift;
  }

  std::vector<std::uint64_t> counts_;
  std::uint64_t greatest_ = 0;
};

}  // namespace rondo::observe
