// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/owned_array.hpp>
#include <rondo/memory/disjoint_layout.hpp>
#include <rondo/types.hpp>

#include <cstdint>
#include <span>

namespace rondo::memory {

/// Where each tensor of a graph lies in its arena. Offsets are bytes from the arena's base, one per tensor.
template <class Graph, arch::Arch A>
class Layout {
 public:
  static constexpr bool is_static = false;

  /// @throws Error overflow
  explicit Layout(const Graph& graph)
      : offsets_(graph.view().tensors.size()),
        bytes_{lay_out_disjoint<A>(graph.view(), {offsets_.data(), offsets_.size()})} {}

  [[nodiscard]] std::span<const std::uint64_t> offsets() const noexcept { return offsets_.span(); }
  [[nodiscard]] Bytes arena_bytes() const noexcept { return Bytes{bytes_}; }

 private:
  detail::OwnedArray<std::uint64_t> offsets_;
  std::uint64_t bytes_;
};

/// The same as constants, for a graph that the compiler knows: an empty class.
template <class Graph, arch::Arch A>
requires(Graph::is_static) class Layout<Graph, A> {
 public:
  static constexpr bool is_static = true;
  Layout() = default;
  explicit Layout(const Graph&) noexcept {}

  [[nodiscard]] static constexpr std::span<const std::uint64_t> offsets() noexcept {
    return {constants_.offsets, Graph::view().tensors.size()};
  }
  [[nodiscard]] static constexpr Bytes arena_bytes() noexcept { return Bytes{constants_.bytes}; }

 private:
  struct Constants {
    std::uint64_t offsets[Graph::view().tensors.size() + 1] = {};
    std::uint64_t bytes = 0;
    consteval Constants() { bytes = lay_out_disjoint<A>(Graph::view(), {offsets, Graph::view().tensors.size()}); }
  };
  static constexpr Constants constants_{};
};

}  // namespace rondo::memory
