// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/tensor/strided_layout.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

/// The bodies of StridedLayout. Include strided_layout.hpp instead.
namespace rondo {

#if RONDO_HAS_BODIES
RONDO_INLINE StridedLayout::StridedLayout(std::size_t element_bytes, const std::int64_t* extents,
                                          const std::int64_t* strides, std::size_t rank) noexcept
    : element_bytes_{element_bytes} {
  if (rank > max_rank || element_bytes == 0) return;
  auto bytes = static_cast<std::int64_t>(element_bytes);
  std::int64_t low = 0;
  std::int64_t high = bytes;
  bool is_empty = false;
  bool overflows = false;
  for (std::size_t d = 0; d < rank; ++d) {
    if (extents[d] < 0) return;
    is_empty = is_empty || extents[d] == 0;
    std::int64_t reach = 0;
    overflows |= __builtin_mul_overflow(bytes, extents[d], &bytes);
    overflows |= extents[d] != 0 && __builtin_mul_overflow(extents[d] - 1, strides[d], &reach);
    overflows |= __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high);
    if (extents[d] == 1 || is_empty || overflows) continue;
    std::int64_t whole = 0;
    const bool joins =
        rank_ != 0 && !__builtin_mul_overflow(extents[d], strides[d], &whole) && strides_[rank_ - 1] == whole;
    if (!joins) ++rank_;
    extents_[rank_ - 1] = joins ? extents_[rank_ - 1] * extents[d] : extents[d];
    strides_[rank_ - 1] = strides[d];
  }
  if (is_empty) {
    rank_ = 0;
    bytes_ = 0;
  } else if (!overflows) {
    bytes_ = static_cast<std::uint64_t>(bytes);
    before_ = 0 - static_cast<std::uint64_t>(low);
    after_ = static_cast<std::uint64_t>(high);
  }
}

RONDO_INLINE bool StridedLayout::may_overlap() const noexcept {
  std::pair<std::uint64_t, std::uint64_t> steps[max_rank];  // stride and extent, the smallest stride first
  for (std::size_t d = 0; d < rank_; ++d) {
    const auto stride = static_cast<std::uint64_t>(strides_[d]);
    steps[d] = {strides_[d] < 0 ? 0 - stride : stride, static_cast<std::uint64_t>(extents_[d])};
  }
  std::sort(steps, steps + rank_);
  std::uint64_t reach = element_bytes_;
  for (std::size_t d = 0; d < rank_; ++d) {
    if (steps[d].first < reach) return true;
    reach += steps[d].first * (steps[d].second - 1);
  }
  return false;
}

namespace detail {

/// Copies `count` elements of `size` bytes, each `stride` bytes after the last, to or from packed memory.
template <bool packs, class Size>
[[gnu::always_inline]] inline void copy_row(std::byte* apart, std::byte* packed, std::int64_t count,
                                            std::int64_t stride, Size size) noexcept {
  for (std::int64_t i = 0; i < count; ++i, apart += stride, packed += size) {
    std::memcpy(packs ? packed : apart, packs ? apart : packed, size);
  }
}
/// The same, with the size of elements as a constant, so that memcpy is a load and a store.
template <bool packs>
void copy_row_of(std::byte* apart, std::byte* packed, std::int64_t count, std::int64_t stride,
                 std::size_t size) noexcept {
  switch (size) {
    case 1: return copy_row<packs>(apart, packed, count, stride, std::integral_constant<std::size_t, 1>{});
    case 2: return copy_row<packs>(apart, packed, count, stride, std::integral_constant<std::size_t, 2>{});
    case 4: return copy_row<packs>(apart, packed, count, stride, std::integral_constant<std::size_t, 4>{});
    case 8: return copy_row<packs>(apart, packed, count, stride, std::integral_constant<std::size_t, 8>{});
    default: return copy_row<packs>(apart, packed, count, stride, size);
  }
}

}  // namespace detail

RONDO_INLINE void StridedLayout::pack(std::byte* to, const std::byte* from) const noexcept {
  for (detail::StridedRows rows(*this); rows.next();) {
    const detail::StridedRow& row = rows.row();
    auto* const apart = const_cast<std::byte*>(from) + row.apart;  // NOLINT: read
    detail::copy_row_of<true>(apart, to + row.packed, row.count, row.stride, row.size);
  }
}
RONDO_INLINE void StridedLayout::scatter(std::byte* to, const std::byte* from) const noexcept {
  for (detail::StridedRows rows(*this); rows.next();) {
    const detail::StridedRow& row = rows.row();
    auto* const packed = const_cast<std::byte*>(from) + row.packed;  // NOLINT: read
    detail::copy_row_of<false>(to + row.apart, packed, row.count, row.stride, row.size);
  }
}

namespace detail {

/// The innermost dimension is a row of elements, or, without gaps, the one element of a row.
RONDO_INLINE StridedRows::StridedRows(const StridedLayout& layout) noexcept : layout_{layout} {
  const bool has_runs = layout.rank_ != 0 && layout.is_run();
  const std::size_t rank = has_runs ? layout.rank_ - 1 : layout.rank_;
  row_.size = layout.element_bytes_ * (has_runs ? static_cast<std::size_t>(layout.extents_[rank]) : 1);
  row_.count = rank == 0 ? 1 : layout.extents_[rank - 1];
  row_.stride = rank == 0 ? 0 : layout.strides_[rank - 1];
  outer_ = rank < 2 ? 0 : rank - 1;
}

RONDO_INLINE bool StridedRows::next() noexcept {
  if (std::exchange(is_first_, false)) return layout_.bytes_ != 0 && layout_.is_valid();
  row_.packed += static_cast<std::size_t>(row_.count) * row_.size;
  for (std::size_t d = outer_; d-- != 0;) {
    row_.apart += layout_.strides_[d];
    if (++at_[d] != layout_.extents_[d]) return true;
    row_.apart -= layout_.extents_[d] * layout_.strides_[d];
    at_[d] = 0;
  }
  return false;
}

}  // namespace detail
#endif

}  // namespace rondo
