// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/slot.hpp>
#include <rondo/args/system_slot.hpp>
#include <rondo/graph/task_graph.hpp>

#include <cstddef>
#include <cstdint>

/// Formats write the extents of tensors into shape blocks. Kernels are laid out with marks in place of extents, from
/// which the arguments of a task are then found.
namespace rondo::args::detail {

inline constexpr std::int64_t marks_per_tensor = 8;
static_assert(static_cast<std::int64_t>(max_rank) <= marks_per_tensor);

/// A shape of marks, which are negative, for the tensor with this number.
[[nodiscard]] constexpr Shape marks_of(std::size_t number, std::size_t rank) noexcept {
  std::int64_t extents[max_rank] = {};
  for (std::size_t d = 0; d < rank && d < max_rank; ++d) {
    extents[d] = -1 - marks_per_tensor * static_cast<std::int64_t>(number) - static_cast<std::int64_t>(d);
  }
  return Shape(extents, rank);
}

/// The argument of a slot that was laid out with marks. `tiling`: the offset of the tiling data in the block;
/// `tensor_of(number)`: the tensor to which marks belong; `address_of(slot)`: the argument for a slot that holds the
/// address of a tensor.
template <class TensorOf, class AddressOf>
[[nodiscard]] constexpr graph::ArgRecord record_of(const TaskGraph& graph, const Slot& slot, std::uint32_t tiling,
                                                   const TensorOf& tensor_of, const AddressOf& address_of) {
  using Kind = graph::ArgRecord::Kind;
  graph::ArgRecord arg;
  arg.kind = Kind::constant;
  switch (slot.kind) {
    case SlotKind::null: break;
    case SlotKind::constant:
      arg.bits = static_cast<ArgWord>(slot.value);
      if (slot.is_extent) {
        const std::int64_t mark = -1 - arg.bits;
        const std::uint32_t tensor = tensor_of(static_cast<std::uint32_t>(mark / marks_per_tensor));
        const auto d = static_cast<std::uint8_t>(mark % marks_per_tensor);
        const Shape& shape = graph.tensors()[tensor].shape;
        arg.bits = shape.rank() == 0 ? 1 : shape.extent(d);
        if (arg.bits == 0) arg.kind = Kind::extent, arg.tensor = tensor, arg.dimension = d;  // symbolic
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
