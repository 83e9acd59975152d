// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/parse.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

/// Random valid formats. They are written from the grammar's table and not from the library's keywords, so that a wrong
/// keyword of the library is noticed.
namespace rondo::args::test {

using Random = std::mt19937_64;

/// The patterns of a valid format.
inline std::vector<Descriptor> parsed(std::string_view text) {
  std::vector<Descriptor> patterns;
  const Failure failure = parse(text, [&](const Descriptor& d) { return patterns.push_back(d), Reason::none; });
  if (failure) throw Error(Errc::invalid_argument, explain(failure, text));
  return patterns;
}

/// The text of a pattern, from the grammar's table.
inline std::string text_of(const Descriptor& d) {
  const std::string star = d.starred ? "*" : "";
  const std::string number = (d.index == every ? "" : std::to_string(d.index)) + star;
  const std::string narrow = d.narrow ? ".32b" : "";
  const auto rest = [&]() -> std::string {
    switch (d.pattern) {
      case Pattern::placeholder: return narrow;
      case Pattern::literal: return "#" + narrow + std::to_string(d.value);
      case Pattern::input: return "i" + number;
      case Pattern::output: return "o" + number;
      case Pattern::input_instance: return "i_instance" + number;
      case Pattern::output_instance: return "o_instance" + number;
      case Pattern::input_desc: return "i_desc" + number;
      case Pattern::output_desc: return "o_desc" + number;
      case Pattern::workspace: return "ws" + number;
      case Pattern::tiling: return "t";
      case Pattern::tiling_ffts: return d.variant == Variant::tail ? "t_ffts.tail" : "t_ffts.non_tail";
      case Pattern::tiling_context:
        return d.variant == Variant::none          ? "tiling_context"
               : d.variant == Variant::tiling_data ? "tiling_context.tiling_data"
               : d.variant == Variant::tiling_key  ? "tiling_context.tiling_key"
                                                   : "tiling_context.block_dim";
      case Pattern::op_type: return "*op_type";
      case Pattern::ffts_addr: return "ffts_addr";
      case Pattern::overflow_addr: return "overflow_addr";
      case Pattern::event_addr: return "event_addr" + number;
      case Pattern::hidden_input:
        return (d.variant == Variant::hcom      ? "hi.hcom"
                : d.variant == Variant::tilefwk ? "hi.tilefwk"
                                                : "hi.hcclsk") +
               number;
    }
    return "?";
  };
  return "{" + (d.node == no_node ? "" : "skn" + std::to_string(d.node)) + rest() + "}";
}

inline std::uint64_t below(Random& random, std::uint64_t n) { return random() % n; }

/// A number of any length up to the largest one.
inline std::string number(Random& random, std::uint64_t limit) {
  const std::uint64_t bits = below(random, 65);
  const std::uint64_t value = bits == 64 ? random() : random() & ((std::uint64_t{1} << bits) - 1);
  return std::to_string(below(random, 20) == 0 ? limit : limit == ~std::uint64_t{0} ? value : value % (limit + 1));
}

inline std::string index(Random& random) { return number(random, 0x7FFF'FFFF); }

inline std::string index_or_every(Random& random) {
  switch (below(random, 3)) {
    case 0: return "*";
    case 1: return index(random);
    default: return index(random) + "*";
  }
}

/// The text between the braces.
inline std::string pattern(Random& random, bool inside_super_kernel = false) {
  switch (below(random, inside_super_kernel ? 24 : 26)) {
    case 0: return "";
    case 1: return ".32b";
    case 2: return "#" + number(random, ~std::uint64_t{0});
    case 3: return "#.32b" + number(random, 0xFFFF'FFFF);
    case 4: return "i" + index_or_every(random);
    case 5: return "o" + index_or_every(random);
    case 6: return "i_instance" + index_or_every(random);
    case 7: return "o_instance" + index_or_every(random);
    case 8: return "i_desc" + index(random) + (below(random, 2) == 0 ? "*" : "");
    case 9: return "o_desc" + index(random) + (below(random, 2) == 0 ? "*" : "");
    case 10: return "ws" + index_or_every(random);
    case 11: return "t";
    case 12: return "t_ffts.tail";
    case 13: return "t_ffts.non_tail";
    case 14: return "tiling_context";
    case 15: return "tiling_context.tiling_data";
    case 16: return "tiling_context.tiling_key";
    case 17: return "tiling_context.block_dim";
    case 18: return "*op_type";
    case 19: return "ffts_addr";
    case 20: return "overflow_addr";
    case 21: return "event_addr" + index(random) + "*";
    case 22: return "hi.hcom" + index(random) + "*";
    case 23: return (below(random, 2) == 0 ? "hi.tilefwk" : "hi.hcclsk") + index(random) + "*";
    default: return "skn" + index(random) + pattern(random, true);
  }
}

inline std::string format(Random& random, std::size_t patterns) {
  std::string text;
  for (std::size_t i = 0; i < patterns; ++i) text += "{" + pattern(random) + "}";
  return text;
}

}  // namespace rondo::args::test
