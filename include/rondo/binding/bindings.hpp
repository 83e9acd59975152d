// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/ports.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/tensor/concept.hpp>
#include <rondo/tensor/pair.hpp>
#include <rondo/update/concept.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace rondo::detail {

template <BoundPair B>
[[nodiscard]] constexpr TensorKey key_of(const B& pair) noexcept {
  return pair.handle().key;
}
template <BoundPair B>
[[nodiscard]] constexpr std::uint64_t elements_of(const B& pair) noexcept {
  return static_cast<std::uint64_t>(pair.size());
}
template <BoundPair B>
inline constexpr std::uint64_t element_size = sizeof(typename HandleOf<B>::element_type);
/// The product may wrap. For host memory that is harmless, since no memory has that many elements; comparing elements
/// instead would cost a shift for the size() of each vector. A span of device memory, however, may claim any number.
template <BoundPair B>
[[nodiscard]] constexpr std::uint64_t bytes_of(const B& pair) noexcept {
  return elements_of(pair) * element_size<B>;
}
/// The sum; the largest number, which no memory has, if it overflows.
[[nodiscard]] constexpr std::uint64_t sum_or_most(std::uint64_t a, std::uint64_t b) noexcept {
  return a > ~b ? ~std::uint64_t{0} : a + b;
}
/// The address of a pair's device memory; 0 for host memory.
template <BoundPair B>
[[nodiscard, gnu::always_inline]] constexpr std::uint64_t device_of([[maybe_unused]] const B& pair) noexcept {
  if constexpr (DeviceBoundPair<B>) {
    return pair.device().address();
  } else {
    return 0;
  }
}
/// Whether the memory is null. Always inlined: otherwise g++ spills the pairs of a round to pass one by address.
template <BoundPair B>
[[nodiscard, gnu::always_inline]] constexpr bool is_null(const B& pair) noexcept {
  if constexpr (DeviceBoundPair<B>) {
    return device_of(pair) == 0;
  } else {
    return pair.data() == nullptr;
  }
}
/// Whether the round copies the tensor to the device, or from it, with a copy of its own.
template <BoundPair B>
inline constexpr bool is_copied_in = copies_in(HandleOf<B>::direction) && !DeviceBoundPair<B>;
template <BoundPair B>
inline constexpr bool is_copied_out = copies_out(HandleOf<B>::direction) && !DeviceBoundPair<B>;
template <BoundPair... B>
inline constexpr std::size_t count_in = (std::size_t{0} + ... + (is_copied_in<B> ? 1 : 0));
template <BoundPair... B>
inline constexpr std::size_t count_out = (std::size_t{0} + ... + (is_copied_out<B> ? 1 : 0));
/// The number of pairs whose tensors are part of the args table.
template <BoundPair... B>
inline constexpr std::size_t count_host_inputs =
    (std::size_t{0} + ... + (is_carried_in_args(HandleOf<B>::direction) ? 1 : 0));
/// The lowest update level that supports a pair.
template <BoundPair B>
inline constexpr UpdateLevel level_of = DeviceBoundPair<B>                           ? UpdateLevel::model_io
                                        : is_carried_in_args(HandleOf<B>::direction) ? UpdateLevel::host_input
                                                                                     : UpdateLevel::none;
template <BoundPair... B>
inline constexpr bool any_update = ((level_of<B> != UpdateLevel::none) || ...);

struct StridedMemory;

/// A pair, independent of its type.
struct Binding {
  static constexpr std::uint64_t unbound = ~std::uint64_t{0};
  TensorKey key;
  std::uint64_t bytes = 0;
  void* data = nullptr;                    ///< host memory; only read if the tensor is an input
  std::uint64_t device = 0;                ///< the address of device memory, if that is bound
  bool snapshot = false;                   ///< whether the copy reads the bytes before it returns
  const StridedMemory* strided = nullptr;  ///< the caller's device memory, if `device` is packed memory in its place

  Binding() noexcept = default;
  /// A tensor to which nothing is bound yet.
  explicit Binding(TensorKey tensor) noexcept : key{tensor}, bytes{unbound} {}
  template <BoundPair B>
  explicit Binding(const B& pair) noexcept
      : key{key_of(pair)}, bytes{bytes_or_most(elements_of(pair), element_size<B>)}, device{device_of(pair)} {
    if constexpr (!DeviceBoundPair<B>)
      data = const_cast<void*>(static_cast<const void*>(pair.data()));  // NOLINT: read only
    if constexpr (requires { B::is_snapshot; }) snapshot = B::is_snapshot;
  }
  [[nodiscard]] bool is_null() const noexcept { return data == nullptr && device == 0; }
  /// Whether the round copies host memory. A copy of zero bytes is never issued.
  [[nodiscard]] bool is_copied() const noexcept { return device == 0 && bytes != 0; }
};

/// The error in a round's bindings: the status, and for wrong_size the number of bytes that were bound.
struct BindingFault {
  Status status;
  std::uint64_t bytes_bound = 0;
};

/// Whether the bindings are in the order of the ports, each of the right size, and not null unless it is empty.
/// O(bindings)
template <class Ports>
[[nodiscard]] bool is_sorted(const Ports& ports, std::span<const Binding> bindings) noexcept {
  if (bindings.size() != ports.size()) return false;
  for (std::size_t p = 0; p < ports.size(); ++p) {
    const Port& port = ports[p];
    if (bindings[p].key != port.key || bindings[p].bytes != port.bytes) return false;
    if (bindings[p].is_null() && port.bytes != 0) return false;
  }
  return true;
}
/// Checks bindings in any order, and sorts them into the order of the ports: each port once, of the right size, not
/// null unless it is empty. Cold; O(bindings × ports).
template <class Ports>
[[gnu::cold]] BindingFault sort_bindings(const Ports& ports, std::span<Binding> bindings) noexcept {
  const auto position = [](const auto& range, TensorKey key) {
    std::size_t i = 0;
    while (i < range.size() && range[i].key != key) ++i;
    return i;
  };
  for (std::size_t b = 0; b < bindings.size(); ++b) {
    const Binding& binding = bindings[b];
    const std::size_t port = position(ports, binding.key);
    // This graph has no name for a handle of another graph, so the status names no tensor.
    if (port == ports.size()) return {Status{Errc::wrong_tensor}};
    const std::uint32_t tensor = index(binding.key.tensor());
    if (position(bindings, binding.key) != b) return {Status::of_tensor(Errc::bound_twice, tensor)};
    if (binding.bytes != ports[port].bytes) return {Status::of_tensor(Errc::wrong_size, tensor), binding.bytes};
    if (binding.is_null() && binding.bytes != 0) return {Status::of_tensor(Errc::null_memory, tensor)};
  }
  for (std::size_t p = 0; p < ports.size(); ++p) {
    const std::size_t b = position(bindings, ports[p].key);
    if (b == bindings.size()) return {Status::of_tensor(Errc::unbound_tensor, index(ports[p].key.tensor()))};
    std::swap(bindings[p], bindings[b]);  // bindings[p] exists: each port before p has one binding
  }
  return {};
}

/// A copy of a round, with its device address.
struct Copy {
  DevicePtr<std::byte> device;
  void* host = nullptr;  ///< only read if the copy is to the device
  Bytes bytes;
};

/// The copies of checked bindings, which are in the order of the ports.
template <std::size_t In, std::size_t Out>
struct Copies {
  Copy in[In + 1];
  Copy out[Out + 1];

  Copies() noexcept = default;
  template <class Ports>
  Copies(const Ports& ports, std::span<const Binding> bindings) noexcept {
    std::size_t to = 0;
    std::size_t from = 0;
    for (std::size_t p = 0; p < ports.size(); ++p) {
      const Port& port = ports[p];
      if (!bindings[p].is_copied()) continue;
      const Copy copy{port.device, bindings[p].data, Bytes{bindings[p].bytes}};
      if (copies_in(port.direction)) in[to++] = copy;
      if (copies_out(port.direction)) out[from++] = copy;
    }
  }
};

template <class Move, BoundPair B>
[[gnu::always_inline]] inline Status copy_pair_in(const Move& move, const Port& port, const B& pair) noexcept {
  if constexpr (is_copied_in<B>) {
    return move(port.device, pair.data(), Bytes{port.bytes}, false);
  } else {
    return {};
  }
}
template <class Move, BoundPair B>
[[gnu::always_inline]] inline Status copy_pair_out(const Move& move, const Port& port, const B& pair) noexcept {
  if constexpr (is_copied_out<B>) {
    return move(pair.data(), DevicePtr<const std::byte>{port.device}, Bytes{port.bytes});
  } else {
    return {};
  }
}

}  // namespace rondo::detail
