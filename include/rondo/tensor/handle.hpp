// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/tensor/data_type.hpp>
#include <rondo/types.hpp>

#include <cstdint>

namespace rondo {

/// Identifies a tensor of a graph. One word, so that a round compares identity with a single instruction.
struct TensorKey {
  std::uint64_t value = 0;

  constexpr TensorKey() noexcept = default;
  constexpr TensorKey(TensorId tensor, std::uint32_t graph) noexcept
      : value{std::uint64_t{graph} << 32 | index(tensor)} {}

  /// The tensor's number in its graph.
  [[nodiscard]] constexpr TensorId tensor() const noexcept { return TensorId{static_cast<std::uint32_t>(value)}; }
  /// See TaskGraph::tag().
  [[nodiscard]] constexpr std::uint32_t graph() const noexcept { return static_cast<std::uint32_t>(value >> 32); }

  friend constexpr bool operator==(TensorKey, TensorKey) noexcept = default;
};

/// A tensor of a graph: its identity as a value, its element type and direction as a type, so that passing it to the
/// wrong kernel parameter or binding it the wrong way does not compile. Valid for the graph that made it, for copies of
/// that graph, and for sessions over them.
template <Element T, Direction D>
struct TensorHandle {
  using element_type = T;
  static constexpr Direction direction = D;

  TensorKey key;

  friend constexpr bool operator==(TensorHandle, TensorHandle) noexcept = default;
};

/// Copied in each round.
template <class T>
using Input = TensorHandle<T, Direction::in>;
/// Copied out each round.
template <class T>
using Output = TensorHandle<T, Direction::out>;
/// Copied in and out each round.
template <class T>
using InputOutput = TensorHandle<T, Direction::inout>;
/// Copied in each round, inside the args table.
template <class T>
using HostInput = TensorHandle<T, Direction::host_input>;
/// Stays on the device.
template <class T>
using Resident = TensorHandle<T, Direction::resident>;
/// Between tasks of a round.
template <class T>
using Workspace = TensorHandle<T, Direction::workspace>;

namespace detail {
template <class H>
inline constexpr bool is_tensor_handle = false;
template <class T, Direction D>
inline constexpr bool is_tensor_handle<TensorHandle<T, D>> = true;
}  // namespace detail

}  // namespace rondo
