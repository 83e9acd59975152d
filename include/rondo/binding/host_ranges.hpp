// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/binding/prebound.hpp>
#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::detail {

/// Host memory, [begin, end).
struct HostRange {
  std::uintptr_t begin = ~std::uintptr_t{0};
  std::uintptr_t end = 0;

  HostRange() noexcept = default;
  HostRange(const void* data, std::uint64_t bytes) noexcept
      : begin{reinterpret_cast<std::uintptr_t>(data)}, end{begin + bytes} {}

  [[nodiscard]] bool overlaps(const HostRange& other) const noexcept { return begin < other.end && other.begin < end; }
  /// Extends this range to the smallest one that contains both.
  void include(const HostRange& other) noexcept {
    begin = begin < other.begin ? begin : other.begin;
    end = end > other.end ? end : other.end;
  }
};

/// The host memory that a round reads and writes.
template <std::size_t In, std::size_t Out>
struct HostRanges {
  static constexpr std::size_t in_count = In;
  static constexpr std::size_t out_count = Out;
  HostRange in[In + 1];
  HostRange out[Out + 1];
};

/// Whether a round reads the host memory that is bound to a tensor: it copies it, or takes it as a host input.
[[nodiscard]] constexpr bool reads_host_memory(Direction direction) noexcept {
  return copies_in(direction) || is_carried_in_args(direction);
}

template <BoundPair... B>
[[nodiscard, gnu::always_inline]] inline auto ranges_of(const B&... pairs) noexcept {
  HostRanges<count_in<B...> + count_host_inputs<B...>, count_out<B...>> ranges;
  [[maybe_unused]] HostRange* in = ranges.in;
  [[maybe_unused]] HostRange* out = ranges.out;
  [[maybe_unused]] const auto take = [&]<BoundPair T>(const T& pair) {
    if constexpr (!DeviceBoundPair<T>) {
      [[maybe_unused]] const HostRange range{pair.data(), bytes_of(pair)};
      if constexpr (reads_host_memory(HandleOf<T>::direction)) *in++ = range;
      if constexpr (copies_out(HandleOf<T>::direction)) *out++ = range;
    }
  };
  (take(pairs), ...);
  return ranges;
}

template <std::size_t In, std::size_t Out, std::size_t Pairs, std::size_t HostInputs, bool Moves>
[[nodiscard]] HostRanges<In + HostInputs, Out> ranges_of(
    const Resolved<In, Out, Pairs, HostInputs, Moves>& bound) noexcept {
  HostRanges<In + HostInputs, Out> ranges;
  const Copies<In, Out>& copies = bound.copies;
  for (std::size_t i = 0; i < In; ++i) ranges.in[i] = {copies.in[i].host, copies.in[i].bytes.value};
  for (std::size_t i = 0; i < HostInputs; ++i) {
    const Binding& binding = bound.bindings[bound.host_inputs[i]];
    ranges.in[In + i] = {binding.data, binding.bytes};
  }
  for (std::size_t i = 0; i < Out; ++i) ranges.out[i] = {copies.out[i].host, copies.out[i].bytes.value};
  return ranges;
}

/// The host memory of a round whose bindings are known only at run time.
class DynamicRanges {
 public:
  std::vector<HostRange> in;
  std::vector<HostRange> out;
  std::size_t in_count = 0;
  std::size_t out_count = 0;

  /// `ports`: the number of bindings. @throws std::bad_alloc
  explicit DynamicRanges(std::size_t ports) : in(ports), out(ports) {}

  const DynamicRanges& take(std::span<const Binding> bindings, const graph::GraphView& graph) noexcept {
    in_count = out_count = 0;
    for (const Binding& b : bindings) {
      const Direction direction = graph.tensors[index(b.key.tensor())].direction;
      if (b.device != 0 || b.bytes == Binding::unbound) continue;
      if (reads_host_memory(direction)) in[in_count++] = {b.data, b.bytes};
      if (copies_out(direction)) out[out_count++] = {b.data, b.bytes};
    }
    return *this;
  }
};

}  // namespace rondo::detail
