// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/tensor/data_type.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <type_traits>

namespace rondo {

namespace detail {

/// Elements in row-major order with `Rank` extents; the common part of In, Out and InOut. `E` is const for In. A view
/// of rank 1 accepts a tensor of any rank and presents its elements in sequence.
template <class E, std::size_t Rank>
class TensorView {
  static_assert(Rank >= 1 && Rank <= max_rank, "rondo: a kernel sees a tensor in 1 to 5 dimensions");

 public:
  using element_type = E;
  using value_type = std::remove_const_t<E>;
  static constexpr std::size_t rank = Rank;

  /// `extents` holds Rank numbers, outermost first.
  constexpr TensorView(E* data, const std::int64_t* extents) noexcept : data_{data} {
    for (std::size_t d = 0; d < Rank; ++d) extents_[d] = static_cast<std::size_t>(extents[d]);
  }

  [[nodiscard]] constexpr E* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t extent(std::size_t d) const noexcept { return extents_[d]; }

  [[nodiscard]] constexpr std::size_t size() const noexcept {
    std::size_t n = 1;
    for (const std::size_t e : extents_) n *= e;
    return n;
  }

  /// The i-th element in row-major order, for any rank. Not checked.
  [[nodiscard]] constexpr E& operator[](std::size_t i) const noexcept { return data_[i]; }

  /// The element at one index per dimension, outermost first. Not checked.
  template <class... Index>
    requires(sizeof...(Index) == Rank && (std::is_convertible_v<Index, std::size_t> && ...))
  [[nodiscard]] constexpr E& operator()(Index... indices) const noexcept {
    std::size_t i = 0;
    std::size_t d = 0;
    ((i = i * extents_[d++] + static_cast<std::size_t>(indices)), ...);
    return data_[i];
  }

  [[nodiscard]] constexpr E* begin() const noexcept { return data_; }
  [[nodiscard]] constexpr E* end() const noexcept { return data_ + size(); }

 private:
  E* data_;
  std::size_t extents_[Rank];
};

}  // namespace detail

/// A kernel's parameter: a tensor that the kernel only reads.
template <Element T, std::size_t Rank = 1>
struct In : detail::TensorView<const T, Rank> {
  using detail::TensorView<const T, Rank>::TensorView;
};

/// A kernel's parameter: a tensor of which the kernel writes every element, and reads none before.
template <Element T, std::size_t Rank = 1>
struct Out : detail::TensorView<T, Rank> {
  using detail::TensorView<T, Rank>::TensorView;
};

/// A kernel's parameter: a tensor that the kernel reads and writes.
template <Element T, std::size_t Rank = 1>
struct InOut : detail::TensorView<T, Rank> {
  using detail::TensorView<T, Rank>::TensorView;
};

/// A kernel's parameter: memory for use during the task, undefined before and after it. Args formats call it a
/// workspace.
template <Element T, std::size_t Rank = 1>
struct Scratch : detail::TensorView<T, Rank> {
  using detail::TensorView<T, Rank>::TensorView;
};

}  // namespace rondo
