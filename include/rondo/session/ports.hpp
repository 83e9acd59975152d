// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/owned_array.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/slice.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::detail {

/// A tensor that each round binds, as the hot path wants it.
struct Port {
  TensorKey key;
  std::uint64_t bytes = 0;
  DevicePtr<std::byte> device;
  Direction direction = Direction::in;
};

/// An output that is a view of another tensor's memory.
struct PortView {
  static constexpr std::uint32_t in_the_arena = 0xFFFF'FFFF;
  std::uint32_t port = 0;
  std::uint32_t source = in_the_arena;  ///< the port that it is a view of, if it is one
  std::uint64_t offset = 0;             ///< bytes from the start of that
};

[[nodiscard]] constexpr std::size_t count_ports(const graph::GraphView& graph) noexcept {
  std::size_t n = 0;
  for (const graph::TensorRecord& tensor : graph.tensors) n += is_bound_each_round(tensor.direction) ? 1 : 0;
  return n;
}

constexpr void fill_ports(const graph::GraphView& graph, Slice<const std::uint64_t> offsets, DevicePtr<std::byte> base,
                          Port* port) noexcept {
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const graph::TensorRecord& tensor = graph.tensors[t];
    if (!is_bound_each_round(tensor.direction)) continue;
    *port++ = {graph.key(t), tensor.bytes, base.offset(Bytes{offsets[t]}), tensor.direction};
  }
}

/// What the offsets of ports are relative to: the arena, unless the platform is one of several slots, each of which
/// keeps what its rounds bind apart.
template <class P>
[[nodiscard]] DevicePtr<std::byte> base_of_ports(const P& platform, DevicePtr<std::byte> arena) noexcept {
  if constexpr (requires { platform.port_displacement(); }) {
    return arena.offset(platform.port_displacement());
  } else {
    return arena;
  }
}

/// A session's ports, in the order in which the graph declared their tensors.
template <class Graph, class Layout>
class Ports {
 public:
  Ports(const Graph& graph, const Layout& layout, DevicePtr<std::byte> base) : ports_(count_ports(graph.view())) {
    fill_ports(graph.view(), layout.offsets(), base, ports_.data());
  }
  /// To be taken once per round: a copy leads the compiler to the ports without looking them up behind every memcpy.
  [[nodiscard]] Slice<const Port> view() const noexcept { return ports_.slice(); }
  /// The arena has moved.
  void move(const Graph& graph, const Layout& layout, DevicePtr<std::byte> base) noexcept {
    fill_ports(graph.view(), layout.offsets(), base, ports_.data());
  }

 private:
  OwnedArray<Port> ports_;
};

/// The same for a graph that the compiler knows: all but the arena's base are constants.
template <class Graph, class Layout>
requires(Layout::is_static) class Ports<Graph, Layout> {
 public:
  Ports(const Graph&, const Layout&, DevicePtr<std::byte> base) noexcept : base_{base} {}
  [[nodiscard]] Ports view() const noexcept { return *this; }
  void move(const Graph&, const Layout&, DevicePtr<std::byte> base) noexcept { base_ = base; }
  [[nodiscard]] static constexpr std::size_t size() noexcept { return count_ports(Graph::view()); }
  [[nodiscard, gnu::always_inline]] Port operator[](std::size_t i) const noexcept {
    Port port = relative_.ports[i];
    port.device = base_.offset(Bytes{port.device.address()});
    return port;
  }

 private:
  struct Relative {
    Port ports[count_ports(Graph::view()) + 1] = {};
    consteval Relative() { fill_ports(Graph::view(), Layout::offsets(), {}, ports); }
  };
  static constexpr Relative relative_{};
  DevicePtr<std::byte> base_;
};

}  // namespace rondo::detail
