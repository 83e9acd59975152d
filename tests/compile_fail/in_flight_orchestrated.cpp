// expect: rondo: a graph that an orchestration builds anew each round has one round at a time
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/select.hpp>
#include <rondo/runtime/aicpu_build_graph.hpp>
#include <rondo/session/in_flight.hpp>

struct Policies : rondo::DefaultPolicies {
  using Runtime = rondo::runtime::AicpuBuildGraph;
  static constexpr std::size_t rounds_in_flight = 2;
};

void use(const rondo::TaskGraph& graph) {
  auto session = rondo::open<rondo::A2A3Sim, Policies>(graph, [](auto&) {});
}
