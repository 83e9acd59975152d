// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/failure.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

using namespace rondo::args;

TEST_CASE("every reason has a sentence of its own") {
  std::set<std::string> sentences;
  for (int i = 0; i <= static_cast<int>(Reason::block_too_large); ++i) {
    sentences.insert(describe(static_cast<Reason>(i)));
  }
  CHECK(sentences.size() == static_cast<std::size_t>(Reason::block_too_large) + 1);
  CHECK(sentences.count("unknown reason") == 0);
}

TEST_CASE("an explanation names the pattern, its position, the reason and the byte") {
  CHECK(std::string_view{explain({Reason::leading_zero, 3, 5, 5}, "{t}{i00}{t}").c_str()} ==
        "args format: pattern \"{i00}\" at position 3: a number has no leading zero; write it without (byte 5)");
  CHECK(std::string_view{explain({Reason::unopened_brace, 3, 1, 3}, "{t}}").c_str()} ==
        "args format: pattern \"}\" at position 3: '}' without '{' before it");
}

TEST_CASE("unprintable bytes and long patterns are shown safely") {
  const std::string_view text{"{\n\0\xff}", 5};
  CHECK(std::string_view{explain({Reason::unknown_pattern, 0, 5, 1}, text).c_str()} ==
        "args format: pattern \"{\\x0a\\x00\\xff}\" at position 0: unknown pattern (byte 1)");
  CHECK(std::string_view{explain({Reason::unknown_pattern, 0, 5, 1}, "{ ~\x7f}").c_str()} ==
        "args format: pattern \"{ ~\\x7f}\" at position 0: unknown pattern (byte 1)");
  const std::string longer = "{" + std::string(1000, 'x') + "}";
  const auto explained = explain({Reason::unknown_pattern, 0, longer.size(), 1}, longer);
  CHECK(std::string_view{explained.c_str()} ==
        "args format: pattern \"{" + std::string(59, 'x') + "...\" at position 0: unknown pattern (byte 1)");
}
