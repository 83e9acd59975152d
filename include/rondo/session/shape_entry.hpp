// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/binding/bindings.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/session/instances.hpp>
#include <rondo/session/other_memory.hpp>
#include <rondo/session/slot_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace rondo::detail {

/// The parts of a ShapedSession's arena: the memory that all slots share, then the ports of each slot. With one slot
/// everything is shared.
struct ShapedArena {
  std::uint64_t shared = 0;     ///< bytes
  std::uint64_t each_slot = 0;  ///< bytes of the ports of one slot
  std::uint64_t bytes = 0;      ///< of the arena; the parts may take fewer

  friend bool operator==(const ShapedArena&, const ShapedArena&) noexcept = default;
};

/// A shape as used by one session: the part that sessions share, and an instance of it per slot.
template <Platform P, class Policies, class Resolved, std::size_t Slots>
class ShapeEntry {
 public:
  using Instances = detail::Instances<P, Policies, FrozenGraph, typename Resolved::Plan, Slots>;

  /// `others`: the tensors outside the arena that all shapes share.
  ShapeEntry(P& platform, std::shared_ptr<const Resolved> shape, DevicePtr<std::byte> arena, const ShapedArena& parts,
             const OtherMemory<P>& others, typename Instances::Shared& shared,
             const typename Instances::Options& options)
      : shape_{std::move(shape)},
        others_{platform, view(), Slots, false, &others},
        instances_{platform, shape_->graph, shape_->plan, in_arena(arena, parts), shared, options} {}

  /// The parts of the arena that this shape needs.
  [[nodiscard]] static ShapedArena parts_of(const Resolved& shape) noexcept {
    const SlotMemory<typename P::Arch> memory = memory_of(shape);
    if (Slots == 1) return {shape.plan.arena_bytes().value};
    return {memory.stride == 0 ? memory.plan_bytes : memory.first, memory.stride};
  }
  [[nodiscard]] const std::shared_ptr<const Resolved>& shape() const noexcept { return shape_; }
  [[nodiscard]] graph::GraphView view() const noexcept { return shape_->graph.view(); }
  [[nodiscard]] Instances& instances() noexcept { return instances_; }
  [[nodiscard]] const Instances& instances() const noexcept { return instances_; }
  [[nodiscard]] const OtherMemory<P>& others() const noexcept { return others_; }
  /// Releases all resources. @returns the first failure
  Status close() noexcept {
    const Status status = instances_.close();
    return first_failure(status, others_.release());
  }
  /// Whether the instances can be moved when the arena moves.
  [[nodiscard]] bool can_move() const noexcept {
    // A workspace whose view is an output lies with the ports, whose distance from the arena changes.
    const auto stays = [](const graph::TensorRecord& tensor) {
      return tensor.fixed || (Slots > 1 && tensor.has_memory_per_slot() && !is_bound_each_round(tensor.direction));
    };
    return Policies::Update::highest >= UpdateLevel::feature_map_and_model_io &&
           std::ranges::none_of(view().tensors, stays);
  }
  void move(DevicePtr<std::byte> arena, const ShapedArena& parts) noexcept { instances_.move(in_arena(arena, parts)); }
  [[nodiscard]] Status zero_workspace(P& platform, DevicePtr<std::byte> arena) noexcept {
    return detail::zero_workspace(platform, view(), shape_->plan.offsets(), arena);
  }

 private:
  [[nodiscard]] static SlotMemory<typename P::Arch> memory_of(const Resolved& shape) noexcept {
    return {shape.graph.view(), shape.plan.offsets(), shape.plan.arena_bytes()};
  }
  /// The placement of each slot, as a function.
  [[nodiscard]] auto in_arena(DevicePtr<std::byte> arena, const ShapedArena& parts) const noexcept {
    return [this, arena, parts, memory = memory_of(*shape_)](std::size_t slot) -> Placement {
      const bool is_one = Slots == 1 || memory.stride == 0;
      const std::uint64_t ports = is_one ? 0 : parts.shared + slot * parts.each_slot - memory.first;
      return {arena, arena.offset(Bytes{ports}), false, others_.of_slot(slot)};
    };
  }

  std::shared_ptr<const Resolved> shape_;
  OtherMemory<P> others_;
  Instances instances_;
};

}  // namespace rondo::detail
