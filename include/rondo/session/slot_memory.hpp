// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/binding/bindings.hpp>
#include <rondo/binding/ports.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/types.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace rondo::detail {

/// The locations of the slots' memory for bindings, and for workspace if each slot has its own: slot 0 is inside the
/// plan; the others follow the plan, one after another.
template <arch::Arch A>
struct SlotMemory {
  std::uint64_t plan_bytes;
  std::uint64_t first = ~std::uint64_t{0};  ///< offset of the first port in the plan
  std::uint64_t stride = 0;                 ///< bytes of a slot

  SlotMemory(const graph::GraphView& view, std::span<const std::uint64_t> offsets, Bytes plan,
             bool has_own_workspace = false) noexcept
      : plan_bytes{align_up(plan.value, A::arena_alignment)} {
    std::uint64_t end = 0;
    for (std::size_t t = 0; t < view.tensors.size(); ++t) {
      const graph::TensorRecord& tensor = view.tensors[t];
      if (!Placement::is_with_ports(view, t, has_own_workspace) || is_carried_in_args(tensor.direction)) continue;
      if (view.tensors[graph::root_of(view.tensors, static_cast<std::uint32_t>(t))].is_outside_arena()) continue;
      first = std::min(first, offsets[t]);
      end = std::max(end, offsets[t] + arch::block_bytes<A>(tensor.bytes));
    }
    if (end != 0) stride = align_up(end - first, A::arena_alignment);
  }

  /// The size of all slots; for one slot, exactly the plan.
  [[nodiscard]] Bytes whole(Bytes plan, std::size_t slots) const noexcept {
    return slots == 1 ? plan : Bytes{sum_or_most(plan_bytes, bytes_or_most(slots - 1, stride))};
  }
  /// The distance of a slot's ports from their location in the plan.
  [[nodiscard]] Bytes displacement(std::size_t slot) const noexcept {
    return Bytes{slot == 0 || stride == 0 ? 0 : plan_bytes + (slot - 1) * stride - first};
  }
};

/// Zeroes the workspaces of a graph that are zeroed once (see TaskGraph::zero), and waits.
template <Platform P>
Status zero_workspace(P& platform, const graph::GraphView& graph, std::span<const std::uint64_t> offsets,
                      DevicePtr<std::byte> arena) noexcept {
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].zeroed != Zeroed::once || graph.tensors[t].bytes == 0) continue;
    begin = std::min(begin, offsets[t]);
    end = std::max(end, offsets[t] + graph.tensors[t].bytes);
  }
  if (end == 0) return {};
  Status status;
  if constexpr (HasZeroFill<P>) {
    status = platform.fill_zeros(arena.offset(Bytes{begin}), Bytes{end - begin});
  } else {
    static constexpr std::uint64_t step = 4096;
    static constexpr std::byte zeros[step] = {};
    for (std::uint64_t at = begin; at < end && status.ok(); at += step) {
      status = platform.copy_in(arena.offset(Bytes{at}), zeros, Bytes{std::min(end - at, step)});
    }
  }
  return first_failure(status, platform.wait());
}

}  // namespace rondo::detail
