// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace rondo {

/// Elements that lie side by side in memory of somebody else's: as std::span, with the members that Rondo needs, and
/// pointers as iterators. Whatever has data() and size() turns into one: a std::span, or a std::vector if the elements
/// are constants; and one into a std::span. Usable in constant expressions.
///
/// Why not std::span: it checks six concepts of iterators for each type of pointer that it is made from, which costs
/// whoever compiles it 8 ms each time; this costs a twentieth.
///
/// Lifetime: as std::span, that of the memory. Cost: two words, passed by value.
template <class T>
class Slice {
 public:
  constexpr Slice() noexcept = default;
  constexpr Slice(T* data, std::size_t size) noexcept : data_{data}, size_{size} {}
  template <std::size_t N>
  constexpr Slice(T (&array)[N]) noexcept : data_{array}, size_{N} {}  // NOLINT: as good as the array
  template <class Range>
  requires requires(const Range& range) {
    static_cast<T*>(range.data());
    range.size();
  }
  constexpr Slice(const Range& range) noexcept : data_{range.data()}, size_{range.size()} {}  // NOLINT: as good as it

  /// How many elements.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  /// Are there none?
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  /// The first element.
  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  /// The first element.
  [[nodiscard]] constexpr T* begin() const noexcept { return data_; }
  /// Behind the last element.
  [[nodiscard]] constexpr T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }
  /// The first element, of at least one.
  [[nodiscard]] constexpr T& front() const noexcept { return data_[0]; }
  /// The last element, of at least one.
  [[nodiscard]] constexpr T& back() const noexcept { return data_[size_ - 1]; }
  /// The first ones, of at least so many.
  [[nodiscard]] constexpr Slice first(std::size_t count) const noexcept { return {data_, count}; }
  /// Those from `begin`, of at least as many.
  [[nodiscard]] constexpr Slice subspan(std::size_t begin) const noexcept { return {data_ + begin, size_ - begin}; }
  /// So many from `begin`.
  [[nodiscard]] constexpr Slice subspan(std::size_t begin, std::size_t count) const noexcept {
    return {data_ + begin, count};
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace rondo
