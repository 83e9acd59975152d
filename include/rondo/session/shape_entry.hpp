// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/session/instance.hpp>
#include <rondo/session/residents.hpp>
#include <rondo/session/slot_memory.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace rondo::detail {

/// The parts of a ShapedSession's arena: the memory that all slots share, then the ports of each slot. With one slot
/// everything is shared.
struct ShapedArena {
  std::uint64_t shared = 0;     ///< bytes
  std::uint64_t each_slot = 0;  ///< bytes of the ports of one slot
  std::size_t slots = 1;

  [[nodiscard]] Bytes whole() const noexcept { return Bytes{shared + (slots == 1 ? 0 : slots * each_slot)}; }
};

/// A shape as used by one session: the part that sessions share, and an instance of it per slot.
template <Platform P, class Policies, class Resolved, std::size_t Slots>
class ShapeEntry {
  using Plan = typename Resolved::Plan;

 public:
  using Instance = detail::Instance<P, Policies, FrozenGraph, Plan>;
  using Store = typename Policies::Values::Store;
  using Options = typename Policies::Runtime::template Options<P>;

  ShapeEntry(P& platform, std::shared_ptr<const Resolved> shape, DevicePtr<std::byte> arena, const ShapedArena& parts,
             Store& values, const Options& options)
      : ShapeEntry(platform, std::move(shape), arena, parts, values, options, std::make_index_sequence<Slots>{}) {}

  /// The parts of the arena that this shape needs.
  [[nodiscard]] static ShapedArena parts_of(const Resolved& shape) noexcept {
    const SlotMemory<typename P::Arch> memory = memory_of(shape);
    if (Slots == 1) return {shape.plan.arena_bytes().value, 0, 1};
    return {memory.stride == 0 ? memory.plan_bytes : memory.first, memory.stride, Slots};
  }
  [[nodiscard]] const std::shared_ptr<const Resolved>& shape() const noexcept { return shape_; }
  [[nodiscard]] graph::GraphView view() const noexcept { return shape_->graph.view(); }
  [[nodiscard]] Instance& instance(std::size_t slot) noexcept { return instances_[Slots == 1 ? 0 : slot]; }
  [[nodiscard]] const Instance& instance(std::size_t slot) const noexcept { return instances_[slot]; }
  /// Whether any tensor has no elements.
  [[nodiscard]] bool is_empty() const noexcept { return is_empty_; }
  /// Whether the instances can be moved when the arena moves.
  [[nodiscard]] bool can_move() const noexcept {
    // A workspace whose view is an output lies with the ports, whose distance from the arena changes.
    const auto stays = [](const graph::TensorRecord& tensor) {
      return tensor.fixed || (Slots > 1 && tensor.has_memory_per_slot() && !is_bound_each_round(tensor.direction));
    };
    return Policies::Update::highest >= UpdateLevel::feature_map_and_model_io &&
           std::none_of(view().tensors.begin(), view().tensors.end(), stays);
  }
  void move(DevicePtr<std::byte> arena, const ShapedArena& parts) noexcept {
    for (std::size_t s = 0; s < Slots; ++s) instances_[s].move(placement(*shape_, arena, parts, s));
  }
  [[nodiscard]] Status zero_workspace(P& platform, DevicePtr<std::byte> arena) noexcept {
    return detail::zero_workspace(platform, view(), shape_->plan.offsets(), arena);
  }
  /// Records which residents have contents; `uploaded` is by tensor.
  void note_uploads(std::span<const std::uint8_t> uploaded) noexcept {
    for (std::size_t t = 0; t < uploaded.size(); ++t) {
      if (uploaded[t] != 0) residents_.note_upload(t);
    }
    residents_.unblock(instances_);
  }
  Status close() noexcept {
    Status status;
    for (Instance& instance : instances_) {
      if (const Status closed = instance.close(); status.ok()) status = closed;
    }
    return status;
  }

 private:
  template <std::size_t... I>
  ShapeEntry(P& platform, std::shared_ptr<const Resolved>&& shape, DevicePtr<std::byte> arena, const ShapedArena& parts,
             Store& values, const Options& options, std::index_sequence<I...>)
      : shape_{std::move(shape)},
        instances_{make_instance<I>(platform, arena, parts, values, options)...},
        residents_{view(), false} {
    for (const graph::TensorRecord& tensor : view().tensors) is_empty_ = is_empty_ || tensor.count == 0;
  }
  template <std::size_t slot>
  [[nodiscard]] Instance make_instance(P& platform, DevicePtr<std::byte> arena, const ShapedArena& parts, Store& values,
                                       const Options& options) {
    const Placement at = placement(*shape_, arena, parts, slot);
    if constexpr (slot == 0) {
      return Instance(platform, shape_->graph, shape_->plan, at, values, options);
    } else {
      return Instance(platform, shape_->graph, shape_->plan, at, values, instances_[0]);
    }
  }
  [[nodiscard]] static SlotMemory<typename P::Arch> memory_of(const Resolved& shape) noexcept {
    return {shape.graph.view(), shape.plan.offsets(), shape.plan.arena_bytes()};
  }
  [[nodiscard]] static Placement placement(const Resolved& shape, DevicePtr<std::byte> arena, const ShapedArena& parts,
                                           std::size_t slot) noexcept {
    const SlotMemory<typename P::Arch> memory = memory_of(shape);
    if (Slots == 1 || memory.stride == 0) return {arena, arena};
    return {arena, arena.offset(Bytes{parts.shared + slot * parts.each_slot - memory.first})};
  }

  std::shared_ptr<const Resolved> shape_;
  Instance instances_[Slots];
  Residents residents_;
  bool is_empty_ = false;
};

}  // namespace rondo::detail
