// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::observe {

/// Something that lasted from `start` to `end`, in readings of a clock. The writer decides what the numbers mean.
struct Span {
  /// A reading of the clock.
  std::uint64_t start = 0;
  /// A later one.
  std::uint64_t end = 0;
  /// The number of the round or launch.
  std::uint64_t round = 0;
  /// The kind, as a number that the writer chooses.
  std::uint32_t what = 0;
  std::uint32_t detail = 0;
  /// Bytes moved, or a number that the writer chooses.
  std::uint64_t bytes = 0;
};

/// The last spans of one thread. When it is full, the oldest give way, and are counted as dropped.
///
/// Thread safety: one thread writes; another may read once it knows of the writer's last write, as after a round.
/// Cost: memory of a power of two of spans, written to when it is made, so that no round meets a page for the first
/// time; to add one: a few stores.
class SpanRing {
 public:
  SpanRing() noexcept = default;
  /// `capacity`: rounded up to a power of two.
  explicit SpanRing(std::size_t capacity) : spans_(std::bit_ceil(capacity)), mask_{spans_.size() - 1} {}

  /// Adds a span, in place of the oldest one if there is no room.
  void add(const Span& span) noexcept { spans_[written_++ & mask_] = span; }  // model: ring.add
  /// Removes all spans.
  void clear() noexcept { written_ = 0; }

  /// The number of spans that it has room for.
  [[nodiscard]] std::size_t capacity() const noexcept { return spans_.size(); }
  /// The number of spans in it.
  [[nodiscard]] std::size_t size() const noexcept {
    return written_ < spans_.size() ? static_cast<std::size_t>(written_) : spans_.size();  // model: ring.size
  }
  /// The number of spans that were overwritten.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return written_ - size(); }  // model: ring.dropped
  /// The spans that are left, the oldest first.
  // model: ring.at
  [[nodiscard]] const Span& operator[](std::size_t i) const noexcept { return spans_[(dropped() + i) & mask_]; }

 private:
  std::vector<Span> spans_;
  std::size_t mask_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace rondo::observe
