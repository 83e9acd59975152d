// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "random_format.hpp"

#include <rondo/args/literal.hpp>
#include <rondo/args/parse.hpp>
#include <rondo/args/print.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace rondo::args;
using namespace rondo::literals;

std::string text_of(FormatView format) {
  std::string text(printed_size(format), '?');
  REQUIRE(print(format, text) == text.size());
  return text;
}

}  // namespace

TEST_CASE("formats print back to the text they were parsed from") {
  for (const std::string_view text : {
           "",
           "{ffts_addr}{overflow_addr}{t}{t_ffts.non_tail}{t_ffts.tail}",
           "{i_instance*}{o_instance*}",
           "{i_instance0}{i_instance0*}{i_instance2*}{o_instance3}{o_instance1}{o_instance3*}",
           "{i*}{o*}{ws*}",
           "{i*}{o*}{ws0*}{ws1*}{ws2}",
           "{ffts_addr}{i0*}{i_desc1}{i_desc2*}{i4*}{o_desc0}{ws0*}{t_ffts.tail}",
           "{hi.hcom0*}{}{hi.tilefwk1*}{hi.hcclsk2*}",
           "{#0}{#18446744073709551615}",
           "{}{}{.32b}{}",
           "{#42}{#.32b114}{#514}",
           "{tiling_context}{*op_type}{tiling_context.tiling_key}{tiling_context.tiling_data}{tiling_context.block_"
           "dim}",
           "{skn1hi.hcom0*}{skn1hi.tilefwk0*}{skn1hi.hcclsk0*}",
           "{skn1event_addr200000*}{event_addr0*}",
           "{skn3}{skn3.32b}{skn3#7}{skn3i*}{skn0t_ffts.non_tail}",
           "{}{}{}{}{i_instance0*}{o_instance0*}{#.32b1}{.32b}{}",
       }) {
    CAPTURE(text);
    CHECK(text_of(test::parsed(text)) == text);
  }
}

TEST_CASE("random valid formats are accepted and print back to the same text") {
  auto random = rondo::test::make_random<test::Random>(7);
  for (int round = 0; round < 20000; ++round) {
    const std::size_t patterns = test::below(random, 12);
    const std::string text = test::format(random, patterns);
    std::vector<Descriptor> buffer(patterns);
    const ParseResult result = try_parse(text, buffer);
    CAPTURE(text);
    REQUIRE(result.ok());
    REQUIRE(result.count == patterns);
    REQUIRE(text_of({buffer.data(), patterns}) == text);
  }
}

TEST_CASE("formats that print alike are equal, and others are not") {
  CHECK(FormatView{test::parsed("{i0}{t}")} == "{i0}{t}"_args.view());
  CHECK_FALSE(FormatView{test::parsed("{i0}{t}")} == "{i0*}{t}"_args.view());
  CHECK_FALSE(FormatView{test::parsed("{#5}")} == "{#.32b5}"_args.view());
  CHECK_FALSE(FormatView{test::parsed("{t}")} == "{t}{t}"_args.view());
  CHECK_FALSE(FormatView{test::parsed("{skn0t}")} == "{t}"_args.view());
}

TEST_CASE("a short buffer takes the beginning and the whole length is returned") {
  char four[4] = {'?', '?', '?', '?'};
  CHECK(print("{i0*}{t}"_args, {four, 3}) == 8);
  CHECK(std::string_view{four, 4} == "{i0?");
}

TEST_CASE("a constant format has its text as a constant") {
  constexpr auto& text = printed<"{skn3o*}{.32b}"_args>;
  static_assert(text.size() == 14);
  CHECK(std::string_view{text.data()} == "{skn3o*}{.32b}");
}
