// expect: rondo: an orchestration passes tensors and regions as they are; declare a tensor of the other shape
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/orchestrated.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/runtime/aicpu_build_graph.hpp>
#include <rondo/session/open.hpp>

using namespace rondo;

struct Policies : DefaultPolicies {
  using Runtime = runtime::AicpuBuildGraph;
};

struct Copy {
  static constexpr std::string_view name = "copy";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y);
};

void use(const TaskGraph& graph, Input<float> x, Output<float> y) {
  auto session = open<A2A3Sim, Policies>(graph, [=](auto& round) { round.template add<Copy>(reshape(x, {2, 2}), y); });
}
