// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/static_graph.hpp>

#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/open_static.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {
constexpr auto build_float = [] {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  graph.add_raw("k", CoreType::vector, no_kernel, reads(x));
  return graph;
};
constexpr auto build_int = [] {
  TaskGraph graph;
  const auto x = graph.input<std::int32_t>("x", {2});
  graph.add_raw("k", CoreType::vector, no_kernel, reads(x));
  return graph;
};
constexpr auto& of_float = static_graph<build_float>;
constexpr auto& of_int = static_graph<build_int>;
}  // namespace

// The tag is a hash of the names alone.
TEST_CASE("A handle of one static graph is refused by a session over another that has the same names") {
  auto session = open<A2A3Sim, of_int>();
  std::vector<float> hx(2);
  CHECK(session.run_round(bind(of_float.input<float>("x"), hx)).code() == Errc::wrong_tensor);
}
