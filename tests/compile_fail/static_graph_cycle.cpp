// expect: fail_cycle
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
  const auto first = graph.add_raw("first", rondo::CoreType::cube, body, reads(x), writes(t));
  const auto second = graph.add_raw("second", rondo::CoreType::cube, body, updates(x), reads(t));
  graph.add_edge(second, first);
  return graph;
};
constexpr auto& graph = rondo::static_graph<build>;

int main() { return static_cast<int>(graph.view().tasks.size()); }
