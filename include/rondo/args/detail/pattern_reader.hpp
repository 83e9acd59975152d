// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/failure.hpp>
#include <rondo/args/format.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace rondo::args::detail {

/// The part after a keyword.
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

/// Reads the pattern that starts at a given byte of a text.
class PatternReader {
 public:
  /// Precondition: begin < text.size().
  constexpr PatternReader(std::string_view text, std::size_t begin) noexcept : text_{text}, begin_{begin}, at_{begin} {}

  /// Reads the pattern; the result is valid only if failure() is none afterwards.
  [[nodiscard]] constexpr Descriptor read() noexcept {
    Descriptor d;
    if (!find_closing_brace()) return d;
    at_ = begin_ + 1;
    read_pattern(d, false);
    if (!failure_ && at_ != closing_) fail(Reason::unexpected_text_after_pattern);
    return d;
  }

  [[nodiscard]] constexpr const Failure& failure() const noexcept { return failure_; }
  /// The byte after the pattern's closing brace.
  [[nodiscard]] constexpr std::size_t end() const noexcept { return closing_ + 1; }

 private:
  constexpr void fail(Reason reason) noexcept { failure_ = {reason, begin_, closing_ + 1 - begin_, at_}; }

  /// Reports text that is not a pattern; it extends to the next opening brace.
  constexpr bool fail_stray(Reason reason, std::size_t from, std::size_t at) noexcept {
    failure_ = {reason, begin_, std::min(text_.find('{', from), text_.size()) - begin_, at};
    return false;
  }

  constexpr bool find_closing_brace() noexcept {
    if (text_[begin_] == '}') return fail_stray(Reason::unopened_brace, begin_ + 1, begin_);
    if (text_[begin_] != '{') return fail_stray(Reason::text_outside_braces, begin_, begin_);
    for (closing_ = begin_ + 1; closing_ < text_.size(); ++closing_) {
      if (text_[closing_] == '}') return true;
      if (text_[closing_] == '{') return fail_stray(Reason::nested_brace, begin_ + 1, closing_);
    }
    return fail_stray(Reason::unclosed_brace, text_.size(), text_.size());
  }

  [[nodiscard]] constexpr std::size_t left() const noexcept { return closing_ - at_; }
  /// At the end of a pattern, its closing brace is next.
  [[nodiscard]] constexpr bool next_is(char c) const noexcept { return text_[at_] == c; }
  [[nodiscard]] constexpr bool next_is_digit() const noexcept { return text_[at_] >= '0' && text_[at_] <= '9'; }

  constexpr bool accept(char c) noexcept {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }

  constexpr bool accept(std::string_view word) noexcept {
    if (!text_.substr(at_, left()).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  /// Reads a decimal number up to `limit`; a failure for a larger one points to the number's first digit.
  constexpr std::uint64_t read_number(std::uint64_t limit, Reason missing, Reason too_large) noexcept {
    if (!next_is_digit()) {
      fail(missing);
      return 0;
    }
    const std::size_t first = at_;
    std::uint64_t number = 0;
    for (; next_is_digit(); ++at_) {
      const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
      if (at_ > first && text_[first] == '0') {
        at_ = first;
        fail(Reason::leading_zero);
        return 0;
      }
      if (number > (limit - digit) / 10) {
        at_ = first;
        fail(too_large);
        return 0;
      }
      number = number * 10 + digit;
    }
    return number;
  }

  constexpr std::uint32_t read_index(Reason missing) noexcept {
    return static_cast<std::uint32_t>(read_number(max_number, missing, Reason::number_above_2147483647));
  }

  constexpr void read_index_and_star(Descriptor& d) noexcept {
    d.index = read_index(Reason::number_missing);
    if (!failure_ && !accept('*')) fail(Reason::star_missing);
    d.starred = true;
  }

  constexpr void read_index_or_every(Descriptor& d) noexcept {
    if (accept('*')) {
      d.index = every;
      d.starred = true;
    } else {
      d.index = read_index(Reason::number_or_star_missing);
      if (!failure_) d.starred = accept('*');
    }
  }

  template <std::size_t N>
  constexpr void read_variant(Descriptor& d, const Suffix (&choices)[N], Reason unknown) noexcept {
    for (const Suffix& choice : choices) {
      if (accept(choice.word)) {
        d.variant = choice.variant;
        return;
      }
    }
    fail(unknown);
  }

  constexpr void read_pattern(Descriptor& d, bool inside_super_kernel) noexcept {
    const std::size_t begin = at_;
    for (const Keyword& keyword : keywords) {  // longest first; the empty one, last, always matches
      if (!accept(keyword.word)) continue;
      d.pattern = keyword.pattern;
      return read_rest(d, keyword.rest, begin, inside_super_kernel);
    }
  }

  constexpr void read_rest(Descriptor& d, Rest rest, std::size_t begin, bool inside_super_kernel) noexcept {
    switch (rest) {
      case Rest::nothing: return;
      case Rest::index_or_every: return read_index_or_every(d);
      case Rest::index_and_star: return read_index_and_star(d);
      case Rest::index:
        d.index = read_index(Reason::number_missing);
        if (!failure_) d.starred = accept('*');
        return;
      case Rest::ffts_part: return read_variant(d, ffts_parts, Reason::tail_or_non_tail_missing);
      case Rest::context_part:
        if (next_is('.')) read_variant(d, context_parts, Reason::unknown_suffix);
        return;
      case Rest::hidden_family:
        read_variant(d, hidden_families, Reason::unknown_hidden_input_family);
        if (!failure_) read_index_and_star(d);
        return;
      case Rest::width:
        if (left() == 0) return;
        d.narrow = accept(narrow_mark);
        if (!d.narrow) fail(next_is('.') ? Reason::unknown_suffix : Reason::unknown_pattern);
        return;
      case Rest::value:
        d.narrow = accept(narrow_mark);
        if (!d.narrow && next_is('.')) return fail(Reason::unknown_suffix);
        d.value = d.narrow ? read_number(0xFFFF'FFFF, Reason::number_missing, Reason::value_above_32_bits)
                           : read_number(~std::uint64_t{0}, Reason::number_missing, Reason::value_above_64_bits);
        return;
      case Rest::sub_node:
        if (inside_super_kernel) {
          at_ = begin;
          return fail(Reason::super_kernel_inside_super_kernel);
        }
        d.node = read_index(Reason::number_missing);
        if (!failure_) read_pattern(d, true);
        return;
    }
  }

  std::string_view text_;
  std::size_t begin_;
  std::size_t at_;
  std::size_t closing_ = 0;
  Failure failure_{};
};

}  // namespace rondo::args::detail
