// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/tensor/concept.hpp>
#include <rondo/tensor/handle.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace rondo {

/// Host memory for an input, output or inout that is copied each round. Made by bind().
template <Element T, Direction D>
  requires(is_bound_each_round(D))
class CopiedPair {
 public:
  /// Const if the round only reads the memory.
  using HostElement = std::conditional_t<copies_out(D), T, const T>;

  constexpr CopiedPair(TensorHandle<T, D> handle, HostElement* data, std::size_t size) noexcept
      : handle_{handle}, data_{data}, size_{size} {}

  [[nodiscard]] constexpr TensorHandle<T, D> handle() const noexcept { return handle_; }
  [[nodiscard]] constexpr HostElement* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }

 private:
  TensorHandle<T, D> handle_;
  HostElement* data_;
  std::size_t size_;
};

/// A tensor and its device memory: one that stays on the device, as a session returns it, or one that a round binds.
template <Element T, Direction D>
  requires(!is_carried_in_args(D))
class DevicePair {
 public:
  /// Const if the round only reads the memory.
  using DeviceElement = std::conditional_t<is_model_io(D) && !copies_out(D), const T, T>;

  constexpr DevicePair(TensorHandle<T, D> handle, DeviceSpan<DeviceElement> memory) noexcept
      : handle_{handle}, memory_{memory} {}

  [[nodiscard]] constexpr TensorHandle<T, D> handle() const noexcept { return handle_; }
  [[nodiscard]] constexpr DevicePtr<DeviceElement> device() const noexcept { return memory_.data(); }
  [[nodiscard]] constexpr std::uint64_t size() const noexcept { return memory_.size(); }

 private:
  TensorHandle<T, D> handle_;
  DeviceSpan<DeviceElement> memory_;
};
/// A tensor that uses device memory of the caller in this round: nothing is copied. Made by bind().
template <Element T, Direction D>
  requires(is_model_io(D))
using DeviceBound = DevicePair<T, D>;

namespace detail {

template <class T>
inline constexpr bool is_device_span = false;
template <class T>
inline constexpr bool is_device_span<DeviceSpan<T>> = true;

/// Contiguous elements on the host: a class with data() and size().
template <class Host>
concept ContiguousHost = requires(Host& host) {
  { *host.data() };
  { host.size() } -> std::convertible_to<std::size_t>;
};

template <class T, Direction D, class E>
consteval void check_host_element() {
  static_assert(std::is_same_v<std::remove_cv_t<E>, T>,
                "rondo: the host memory's element type is not the tensor's; bind memory of the tensor's own type");
  static_assert(!copies_out(D) || !std::is_const_v<E>,
                "rondo: an output or inout is written to the host; bind memory that is not const");
}

}  // namespace detail

/// Pairs a tensor with host memory for a round: anything contiguous with data() and size() (a vector, span, array, or
/// class of your own), a C array, or, for a tensor of one element, a plain variable. The memory must hold exactly the
/// tensor's elements; keep it alive and do not access it until the round is finished.
/// A DeviceSpan binds device memory instead: the tensor takes its address for this round and nothing is copied.
template <Element T, Direction D, class Host>
[[nodiscard]] constexpr auto bind(TensorHandle<T, D> tensor, Host&& host) noexcept {
  using H = std::remove_reference_t<Host>;
  static_assert(is_bound_each_round(D),
                "rondo: a resident or workspace tensor is not bound; move residents by session.upload and download");
  static_assert(!std::is_pointer_v<H>, "rondo: a pointer has no size; bind a vector, an array or std::span(p, n)");
  static_assert(std::is_lvalue_reference_v<Host> || detail::is_device_span<std::remove_cv_t<H>> ||
                    std::is_pointer_v<H> || std::ranges::enable_borrowed_range<std::remove_cv_t<H>>,
                "rondo: the host memory is a temporary that dies before the round; bind a variable or a span");
  if constexpr (detail::is_device_span<std::remove_cv_t<H>>) {
    static_assert(is_model_io(D), "rondo: a host input lies in the args table; bind host memory to it");
    detail::check_host_element<T, D, typename H::element_type>();
    return DeviceBound<T, D>{tensor, host};
  } else if constexpr (!is_bound_each_round(D) || std::is_pointer_v<H>) {  // refused above
  } else if constexpr (std::is_bounded_array_v<H>) {
    detail::check_host_element<T, D, std::remove_extent_t<H>>();
    return CopiedPair<T, D>{tensor, &host[0], std::extent_v<H>};
  } else if constexpr (detail::ContiguousHost<H>) {
    detail::check_host_element<T, D, std::remove_reference_t<decltype(*host.data())>>();
    return CopiedPair<T, D>{tensor, host.data(), static_cast<std::size_t>(host.size())};
  } else {
    detail::check_host_element<T, D, H>();
    return CopiedPair<T, D>{tensor, &host, 1};
  }
}

/// A bound pair with the shape of its memory, for rounds of different shapes. Made by bind(x, host, shape).
template <BoundPair B>
class Shaped : public B {
 public:
  constexpr Shaped(const B& pair, const Shape& shape) noexcept : B{pair}, shape_{shape} {}
  [[nodiscard]] constexpr const Shape& shape() const noexcept { return shape_; }

 private:
  Shape shape_;
};

/// bind() with the shape of the memory in this round. Needed if the number of elements does not determine the
/// symbols, as with a tensor of n × m elements.
template <Element T, Direction D, class Host>
[[nodiscard]] constexpr auto bind(TensorHandle<T, D> tensor, Host&& host, const Shape& shape) noexcept {
  return Shaped{bind(tensor, std::forward<Host>(host)), shape};
}

}  // namespace rondo
