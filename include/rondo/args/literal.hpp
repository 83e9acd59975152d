// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/detail/refusal.hpp>
#include <rondo/args/failure.hpp>
#include <rondo/args/format.hpp>
#include <rondo/args/parse.hpp>

#include <cstddef>

namespace rondo::args {

namespace detail {

template <Text Literal>
inline constexpr ParseResult literal_result = count_patterns(Literal.view());

template <Text Literal>
inline constexpr Failure literal_failure = literal_result<Literal>.failure;

}  // namespace detail
}  // namespace rondo::args

/// `using namespace rondo::literals;` outside of namespace rondo.
namespace rondo {
inline namespace literals {

/// An args format, parsed by the compiler: `static constexpr auto args = "{i0*}{o0*}{ws0*}{t}"_args;`
///
/// Its type is args::Format<n> where n is the number of patterns. A wrong literal does not compile; the message holds
/// `refused_args_format<position, reason, pattern, explanation>`.
template <args::Text Literal>
[[nodiscard]] consteval auto operator""_args() noexcept {
  constexpr auto& failure = args::detail::literal_failure<Literal>;
  if constexpr (failure.reason != args::Reason::none) {
    constexpr args::Text pattern = args::detail::cut<failure.length>(Literal.text + failure.position);
    args::detail::refuse<failure.position, failure.reason, pattern>();
    return args::Format<0>{};
  } else {
    constexpr std::size_t count = args::detail::literal_result<Literal>.count;
    args::Format<count> format;
    format.count = args::try_parse(Literal.view(), {format.descriptors, count}).count;
    return format;
  }
}

}  // namespace literals
}  // namespace rondo
