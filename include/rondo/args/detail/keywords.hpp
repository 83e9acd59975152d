// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/format.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

/// The keywords of the language, used by the parser and the printer.
namespace rondo::args::detail {

/// What follows a keyword.
enum class Rest : std::uint8_t {
  nothing,
  index,           ///< N or N*
  index_or_every,  ///< N, N* or *
  index_and_star,  ///< N*
  ffts_part,       ///< .tail or .non_tail
  context_part,    ///< nothing, .tiling_data, .tiling_key or .block_dim
  hidden_family,   ///< .family and N*
  width,           ///< nothing or .32b
  value,           ///< V or .32bV
  sub_node,        ///< ID and another pattern
};

struct Keyword {
  std::string_view word;
  Pattern pattern;
  Rest rest;
};

/// Longest first, so that the first match is the longest. A `skn` entry takes the pattern of the text after its ID.
inline constexpr Keyword keywords[] = {
    {"tiling_context", Pattern::tiling_context, Rest::context_part},
    {"overflow_addr", Pattern::overflow_addr, Rest::nothing},
    {"event_addr", Pattern::event_addr, Rest::index_and_star},
    {"i_instance", Pattern::input_instance, Rest::index_or_every},
    {"o_instance", Pattern::output_instance, Rest::index_or_every},
    {"ffts_addr", Pattern::ffts_addr, Rest::nothing},
    {"*op_type", Pattern::op_type, Rest::nothing},
    {"i_desc", Pattern::input_desc, Rest::index},
    {"o_desc", Pattern::output_desc, Rest::index},
    {"t_ffts", Pattern::tiling_ffts, Rest::ffts_part},
    {"skn", Pattern::placeholder, Rest::sub_node},
    {"hi", Pattern::hidden_input, Rest::hidden_family},
    {"ws", Pattern::workspace, Rest::index_or_every},
    {"#", Pattern::literal, Rest::value},
    {"i", Pattern::input, Rest::index_or_every},
    {"o", Pattern::output, Rest::index_or_every},
    {"t", Pattern::tiling, Rest::nothing},
    {"", Pattern::placeholder, Rest::width},
};

inline constexpr std::string_view super_kernel_word = "skn";
inline constexpr std::string_view narrow_mark = ".32b";

struct Suffix {
  std::string_view word;
  Variant variant;
};

inline constexpr Suffix ffts_parts[] = {{".non_tail", Variant::non_tail}, {".tail", Variant::tail}};
inline constexpr Suffix context_parts[] = {
    {".tiling_data", Variant::tiling_data}, {".tiling_key", Variant::tiling_key}, {".block_dim", Variant::block_dim}};
inline constexpr Suffix hidden_families[] = {
    {".hcom", Variant::hcom}, {".tilefwk", Variant::tilefwk}, {".hcclsk", Variant::hcclsk}};

static_assert(std::is_sorted(std::begin(keywords), std::end(keywords),
                             [](const Keyword& a, const Keyword& b) { return a.word.size() > b.word.size(); }),
              "a shorter keyword before a longer one would hide it");

}  // namespace rondo::args::detail
