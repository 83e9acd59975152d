// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/loop_report.hpp>

#include <rondo/graph/instantiate.hpp>
#include <rondo/graph/loops.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace rondo;
using namespace rondo::test;

TEST_CASE("A loop without work is not reported, the others are") {
  TaskGraph graph;
  const auto size = graph.dim("size");
  const auto flag = graph.input<std::int32_t>("flag", {1});
  const auto x = graph.input<float>("x", {4});
  const auto empty = graph.input<float>("empty", {size});
  const auto y = graph.inout<float>("y", {4});
  const auto nothing = graph.inout<float>("nothing", {size});
  graph.when(flag, [&] { graph.add<Accumulate>(empty, nothing); });
  const TaskId decision = graph.when(flag, [&] { graph.add<Accumulate>(x, y); });
  const std::int64_t none[] = {0};
  const auto session = open<A2A3Sim>(instantiate(graph, none));
  const std::vector<LoopReport> reports = session.explain_loops();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].name == "when flag");
  CHECK(reports[0].decision == decision);
}
