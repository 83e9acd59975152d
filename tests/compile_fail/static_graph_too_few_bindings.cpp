// expect: rondo: a round binds each input, output and inout of its graph exactly once
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/open_static.hpp>

inline void body(std::int64_t*) {}

constexpr auto build = [] {
  rondo::TaskGraph graph;
  const auto x = graph.inout<float>("x", {8});
  const auto t = graph.workspace<float>("t", {8});
  graph.add_raw("first", rondo::CoreType::cube, body, reads(x), writes(t));
  graph.add_raw("second", rondo::CoreType::cube, body, updates(x), reads(t));
  return graph;
};
constexpr auto& graph = rondo::static_graph<build>;

void use() {
  auto session = rondo::open<rondo::A2A3Sim, graph>();
  (void)session.run_round();
}
