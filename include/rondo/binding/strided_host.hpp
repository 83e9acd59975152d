// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/tensor/pair.hpp>
#include <rondo/tensor/strided_layout.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace rondo {

/// Host memory with strides, which run_round binds like a vector: a round packs the elements that it reads, and
/// scatters those that it wrote.
///
///     StridedHost<const float> column(matrix.data() + 3, {rows}, {columns});    // column 3, strides in elements
///     session.run_round(bind(x, column), bind(y, hy));
///
/// For rounds of other kinds (in steps, in flight) use DynamicBindings.
///
/// Lifetime: the memory must outlive it; movable. Thread safety: one round at a time. Errors: the constructor throws
/// Error. Cost: the constructor allocates room for the packed elements; a round copies them twice.
template <class T>
class StridedHost {
 public:
  /// `first`: the element at index 0 of each dimension. `strides`: along each dimension, the elements from one to the
  /// next; they may be negative, or zero if the memory is only read.
  /// @throws Error invalid_argument if there is not one stride for each extent, or the layout leaves the address space;
  /// overlapping: T is not const, and elements share memory; std::bad_alloc
  StridedHost(T* first, const Shape& extents, std::initializer_list<std::int64_t> strides)
      : first_{first}, layout_{layout_of(extents, strides)}, packed_(layout_.bytes()) {}

  /// The element at index 0 of each dimension.
  [[nodiscard]] T* first() const noexcept { return first_; }
  /// The extents and strides of the elements, in bytes.
  [[nodiscard]] const StridedLayout& layout() const noexcept { return layout_; }

  // --- for sessions

  /// The room for packed elements; null, so that rounds are refused, if `first` is or the object was moved from.
  [[nodiscard]] std::remove_const_t<T>* packed() noexcept {
    if (first_ == nullptr || packed_.empty()) return nullptr;
    return reinterpret_cast<std::remove_const_t<T>*>(packed_.data());  // NOLINT: aligned as memory of new is
  }
  /// The number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return packed_.size() / sizeof(T); }
  /// Packs the elements that a round will read.
  void pack() noexcept {
    if (packed() == nullptr) return;
    layout_.pack(packed_.data(), reinterpret_cast<const std::byte*>(first_));  // NOLINT: bytes
  }
  /// Scatters the elements that a round wrote.
  void scatter() noexcept
    requires(!std::is_const_v<T>)
  {
    layout_.scatter(reinterpret_cast<std::byte*>(first_), packed_.data());  // NOLINT: bytes
  }

 private:
  static StridedLayout layout_of(const Shape& extents, std::initializer_list<std::int64_t> strides) {
    std::int64_t numbers[max_rank] = {};
    std::int64_t bytes[max_rank] = {};
    bool fits = strides.size() == extents.rank() && extents.rank() <= max_rank;
    for (std::size_t d = 0; fits && d < extents.rank(); ++d) {
      numbers[d] = extents.extent(d);
      fits = !__builtin_mul_overflow(strides.begin()[d], sizeof(T), &bytes[d]);
    }
    const StridedLayout layout(sizeof(T), numbers, bytes, extents.rank());
    if (!fits || !layout.is_valid()) {
      throw Error(
          Errc::invalid_argument,
          Error::Text{"StridedHost: there are ", extents.rank(), " extents and ", strides.size(),
                      " strides, or they leave the address space; give one stride for each extent, in elements"});
    }
    if (!std::is_const_v<T> && layout.may_overlap()) {
      throw Error(Errc::overlapping,
                  Error::Text("StridedHost: elements share memory; for memory that rounds only read, "
                              "write StridedHost<const T>"));
    }
    return layout;
  }

  T* first_;
  StridedLayout layout_;
  std::vector<std::byte> packed_;
};

namespace detail {

/// A tensor and host memory with strides. Not a BoundPair: only run_round() takes it.
template <Element T, Direction D, class H>
struct StridedPair {
  TensorHandle<T, D> tensor;
  H& host;

  [[nodiscard]] CopiedPair<T, D> packed() const noexcept {
    if constexpr (D != Direction::out) host.pack();
    return {tensor, host.packed(), host.size()};
  }
  void scatter() const noexcept {
    if constexpr (copies_out(D)) host.scatter();
  }
};
template <class B>
inline constexpr bool is_strided = false;
template <Element T, Direction D, class H>
inline constexpr bool is_strided<StridedPair<T, D, H>> = true;

template <class B>
decltype(auto) packed_pair(B& bound) noexcept {
  if constexpr (is_strided<std::remove_cv_t<B>>) {
    return bound.packed();
  } else {
    return (bound);
  }
}
/// Runs a round with packed memory in place of that with strides.
template <class Run, class... B>
Status run_packed(const Run& run, B&... bound) noexcept {
  const Status status = run(packed_pair(bound)...);
  const auto scatter = [&]<class Pair>(Pair& pair) {
    if constexpr (is_strided<std::remove_cv_t<Pair>>) pair.scatter();
  };
  if (status.ok()) (scatter(bound), ...);
  return status;
}

}  // namespace detail

/// Pairs a tensor with host memory that has strides, for run_round().
template <Element T, Direction D, class E>
[[nodiscard]] auto bind(TensorHandle<T, D> tensor, StridedHost<E>& host) noexcept {
  static_assert(is_bound_each_round(D),
                "rondo: a resident or workspace tensor is not bound; move residents by session.upload and download");
  detail::check_host_element<T, D, E>();
  return detail::StridedPair<T, D, StridedHost<E>>{tensor, host};
}

}  // namespace rondo
