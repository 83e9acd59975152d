// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/detail/refusal.hpp>
#include <rondo/args/failure.hpp>
#include <rondo/args/format.hpp>
#include <rondo/args/parse.hpp>

/// For code outside namespace rondo: `using namespace rondo::literals;`
namespace rondo::inline literals {

/// An args format, checked by the compiler: `static constexpr auto args = "{i0*}{o0*}{ws0*}{t}"_args;`
///
/// A wrong literal does not compile; the message contains `refused_args_format<position, reason, pattern,
/// explanation>`.
template <args::Text Literal>
[[nodiscard]] consteval auto operator""_args() noexcept {
  constexpr args::Failure failure = args::check_format(Literal.view());
  if constexpr (failure.reason != args::Reason::none) args::detail::refuse<failure, Literal>();
  return args::Format{Literal};
}

}  // namespace rondo::inline literals
