// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/concepts.hpp>
#include <rondo/session/ports.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rondo::detail {

template <BoundPair B>
[[nodiscard]] constexpr TensorKey key_of(const B& pair) noexcept {
  return pair.handle().key;
}
template <BoundPair B>
[[nodiscard]] constexpr std::uint64_t bytes_of(const B& pair) noexcept {
  return std::uint64_t{pair.size()} * sizeof(typename HandleOf<B>::element_type);
}
template <BoundPair... B>
inline constexpr std::size_t count_in = (std::size_t{0} + ... + (copies_in(HandleOf<B>::direction) ? 1 : 0));
template <BoundPair... B>
inline constexpr std::size_t count_out = (std::size_t{0} + ... + (copies_out(HandleOf<B>::direction) ? 1 : 0));

/// What a pair comes down to, whatever its type.
struct Binding {
  TensorKey key;
  std::uint64_t bytes = 0;
  const void* data = nullptr;
};

/// What a round found wrong with its bindings: the status, and for wrong_size how many bytes were bound.
struct BindingFault {
  Status status;
  std::uint64_t bytes_bound = 0;
};

/// Checks bindings in any order against the ports: each port once, the right size, no null. Cold; O(bindings × ports).
[[gnu::cold]] inline BindingFault check_bindings(std::span<const Port> ports,
                                                 std::span<const Binding> bindings) noexcept {
  const auto find = [&](const auto& range, TensorKey key) {
    std::size_t i = 0;
    while (i < range.size() && range[i].key != key) ++i;
    return i;
  };
  for (std::size_t b = 0; b < bindings.size(); ++b) {
    const Binding& binding = bindings[b];
    const std::size_t port = find(ports, binding.key);
    // A handle of another graph has no name here, so the status names none.
    if (port == ports.size()) return {Status{Errc::wrong_tensor}};
    const std::uint32_t tensor = index(binding.key.tensor());
    if (find(bindings, binding.key) != b) return {Status::of_tensor(Errc::bound_twice, tensor)};
    if (binding.bytes != ports[port].bytes) return {Status::of_tensor(Errc::wrong_size, tensor), binding.bytes};
    if (binding.data == nullptr) return {Status::of_tensor(Errc::null_memory, tensor)};
  }
  for (const Port& port : ports) {
    if (find(bindings, port.key) == bindings.size()) {
      return {Status::of_tensor(Errc::unbound_tensor, index(port.key.tensor()))};
    }
  }
  return {};
}

/// One copy of a round, its device address resolved.
struct Copy {
  DevicePtr<std::byte> device;
  void* host = nullptr;  ///< only read where the copy goes to the device
  Bytes bytes;
};

/// A round's copies, checked and resolved: what remains of its bindings.
template <std::size_t In, std::size_t Out>
struct Copies {
  Copy in[In + 1];
  Copy out[Out + 1];
};

/// Turns checked bindings into copies, inputs in the order given.
template <BoundPair... B>
[[nodiscard]] inline Copies<count_in<B...>, count_out<B...>> resolve(std::span<const Port> ports,
                                                                     DevicePtr<std::byte> base,
                                                                     const B&... pairs) noexcept {
  Copies<count_in<B...>, count_out<B...>> copies;
  std::size_t in = 0;
  std::size_t out = 0;
  const auto add = [&]<class Pair>(const Pair& pair) {
    const Port* port = ports.data();
    while (port->key != key_of(pair)) ++port;  // it is there: the bindings are checked
    void* const host = const_cast<void*>(static_cast<const void*>(pair.data()));  // an input's is only read
    const Copy copy{base.offset(Bytes{port->offset}), host, Bytes{port->bytes}};
    if constexpr (copies_in(HandleOf<Pair>::direction)) copies.in[in++] = copy;
    if constexpr (copies_out(HandleOf<Pair>::direction)) copies.out[out++] = copy;
  };
  (add(pairs), ...);
  return copies;
}

}  // namespace rondo::detail
