// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/failure.hpp>
#include <rondo/args/format.hpp>
#include <rondo/args/parse.hpp>

#include <cstddef>

namespace rondo::args {

/// Text as a template argument. Compilers print it as text, so it carries a pattern and a reason into a diagnostic.
template <std::size_t Size>
struct Text {
  char text[Size] = {};

  constexpr Text() noexcept = default;
  consteval Text(const char (&literal)[Size]) noexcept {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < Size; ++i) text[i] = literal[i];
  }
  [[nodiscard]] constexpr TextView view() const noexcept { return {text, Size - 1}; }
};

/// What a wrong literal instantiates: read its template arguments in the compiler's message.
template <std::size_t Position, Reason Why, Text Pattern, Text Explanation>
struct malformed_args_format {
  static_assert(Why == Reason::none,
                "malformed args format: see malformed_args_format<position, reason, pattern, explanation>");
};

namespace detail {

template <const Failure& failure, Text Literal>
[[nodiscard]] consteval auto cut_pattern() noexcept {
  Text<failure.length + 1> pattern;
  for (std::size_t i = 0; i < failure.length; ++i) pattern.text[i] = Literal.text[failure.position + i];
  return pattern;
}

[[nodiscard]] constexpr std::size_t length_of(const char* text) noexcept {
  std::size_t n = 0;
  while (text[n] != '\0') ++n;
  return n;
}

template <Reason reason>
[[nodiscard]] consteval auto explanation() noexcept {
  Text<length_of(describe(reason)) + 1> text;
  for (std::size_t i = 0; describe(reason)[i] != '\0'; ++i) text.text[i] = describe(reason)[i];
  return text;
}

template <Text Literal>
inline constexpr ParseResult literal_result = count_patterns(Literal.view());

template <Text Literal>
inline constexpr Failure literal_failure = literal_result<Literal>.failure;

}  // namespace detail
}  // namespace rondo::args

/// `using namespace rondo::literals;` outside of namespace rondo.
namespace rondo::inline literals {

/// An args format, parsed by the compiler: `static constexpr auto args = "{i0*}{o0*}{ws0*}{t}"_args;`
///
/// Its type is args::Format<n> where n is the number of patterns. A wrong literal does not compile; the message holds
/// `malformed_args_format<position, reason, pattern, explanation>`.
template <args::Text Literal>
[[nodiscard]] consteval auto operator""_args() noexcept {
  constexpr auto& failure = args::detail::literal_failure<Literal>;
  if constexpr (failure.reason != args::Reason::none) {
    args::malformed_args_format<failure.position, failure.reason, args::detail::cut_pattern<failure, Literal>(),
                                args::detail::explanation<failure.reason>()>{};
    return args::Format<0>{};
  } else {
    constexpr std::size_t count = args::detail::literal_result<Literal>.count;
    args::Format<count> format;
    format.count = args::try_parse(Literal.view(), format.descriptors, count).count;
    return format;
  }
}

}  // namespace rondo::inline literals
