// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/slice.hpp>
#include <rondo/types.hpp>

#include <cstdint>

namespace rondo::detail {

/// Where the slots of a session have what their rounds bind: those of slot 0 where the plan has them, at its end; the
/// others' behind the plan, one slot behind the other.
template <arch::Arch A>
struct SlotMemory {
  std::uint64_t plan_bytes;
  std::uint64_t first = ~std::uint64_t{0};  ///< offset of the first port in the plan
  std::uint64_t stride = 0;                 ///< bytes of a slot

  SlotMemory(const graph::GraphView& graph, Slice<const std::uint64_t> offsets, Bytes plan) noexcept
      : plan_bytes{align_up(plan.value, A::arena_alignment)} {
    std::uint64_t end = 0;
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      const graph::TensorRecord& tensor = graph.tensors[t];
      if (!tensor.lies_with_ports() || rides_in_args(tensor.direction)) continue;
      const std::uint64_t behind = offsets[t] + arch::block_bytes<A>(tensor.bytes);
      first = first < offsets[t] ? first : offsets[t];
      end = end > behind ? end : behind;
    }
    if (end != 0) stride = align_up(end - first, A::arena_alignment);
  }

  [[nodiscard]] Bytes whole(std::uint32_t slots) const noexcept { return Bytes{plan_bytes + (slots - 1) * stride}; }
  /// How far from their place in the plan.
  [[nodiscard]] Bytes displacement(std::uint32_t slot) const noexcept {
    return Bytes{slot == 0 || stride == 0 ? 0 : plan_bytes + (slot - 1) * stride - first};
  }
};

}  // namespace rondo::detail
