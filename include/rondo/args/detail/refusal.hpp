// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/failure.hpp>
#include <rondo/args/format.hpp>

#include <cstddef>
#include <string_view>

/// A wrong format is reported through the arguments of a template that it instantiates: in their messages, g++ and
/// clang print arrays of characters as text (clang only the first 32) and enumerators by name.
namespace rondo::args {

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

/// Refuses a format for a reason that constant evaluation has found.
template <Failure failure, Text Whole>
consteval void refuse() noexcept {
  constexpr Text pattern = cut<failure.length>(Whole.text + failure.position);
  constexpr Text explanation = cut<std::string_view{describe(failure.reason)}.size()>(describe(failure.reason));
  [[maybe_unused]] refused_args_format<failure.position, failure.reason, pattern, explanation> refused;
}

}  // namespace detail
}  // namespace rondo::args
