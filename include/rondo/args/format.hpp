// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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

/// One pattern. Two descriptors are equal if and only if their texts are.
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

/// Text as a template argument, zero-terminated; Size includes the zero.
template <std::size_t Size>
struct Text {
  char text[Size] = {};

  constexpr Text() noexcept = default;
  consteval Text(const char (&literal)[Size]) noexcept {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < Size; ++i) text[i] = literal[i];
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {text, Size - 1}; }
};

/// The text of a format that parse() accepts; made by `"{i0*}{o0*}"_args`. Its type is structural, so a format can be a
/// template argument.
template <std::size_t Size>
struct Format : Text<Size> {
  constexpr explicit Format(const Text<Size>& valid) noexcept : Text<Size>{valid} {}
};

}  // namespace rondo::args
