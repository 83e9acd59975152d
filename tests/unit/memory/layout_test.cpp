// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/memory/layout.hpp>

#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/graph/static_graph.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

using namespace rondo;
using namespace rondo::test;

namespace {

constexpr auto build = [] {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {33});
  const auto t = graph.workspace<float>("t", {33});
  const auto y = graph.output<float>("y", {33});
  graph.add<Scale>(x, t, 2.0F);
  graph.add<Scale>(t, y, 3.0F);
  return graph;
};
constexpr auto& constant = static_graph<build>;
using Constant = graph::StaticGraphRef<constant>;

}  // namespace

TEST_CASE_TEMPLATE("A constant graph is laid out by the compiler as it would be at run time", Chip, arch::A2A3,
                   arch::A5) {
  const FrozenGraph frozen = freeze(build());
  const memory::Layout<FrozenGraph, Chip> dynamic{frozen};
  using Static = memory::Layout<Constant, Chip>;
  static_assert(Static::is_static && std::is_empty_v<Static>);
  static_assert(Static::arena_bytes() > Bytes{0});
  CHECK_FALSE(dynamic.is_static);
  CHECK(dynamic.offsets().size() == 3);
  CHECK(dynamic.arena_bytes() == Static::arena_bytes());
  CHECK(std::equal(dynamic.offsets().begin(), dynamic.offsets().end(), Static::offsets().begin(),
                   Static::offsets().end()));
}

TEST_CASE("A layout that passes 2^63 bytes is refused, the tensor named") {
  TaskGraph graph;
  (void)graph.input<std::int8_t>("a", {std::numeric_limits<std::int64_t>::max() / 2});
  (void)graph.input<std::int8_t>("b", {std::numeric_limits<std::int64_t>::max() / 2});
  (void)graph.input<std::int8_t>("c", {std::numeric_limits<std::int64_t>::max() / 2});
  const FrozenGraph frozen = freeze(graph);
  const Raised r = raised([&] { const memory::Layout<FrozenGraph, arch::A5> layout{frozen}; });
  CAPTURE(r.text);
  CHECK(r.code == Errc::overflow);
  CHECK(says(r.text, "'c'"));
}
