// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/memory/lay_out.hpp>

#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/graph/static_graph.hpp>
#include <rondo/session/open_static.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <type_traits>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

constexpr auto build = [] {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto t = graph.workspace<float>("t", {16});
  const auto u = graph.workspace<float>("u", {16});
  const auto y = graph.output<float>("y", {16});
  graph.add<Scale>(x, t, 2.0F);
  graph.add<Scale>(t, u, 2.0F);
  graph.add<Scale>(u, y, 3.0F);
  return graph;
};
constexpr auto& constant = static_graph<build>;
using Constant = graph::StaticGraphRef<constant>;

/// A planner that puts everything at the start.
struct Careless {
  static memory::Plan plan(const memory::Problem& problem) {
    memory::Plan plan;
    plan.offsets.assign(problem.size(), 0);
    plan.arena = problem.buffers.front().size;
    plan.planner = "careless";
    return plan;
  }
};

struct Negate {
  static constexpr std::string_view name = "negate";
  static constexpr auto core = CoreType::vector;
  static constexpr InPlace in_place{.out = 1, .in = 0};
  static void run(In<float>, Out<float>) {}
};

template <class Planner, memory::Concurrency C = memory::Concurrency::sequential>
std::vector<std::uint64_t> offsets_of(const TaskGraph& graph) {
  const FrozenGraph frozen = freeze(graph);
  const memory::Layout<FrozenGraph, arch::A5, Planner, C> layout{frozen};
  return {layout.offsets().begin(), layout.offsets().end()};
}

}  // namespace

TEST_CASE_TEMPLATE("A constant graph is laid out by the compiler as it would be at run time", Chip, arch::A2A3,
                   arch::A5) {
  using enum memory::Concurrency;
  const FrozenGraph frozen = freeze(build());
  const auto check = [&]<class Planner, memory::Concurrency C>() {
    const memory::Layout<FrozenGraph, Chip, Planner, C> dynamic{frozen};
    using Static = memory::Layout<Constant, Chip, Planner, C>;
    static_assert(Static::is_static && std::is_empty_v<Static>);
    static_assert(Static::arena_bytes() > Bytes{0});
    CHECK_FALSE(dynamic.is_static);
    CHECK(dynamic.offsets().size() == 4);
    CHECK(dynamic.arena_bytes() == Static::arena_bytes());
    CHECK(std::equal(dynamic.offsets().begin(), dynamic.offsets().end(), Static::offsets().begin(),
                     Static::offsets().end()));
    return Static::arena_bytes().value;
  };
  const std::uint64_t apart = check.template operator()<memory::Disjoint, unordered>();
  CHECK(apart == check.template operator()<memory::Greedy, unordered>());
  CHECK(apart == check.template operator()<memory::Disjoint, parallel>());
  CHECK(check.template operator()<memory::Greedy, sequential>() < apart);
  CHECK(check.template operator()<memory::Greedy, parallel>() < apart);
  CHECK(check.template operator()<memory::PortsLast<memory::Greedy>, sequential>() <= apart);
}

// Four tensors of 64 bytes in a chain.
static_assert(memory::Layout<Constant, arch::A5, memory::Greedy, memory::Concurrency::sequential>::arena_bytes() ==
              Bytes{128});
static_assert(memory::Layout<Constant, arch::A5, memory::Greedy, memory::Concurrency::parallel>::arena_bytes() ==
              Bytes{128});

TEST_CASE("Apart, tensors lie in their order with the chip's guard between them") {
  TaskGraph graph;
  (void)graph.resident<std::int8_t>("a", {64});
  (void)graph.resident<std::int8_t>("b", {1});
  const FrozenGraph frozen = freeze(graph);
  const memory::Layout<FrozenGraph, arch::A2A3> a2a3{frozen};
  const memory::Layout<FrozenGraph, arch::A5> a5{frozen};
  CHECK(a2a3.offsets()[1] == 128);
  CHECK(a2a3.arena_bytes() == Bytes{192});
  CHECK(a5.offsets()[1] == 64);
  CHECK(a5.arena_bytes() == Bytes{96});
}

TEST_CASE("Ports last: outputs after the feature map, then inputs by ascending size, sharing with nothing") {
  TaskGraph graph;
  const auto big = graph.input<float>("big", {64});
  const auto small = graph.input<float>("small", {16});
  const auto t = graph.workspace<float>("t", {16});
  const auto u = graph.workspace<float>("u", {16});
  const auto y = graph.output<float>("y", {32});
  const auto z = graph.output<float>("z", {16});
  graph.add<Scale>(small, t, 1.0F);
  graph.add<Scale>(t, z, 1.0F);
  graph.add<Scale>(big, u, 1.0F);
  graph.add<Scale>(u, y, 1.0F);
  const std::vector<std::uint64_t> at = offsets_of<memory::PortsLast<memory::Greedy>>(graph);
  CHECK(at == std::vector<std::uint64_t>{64 + 128 + 64 + 64, 64 + 128 + 64, 0, 0, 64, 64 + 128});
}

TEST_CASE("An output and the input whose memory it reuses lie in one place") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto y = graph.output<float>("y", {16});
  const auto z = graph.output<float>("z", {16});
  graph.alias(y, x);
  graph.add<Scale>(x, z, 1.0F);
  graph.add<Scale>(x, y, 1.0F);
  const std::vector<std::uint64_t> at = offsets_of<memory::Disjoint, memory::Concurrency::unordered>(graph);
  CHECK(at[0] == at[1]);
  CHECK(at[2] != at[0]);
}

#ifndef NDEBUG
TEST_CASE("A planner that keeps all tensors apart does so also for sessions that place some of them first or last") {
  TaskGraph graph;
  const auto t = graph.workspace<float>("t", {16});
  const auto u = graph.workspace<float>("u", {16});
  graph.add<Negate>(graph.input<float>("x", {16}), t);
  graph.add<Negate>(t, u);
  graph.add<Negate>(u, graph.output<float>("y", {16}));
  const auto count = []<class Planner>(const TaskGraph& of) {
    const std::vector<std::uint64_t> offsets = offsets_of<Planner>(of);
    return std::set(offsets.begin(), offsets.end()).size();
  };
  CHECK(count.operator()<memory::Greedy>(graph) < 4);
  CHECK(count.operator()<memory::Disjoint>(graph) == 4);
  CHECK(count.operator()<memory::PortsLast<memory::Disjoint>>(graph) == 4);
  CHECK(count.operator()<memory::ResidentsFirst<memory::Disjoint>>(graph) == 4);
}

TEST_CASE("A planner that is wrong is found out, with the names of two tensors") {
  const Raised r = raised([] { (void)offsets_of<Careless>(build()); });
  CAPTURE(r.text);
  CHECK(r.code == Errc::check_failed);
  CHECK(says(r.text, "'careless'", "share bytes", "'x'"));
}
#endif

namespace {
/// A plan as no planner should make it.
template <int What>
struct Wild {
  static memory::Plan plan(const memory::Problem& problem) {
    memory::Plan plan = memory::Disjoint::plan(problem);
    plan.planner = "wild";
    if (What == 0) plan.offsets.clear();
    if (What == 1) plan.offsets.push_back(0);
    if (What == 2) plan.arena = INT64_MIN;
    if (What == 3) plan.arena = INT64_MAX;
    if (What == 4) plan.offsets.assign(problem.size(), INT64_MAX - 63);
    if (What == 5) plan.offsets.assign(problem.size(), -64);
    return plan;
  }
};
template <int What>
void check_wild(const FrozenGraph& frozen) {
  CAPTURE(What);
  const auto refused = [&]<class Planner>(Planner) {
    const Raised r = raised([&] { (void)memory::Layout<FrozenGraph, arch::A2A3, Planner>(frozen); });
    CHECK(r.code == Errc::check_failed);
    CHECK(says(r.text, "the planner 'wild' made a wrong plan"));
  };
  refused(Wild<What>{});
  refused(memory::PortsLast<Wild<What>>{});
  refused(memory::ResidentsFirst<memory::PortsLast<Wild<What>>>{});
}
}  // namespace

TEST_CASE("Whatever a planner returns, it is refused or used") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto r = graph.resident<float>("r", {16});
  const auto t = graph.workspace<float>("t", {16});
  const auto y = graph.output<float>("y", {16});
  graph.add<Scale>(x, t, 2.0F);
  graph.add<Scale>(t, r, 2.0F);
  graph.add<Scale>(r, y, 2.0F);
  const FrozenGraph frozen = freeze(graph);
  check_wild<0>(frozen);
  check_wild<1>(frozen);
#ifndef NDEBUG
  check_wild<2>(frozen);
  check_wild<3>(frozen);
  check_wild<4>(frozen);
  check_wild<5>(frozen);
#endif
}

TEST_CASE("A graph without tensors takes no memory") {
  CHECK(memory::Layout<FrozenGraph, arch::A5, memory::Greedy, memory::Concurrency::parallel>{freeze(TaskGraph{})}
            .arena_bytes() == Bytes{0});
}
