// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/detail/fixed_text.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

using rondo::detail::FixedText;

TEST_CASE("A new text is empty and zero-terminated") {
  const FixedText<8> text;
  CHECK(text.empty());
  CHECK(text.size() == 0);
  CHECK(text.c_str()[0] == '\0');
}

TEST_CASE("A text is made of literals, strings, views, characters and integers, in order") {
  const FixedText<64> text{"a", std::string{"bc"}, std::string_view{"de"}, 'f', 7, std::uint8_t{8}, -9L};
  CHECK(std::string{text.c_str()} == "abcdef78-9");
  CHECK(text.size() == 10);
}

TEST_CASE("A text can be appended to another") {
  const FixedText<16> part{"tensor x"};
  const FixedText<32> text{"in ", part};
  CHECK(std::string{text.c_str()} == "in tensor x");
}

TEST_CASE("Integers are written in full at both ends of their range") {
  const auto written = [](auto value) { return std::string{FixedText<64>{value}.c_str()}; };
  CHECK(written(0) == "0");
  CHECK(written(std::numeric_limits<std::int64_t>::min()) == std::to_string(std::numeric_limits<std::int64_t>::min()));
  CHECK(written(std::numeric_limits<std::int64_t>::max()) == std::to_string(std::numeric_limits<std::int64_t>::max()));
  CHECK(written(std::numeric_limits<std::uint64_t>::max()) ==
        std::to_string(std::numeric_limits<std::uint64_t>::max()));
  CHECK(written(std::numeric_limits<std::int8_t>::min()) == "-128");
  CHECK(written(std::numeric_limits<std::int32_t>::min()) == std::to_string(std::numeric_limits<std::int32_t>::min()));
}

TEST_CASE("A text that fills the buffer exactly is not marked as cut") {
  const FixedText<8> text{"1234567"};
  CHECK(std::string{text.c_str()} == "1234567");
  CHECK(text.size() == 7);
}

TEST_CASE("A text that does not fit is cut, ends in three dots, and stays terminated") {
  const FixedText<8> text{"12345678"};
  CHECK(std::string{text.c_str()} == "1234...");
  CHECK(text.size() == 7);
  CHECK(text.c_str()[7] == '\0');
}

TEST_CASE("A text that does not fit is not cut within a character") {
  CHECK(std::string{FixedText<8>{"123µ5678"}.c_str()} == "123....");
  CHECK(std::string{FixedText<8>{"12µ45678"}.c_str()} == "12µ...");
  FixedText<9> text{
      "12\xE2\x82\xAC"
      "678"};
  CHECK(std::string{text.c_str()} ==
        "12\xE2\x82\xAC"
        "678");
  text.append("9");
  CHECK(std::string{text.c_str()} == "12\xE2\x82\xAC...");
  CHECK(std::string{FixedText<9>{"123\xE2\x82\xAC"
                                 "789"}
                        .c_str()} == "123.....");
}

TEST_CASE("Appending to a full text changes nothing") {
  FixedText<8> text{"123456789"};
  text.append("more");
  text.append(12345);
  CHECK(std::string{text.c_str()} == "1234...");
  CHECK(text.size() == std::strlen(text.c_str()));
}

TEST_CASE("A cut number shows that it was cut") {
  const FixedText<8> text{"n=", 1234567};
  CHECK(std::string{text.c_str()} == "n=12...");
}

TEST_CASE("A text can be built by the compiler") {
  constexpr FixedText<16> text{"x", 1, 'y'};
  static_assert(text.size() == 3 && text.c_str()[1] == '1');
  CHECK(std::string_view{text.data(), text.size()} == "x1y");
}
