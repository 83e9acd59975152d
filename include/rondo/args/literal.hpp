// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/detail/refusal.hpp>
#include <rondo/args/failure.hpp>
#include <rondo/args/format.hpp>
#include <rondo/args/parse.hpp>

#include <cstddef>

/// For code outside namespace rondo: `using namespace rondo::literals;`
namespace rondo::inline literals {

/// An args format, parsed by the compiler: `static constexpr auto args = "{i0*}{o0*}{ws0*}{t}"_args;`
///
/// Its type is args::Format<n>, where n is the number of patterns. A wrong literal does not compile; the message
/// contains `refused_args_format<position, reason, pattern, explanation>`.
template <args::Text Literal>
[[nodiscard]] consteval auto operator""_args() noexcept {
  constexpr args::ParseResult result = args::count_patterns(Literal.view());
  constexpr args::Failure failure = result.failure;
  if constexpr (failure.reason != args::Reason::none) {
    constexpr args::Text pattern = args::detail::cut<failure.length>(Literal.text + failure.position);
    args::detail::refuse<failure.position, failure.reason, pattern>();
    return args::Format<0>{};
  } else {
    args::Format<result.count> format;
    format.count = args::try_parse(Literal.view(), {format.descriptors, result.count}).count;
    return format;
  }
}

}  // namespace rondo::inline literals
