// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/detail/owned_array.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/session/ports.hpp>
#include <rondo/slice.hpp>

#include <cstdint>

namespace rondo::detail {

/// Which base each tensor of a session is relative to: the arena, or for what rounds bind a base of its own, in the
/// order of the ports; a pinned tensor is absolute.
struct Bases {
  args::BaseLayout layout;
  OwnedArray<args::Source> sources;     ///< by tensor
  OwnedArray<std::uint64_t> addresses;  ///< by base, with every tensor in the arena

  Bases(const graph::GraphView& graph, Slice<const std::uint64_t> offsets, DevicePtr<std::byte> arena)
      : Bases{graph, offsets, arena, arena} {}
  /// `ports`: what the offsets of ports are relative to.
  Bases(const graph::GraphView& graph, Slice<const std::uint64_t> offsets, DevicePtr<std::byte> arena,
        DevicePtr<std::byte> ports)
      : layout{3, 3 + static_cast<std::uint32_t>(count_ports(graph))},
        sources(graph.tensors.size()),
        addresses(layout.count) {
    addresses[args::BaseLayout::first_feature_map] = arena.address();
    std::uint32_t io = layout.first_io;
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      const graph::TensorRecord& tensor = graph.tensors[t];
      const std::uint64_t offset = offsets[t];
      const bool is_port = is_bound_each_round(tensor.direction);
      const std::uint64_t address = (tensor.lies_with_ports() ? ports : arena).address() + offset;
      if (tensor.fixed) {
        sources[t] = {args::BaseLayout::absolute, address};
      } else if (is_port) {
        sources[t] = {io, 0};
      } else {
        sources[t] = {args::BaseLayout::first_feature_map, address - arena.address()};
      }
      if (is_port) addresses[io++] = address;
    }
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      const graph::TensorRecord& tensor = graph.tensors[t];
      if (!tensor.is_view()) continue;
      sources[t] = sources[tensor.view_of];
      sources[t].offset += tensor.view_offset();
    }
  }
};

}  // namespace rondo::detail
