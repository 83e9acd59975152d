// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/memory_report.hpp>

#include <rondo/platform/select.hpp>
#include <rondo/search/plan_svg.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/open_static.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

constexpr auto build = [] {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto t = graph.workspace<float>("t", {16});
  const auto u = graph.workspace<float>("u", {16});
  const auto y = graph.output<float>("y", {16});
  const auto h = graph.host_input<float>("h", {16});
  const auto r = graph.resident<float>("r", {16});
  graph.add<Scale>(x, t, 2.0F);
  graph.add<Scale>(t, u, 2.0F);
  graph.add<Scale>(u, y, 3.0F);
  graph.add<Accumulate>(h, r);
  return graph;
};
constexpr auto& constant = static_graph<build>;
static_assert(arena_bytes<A5Sim, constant> == Bytes{192});

struct Apart : DefaultPolicies {
  using Plan = memory::Disjoint;
};
static_assert(arena_bytes<A5Sim, constant, Apart> == Bytes{5 * 64});

}  // namespace

TEST_CASE("The report says what lies where, who shares, and what sharing saves") {
  const auto session = open<A5Sim>(build());
  const memory::Report report = session.memory_report();
  CHECK(report.arena() == session.arena_bytes());
  CHECK(report.arena() == Bytes{192});
  CHECK(report.lower_bound() == Bytes{192});
  CHECK(report.apart == Bytes{320});
  CHECK(report.reuse() == doctest::Approx(320.0 / 192));
  CHECK(report.bytes(memory::MemoryKind::hbm) == Bytes{192});  // simulated kernels read their args in host memory
  CHECK(report.bytes(memory::MemoryKind::host) == Bytes{session.args().image().size()});
  REQUIRE(report.tensors.size() == 6);
  CHECK(report.tensors[0].name == "x");
  CHECK(report.tensors[0].shares_with == std::vector<std::uint32_t>{2});
  CHECK(report.tensors[2].shares_with == std::vector<std::uint32_t>{0});
  CHECK(report.tensors[1].shares_with == std::vector<std::uint32_t>{3});
  CHECK(report.tensors[4].buffer == memory::Lifetimes::no_buffer);
  CHECK(report.tensors[5].shares_with.empty());
  for (const auto& tensor : report.tensors) CHECK(tensor.bytes == Bytes{64});
}

TEST_CASE("Apart nobody shares") {
  const auto session = open<A5Sim, Apart>(build());
  const memory::Report report = session.memory_report();
  CHECK(report.arena() == report.apart);
  for (const auto& tensor : report.tensors) CHECK(tensor.shares_with.empty());
}

TEST_CASE("The report reads as a table and draws as a map, names on it") {
  const auto session = open<A5Sim>(build());
  std::ostringstream table, map;
  table << session.memory_report();
  CAPTURE(table.str());
  CHECK(says(table.str(), "HBM: 192 bytes, tensors", "lower bound 192", "x: 64 bytes at ", "shares with u",
             "h: 64 bytes in the args table"));
  search::write_memory_map(map, session.memory_report());
  CHECK(says(map.str(), "<svg", "<title>u: [", "<title>x: [", "192 bytes (lower bound 192)"));
}

TEST_CASE("A static graph's report is that of the same graph at run time") {
  const auto session = open<A5Sim, constant>();
  CHECK(session.memory_report().arena() == Bytes{192});
  CHECK(session.memory_report().plan.offsets == open<A5Sim>(build()).memory_report().plan.offsets);
}
