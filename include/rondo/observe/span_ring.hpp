// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::observe {

/// Something that lasted from `start` to `end`, in readings of a clock. The writer defines the meaning of the numbers.
struct Span {
  /// The reading at the start.
  std::uint64_t start = 0;
  /// The reading at the end.
  std::uint64_t end = 0;
  /// The number of the round or launch.
  std::uint64_t round = 0;
  /// The kind, a number that the writer chooses.
  std::uint32_t what = 0;
  std::uint32_t detail = 0;
  /// The number of bytes moved, or a number that the writer chooses.
  std::uint64_t bytes = 0;
};

/// The last spans of one thread. When the ring is full, new spans replace the oldest, which count as dropped.
///
/// Thread safety: one thread writes; another may read after it has synchronised with the writer, for example after a
/// round. Cost: memory for a power of two of spans, which the constructor writes to, so that no round takes a page
/// fault; adding a span takes a few stores.
class SpanRing {
 public:
  SpanRing() noexcept = default;
  /// `capacity` is rounded up to a power of two.
  explicit SpanRing(std::size_t capacity) : spans_(std::bit_ceil(capacity)), mask_{spans_.size() - 1} {}

  /// Adds a span, in place of the oldest one if there is no room.
  void add(const Span& span) noexcept { spans_[written_++ & mask_] = span; }  // model: ring.add
  void clear() noexcept { written_ = 0; }

  /// The number of spans that fit.
  [[nodiscard]] std::size_t capacity() const noexcept { return spans_.size(); }
  /// The number of spans in it.
  [[nodiscard]] std::size_t size() const noexcept {
    return written_ < spans_.size() ? static_cast<std::size_t>(written_) : spans_.size();  // model: ring.size
  }
  /// The number of spans that were overwritten.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return written_ - size(); }  // model: ring.dropped
  /// The spans that are kept, the oldest first.
  // model: ring.at
  [[nodiscard]] const Span& operator[](std::size_t i) const noexcept { return spans_[(dropped() + i) & mask_]; }

 private:
  std::vector<Span> spans_;
  std::size_t mask_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace rondo::observe
