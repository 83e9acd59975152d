// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/onboard/lane_script.hpp>

#include "unit/graph/dealt_graphs.hpp"

#include <rondo/arch/a5.hpp>
#include <rondo/graph/deal.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

using namespace rondo;
using platform::onboard::LaneScript;
using Kind = LaneScript::Step::Kind;

namespace {

FrozenGraph dealt_to(const TaskGraph& graph, std::uint32_t lanes) {
  const std::vector<double> ns(graph.tasks().size(), 1e5);
  graph::LaneRules rules{arch::chip_of<arch::A5>, lanes};
  rules.task_ns = ns;
  return deal(freeze(graph), rules);
}

/// For each launch the launches before it, as streams and events order them; at last, those before the end of lane 0.
std::vector<std::set<std::uint32_t>> play(const LaneScript& script) {
  std::vector<std::set<std::uint32_t>> done(script.lanes()), told(script.events()), before;
  for (const LaneScript::Step& step : script.steps()) {
    std::set<std::uint32_t>& lane = done[step.lane];
    if (step.kind == Kind::record) told[step.number] = lane;
    if (step.kind == Kind::wait) lane.insert(told[step.number].begin(), told[step.number].end());
    if (step.kind != Kind::launch) continue;
    REQUIRE(step.number == before.size());
    before.push_back(lane);
    lane.insert(step.number);
  }
  before.push_back(done[0]);
  return before;
}

}  // namespace

TEST_CASE("Streams and events of a script order what the graph orders, though events serve several times") {
  auto random = rondo::test::make_random(7);
  bool is_reused = false;
  for (int c = 0; c < 30; ++c) {
    CAPTURE(c);
    const auto tasks = static_cast<std::uint32_t>(10 + random() % 50);
    const FrozenGraph frozen = dealt_to(dealt::random(tasks, 3, static_cast<std::uint32_t>(random())),
                                        static_cast<std::uint32_t>(2 + random() % 5));
    const graph::GraphView view = frozen.view();
    REQUIRE(view.lanes != nullptr);
    const LaneScript script(*view.lanes);
    CHECK(script.lanes() == view.lanes->count);
    std::size_t records = 0;
    for (const LaneScript::Step& step : script.steps()) records += step.kind == Kind::record ? 1 : 0;
    is_reused = is_reused || script.events() < records;
    const auto before = play(script);
    REQUIRE(before.size() == tasks + 1);
    CHECK(before.back().size() == tasks);
    std::vector<std::uint32_t> launch(tasks);
    for (std::uint32_t i = 0; i < tasks; ++i) launch[view.lanes->order[i]] = i;
    for (std::uint32_t t = 0; t < tasks; ++t) {
      for (const std::uint32_t s : view.successors_of(t)) CHECK(before[launch[s]].contains(launch[t]));
    }
  }
  CHECK(is_reused);
}

TEST_CASE("Each lane takes a queue, and another one for what does not fit into it") {
  const auto queues = [](std::uint32_t tasks, std::uint32_t lanes) {
    const FrozenGraph frozen = dealt_to(dealt::independent(tasks), lanes);
    return LaneScript(*frozen.view().lanes).queues();
  };
  CHECK(queues(8, 4) == 4);
  CHECK(queues(2 * 2000, 2) == 2);
  CHECK(queues(2 * 2100, 2) == 4);
}
