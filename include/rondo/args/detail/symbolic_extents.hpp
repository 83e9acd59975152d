// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/slot.hpp>
#include <rondo/args/system_slot.hpp>
#include <rondo/graph/task_graph.hpp>

#include <cstddef>
#include <cstdint>

/// Formats write the extents of tensors into shape blocks as constants. To find the extents that depend on symbols, a
/// format is laid out twice, with two different sets of marks in their place: the words that differ hold them.
namespace rondo::args::detail {

inline constexpr std::size_t mark_sets = 2;
inline constexpr std::int64_t first_mark[mark_sets] = {0x5A5A'0000'0000'0000, 0x2525'0000'0000'0000};
inline constexpr std::int64_t marks_per_tensor = 8;
static_assert(static_cast<std::int64_t>(max_rank) <= marks_per_tensor);

/// The shape of a tensor with marks for the extents that depend on symbols.
[[nodiscard]] constexpr Shape marked(const TaskGraph& graph, std::uint32_t tensor, std::size_t set) {
  const graph::TensorRecord& record = graph.tensors()[tensor];
  if (!record.is_symbolic()) return record.shape;
  const SymbolicShape shape = graph.declared_shape(record);
  std::int64_t extents[max_rank] = {};
  for (std::size_t d = 0; d < shape.rank() && d < max_rank; ++d) {
    const std::int64_t mark = first_mark[set] + marks_per_tensor * tensor + static_cast<std::int64_t>(d);
    extents[d] = shape.dim(d).empty() ? shape.extent(d) : mark;
  }
  return Shape(extents, shape.rank());
}

/// The argument of a slot, from its contents with either set of marks. `tiling`: the offset of the tiling data in the
/// block; `address_of(slot)`: the argument for a slot that holds the address of a tensor.
template <class AddressOf>
[[nodiscard]] constexpr graph::ArgRecord record_of(const Slot& slot, const Slot& again, std::uint32_t tiling,
                                                   const AddressOf& address_of) {
  using Kind = graph::ArgRecord::Kind;
  graph::ArgRecord arg;
  arg.kind = Kind::constant;
  switch (slot.kind) {
    case SlotKind::null: break;
    case SlotKind::constant:
      arg.bits = static_cast<ArgWord>(slot.value);
      if (slot.value != again.value) {
        const std::int64_t mark = static_cast<std::int64_t>(slot.value) - first_mark[0];
        arg.kind = Kind::extent;
        arg.bits = 0;
        arg.tensor = static_cast<std::uint32_t>(mark / marks_per_tensor);
        arg.dimension = static_cast<std::uint8_t>(mark % marks_per_tensor);
      }
      break;
    case SlotKind::args_block: arg = {Kind::own_block, Access::read, 0, static_cast<ArgWord>(slot.value)}; break;
    case SlotKind::tiling: arg = {Kind::own_block, Access::read, 0, static_cast<ArgWord>(tiling)}; break;
    case SlotKind::input:
    case SlotKind::output:
    case SlotKind::workspace: arg = address_of(slot); break;
    default: arg = {Kind::system, Access::read, 0, SystemSlot{slot.kind, slot.variant, slot.index}.bits()}; break;
  }
  arg.offset = slot.offset;
  arg.width = slot.width;
  return arg;
}

}  // namespace rondo::args::detail
