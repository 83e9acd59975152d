// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/detail/compiled.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rondo::detail {

/// A tensor that each round binds: the data that the hot path needs.
struct Port {
  TensorKey key;
  std::uint64_t bytes = 0;
  DevicePtr<std::byte> device;  ///< its location in the arena
  Direction direction = Direction::in;
};

/// The locations of a session's tensors: the offsets of ports are relative to `ports`, all others to `arena`. The two
/// differ if several rounds are in flight, each with its own memory for its bindings, and for its workspace if rounds
/// overlap.
struct Placement {
  DevicePtr<std::byte> arena;
  DevicePtr<std::byte> ports;
  bool has_own_workspace = false;         ///< whether workspace offsets are relative to `ports`
  const std::uint64_t* others = nullptr;  ///< the addresses of tensors outside the arena, by tensor; null: none

  /// Whether a tensor's offset is relative to `ports`. A view is located in the memory of its source.
  [[nodiscard]] static constexpr bool is_with_ports(const graph::GraphView& graph, std::size_t t,
                                                    bool has_own_workspace = false) noexcept {
    const graph::TensorRecord& root = graph.tensors[graph::root_of(graph.tensors, static_cast<std::uint32_t>(t))];
    return root.has_memory_per_slot() || (has_own_workspace && !root.is_shared_by_rounds());
  }
  [[nodiscard]] constexpr DevicePtr<std::byte> base_of(const graph::GraphView& graph, std::size_t t) const noexcept {
    return is_with_ports(graph, t, has_own_workspace) ? ports : arena;
  }
  /// Whether a tensor, or the source of a view, is outside the arena.
  [[nodiscard]] constexpr bool is_other(const graph::GraphView& graph, std::size_t t) const noexcept {
    return others != nullptr && others[graph::root_of(graph.tensors, static_cast<std::uint32_t>(t))] != 0;
  }
  [[nodiscard]] constexpr std::uint64_t address_of(const graph::GraphView& graph,
                                                   std::span<const std::uint64_t> offsets,
                                                   std::size_t t) const noexcept {
    if (!is_other(graph, t)) return base_of(graph, t).address() + offsets[t];
    return others[graph::root_of(graph.tensors, static_cast<std::uint32_t>(t))] + graph.tensors[t].view_offset();
  }
};

[[nodiscard]] constexpr std::size_t count_ports(const graph::GraphView& graph) noexcept {
  std::size_t n = 0;
  for (const graph::TensorRecord& tensor : graph.tensors) n += is_bound_each_round(tensor.direction) ? 1 : 0;
  return n;
}

constexpr void fill_ports(const graph::GraphView& graph, std::span<const std::uint64_t> offsets, const Placement& at,
                          Port* port) noexcept {
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const graph::TensorRecord& tensor = graph.tensors[t];
    if (!is_bound_each_round(tensor.direction)) continue;
    *port++ = {graph.key(t), tensor.bytes, at.base_of(graph, t).offset(Bytes{offsets[t]}), tensor.direction};
  }
}

/// A session's ports, in the order in which the graph declared their tensors.
template <class Graph, class Layout>
class Ports {
 public:
  Ports(const Graph& graph, const Layout& layout, const Placement& at)
      : count_{count_ports(graph.view())}, ports_{std::make_unique<Port[]>(count_)} {
    move(graph, layout, at);
  }
  /// Call once per round: with a local copy, the compiler need not reload the span after every memcpy.
  [[nodiscard]] std::span<const Port> view() const noexcept { return {ports_.get(), count_}; }
  void move(const Graph& graph, const Layout& layout, const Placement& at) noexcept {
    fill_ports(graph.view(), layout.offsets(), at, ports_.get());
  }

 private:
  std::size_t count_;  ///< stored, so that a round need not compute it from two pointers
  std::unique_ptr<Port[]> ports_;
};

/// The same for a graph known at compile time: everything except the bases is constant.
template <class Graph, class Layout>
  requires(Layout::is_static)
class Ports<Graph, Layout> {
 public:
  Ports(const Graph&, const Layout&, const Placement& at) noexcept : at_{at} {}
  [[nodiscard]] Ports view() const noexcept { return *this; }
  void move(const Graph&, const Layout&, const Placement& at) noexcept { at_ = at; }
  [[nodiscard]] static constexpr std::size_t size() noexcept { return count_ports(Graph::view()); }
  [[nodiscard, gnu::always_inline]] Port operator[](std::size_t i) const noexcept {
    Port port = relative_.ports[i];
    const bool is_with_ports = relative_.is_with_ports[i] || (relative_.is_with_own[i] && at_.has_own_workspace);
    port.device = (is_with_ports ? at_.ports : at_.arena).offset(Bytes{port.device.address()});
    return port;
  }

 private:
  struct Relative {
    Port ports[count_ports(Graph::view()) + 1] = {};
    bool is_with_ports[count_ports(Graph::view()) + 1] = {};
    bool is_with_own[count_ports(Graph::view()) + 1] = {};  ///< the same where each slot has its own workspace
    consteval Relative() {
      fill_ports(Graph::view(), Layout::offsets(), {}, ports);
      for (std::size_t p = 0; p < count_ports(Graph::view()); ++p) {
        is_with_ports[p] = Placement::is_with_ports(Graph::view(), index(ports[p].key.tensor()));
        is_with_own[p] = Placement::is_with_ports(Graph::view(), index(ports[p].key.tensor()), true);
      }
    }
  };
  static constexpr Relative relative_{};
  Placement at_;
};

/// Returns the base from which the address of each tensor is computed: the arena, or, for a tensor that rounds bind, a
/// base of its own, in the order of the ports. A tensor outside the arena, or whose address a task fixes, has an
/// absolute address. The addresses of the bases are those while no round binds device memory.
[[nodiscard]] args::Bases find_bases(const graph::GraphView& graph, std::span<const std::uint64_t> offsets,
                                     Placement at);

#if RONDO_HAS_BODIES
RONDO_INLINE args::Bases find_bases(const graph::GraphView& graph, std::span<const std::uint64_t> offsets,
                                    Placement at) {
  args::Bases bases{{3, 3 + static_cast<std::uint32_t>(count_ports(graph))}, {}, {}};
  auto& [layout, sources, addresses] = bases;
  sources.resize(graph.tensors.size());
  addresses.resize(layout.count);
  addresses[args::BaseLayout::first_feature_map] = at.arena.address();
  std::uint32_t io = layout.first_io;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const graph::TensorRecord& tensor = graph.tensors[t];
    const std::uint64_t address = at.address_of(graph, offsets, t);
    const bool is_port = is_bound_each_round(tensor.direction);
    if (tensor.fixed || at.is_other(graph, t)) {
      sources[t] = {args::BaseLayout::absolute, address};
    } else if (is_port) {
      sources[t] = {io, 0};
    } else {
      sources[t] = {args::BaseLayout::first_feature_map, address - at.arena.address()};
    }
    if (is_port) addresses[io++] = address;
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const graph::TensorRecord& tensor = graph.tensors[t];
    if (!tensor.is_view()) continue;
    sources[t] = sources[tensor.view_of];
    sources[t].offset += tensor.view_offset();
  }
  return bases;
}
#endif

}  // namespace rondo::detail
