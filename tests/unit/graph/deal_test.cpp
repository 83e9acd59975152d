// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/deal.hpp>

#include "dealt_graphs.hpp"
#include "scale.hpp"

#include <rondo/arch/a2a3.hpp>
#include <rondo/graph/connect_lanes.hpp>
#include <rondo/graph/loops.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

using namespace rondo;
using graph::LaneRules;
using graph::Lanes;

namespace {

struct Stated {
  static constexpr std::string_view name = "stated";
  static constexpr auto core = CoreType::cube;
  static void run(InOut<float> x, float) noexcept { x[0] += 1; }
  static double cost(InOut<float> x, float a) noexcept { return 1000.0 * static_cast<double>(x.size()) * a; }
};

struct Mad {
  static constexpr std::string_view name = "mad";
  static constexpr auto core = CoreType::cube;
  static void run(InOut<float> x) noexcept { x[0] += 1; }
  static double cost(InOut<float>) noexcept { return std::numeric_limits<double>::quiet_NaN(); }
};

struct Sum {
  static constexpr std::string_view name = "sum";
  static constexpr auto core = CoreType::vector;
  static constexpr Zeros zeros{.parameter = 1};
  static void run(In<float> x, Scratch<float> s, Out<float> y) noexcept { y[0] = x[0] + s[0]; }
};

LaneRules rules_for(std::span<const double> task_ns, std::uint32_t lanes = 0) {
  LaneRules rules{arch::chip_of<arch::A2A3>, lanes};
  rules.task_ns = task_ns;
  return rules;
}
std::vector<double> equal(const TaskGraph& graph, double ns) { return std::vector<double>(graph.tasks().size(), ns); }
Lanes deal_to(const TaskGraph& g, double ns, std::uint32_t lanes = 0) {
  return graph::deal_lanes(freeze(g).view(), rules_for(equal(g, ns), lanes));
}

/// Which tasks come before which, found from lanes and waits alone by walking over them; one of the waits left out.
class Order {
 public:
  static constexpr std::size_t none = ~std::size_t{0};
  explicit Order(const Lanes& lanes, std::size_t but = none)
      : tasks_{lanes.lane_of.size()}, before_(tasks_ * tasks_, false) {
    std::vector<std::uint32_t> last(lanes.count, Lanes::none);
    for (const std::uint32_t task : lanes.order) {
      if (lanes.lane_of[task] == Lanes::none) continue;
      std::uint32_t& previous = last[lanes.lane_of[task]];
      if (previous != Lanes::none) add(previous, task);
      for (std::size_t w = 0; w < lanes.waits.size(); ++w) {
        const auto [waiting, after] = lanes.waits[w];
        if (w != but && waiting == task && after != Lanes::none) add(after, task);
      }
      previous = task;
    }
  }
  [[nodiscard]] bool precedes(std::size_t a, std::size_t b) const { return before_[b * tasks_ + a]; }

 private:
  void add(std::size_t before, std::size_t after) {
    before_[after * tasks_ + before] = true;
    for (std::size_t t = 0; t < tasks_; ++t) {
      if (before_[before * tasks_ + t]) before_[after * tasks_ + t] = true;
    }
  }
  std::size_t tasks_;
  std::vector<bool> before_;
};

/// The promises that lanes make.
void check(const graph::GraphView& view, const Lanes& lanes) {
  const std::size_t tasks = view.tasks.size();
  REQUIRE(lanes.order.size() == tasks);
  REQUIRE(std::set<std::uint32_t>(lanes.order.begin(), lanes.order.end()).size() == tasks);
  const Order order(lanes);
  std::uint64_t broken = 0, wrong = 0, idle = 0;
  for (std::uint32_t a = 0; a < tasks; ++a) {
    REQUIRE(lanes.lane_of[a] < lanes.count);
    for (const std::uint32_t b : view.successors_of(a)) broken += order.precedes(a, b) ? 0 : 1;
    for (std::uint32_t b = 0; b < tasks; ++b) wrong += order.precedes(a, b) == lanes.precedes(a, b) ? 0 : 1;
  }
  CHECK(broken == 0);
  CHECK(wrong == 0);
  for (std::size_t w = 0; w < lanes.waits.size(); ++w) {
    const auto [task, after] = lanes.waits[w];
    if (after != Lanes::none) idle += Order(lanes, w).precedes(after, task) ? 1 : 0;
  }
  CHECK(idle == 0);

  // Every lane begins after something of another one, and every lane's end is waited for, in the end by lane 0.
  std::vector<bool> begins(lanes.count, false), ends(lanes.count, false);
  std::vector<std::uint32_t> first(lanes.count, Lanes::none), last(lanes.count, Lanes::none);
  for (const std::uint32_t task : lanes.order) {
    if (first[lanes.lane_of[task]] == Lanes::none) first[lanes.lane_of[task]] = task;
    last[lanes.lane_of[task]] = task;
  }
  for (const auto& [task, after] : lanes.waits) {
    if (task == first[lanes.lane_of[task]]) begins[lanes.lane_of[task]] = true;
    if (after != Lanes::none && after == last[lanes.lane_of[after]]) ends[lanes.lane_of[after]] = true;
  }
  for (const auto& [lane, joined] : lanes.joins) {
    if (lane != 0) CHECK_FALSE(ends[lane]);  // nothing is waited for on a lane whose end was told before
    CHECK_FALSE(ends[joined]);
    ends[joined] = true;
  }
  for (std::uint32_t lane = 0; lane < lanes.count; ++lane) {
    CAPTURE(lane);
    CHECK(first[lane] != Lanes::none);
    CHECK((lane == 0 || (begins[lane] && ends[lane])));
  }
}

}  // namespace

TEST_CASE("Lanes and waits enforce each edge of random graphs, and no wait is one too many") {
  auto random = rondo::test::make_random(3);
  for (int c = 0; c < scaled(60); ++c) {
    const auto tasks = static_cast<std::uint32_t>(2 + random() % 60);
    const auto frozen =
        freeze(dealt::random(tasks, static_cast<std::uint32_t>(random() % 4), static_cast<std::uint32_t>(random())));
    std::vector<double> ns(tasks);
    for (double& cost : ns) cost = static_cast<double>(1000 + random() % 100'000);
    const auto wanted = static_cast<std::uint32_t>(2 + random() % 8);
    CAPTURE(c);
    CAPTURE(tasks);
    CAPTURE(wanted);
    const Lanes lanes = graph::deal_lanes(frozen.view(), rules_for(ns, wanted));
    REQUIRE(lanes.count <= wanted);
    if (lanes.count > 1) check(frozen.view(), lanes);
  }
}

TEST_CASE("Folded lanes keep what was certain") {
  auto random = rondo::test::make_random(4);
  for (int c = 0; c < scaled(30); ++c) {
    const auto tasks = static_cast<std::uint32_t>(12 + random() % 40);
    const auto frozen = freeze(dealt::random(tasks, 2, static_cast<std::uint32_t>(random())));
    const std::vector<double> ns(tasks, 50'000);
    const Lanes lanes = graph::deal_lanes(frozen.view(), rules_for(ns, 7));
    REQUIRE(lanes.count > 3);
    const Lanes folded = graph::fold_lanes(frozen.view(), lanes, 3);
    REQUIRE(folded.count == 3);
    check(frozen.view(), folded);
    std::uint64_t lost = 0;
    for (std::size_t a = 0; a < tasks; ++a) {
      for (std::size_t b = 0; b < tasks; ++b) lost += lanes.precedes(a, b) && !folded.precedes(a, b) ? 1 : 0;
    }
    CHECK(lost == 0);
    CHECK(graph::fold_lanes(frozen.view(), lanes, 1).count == 1);
    CHECK(graph::fold_lanes(frozen.view(), lanes, 7).count == lanes.count);
  }
}

TEST_CASE("Chains, single tasks and tasks that are shorter than a wait stay on one lane") {
  CHECK(deal_to(dealt::chain(200), 100'000).count == 1);
  CHECK(deal_to(dealt::independent(1), 100'000).count == 1);
  CHECK(deal_to(dealt::independent(2), 1'000).count == 1);
  CHECK(deal_to(dealt::tree(4), 1'000).count == 1);
  CHECK(deal_to(dealt::wavefront(6), 1'000).count == 1);
  CHECK(deal_to(dealt::independent(48), 100'000, 1).count == 1);
}

TEST_CASE("Long independent tasks take as many lanes as there are cores, and the prediction says what that brings") {
  const Lanes lanes = deal_to(dealt::independent(480), 100'000);
  CHECK(lanes.count == 24);                              // cube cores
  CHECK(lanes.predicted_ns == 2e6 + 2'000 + 5 * 2'000);  // twenty each, the start, and five joins one after the other
  CHECK(lanes.waits.size() == 23);
  CHECK(lanes.joins.size() == 23);
}

TEST_CASE("A task on as many cores as there are leaves no room for others") {
  TaskGraph graph(Edges::explicit_);
  for (int t = 0; t < 8; ++t) {
    graph.add<dealt::Touch>(Blocks{24}, graph.workspace<float>("t" + std::to_string(t), {1}));
  }
  CHECK(deal_to(graph, 100'000).count == 1);
}

TEST_CASE("A measured time counts more than what the kernel states, and that more than an estimate") {
  TaskGraph g;
  g.add<Stated>(g.inout<float>("x", {4}), 2.5F);
  g.add<Stated>(Blocks{30}, g.inout<float>("y", {4}), 2.5F);
  g.add<dealt::Touch>(g.workspace<float>("z", {400'000}));
  const FrozenGraph frozen = freeze(g);
  const double measured[] = {0, 7};
  const std::vector<double> costs = graph::task_costs(frozen.view(), rules_for(measured));
  CHECK(costs[0] == 10'000);
  CHECK(costs[1] == 7);
  CHECK(costs[2] == 1000 + 1'600'000 * 24 / 1600);
  CHECK(graph::task_costs(frozen.view(), rules_for({}))[1] == 20'000);  // 30 blocks on 24 cores go in two turns
}

TEST_CASE("A cost that is no number is refused, by the kernel's name") {
  TaskGraph g;
  g.add<Mad>(g.inout<float>("x", {4}));
  g.add<Mad>(g.inout<float>("y", {4}));
  try {
    (void)graph::deal_lanes(freeze(g).view(), rules_for({}));
    FAIL("it was not refused");
  } catch (const Error& e) {
    CHECK(e.code() == Errc::invalid_argument);
    CHECK(std::string(e.what()).find("'mad'") != std::string::npos);
  }
}

TEST_CASE("The fill is on no lane and comes before all") {
  TaskGraph g;
  const auto x = g.input<float>("x", {4});
  for (int i = 0; i < 6; ++i) {
    g.add<Sum>(x, g.workspace<float>("s" + std::to_string(i), {4}), g.output<float>("y" + std::to_string(i), {4}));
  }
  const FrozenGraph frozen = freeze(g);
  const graph::GraphView view = frozen.view();
  REQUIRE(view.tasks[0].fills);
  const std::vector<double> ns(6, 1e5);
  const Lanes lanes = graph::deal_lanes(view, rules_for(ns, 3));
  REQUIRE(lanes.count == 3);
  CHECK(lanes.order[0] == 0);
  CHECK(lanes.lane_of[0] == Lanes::none);
  for (std::uint32_t t = 1; t < view.tasks.size(); ++t) {
    CHECK(lanes.precedes(0, t));
    CHECK_FALSE(lanes.precedes(t, 0));
  }
  for (const auto& [task, after] : lanes.waits) CHECK(after != 0);
}

TEST_CASE("A frozen graph carries its lanes along when it moves") {
  const TaskGraph g = dealt::independent(8);
  const std::vector<double> ns(8, 1e5);
  FrozenGraph dealt = deal(freeze(g), rules_for(ns, 4));
  REQUIRE(dealt.view().lanes != nullptr);
  const Lanes* const lanes = dealt.view().lanes;
  FrozenGraph moved = std::move(dealt);
  CHECK(moved.view().lanes == lanes);
  CHECK(lanes->count == 4);
  CHECK(deal(std::move(moved), rules_for(ns, 1)).view().lanes == nullptr);  // dealt again, to one lane
  CHECK(deal(freeze(g), rules_for(ns, 1)).view().lanes == nullptr);
}

TEST_CASE("A graph with loops is not dealt, nor one for which one lane is the most") {
  TaskGraph graph;
  const auto done = graph.workspace<std::int32_t>("done", {1});
  std::vector<InputOutput<float>> all;
  for (int i = 0; i < 6; ++i) all.push_back(graph.inout<float>("x" + std::to_string(i), {4}));
  for (const auto& x : all) graph.add<Stated>(x, 1.0F);
  LaneRules rules{arch::chip_of<arch::A2A3>, 3};
  CHECK(deal(freeze(graph), rules).view().lanes != nullptr);
  TaskGraph looped = graph;
  looped.repeat_until(done, 3, [&] {
    looped.add<Stated>(all[0], 1.0F);
    looped.add_raw("decide", CoreType::vector, +[](ArgWord*) {}, writes(done));
  });
  CHECK(deal(freeze(looped), rules).view().lanes == nullptr);
  rules.most_lanes = 0;
  CHECK(deal(freeze(graph), rules).view().lanes == nullptr);
}
