// expect: a graph that the compiler knows has no loops
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/open_static.hpp>

inline void body(std::int64_t*) {}

constexpr auto build = [] {
  rondo::TaskGraph graph;
  const auto flag = graph.input<std::int32_t>("flag", {1});
  const auto done = graph.output<std::int32_t>("done", {1});
  graph.when(flag, [&] { graph.add_raw("step", rondo::CoreType::cube, body, reads(flag), writes(done)); });
  return graph;
};
constexpr auto& graph = rondo::static_graph<build>;

int main() { return static_cast<int>(graph.view().tasks.size()); }
