// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/detail/pattern_reader.hpp>
#include <rondo/args/failure.hpp>
#include <rondo/args/format.hpp>
#include <rondo/error.hpp>

#include <cstddef>
#include <source_location>
#include <span>
#include <string_view>

namespace rondo::args {

/// The result of parsing a text.
struct ParseResult {
  std::size_t count = 0;  ///< the number of patterns read; if only the buffer was too small, that of the whole text
  Failure failure{};      ///< the first mistake, if any

  [[nodiscard]] constexpr bool ok() const noexcept { return !failure; }
  constexpr explicit operator bool() const noexcept { return ok(); }
};

/// Parses `text` into `out`; text.size() / 2 descriptors suffice for every text. The whole text is checked even if the
/// buffer is too small.
[[nodiscard]] constexpr ParseResult try_parse(std::string_view text, std::span<Descriptor> out) noexcept {
  ParseResult result;
  Failure overflow;
  for (std::size_t begin = 0; begin < text.size();) {
    detail::PatternReader reader{text, begin};
    const Descriptor descriptor = reader.read();
    if (reader.failure()) {
      result.failure = reader.failure();
      return result;
    }
    if (result.count < out.size()) {
      out[result.count] = descriptor;
    } else if (!overflow) {
      overflow = {Reason::buffer_too_small, begin, reader.end() - begin, begin};
    }
    ++result.count;
    begin = reader.end();
  }
  result.failure = overflow;
  return result;
}

/// Checks `text` and counts its patterns.
[[nodiscard]] constexpr ParseResult count_patterns(std::string_view text) noexcept {
  ParseResult result = try_parse(text, {});
  if (result.failure.reason == Reason::buffer_too_small) result.failure = {};
  return result;
}

/// Parses `text` into a buffer of the caller; the view is valid as long as the buffer.
/// Throws Error{invalid_argument} with the pattern, its position and the reason.
[[nodiscard]] constexpr FormatView parse(std::string_view text, std::span<Descriptor> out,
                                         std::source_location where = std::source_location::current()) {
  const ParseResult result = try_parse(text, out);
  if (!result) throw Error{Errc::invalid_argument, explain(result.failure, text), where};
  return out.first(result.count);
}

}  // namespace rondo::args
