// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

/// The argument layout language of CANN's Graph Engine: the bytes of a kernel's args block, and their order.
/// Source: hicann/ge, graph_metadef/graph/args_format_desc and its unit tests.
namespace rondo::args {

/// The meaning of one `{pattern}`.
enum class Pattern : std::uint8_t {
  placeholder,      ///< `{}` `{.32b}`: zero
  literal,          ///< `{#V}` `{#.32bV}`: the value itself
  input,            ///< `{iN}` `{iN*}` `{i*}`: IR input
  output,           ///< `{oN}` `{oN*}` `{o*}`: IR output
  input_instance,   ///< `{i_instanceN}` `{i_instanceN*}` `{i_instance*}`: input by its flat number
  output_instance,  ///< `{o_instanceN}` `{o_instanceN*}` `{o_instance*}`
  input_desc,       ///< `{i_descN}` `{i_descN*}`: shape block and addresses of an IR input
  output_desc,      ///< `{o_descN}` `{o_descN*}`
  workspace,        ///< `{wsN}` `{wsN*}` `{ws*}`
  tiling,           ///< `{t}`: pointer to tiling data
  tiling_ffts,      ///< `{t_ffts.tail}` `{t_ffts.non_tail}`
  tiling_context,   ///< `{tiling_context}` and its parts: tiling sunk to the device
  op_type,          ///< `{*op_type}`
  ffts_addr,        ///< `{ffts_addr}`
  overflow_addr,    ///< `{overflow_addr}`
  event_addr,       ///< `{event_addrN*}`
  hidden_input,     ///< `{hi.hcomN*}` `{hi.tilefwkN*}` `{hi.hcclskN*}`
};

/// The text after the dot, for the patterns that have several variants.
enum class Variant : std::uint8_t {
  none,
  non_tail,     ///< of tiling_ffts
  tail,         ///< of tiling_ffts
  tiling_data,  ///< of tiling_context
  tiling_key,   ///< of tiling_context
  block_dim,    ///< of tiling_context
  hcom,         ///< of hidden_input: collective communication
  tilefwk,      ///< of hidden_input: tile framework
  hcclsk,       ///< of hidden_input: collective communication in a super-kernel
};

/// A Descriptor::index that means all of them, written `*` without a number.
inline constexpr std::uint32_t every = 0xFFFF'FFFF;
/// A Descriptor::node that means the kernel itself: there is no `skn` before the pattern.
inline constexpr std::uint32_t no_node = 0xFFFF'FFFF;
/// The largest number in a pattern: CANN stores numbers in 32 signed bits.
inline constexpr std::uint32_t max_number = 0x7FFF'FFFF;
/// The number of slots of `{ws*}`.
inline constexpr std::uint32_t every_workspace_slots = 16;

/// One pattern. Two descriptors are equal if and only if they print to the same text.
struct Descriptor {
  std::uint64_t value = 0;       ///< the value of a literal; otherwise 0
  std::uint32_t index = 0;       ///< the pattern's number, or `every`; 0 if it has none
  std::uint32_t node = no_node;  ///< the sub-node of a super-kernel, or no_node
  Pattern pattern = Pattern::placeholder;
  Variant variant = Variant::none;
  bool starred = false;  ///< whether a `*` follows the number: not folded, where the pattern has the choice
  bool narrow = false;   ///< whether it is 4 bytes wide instead of 8 (only placeholder and literal)

  friend constexpr bool operator==(const Descriptor&, const Descriptor&) noexcept = default;
};

/// A parsed format that is stored elsewhere.
using FormatView = std::span<const Descriptor>;

/// A parsed format that contains up to Capacity patterns. It is a structural type, so a format can be a template
/// argument.
template <std::size_t Capacity>
struct Format {
  static constexpr std::size_t capacity = Capacity;

  Descriptor descriptors[Capacity == 0 ? 1 : Capacity] = {};
  std::size_t count = 0;

  [[nodiscard]] constexpr std::size_t size() const noexcept { return count; }
  [[nodiscard]] constexpr bool empty() const noexcept { return count == 0; }
  [[nodiscard]] constexpr const Descriptor* data() const noexcept { return descriptors; }
  [[nodiscard]] constexpr const Descriptor* begin() const noexcept { return descriptors; }
  [[nodiscard]] constexpr const Descriptor* end() const noexcept { return descriptors + count; }
  [[nodiscard]] constexpr const Descriptor& operator[](std::size_t i) const noexcept { return descriptors[i]; }

  [[nodiscard]] constexpr FormatView view() const noexcept { return {descriptors, count}; }
};

[[nodiscard]] constexpr bool operator==(FormatView a, FormatView b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace rondo::args
