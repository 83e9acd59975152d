// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "random_format.hpp"

#include <rondo/args/literal.hpp>

#include <doctest/doctest.h>

#include <string_view>
#include <type_traits>

namespace {

using namespace rondo::literals;
namespace args = rondo::args;

struct Kernel {
  static constexpr auto args = "{i0*}{o0*}{ws0*}{t}"_args;
};

template <auto format>
struct Takes {
  static constexpr std::size_t size = format.view().size();
};

// The whole grammar in the compiler.
constexpr auto everything =
    "{}{.32b}{#0}{#.32b4294967295}{#18446744073709551615}{i0}{i0*}{i*}{o0}{o0*}{o*}{i_instance0}{i_instance0*}"
    "{i_instance*}{o_instance0}{o_instance0*}{o_instance*}{i_desc0}{i_desc0*}{o_desc0}{o_desc0*}{ws0}{ws0*}{ws*}{t}"
    "{t_ffts.tail}{t_ffts.non_tail}{tiling_context}{tiling_context.tiling_data}{tiling_context.tiling_key}"
    "{tiling_context.block_dim}{*op_type}{ffts_addr}{overflow_addr}{event_addr0*}{hi.hcom0*}{hi.tilefwk0*}"
    "{hi.hcclsk0*}{skn0}{skn0.32b}{skn0#1}{skn0i*}{skn12event_addr200000*}{skn1hi.hcclsk0*}"_args;
static_assert(std::is_same_v<decltype(Kernel::args), const rondo::args::Format<20>>);
static_assert(Takes<Kernel::args>::size == 19);
static_assert("{i0}{t}"_args.view() == "{i0}{t}" && ""_args.view().empty());
static_assert(std::is_trivially_copyable_v<rondo::args::Format<4>>);

}  // namespace

TEST_CASE("a literal of the whole grammar is a format") {
  const auto patterns = args::test::parsed(everything.view());
  REQUIRE(patterns.size() == 44);
  CHECK(patterns[42].node == 12);
  CHECK(patterns[42].index == 200000);
}
