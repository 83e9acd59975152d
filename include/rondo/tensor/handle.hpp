// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/tensor/data_type.hpp>
#include <rondo/types.hpp>

#include <cstdint>

namespace rondo {

/// Which tensor of which graph. One word, so that a round compares identity with a single instruction.
struct TensorKey {
  std::uint64_t value = 0;

  constexpr TensorKey() noexcept = default;
  constexpr TensorKey(TensorId tensor, std::uint32_t graph) noexcept
      : value{std::uint64_t{graph} << 32 | index(tensor)} {}

  [[nodiscard]] constexpr TensorId tensor() const noexcept { return TensorId{static_cast<std::uint32_t>(value)}; }
  [[nodiscard]] constexpr std::uint32_t graph() const noexcept { return static_cast<std::uint32_t>(value >> 32); }

  friend constexpr bool operator==(TensorKey, TensorKey) noexcept = default;
};

/// What a graph gives out for each tensor: its identity as a value, its element type and direction as a type, so that
/// handing it to the wrong kernel parameter or binding it the wrong way does not compile.
/// Valid for the graph that made it, for copies of that graph, and for sessions over them.
template <Element T, Direction D>
struct TensorHandle {
  using element_type = T;
  static constexpr Direction direction = D;

  TensorKey key;

  friend constexpr bool operator==(TensorHandle, TensorHandle) noexcept = default;
};

template <class T>
using Input = TensorHandle<T, Direction::in>;
template <class T>
using Output = TensorHandle<T, Direction::out>;
template <class T>
using InputOutput = TensorHandle<T, Direction::inout>;
template <class T>
using HostInput = TensorHandle<T, Direction::host_input>;
template <class T>
using Resident = TensorHandle<T, Direction::resident>;
template <class T>
using Workspace = TensorHandle<T, Direction::workspace>;

namespace detail {
template <class H>
inline constexpr bool is_tensor_handle = false;
template <class T, Direction D>
inline constexpr bool is_tensor_handle<TensorHandle<T, D>> = true;
}  // namespace detail

}  // namespace rondo
