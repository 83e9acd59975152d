// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/failure.hpp>

#include <cstddef>
#include <string_view>

/// A wrong format is reported through the arguments of a template that it instantiates: in their messages, g++ and
/// clang print arrays of characters as text (clang only the first 32) and enumerators by name.
namespace rondo::args {

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

/// Instantiated for a wrong format; its arguments in the compiler's message explain the mistake.
template <std::size_t Position, Reason Why, Text Pattern, Text Explanation>
struct refused_args_format {
  static_assert(Why == Reason::none,
                "wrong args format: refused_args_format<position, reason, pattern, explanation> says where and why");
};

namespace detail {

template <std::size_t Length>
[[nodiscard]] consteval Text<Length + 1> cut(const char* from) noexcept {
  Text<Length + 1> text;
  for (std::size_t i = 0; i < Length; ++i) text.text[i] = from[i];
  return text;
}

template <std::size_t Position, Reason Why, Text Pattern>
consteval void refuse() noexcept {
  constexpr Text explanation = cut<std::string_view{describe(Why)}.size()>(describe(Why));
  [[maybe_unused]] refused_args_format<Position, Why, Pattern, explanation> refused;
}

}  // namespace detail
}  // namespace rondo::args
