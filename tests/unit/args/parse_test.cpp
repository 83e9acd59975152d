// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "random_format.hpp"

#include <rondo/args/parse.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace rondo::args;

Descriptor only(std::string_view text) {
  const std::vector<Descriptor> patterns = test::parsed(text);
  REQUIRE(patterns.size() == 1);
  return patterns[0];
}

Descriptor make(Pattern pattern, std::uint32_t index = 0, bool starred = false) {
  Descriptor d;
  d.pattern = pattern;
  d.index = index;
  d.starred = starred;
  return d;
}

Descriptor make(Pattern pattern, Variant variant, std::uint32_t index = 0, bool starred = false) {
  Descriptor d = make(pattern, index, starred);
  d.variant = variant;
  return d;
}

Descriptor make_value(Pattern pattern, std::uint64_t value, bool narrow) {
  Descriptor d = make(pattern);
  d.value = value;
  d.narrow = narrow;
  return d;
}

Descriptor in_node(std::uint32_t node, Descriptor d) {
  d.node = node;
  return d;
}

void check_refused(std::string_view text, Reason reason, std::size_t position, std::size_t at, std::size_t length) {
  CAPTURE(text);
  const Failure failure = check_format(text);
  CHECK(std::string_view{describe(failure.reason)} == describe(reason));
  CHECK(failure.position == position);
  CHECK(failure.at == at);
  CHECK(failure.length == length);
}

}  // namespace

TEST_CASE("the empty text is a valid format without patterns") {
  CHECK(test::parsed("").empty());
  CHECK_FALSE(check_format(std::string_view{}));
}

TEST_CASE("every pattern of the grammar is read as what it means") {
  CHECK(only("{}") == make_value(Pattern::placeholder, 0, false));
  CHECK(only("{.32b}") == make_value(Pattern::placeholder, 0, true));
  CHECK(only("{#17}") == make_value(Pattern::literal, 17, false));
  CHECK(only("{#.32b17}") == make_value(Pattern::literal, 17, true));
  CHECK(only("{i3}") == make(Pattern::input, 3));
  CHECK(only("{i3*}") == make(Pattern::input, 3, true));
  CHECK(only("{i*}") == make(Pattern::input, every, true));
  CHECK(only("{o3}") == make(Pattern::output, 3));
  CHECK(only("{o3*}") == make(Pattern::output, 3, true));
  CHECK(only("{o*}") == make(Pattern::output, every, true));
  CHECK(only("{i_instance12}") == make(Pattern::input_instance, 12));
  CHECK(only("{i_instance12*}") == make(Pattern::input_instance, 12, true));
  CHECK(only("{i_instance*}") == make(Pattern::input_instance, every, true));
  CHECK(only("{o_instance12*}") == make(Pattern::output_instance, 12, true));
  CHECK(only("{o_instance*}") == make(Pattern::output_instance, every, true));
  CHECK(only("{i_desc1}") == make(Pattern::input_desc, 1));
  CHECK(only("{o_desc1*}") == make(Pattern::output_desc, 1, true));
  CHECK(only("{ws0}") == make(Pattern::workspace, 0));
  CHECK(only("{ws0*}") == make(Pattern::workspace, 0, true));
  CHECK(only("{ws*}") == make(Pattern::workspace, every, true));
  CHECK(only("{t}") == make(Pattern::tiling));
  CHECK(only("{t_ffts.tail}") == make(Pattern::tiling_ffts, Variant::tail));
  CHECK(only("{t_ffts.non_tail}") == make(Pattern::tiling_ffts, Variant::non_tail));
  CHECK(only("{tiling_context}") == make(Pattern::tiling_context));
  CHECK(only("{tiling_context.tiling_data}") == make(Pattern::tiling_context, Variant::tiling_data));
  CHECK(only("{tiling_context.tiling_key}") == make(Pattern::tiling_context, Variant::tiling_key));
  CHECK(only("{tiling_context.block_dim}") == make(Pattern::tiling_context, Variant::block_dim));
  CHECK(only("{*op_type}") == make(Pattern::op_type));
  CHECK(only("{ffts_addr}") == make(Pattern::ffts_addr));
  CHECK(only("{overflow_addr}") == make(Pattern::overflow_addr));
  CHECK(only("{event_addr5*}") == make(Pattern::event_addr, 5, true));
  CHECK(only("{hi.hcom0*}") == make(Pattern::hidden_input, Variant::hcom, 0, true));
  CHECK(only("{hi.tilefwk1*}") == make(Pattern::hidden_input, Variant::tilefwk, 1, true));
  CHECK(only("{hi.hcclsk2*}") == make(Pattern::hidden_input, Variant::hcclsk, 2, true));
}

TEST_CASE("a super-kernel's prefix goes before any pattern") {
  CHECK(only("{skn1i0*}") == in_node(1, make(Pattern::input, 0, true)));
  CHECK(only("{skn0i*}") == in_node(0, make(Pattern::input, every, true)));
  CHECK(only("{skn7}") == in_node(7, make(Pattern::placeholder)));
  CHECK(only("{skn7.32b}") == in_node(7, make_value(Pattern::placeholder, 0, true)));
  CHECK(only("{skn7#5}") == in_node(7, make_value(Pattern::literal, 5, false)));
  CHECK(only("{skn7*op_type}") == in_node(7, make(Pattern::op_type)));
  CHECK(only("{skn2147483647t}") == in_node(2147483647, make(Pattern::tiling)));
}

TEST_CASE("an event's number is not cut to 16 bits") {
  CHECK(only("{skn1event_addr200000*}") == in_node(1, make(Pattern::event_addr, 200000, true)));
}

TEST_CASE("literals take all values of their width and none beyond it") {
  CHECK(only("{#0}").value == 0);
  CHECK(only("{#18446744073709551615}").value == 0xFFFF'FFFF'FFFF'FFFF);
  CHECK(only("{#.32b4294967295}").value == 0xFFFF'FFFF);
  check_refused("{#18446744073709551616}", Reason::value_above_64_bits, 0, 2, 23);
  check_refused("{#99999999999999999999}", Reason::value_above_64_bits, 0, 2, 23);
  check_refused("{#1234567890123456789012345678901234567890}", Reason::value_above_64_bits, 0, 2, 43);
  check_refused("{#.32b4294967296}", Reason::value_above_32_bits, 0, 6, 17);
}

TEST_CASE("numbers of patterns end where CANN's end") {
  CHECK(only("{i2147483647}").index == 2147483647);
  check_refused("{i2147483648}", Reason::number_above_2147483647, 0, 2, 13);
  check_refused("{i4294967296}", Reason::number_above_2147483647, 0, 2, 13);
  check_refused("{ws18446744073709551616*}", Reason::number_above_2147483647, 0, 3, 25);
  check_refused("{event_addr4294967295*}", Reason::number_above_2147483647, 0, 11, 23);
  check_refused("{skn4294967295t}", Reason::number_above_2147483647, 0, 4, 16);
  check_refused("{hi.hcom99999999999*}", Reason::number_above_2147483647, 0, 8, 21);
}

TEST_CASE("what the Graph Engine lets pass is refused") {
  check_refused("{ws}", Reason::number_or_star_missing, 0, 3, 4);
  check_refused("{wsx}", Reason::number_or_star_missing, 0, 3, 5);
  check_refused("{tfoo}", Reason::unexpected_text_after_pattern, 0, 2, 6);
  check_refused("{#12abc}", Reason::unexpected_text_after_pattern, 0, 4, 8);
  check_refused("{#-1}", Reason::number_missing, 0, 2, 5);
  check_refused("{#+1}", Reason::number_missing, 0, 2, 5);
  check_refused("{# 1}", Reason::number_missing, 0, 2, 5);
  check_refused("{t_ffts}", Reason::tail_or_non_tail_missing, 0, 7, 8);
  check_refused("{t_ffts.nontail}", Reason::tail_or_non_tail_missing, 0, 7, 16);
  check_refused("{i1x2}", Reason::unexpected_text_after_pattern, 0, 3, 6);
  check_refused("{ix1}", Reason::number_or_star_missing, 0, 2, 5);
  check_refused("{hi.hcom0}", Reason::star_missing, 0, 9, 10);
  check_refused("{event_addr5}", Reason::star_missing, 0, 12, 13);
  check_refused("{event_addr*}", Reason::number_missing, 0, 11, 13);
  check_refused("{ffts_addr2}", Reason::unexpected_text_after_pattern, 0, 10, 12);
  check_refused("{overflow_addr }", Reason::unexpected_text_after_pattern, 0, 14, 16);
}

TEST_CASE("patterns that do not exist are refused") {
  check_refused("{#}", Reason::number_missing, 0, 2, 3);
  check_refused("{xxx}", Reason::unknown_pattern, 0, 1, 5);
  check_refused("{ }", Reason::unknown_pattern, 0, 1, 3);
  check_refused("{hehe}", Reason::unknown_pattern, 0, 1, 6);
  check_refused("{hi.unsupported}", Reason::unknown_hidden_input_family, 0, 3, 16);
  check_refused("{hi}", Reason::unknown_hidden_input_family, 0, 3, 4);
  check_refused("{hi.hcom}", Reason::number_missing, 0, 8, 9);
  check_refused("{hi.hcom[xx]}", Reason::number_missing, 0, 8, 13);
  check_refused("{hi.hcom*}", Reason::number_missing, 0, 8, 10);
  check_refused("{.33b}", Reason::unknown_suffix, 0, 1, 6);
  check_refused("{.32bx}", Reason::unexpected_text_after_pattern, 0, 5, 7);
  check_refused("{#.64b1}", Reason::unknown_suffix, 0, 2, 8);
  check_refused("{#.32b}", Reason::number_missing, 0, 6, 7);
  check_refused("{tiling_context.}", Reason::unknown_suffix, 0, 15, 17);
  check_refused("{tiling_context.tiling}", Reason::unknown_suffix, 0, 15, 23);
  check_refused("{tiling_contexts}", Reason::unexpected_text_after_pattern, 0, 15, 17);
  check_refused("{i_desc}", Reason::number_missing, 0, 7, 8);
  check_refused("{i_desc*}", Reason::number_missing, 0, 7, 9);
  check_refused("{i_instance}", Reason::number_or_star_missing, 0, 11, 12);
  check_refused("{i_inst0}", Reason::number_or_star_missing, 0, 2, 9);
  check_refused("{i**}", Reason::unexpected_text_after_pattern, 0, 3, 5);
  check_refused("{i*0}", Reason::unexpected_text_after_pattern, 0, 3, 5);
  check_refused("{I0}", Reason::unknown_pattern, 0, 1, 4);
  check_refused("{*}", Reason::unknown_pattern, 0, 1, 3);
  check_refused("{skn}", Reason::number_missing, 0, 4, 5);
  check_refused("{sknt}", Reason::number_missing, 0, 4, 6);
  check_refused("{skn1xxx}", Reason::unknown_pattern, 0, 5, 9);
  check_refused("{skn1skn2t}", Reason::super_kernel_inside_super_kernel, 0, 5, 11);
}

TEST_CASE("a leading zero is refused, so that each number has one text") {
  check_refused("{i00}", Reason::leading_zero, 0, 2, 5);
  check_refused("{i01}", Reason::leading_zero, 0, 2, 5);
  check_refused("{#007}", Reason::leading_zero, 0, 2, 6);
  check_refused("{#.32b00}", Reason::leading_zero, 0, 6, 9);
  check_refused("{skn01t}", Reason::leading_zero, 0, 4, 8);
  CHECK(only("{i0}").index == 0);
  CHECK(only("{i10}").index == 10);
}

TEST_CASE("braces come in pairs and nothing stands between patterns") {
  check_refused("{", Reason::unclosed_brace, 0, 1, 1);
  check_refused("{i0", Reason::unclosed_brace, 0, 3, 3);
  check_refused("{t}{i0", Reason::unclosed_brace, 3, 6, 3);
  check_refused("}", Reason::unopened_brace, 0, 0, 1);
  check_refused("{t}}", Reason::unopened_brace, 3, 3, 1);
  check_refused("}{i0*}", Reason::unopened_brace, 0, 0, 1);
  check_refused(std::string_view("{i0*}").substr(0, 4), Reason::unclosed_brace, 0, 4, 4);
  check_refused("{{t}}", Reason::nested_brace, 0, 1, 1);
  check_refused("{i{t}", Reason::nested_brace, 0, 2, 2);
  check_refused("t", Reason::text_outside_braces, 0, 0, 1);
  check_refused(" {t}", Reason::text_outside_braces, 0, 0, 1);
  check_refused("{t} {t}", Reason::text_outside_braces, 3, 3, 1);
  check_refused("{t},{t}", Reason::text_outside_braces, 3, 3, 1);
  check_refused("{t}\n", Reason::text_outside_braces, 3, 3, 1);
  check_refused(std::string_view{"{t}\0", 4}, Reason::text_outside_braces, 3, 3, 1);
  check_refused(std::string_view{"{t\0}", 4}, Reason::unexpected_text_after_pattern, 0, 2, 4);
}

TEST_CASE("a failure names the pattern and its position among valid ones") {
  check_refused("{i0*}{o0*}{wsx}{t}", Reason::number_or_star_missing, 10, 13, 5);
  int read = 0;
  (void)parse("{i0*}{o0*}{wsx}{t}", [&](const Descriptor&) { return ++read, Reason::none; });
  CHECK(read == 2);
}

TEST_CASE("the longest keyword wins over its own beginnings") {
  CHECK(only("{tiling_context}").pattern == Pattern::tiling_context);
  CHECK(only("{t_ffts.tail}").pattern == Pattern::tiling_ffts);
  CHECK(only("{t}").pattern == Pattern::tiling);
  CHECK(only("{i_instance1}").pattern == Pattern::input_instance);
  CHECK(only("{i_desc1}").pattern == Pattern::input_desc);
  CHECK(only("{i1}").pattern == Pattern::input);
  CHECK(only("{o_desc1}").pattern == Pattern::output_desc);
  CHECK(only("{overflow_addr}").pattern == Pattern::overflow_addr);
}

TEST_CASE("a reason that the visitor returns ends the reading, at the pattern it was returned for") {
  const Failure failure = parse("{i0}{o0}{t}{bad}", [](const Descriptor& d) {
    return d.pattern == Pattern::output ? Reason::no_such_output : Reason::none;
  });
  CHECK(failure == Failure{Reason::no_such_output, 4, 4, 4});
}

TEST_CASE("formats are the text of the patterns read from them") {
  auto random = rondo::test::make_random<test::Random>(7);
  for (int round = 0; round < 20000; ++round) {
    const std::size_t patterns = test::below(random, 12);
    const std::string text = test::format(random, patterns);
    CAPTURE(text);
    std::string again;
    const auto read = test::parsed(text);
    REQUIRE(read.size() == patterns);
    for (const Descriptor& d : read) again += test::text_of(d);
    REQUIRE(again == text);
  }
}

TEST_CASE("any bytes give either patterns of the same text or a failure within the text") {
  auto random = rondo::test::make_random<test::Random>(20260101);
  std::size_t accepted = 0;
  std::size_t refused = 0;
  constexpr std::string_view likely = "{}*#._0123456789bcdefhiklnoprstwx";
  for (int round = 0; round < 60000; ++round) {
    std::string text = test::format(random, test::below(random, 6));
    const std::uint64_t edits = test::below(random, 4);
    for (std::uint64_t e = 0; e < edits; ++e) {
      const std::size_t at = text.empty() ? 0 : test::below(random, text.size() + 1);
      const char byte =
          test::below(random, 3) == 0 ? static_cast<char>(random() & 0xFF) : likely[test::below(random, likely.size())];
      switch (test::below(random, 4)) {
        case 0: text.insert(at, 1, byte); break;
        case 1:
          if (at < text.size()) text[at] = byte;
          break;
        case 2:
          if (at < text.size()) text.erase(at, 1 + test::below(random, 4));
          break;
        default: text.insert(at, text.substr(test::below(random, text.size() + 1), 8)); break;
      }
    }
    std::string again;
    const Failure failure = parse(text, [&](const Descriptor& d) { return again += test::text_of(d), Reason::none; });
    if (!failure) {
      ++accepted;
      REQUIRE(again == text);
    } else {
      ++refused;
      REQUIRE(failure.position < text.size());
      REQUIRE(failure.position + failure.length <= text.size());
      REQUIRE(failure.length >= 1);
      REQUIRE(failure.at >= failure.position);
      REQUIRE(failure.at <= failure.position + failure.length);
    }
  }
  CHECK(accepted > 15000);
  CHECK(refused > 15000);
}

static_assert(!check_format("{i*}{o*}{ws*}"), "the same parser runs in the compiler");
static_assert(check_format("{i*}{o*}{wsx}") == Failure{Reason::number_or_star_missing, 8, 5, 11});
