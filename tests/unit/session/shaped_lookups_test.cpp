// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/shaped_session.hpp>

#include <rondo/platform/select.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {
struct Counted : DefaultPolicies {
  using Lookups = launch::Counts;
};
}  // namespace

TEST_CASE("A session of many shapes counts how its shapes were found, if its policies say so") {
  TaskGraph graph;
  const auto n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<Scale>(x, y, 2.0F);
  auto session = open_shaped<A2A3Sim, Counted>(graph);
  for (const std::size_t size : {4U, 8U, 4U, 4U, 8U}) {
    std::vector<float> hx(size, 1), hy(size);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    CHECK(hy[0] == 2);
  }
  const launch::Counts counts = session.lookups();
  CHECK(counts.misses == 2);
  CHECK(counts.hits_on_last == 1);
  CHECK(counts.hits_in_table == 2);
  CHECK(counts.evictions == 0);
}

TEST_CASE("Without such a policy nothing is counted, and there is nothing to ask") {
  constexpr auto counts = []<class S>(const S& session) { return requires { session.lookups(); }; };
  TaskGraph graph;
  const auto n = graph.dim("n");
  graph.add<Scale>(graph.input<float>("x", {n}), graph.output<float>("y", {n}), 2.0F);
  const auto plain = open_shaped<A2A3Sim>(graph);
  const auto counted = open_shaped<A2A3Sim, Counted>(graph);
  CHECK(raised([&] { (void)open_shaped<A2A3Sim>(graph, {.saved = "shapes.rondo"}); }).code == Errc::unsupported);
  CHECK(!counts(plain));
  CHECK(counts(counted));
}

TEST_CASE("The order of two tensors is part of a key, also if their numbers are far apart") {
  for (const std::uint32_t apart : {1U, 1U << 16U, 1U << 19U}) {
    CHECK(rondo::detail::size_word(4, 1) != rondo::detail::size_word(4, 1 + apart));
  }
}
