// expect: check_limits
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/open_static.hpp>

inline void body(std::int64_t*) {}

constexpr auto build = [] {
  rondo::TaskGraph graph;
  const auto x = graph.inout<double>("x", {8});
  const auto t = graph.workspace<double>("t", {8});
  graph.add_raw("exact", rondo::CoreType::cube, body, updates(x), writes(t));
  return graph;
};
constexpr auto& graph = rondo::static_graph<build>;

void use(double (&memory)[8]) {
  auto session = rondo::open<rondo::A2A3Sim, graph>();
  (void)session.run_round(bind(graph.inout<double>("x"), memory));
}
