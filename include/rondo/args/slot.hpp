// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/format.hpp>

#include <compare>
#include <cstdint>

namespace rondo::args {

/// What belongs into a slot.
enum class SlotKind : std::uint8_t {
  null,            ///< zero: a tensor or workspace that is not there
  constant,        ///< Slot::value: a literal, a placeholder, a word of a shape block
  args_block,      ///< the device address of this args block plus Slot::value
  input,           ///< the address of input instance Slot::tensor
  output,          ///< the address of output instance Slot::tensor
  workspace,       ///< the address of workspace Slot::index
  tiling,          ///< the address of the tiling data
  tiling_ffts,     ///< likewise for FFTS+; Slot::variant says tail or non_tail
  tiling_context,  ///< the address of the tiling context, or of its part Slot::variant
  op_type,         ///< the address of the operator's type name
  ffts_addr,       ///< a system address
  overflow_addr,   ///< a system address
  event_addr,      ///< the address of memory event Slot::index
  hidden_input,    ///< hidden input Slot::index of family Slot::variant
};

/// May the slot's content change from round to round? True for tensors and workspaces, wherever they stand.
[[nodiscard]] constexpr bool is_refreshable(SlotKind kind) noexcept {
  return kind == SlotKind::input || kind == SlotKind::output || kind == SlotKind::workspace;
}

/// Four or eight bytes of an args block, little-endian, at an offset that need not be a multiple of the width.
struct Slot {
  std::uint64_t value = 0;       ///< of constant and args_block
  std::uint32_t offset = 0;      ///< from the start of the args block, in bytes
  std::uint32_t index = 0;       ///< IR input or output, workspace, event, hidden input
  std::uint32_t instance = 0;    ///< of input and output: which instance of the IR tensor
  std::uint32_t tensor = 0;      ///< of input and output: which of all input (output) instances of the kernel
  std::uint32_t node = no_node;  ///< the sub-node of a super-kernel that index and tensor refer to
  SlotKind kind = SlotKind::null;
  Variant variant = Variant::none;
  std::uint8_t width = 8;  ///< 4 or 8 bytes

  friend constexpr bool operator==(const Slot&, const Slot&) noexcept = default;
};

/// One tensor, workspace group or single value of an args block: a pattern after `*` has been spelled out.
struct Field {
  std::uint32_t descriptor = 0;   ///< the pattern's position in the format
  std::uint32_t index = 0;        ///< the number; `every` for all workspaces
  std::uint32_t node = no_node;   ///< the sub-node of a super-kernel
  std::uint32_t offset = 0;       ///< from the start of the args block, in bytes
  std::uint32_t head_bytes = 0;   ///< what it takes at `offset`
  std::uint32_t tail_offset = 0;  ///< where the block is that it points to; 0 without one
  std::uint32_t tail_bytes = 0;
  Pattern pattern = Pattern::placeholder;
  bool folded = false;  ///< a pointer to a block in the tail

  /// All that the field takes, in bytes.
  [[nodiscard]] constexpr std::uint32_t bytes() const noexcept { return head_bytes + tail_bytes; }
  friend constexpr bool operator==(const Field&, const Field&) noexcept = default;
};

}  // namespace rondo::args
