// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rondo::memory {

/// Gives each tensor a place of its own in one arena, in the order of the graph: offsets (bytes from the arena's base)
/// obey the chip's alignment, lengths its granule and guard. `offsets` has one entry per tensor.
/// @returns the arena's size in bytes. @throws Error overflow, naming the tensor at which 2^63 bytes are passed
template <arch::Arch A>
constexpr std::uint64_t lay_out_disjoint(const graph::GraphView& graph, std::span<std::uint64_t> offsets) {
  std::uint64_t end = 0;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    constexpr std::uint64_t limit = std::uint64_t{1} << 63;
    const std::uint64_t length = arch::block_bytes<A>(graph.tensors[t].bytes);  // at most 2^63 and a guard: no wrap
    offsets[t] = align_up(end, A::tensor_alignment);                            // end is at most 2^63: no wrap
    const bool fits = length <= limit && offsets[t] <= limit - length;
    end = offsets[t] + length;
    if (!fits) {
      throw Error(Errc::overflow, Error::Text("with tensor '", graph.name(graph.tensors[t].name),
                                              "' the arena passes 2^63 bytes; use smaller tensors"));
    }
  }
  return end;
}

}  // namespace rondo::memory
