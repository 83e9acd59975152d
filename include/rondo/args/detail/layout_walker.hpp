// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/failure.hpp>
#include <rondo/args/format.hpp>
#include <rondo/args/signature.hpp>
#include <rondo/args/slot.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rondo::args::detail {

/// The buffer for the slots; empty for a walk that only counts. Nothing is written beyond its end.
struct LayoutBuffers {
  std::span<Slot> slots{};
  std::size_t tail_slot = 0;    ///< the number of the tail's first slot
  std::uint64_t tail_byte = 0;  ///< the offset of the tail
};

/// Lays out patterns one after the other. The first walk counts, so that the second knows where the tail starts.
class LayoutWalker {
 public:
  constexpr LayoutWalker(const Signature& signature, const LayoutBuffers& buffers) noexcept
      : kernel_{signature}, out_{buffers} {}

  [[nodiscard]] constexpr std::size_t head_slots() const noexcept { return head_.slots; }
  [[nodiscard]] constexpr std::size_t tail_slots() const noexcept { return tail_.slots; }
  [[nodiscard]] constexpr std::uint64_t head_bytes() const noexcept { return head_.bytes; }
  [[nodiscard]] constexpr std::uint64_t tail_bytes() const noexcept { return tail_.bytes; }

  /// Lays out the next pattern. After a reason other than `none`, the walk is over.
  [[nodiscard]] constexpr Reason add(const Descriptor& d) noexcept {
    const std::optional<Signature> of = find(d.node);
    const bool is_of_signature = Pattern::input <= d.pattern && d.pattern <= Pattern::workspace;
    if (is_of_signature && !of) return Reason::no_such_sub_node;
    switch (d.pattern) {
      case Pattern::placeholder:
      case Pattern::literal: {
        Slot slot = single(d, SlotKind::constant);
        slot.value = d.value;
        slot.width = d.narrow ? 4 : 8;
        return add_single(slot);
      }
      case Pattern::input:
      case Pattern::output: return add_tensors(d, tensors_of(d, *of));
      case Pattern::input_instance:
      case Pattern::output_instance: return add_flat_instances(d, tensors_of(d, *of));
      case Pattern::input_desc:
      case Pattern::output_desc: return add_desc(d, tensors_of(d, *of));
      case Pattern::workspace: return add_workspaces(d, of->workspaces);
      case Pattern::tiling: return add_single(single(d, SlotKind::tiling));
      case Pattern::tiling_ffts: return add_single(single(d, SlotKind::tiling_ffts));
      case Pattern::tiling_context: return add_single(single(d, SlotKind::tiling_context));
      case Pattern::op_type: return add_single(single(d, SlotKind::op_type));
      case Pattern::ffts_addr: return add_single(single(d, SlotKind::ffts_addr));
      case Pattern::overflow_addr: return add_single(single(d, SlotKind::overflow_addr));
      case Pattern::event_addr: return add_single(single(d, SlotKind::event_addr));
      case Pattern::hidden_input: return add_single(single(d, SlotKind::hidden_input));
    }
    return Reason::unknown_pattern;
  }

 private:
  static constexpr std::uint64_t max_block_bytes = 0x7FFF'FFFF;

  struct Part {
    std::uint64_t bytes = 0;
    std::size_t slots = 0;
  };

  struct Tensors {
    std::span<const Parameter> list;
    SlotKind kind;
    Reason no_such;
    Reason no_such_instance;
  };

  static constexpr Slot single(const Descriptor& d, SlotKind kind) noexcept {
    Slot slot;
    slot.kind = kind;
    slot.index = d.index;
    slot.node = d.node;
    slot.variant = d.variant;
    return slot;
  }

  constexpr void put(bool in_tail, Slot slot) noexcept {
    Part& part = in_tail ? tail_ : head_;
    const std::size_t number = part.slots + (in_tail ? out_.tail_slot : 0);
    slot.offset = static_cast<std::uint32_t>(part.bytes + (in_tail ? out_.tail_byte : 0));
    if (number < out_.slots.size()) out_.slots[number] = slot;
    ++part.slots;
    part.bytes += slot.width;
  }

  constexpr void put_constant(bool in_tail, Slot slot, std::uint64_t value) noexcept {
    slot.kind = SlotKind::constant;
    slot.value = value;
    put(in_tail, slot);
  }

  constexpr void put_null(Slot slot) noexcept {
    slot.kind = SlotKind::null;
    put(false, slot);
  }

  /// Puts a pointer to the next byte of the tail into the head.
  constexpr void put_pointer(Slot slot) noexcept {
    slot.kind = SlotKind::args_block;
    slot.value = out_.tail_byte + tail_.bytes;
    put(false, slot);
  }

  /// Whether `bytes` more fit; checked before loops, so that absurd counts cost no time.
  [[nodiscard]] constexpr bool fits(std::uint64_t bytes) const noexcept {
    return head_.bytes + tail_.bytes + bytes + 8 <= max_block_bytes;  // 8: rounding of head and of block
  }

  constexpr Reason add_single(const Slot& slot) noexcept {
    if (!fits(8)) return Reason::block_too_large;
    put(false, slot);
    return Reason::none;
  }

  // ---- tensors ----

  /// By value: with -fsanitize=undefined, g++ takes no comparison of a pointer with null for a constant.
  [[nodiscard]] constexpr std::optional<Signature> find(std::uint32_t node) const noexcept {
    if (node == no_node) return kernel_;
    for (const SubNode& sub : kernel_.nodes) {
      if (sub.id == node) return sub.signature;
    }
    return std::nullopt;
  }

  static constexpr Tensors tensors_of(const Descriptor& d, const Signature& s) noexcept {
    const bool in =
        d.pattern == Pattern::input || d.pattern == Pattern::input_instance || d.pattern == Pattern::input_desc;
    if (in) return {s.inputs, SlotKind::input, Reason::no_such_input, Reason::no_such_input_instance};
    return {s.outputs, SlotKind::output, Reason::no_such_output, Reason::no_such_output_instance};
  }

  static constexpr Reason check(const Parameter& p) noexcept {
    if (p.occurrence == Occurrence::required && p.count != 1) return Reason::wrong_instance_count;
    if (p.occurrence == Occurrence::optional && p.count > 1) return Reason::wrong_instance_count;
    return Reason::none;
  }

  static constexpr std::uint32_t first_tensor(const Tensors& tensors, std::size_t ir) noexcept {
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < ir; ++i) n += tensors.list[i].count;
    return n;
  }

  constexpr void put_addresses(bool in_tail, Slot slot, const Tensors& tensors, std::uint32_t count) noexcept {
    const std::uint32_t first = slot.tensor;
    slot.kind = tensors.kind;
    for (std::uint32_t k = 0; k < count; ++k) {
      slot.instance = k;
      slot.tensor = first + k;
      put(in_tail, slot);
    }
  }

  constexpr Reason add_tensors(const Descriptor& d, const Tensors& tensors) noexcept {
    if (d.index != every) {
      if (d.index >= tensors.list.size()) return tensors.no_such;
      return add_tensor(d, tensors, d.index, first_tensor(tensors, d.index), !d.starred);
    }
    std::uint32_t first = 0;
    for (std::size_t ir = 0; ir < tensors.list.size(); ++ir) {
      const Reason reason = add_tensor(d, tensors, static_cast<std::uint32_t>(ir), first, true);
      if (reason != Reason::none) return reason;
      first += tensors.list[ir].count;
    }
    return Reason::none;
  }

  constexpr Reason add_tensor(const Descriptor& d, const Tensors& tensors, std::uint32_t ir, std::uint32_t first,
                              bool fold) noexcept {
    const Parameter& p = tensors.list[ir];
    if (const Reason reason = check(p); reason != Reason::none) return reason;
    if (!fits(8 + 8 * std::uint64_t{p.count})) return Reason::block_too_large;
    Slot slot = single(d, tensors.kind);
    slot.index = ir;
    slot.tensor = first;
    const bool dynamic = p.occurrence == Occurrence::dynamic;
    if (dynamic && fold && p.count > 0) {
      put_pointer(slot);
      put_addresses(true, slot, tensors, p.count);
    } else if (p.count > 0) {
      put_addresses(false, slot, tensors, p.count);
    } else if (tensors.kind == SlotKind::input || !dynamic || fold) {
      put_null(slot);
    }
    return Reason::none;
  }

  constexpr Reason add_flat_instances(const Descriptor& d, const Tensors& tensors) noexcept {
    std::uint64_t first = 0;
    for (std::size_t ir = 0; ir < tensors.list.size(); ++ir) {
      const std::uint32_t count = tensors.list[ir].count;
      if (const Reason reason = check(tensors.list[ir]); reason != Reason::none) return reason;
      const bool here = d.index >= first && d.index < first + count;
      if (d.index == every && !fits(8 * std::uint64_t{count})) return Reason::block_too_large;
      if (d.index == every || here) {
        const auto begin = static_cast<std::uint32_t>(here ? d.index - first : 0);
        const std::uint32_t end = here ? begin + 1 : count;
        for (std::uint32_t k = begin; k < end; ++k) {
          const Reason reason =
              add_flat_instance(d, tensors, static_cast<std::uint32_t>(ir), k, static_cast<std::uint32_t>(first + k));
          if (reason != Reason::none) return reason;
        }
        if (here) return Reason::none;
      }
      first += count;
    }
    return d.index == every ? Reason::none : tensors.no_such_instance;
  }

  constexpr Reason add_flat_instance(const Descriptor& d, const Tensors& tensors, std::uint32_t ir, std::uint32_t k,
                                     std::uint32_t tensor) noexcept {
    if (!fits(16)) return Reason::block_too_large;
    Slot slot = single(d, tensors.kind);
    slot.index = ir;
    slot.instance = k;
    slot.tensor = tensor;
    if (!d.starred) put_pointer(slot);
    put(!d.starred, slot);
    return Reason::none;
  }

  // ---- shape blocks ----

  static constexpr std::uint64_t shape_header = 0x1'0000'0000;

  constexpr Reason add_desc(const Descriptor& d, const Tensors& tensors) noexcept {
    if (d.index >= tensors.list.size()) return tensors.no_such;
    const Parameter& p = tensors.list[d.index];
    if (const Reason reason = check(p); reason != Reason::none) return reason;
    if (!fits(16 + (16 + 8 * std::uint64_t{max_rank}) * p.count)) return Reason::block_too_large;
    if (p.instances.size() < p.count) return Reason::shape_missing;

    std::uint64_t words = 1;
    for (std::uint32_t k = 0; k < p.count; ++k) {
      if (p.instances[k].rank() > max_rank) return Reason::rank_above_limit;
      words += 1 + extents(p.instances[k]);
    }
    Slot slot = single(d, tensors.kind);
    slot.tensor = first_tensor(tensors, d.index);
    const bool in_tail = !d.starred;
    if (in_tail) put_pointer(slot);
    put_constant(in_tail, slot, 8 * words);
    for (std::uint32_t k = 0; k < p.count; ++k) {
      slot.instance = k;
      put_shape(in_tail, slot, p.instances[k]);
      ++slot.tensor;
    }
    slot.tensor -= p.count;
    put_addresses(in_tail, slot, tensors, p.count);
    return Reason::none;
  }

  /// The extents that a shape block holds for an instance; a scalar counts as one extent of 1.
  static constexpr std::uint64_t extents(const Shape& instance) noexcept {
    return instance.rank() == 0 ? 1 : instance.rank();
  }
  constexpr void put_shape(bool in_tail, Slot slot, const Shape& instance) noexcept {
    const std::uint64_t rank = extents(instance);
    put_constant(in_tail, slot, shape_header | rank);
    slot.is_extent = true;
    for (std::size_t i = 0; i < rank; ++i) {
      put_constant(in_tail, slot, static_cast<std::uint64_t>(instance.rank() == 0 ? 1 : instance.extent(i)));
    }
  }

  // ---- workspaces ----

  constexpr Reason add_workspaces(const Descriptor& d, std::uint32_t count) noexcept {
    if (d.index != every) {
      return d.index < count ? add_single(single(d, SlotKind::workspace)) : Reason::no_such_workspace;
    }
    if (count > every_workspace_slots) return Reason::too_many_workspaces;
    if (!fits(std::uint64_t{8} * every_workspace_slots)) return Reason::block_too_large;
    Slot slot = single(d, SlotKind::workspace);
    for (std::uint32_t i = 0; i < every_workspace_slots; ++i) {
      slot.index = i;
      if (i < count) {
        put(false, slot);
      } else {
        put_null(slot);
      }
    }
    return Reason::none;
  }

  const Signature& kernel_;
  LayoutBuffers out_;
  Part head_{};
  Part tail_{};
};

}  // namespace rondo::args::detail
