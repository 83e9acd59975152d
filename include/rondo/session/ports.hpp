// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/owned_array.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/disjoint_layout.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rondo::detail {

/// A tensor that each round binds, as the hot path wants it.
struct Port {
  TensorKey key;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  ///< from the arena's base, in bytes
  Direction direction = Direction::in;
};

[[nodiscard]] constexpr std::size_t count_ports(const graph::GraphView& graph) noexcept {
  std::size_t n = 0;
  for (const graph::TensorRecord& tensor : graph.tensors) n += is_bound_each_round(tensor.direction) ? 1 : 0;
  return n;
}

constexpr void fill_ports(const graph::GraphView& graph, std::span<const std::uint64_t> offsets, Port* port) noexcept {
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const graph::TensorRecord& tensor = graph.tensors[t];
    if (is_bound_each_round(tensor.direction)) *port++ = {graph.key(t), tensor.bytes, offsets[t], tensor.direction};
  }
}

/// Where each tensor lies in the arena, and the ports in the order in which the graph declared them.
template <class Graph, arch::Arch A>
class Layout {
 public:
  explicit Layout(const Graph& graph)
      : offsets_(graph.view().tensors.size()),
        bytes_{memory::lay_out_disjoint<A>(graph.view(), {offsets_.data(), offsets_.size()})},
        ports_(count_ports(graph.view())) {
    fill_ports(graph.view(), offsets_.span(), ports_.data());
  }

  [[nodiscard]] std::span<const std::uint64_t> offsets() const noexcept { return offsets_.span(); }
  [[nodiscard]] Bytes arena_bytes() const noexcept { return Bytes{bytes_}; }
  [[nodiscard]] std::span<const Port> ports() const noexcept { return ports_.span(); }

 private:
  OwnedArray<std::uint64_t> offsets_;
  std::uint64_t bytes_;
  OwnedArray<Port> ports_;
};

/// The same as constants, for a graph that the compiler knows: an empty class.
template <class Graph, arch::Arch A>
requires(Graph::is_static) class Layout<Graph, A> {
  struct Ports {
    Port items[count_ports(Graph::view()) + 1] = {};
    consteval Ports() { fill_ports(Graph::view(), offsets(), items); }
  };

 public:
  explicit Layout(const Graph&) noexcept {}

  [[nodiscard]] static constexpr std::span<const std::uint64_t> offsets() noexcept {
    return {memory::static_layout<Graph, A>.offsets, Graph::view().tensors.size()};
  }
  [[nodiscard]] static constexpr Bytes arena_bytes() noexcept { return Bytes{memory::static_layout<Graph, A>.bytes}; }
  [[nodiscard]] static constexpr std::span<const Port> ports() noexcept {
    return {ports_.items, count_ports(Graph::view())};
  }

 private:
  static constexpr Ports ports_{};
};

}  // namespace rondo::detail
