// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/format.hpp>

#include <cstdint>

namespace rondo::args {

/// The content of a slot.
enum class SlotKind : std::uint8_t {
  null,            ///< zero: an absent tensor or workspace
  constant,        ///< Slot::value: a literal, a placeholder, a word of a shape block
  args_block,      ///< the device address of this args block + Slot::value
  input,           ///< the address of input instance Slot::tensor
  output,          ///< the address of output instance Slot::tensor
  workspace,       ///< the address of workspace Slot::index
  tiling,          ///< the address of the tiling data
  tiling_ffts,     ///< the same for FFTS+; Slot::variant is tail or non_tail
  tiling_context,  ///< the address of the tiling context, or of its part Slot::variant
  op_type,         ///< the address of the operator's type name
  ffts_addr,       ///< a system address
  overflow_addr,   ///< a system address
  event_addr,      ///< the address of memory event Slot::index
  hidden_input,    ///< hidden input Slot::index of family Slot::variant
};

/// Four or eight bytes of an args block, little-endian, at an offset that need not be a multiple of the width.
struct Slot {
  std::uint64_t value = 0;       ///< the value, for constant and args_block
  std::uint32_t offset = 0;      ///< from the start of the args block, in bytes
  std::uint32_t index = 0;       ///< the number of the IR input or output, workspace, event or hidden input
  std::uint32_t instance = 0;    ///< for input and output: the instance within the IR tensor
  std::uint32_t tensor = 0;      ///< for input and output: the position among all such instances of the kernel
  std::uint32_t node = no_node;  ///< the sub-node of a super-kernel that index and tensor refer to
  SlotKind kind = SlotKind::null;
  Variant variant = Variant::none;
  std::uint8_t width = 8;  ///< 4 or 8 bytes
  bool is_extent = false;  ///< whether a constant is an extent in a shape block

  friend constexpr bool operator==(const Slot&, const Slot&) noexcept = default;
};

}  // namespace rondo::args
