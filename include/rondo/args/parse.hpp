// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/detail/pattern_reader.hpp>
#include <rondo/args/failure.hpp>
#include <rondo/args/format.hpp>

#include <cstddef>
#include <string_view>

namespace rondo::args {

/// Reads the patterns of a format in order, and calls `visit(const Descriptor&)` for each. Returns the first mistake:
/// in the text, or the reason other than `none` that `visit` returns for a pattern.
template <class Visit>
[[nodiscard]] constexpr Failure parse(std::string_view text, const Visit& visit) {
  for (std::size_t begin = 0; begin < text.size();) {
    detail::PatternReader reader{text, begin};
    const Descriptor pattern = reader.read();
    if (reader.failure()) return reader.failure();
    if (const Reason reason = visit(pattern); reason != Reason::none) {
      return {reason, begin, reader.end() - begin, begin};
    }
    begin = reader.end();
  }
  return {};
}

/// Checks the text of a format without its kernel. Returns the first mistake.
[[nodiscard]] constexpr Failure check_format(std::string_view text) {
  return parse(text, [](const Descriptor&) { return Reason::none; });
}

}  // namespace rondo::args
