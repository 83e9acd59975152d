// expect: rondo: the engine looks at the tasks of a graph, and a runtime that builds its graph during the round has none to show
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/orchestrated.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/runtime/aicpu_build_graph.hpp>
#include <rondo/session/open.hpp>

struct Policies : rondo::DefaultPolicies {
  using Runtime = rondo::runtime::AicpuBuildGraph;
};

void use(const rondo::TaskGraph& graph) {
  auto session = rondo::open<rondo::A2A3SimOn<rondo::Checked<rondo::Pool>>, Policies>(graph, [](auto&) {});
}
