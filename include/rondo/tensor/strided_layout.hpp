// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo {

namespace detail {
class StridedRows;
}

/// The places of a tensor's elements in memory that is not contiguous: the extents, outermost first, and along each
/// dimension the bytes from one element to the next, as NumPy has them. A stride may be negative, or zero for an input
/// that is broadcast. Elements need not be aligned.
///
/// A plain value. Cost: the constructor does some divisions and no allocation.
class StridedLayout {
 public:
  /// `extents` and `strides`: `rank` numbers each; strides in bytes. A layout of more than max_rank dimensions, of a
  /// negative extent, or of more bytes than an address can name is not valid, and sessions refuse it.
  StridedLayout(std::size_t element_bytes, const std::int64_t* extents, const std::int64_t* strides,
                std::size_t rank) noexcept;

  /// Whether a tensor can have this layout.
  [[nodiscard]] bool is_valid() const noexcept { return bytes_ != invalid; }
  /// The bytes of one element.
  [[nodiscard]] std::size_t element_bytes() const noexcept { return element_bytes_; }
  /// The bytes of all elements together, without gaps.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Whether the elements lie in row-major order without gaps.
  [[nodiscard]] bool is_packed() const noexcept { return rank_ == 0 || (rank_ == 1 && is_run()); }
  /// Whether elements may share bytes, so that memory of this layout cannot be written. Layouts of slices, transposed
  /// arrays and their combinations never do; a layout that interleaves dimensions counts as one that does.
  [[nodiscard]] bool may_overlap() const noexcept;
  /// The bytes from the lowest element to the first one.
  [[nodiscard]] std::uint64_t bytes_before() const noexcept { return before_; }
  /// The bytes from the first element to the end of the highest one.
  [[nodiscard]] std::uint64_t bytes_after() const noexcept { return after_; }

  /// Copies the elements at `from`, the address of the first one, to packed memory at `to`.
  void pack(std::byte* to, const std::byte* from) const noexcept;
  /// Copies packed elements at `from` to their places; `to` is the address of the first one.
  void scatter(std::byte* to, const std::byte* from) const noexcept;

 private:
  friend class detail::StridedRows;
  static constexpr std::uint64_t invalid = ~std::uint64_t{0};
  [[nodiscard]] bool is_run() const noexcept {
    return strides_[rank_ - 1] == static_cast<std::int64_t>(element_bytes_);
  }

  std::size_t element_bytes_;
  std::size_t rank_ = 0;  ///< without dimensions of one element; neighbours that make one dimension are joined
  std::int64_t extents_[max_rank] = {};
  std::int64_t strides_[max_rank] = {};
  std::uint64_t bytes_ = invalid;
  std::uint64_t before_ = 0;
  std::uint64_t after_ = 0;
};

namespace detail {

/// `count` pieces of `size` bytes, which are `stride` bytes apart, and follow each other in packed memory; `apart` and
/// `packed` are the offsets of the first one, in bytes.
struct StridedRow {
  std::int64_t apart = 0;
  std::uint64_t packed = 0;
  std::size_t size = 0;
  std::int64_t stride = 0;
  std::int64_t count = 0;
};

/// The rows of a layout, which must outlive this; an invalid layout has none.
///
///     for (StridedRows rows(layout); rows.next();) use(rows.row());
class StridedRows {
 public:
  explicit StridedRows(const StridedLayout& layout) noexcept;
  /// Goes to the first row, later to the next. Returns false after the last.
  bool next() noexcept;
  [[nodiscard]] const StridedRow& row() const noexcept { return row_; }

 private:
  const StridedLayout& layout_;
  std::size_t outer_ = 0;  ///< the number of dimensions outside of a row
  bool is_first_ = true;
  StridedRow row_;
  std::int64_t at_[max_rank] = {};
};

}  // namespace detail
}  // namespace rondo

#include <rondo/tensor/strided_layout_impl.hpp>  // IWYU pragma: export
