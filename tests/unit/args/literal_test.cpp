// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "random_format.hpp"

#include <rondo/args/literal.hpp>
#include <rondo/args/print.hpp>

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
  static constexpr std::size_t size = format.size();
};

// The whole grammar in the compiler.
constexpr auto everything =
    "{}{.32b}{#0}{#.32b4294967295}{#18446744073709551615}{i0}{i0*}{i*}{o0}{o0*}{o*}{i_instance0}{i_instance0*}"
    "{i_instance*}{o_instance0}{o_instance0*}{o_instance*}{i_desc0}{i_desc0*}{o_desc0}{o_desc0*}{ws0}{ws0*}{ws*}{t}"
    "{t_ffts.tail}{t_ffts.non_tail}{tiling_context}{tiling_context.tiling_data}{tiling_context.tiling_key}"
    "{tiling_context.block_dim}{*op_type}{ffts_addr}{overflow_addr}{event_addr0*}{hi.hcom0*}{hi.tilefwk0*}"
    "{hi.hcclsk0*}{skn0}{skn0.32b}{skn0#1}{skn0i*}{skn12event_addr200000*}{skn1hi.hcclsk0*}"_args;
static_assert(everything.size() == 44);
static_assert(everything[42].node == 12 && everything[42].index == 200000);

static_assert(std::is_same_v<decltype(Kernel::args), const rondo::args::Format<4>>);
static_assert(Kernel::args.size() == 4 && Kernel::args[2].pattern == args::Pattern::workspace);
static_assert(Takes<Kernel::args>::size == 4);
static_assert(std::is_same_v<decltype(""_args), rondo::args::Format<0>> && ""_args.empty());
static_assert(std::is_trivially_copyable_v<rondo::args::Format<4>>);

}  // namespace

TEST_CASE("a literal is the format that the run-time parser makes of the same text") {
  CHECK(Kernel::args.view() == args::FormatView{args::test::parsed("{i0*}{o0*}{ws0*}{t}")});
}

TEST_CASE("a literal's type has room for exactly its patterns") {
  CHECK(Kernel::args.capacity == 4);
  CHECK(Kernel::args.end() - Kernel::args.begin() == 4);
}

TEST_CASE("a literal of the whole grammar prints back to its text") {
  constexpr auto& text = args::printed<everything>;
  CHECK(args::FormatView{args::test::parsed(text)} == everything.view());
  CHECK(std::string_view{text.data()}.starts_with("{}{.32b}{#0}{#.32b4294967295}"));
}
