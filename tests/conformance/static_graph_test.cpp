// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// A graph that the compiler knows gives what the same graph built at run time gives, on every platform.

#include "conformance/kernels.hpp"
#include "conformance/platforms.hpp"

#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/open_static.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace rondo;

namespace {

constexpr auto build = [] {
  TaskGraph g;
  const auto x = g.input<float>("x", {16});
  const auto y = g.output<float>("y", {16});
  const auto total = g.resident<float>("total", {16});
  const auto sum = g.workspace<float>("sum", {16});
  g.add<kernels::Add>(x, x, sum);
  g.add<kernels::Accumulate>(sum, total);
  g.add<kernels::Scale>(total, y, 0.5F);
  return g;
};
constexpr auto& constant = static_graph<build>;

constexpr auto other_build = [] {
  TaskGraph g;
  const auto x = g.input<float>("x", {16});
  const auto z = g.output<float>("z", {16});
  g.add<kernels::Scale>(x, z, 1.0F);
  return g;
};
constexpr auto& other = static_graph<other_build>;

constexpr auto zeroing_build = [] {
  TaskGraph g;
  const auto x = g.input<float>("x", {16});
  const auto sum = g.workspace<float>("sum", {16});
  const auto y = g.output<float>("y", {16});
  g.zero(sum);
  g.add<kernels::Accumulate>(x, sum);
  g.make_view(y, sum);
  return g;
};
constexpr auto& zeroing = static_graph<zeroing_build>;

static_assert(constant.view().tasks.size() == 3);
static_assert(constant.view().successors.size() == 2);

}  // namespace

TEST_CASE_TEMPLATE("a static graph gives what the dynamic one gives", P, A2A3Sim, A5SimOn<Pool>, A2A3SimOn<Model>,
                   A5SimOn<Checked<Pool>>, A2A3OverStandIn, A5OverStandIn) {
  const FrozenGraph frozen = freeze(build());
  auto dynamic_session = open<P>(build(), busy_options<P>());
  auto static_session = open<P, constant>(busy_options<P>());
  CHECK(static_session.arena_bytes() == dynamic_session.arena_bytes());

  const auto& graph = dynamic_session.graph();
  const auto dx = graph.template input<float>("x");
  const auto dy = graph.template output<float>("y");
  const auto dt = graph.template resident<float>("total");
  constexpr auto sx = constant.input<float>("x");
  constexpr auto sy = constant.output<float>("y");
  constexpr auto st = constant.resident<float>("total");

  const std::vector<float> zero(16);
  REQUIRE(dynamic_session.upload(dt, zero).ok());
  REQUIRE(static_session.upload(st, zero).ok());
  std::vector<float> x(16), a(16), b(16, -1.0F);
  for (int round = 0; round < 100; ++round) {
    for (std::size_t i = 0; i < 16; ++i) x[i] = static_cast<float>((round * 7 + static_cast<int>(i)) % 11);
    REQUIRE(dynamic_session.run_round(bind(dx, x), bind(dy, a)).ok());
    REQUIRE(static_session.run_round(bind(sx, x), bind(sy, b)).ok());
    REQUIRE(a == b);
  }
  const auto binding = static_session.prebind(bind(sy, b), bind(sx, x));
  REQUIRE(static_session.run_round(binding).ok());
  REQUIRE(static_session.begin_round(bind(sx, x), bind(sy, b)).launch().finish().status().ok());
}

TEST_CASE_TEMPLATE("what outputs show of zeroed workspace is each round's own, in flight, too", P, A2A3Sim,
                   A5SimOn<Pool>, HostOn<Pool>, A2A3OverStandIn) {
  auto session = open_pipelined<P, zeroing, 3>(busy_options<P>());
  std::vector<std::vector<float>> y(9, std::vector<float>(16, -1.0F));
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::vector<float> x(16, static_cast<float>(i));
    REQUIRE(session.submit_round(bind(zeroing.input<float>("x"), x), bind(zeroing.output<float>("y"), y[i])));
  }
  REQUIRE(session.wait_all().ok());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == std::vector<float>(16, static_cast<float>(i)));
}

TEST_CASE("handles of one static graph are refused by a session over another") {
  auto session = open<A2A3Sim, constant>();
  REQUIRE(session.upload(constant.resident<float>("total"), std::vector<float>(16)).ok());
  std::vector<float> x(16), y(16);
  CHECK(session.run_round(bind(other.input<float>("x"), x), bind(other.output<float>("z"), y)).code() ==
        Errc::wrong_tensor);
}
