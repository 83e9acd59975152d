// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/tensor/handle.hpp>
#include <rondo/types.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

/// The requirements on a pair of a tensor and its memory. Each concept is a conjunction of named parts, so that the
/// compiler names the part that fails; the message of check_tensor_pair<T>() says what to write.
namespace rondo {

/// The tensor of the graph: `TensorHandle<T, D> handle() const;` It determines the element type and direction.
template <class T>
concept HasHandle =
    requires(const T& pair) { requires detail::is_tensor_handle<std::remove_cvref_t<decltype(pair.handle())>>; };

namespace detail {
template <HasHandle T>
using HandleOf = std::remove_cvref_t<decltype(std::declval<const T&>().handle())>;
/// The pointee type that the host memory must convert to: const if the round only reads it.
template <class H>
using HostElement =
    std::conditional_t<copies_out(H::direction), typename H::element_type, const typename H::element_type>;
}  // namespace detail

/// A tensor that is copied each round (in, out, inout, host_input) and its host memory: `T* data() const` (`const T*`
/// suffices for an input) and `std::size_t size() const`, in elements.
///
/// The concept cannot check that data() points to size() elements that stay alive and that nothing else accesses until
/// the round is finished.
template <class T>
concept HostTensorPair =
    HasHandle<T> && is_bound_each_round(detail::HandleOf<T>::direction) && requires(const T& pair) {
      { pair.data() } -> std::convertible_to<detail::HostElement<detail::HandleOf<T>>*>;
      { pair.size() } -> std::convertible_to<std::size_t>;
    };

/// A tensor and its device memory, `DevicePtr<T> device() const`: that of a tensor that stays on the device, or memory
/// that replaces the session's for a round. A host input has none.
template <class T>
concept DeviceTensorPair =
    HasHandle<T> && !is_carried_in_args(detail::HandleOf<T>::direction) && requires(const T& pair) {
      { pair.device() } -> std::convertible_to<DevicePtr<const typename detail::HandleOf<T>::element_type>>;
    };

/// A tensor of a graph and its memory: a host pair or a device pair.
template <class T>
concept TensorPair = HostTensorPair<T> || DeviceTensorPair<T>;

/// A pair that each round binds.
template <class T>
concept BoundPair = TensorPair<T> && is_bound_each_round(detail::HandleOf<T>::direction);

/// A bound pair of device memory: nothing is copied, the tensor's address changes instead.
template <class T>
concept DeviceBoundPair = BoundPair<T> && !HostTensorPair<T>;

/// A pair whose memory a copy may still access after the call has returned: device memory, pinned host memory, or host
/// memory that the platform snapshots first. Such host memory declares `static constexpr bool is_pinned = true;` or
/// `static constexpr bool is_snapshot = true;`
template <class T>
concept AsyncPair = BoundPair<T> &&(
    DeviceBoundPair<T> || is_carried_in_args(detail::HandleOf<T>::direction) || requires { requires T::is_pinned; } ||
    requires { requires T::is_snapshot; });

/// Explains, part by part, what T lacks to be a TensorPair.
template <class T>
consteval bool check_tensor_pair() {
  static_assert(
      HasHandle<T>,
      "rondo: the pair does not say which tensor it is; write `rondo::TensorHandle<T, D> handle() const;` and "
      "return the handle that the graph gave out");
  if constexpr (HasHandle<T>) {
    if constexpr (is_bound_each_round(detail::HandleOf<T>::direction)) {
      static_assert(TensorPair<T>,
                    "rondo: the pair shows no host memory of its element type; write `T* data() const;` (`const T*` "
                    "for an input) and `std::size_t size() const;`");
    } else {
      static_assert(DeviceTensorPair<T>,
                    "rondo: the pair shows no device memory; write `rondo::DevicePtr<T> device() const;`");
    }
  }
  return TensorPair<T>;
}

}  // namespace rondo
