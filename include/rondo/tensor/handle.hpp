// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/tensor/data_type.hpp>
#include <rondo/types.hpp>

#include <cstdint>

namespace rondo {

/// Identifies a tensor of a graph. It is a single word, so that a round compares it with a single instruction.
struct TensorKey {
  std::uint64_t value = 0;

  constexpr TensorKey() noexcept = default;
  constexpr TensorKey(TensorId tensor, std::uint32_t graph) noexcept
      : value{std::uint64_t{graph} << 32 | index(tensor)} {}

  /// The tensor's number in its graph.
  [[nodiscard]] constexpr TensorId tensor() const noexcept { return TensorId{static_cast<std::uint32_t>(value)}; }
  /// The tag of the graph; see TaskGraph::tag().
  [[nodiscard]] constexpr std::uint32_t graph() const noexcept { return static_cast<std::uint32_t>(value >> 32); }

  friend constexpr bool operator==(TensorKey, TensorKey) noexcept = default;
};

/// A handle to a tensor of a graph. Its element type and direction are part of its type, so that passing it to the
/// wrong kernel parameter or binding it in the wrong direction does not compile. Valid for the graph that created it,
/// for copies of that graph, and for sessions of those.
template <Element T, Direction D>
struct TensorHandle {
  using element_type = T;
  static constexpr Direction direction = D;

  TensorKey key;

  friend constexpr bool operator==(TensorHandle, TensorHandle) noexcept = default;
};

/// Copied to the device each round.
template <class T>
using Input = TensorHandle<T, Direction::in>;
/// Copied to the host each round.
template <class T>
using Output = TensorHandle<T, Direction::out>;
/// Copied to the device and back each round.
template <class T>
using InputOutput = TensorHandle<T, Direction::inout>;
/// Copied to the device each round, as part of the args table.
template <class T>
using HostInput = TensorHandle<T, Direction::host_input>;
/// Stays on the device across rounds.
template <class T>
using Resident = TensorHandle<T, Direction::resident>;
/// Passes data between the tasks of a round.
template <class T>
using Workspace = TensorHandle<T, Direction::workspace>;

namespace detail {
template <class H>
inline constexpr bool is_tensor_handle = false;
template <class T, Direction D>
inline constexpr bool is_tensor_handle<TensorHandle<T, D>> = true;
}  // namespace detail

}  // namespace rondo
