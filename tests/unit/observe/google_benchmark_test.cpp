// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/observe/google_benchmark.hpp>

#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

/// What of benchmark::State is used; runs four iterations. The real one runs in bench/own_session.cpp.
struct State {
  int left = 4;
  std::vector<double> times;
  std::map<std::string, double> counters;
  std::string error;
  bool KeepRunning() { return error.empty() && left-- > 0; }
  void SetIterationTime(double seconds) { times.push_back(seconds); }
  void SkipWithError(const char* text) { error = text; }
};

/// y = x, slowly.
struct Slow {
  static constexpr std::string_view name = "slow";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};

template <class K>
struct Case {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {8});
  Output<float> y = graph.output<float>("y", {8});
  std::vector<float> hx = std::vector<float>(8, 1), hy = std::vector<float>(8);
  Case() { graph.add<K>(x, y); }
};

}  // namespace

TEST_CASE("Each iteration is a round, and its time that of the round") {
  Case<Slow> c;
  auto session = open<A2A3Sim>(c.graph);
  State state;
  observe::measure_rounds(state, session, bind(c.x, c.hx), bind(c.y, c.hy));
  CHECK(session.rounds() == 4);
  REQUIRE(state.times.size() == 4);
  for (const double time : state.times) CHECK(time >= 2e-3);  // asleep at least so long
  CHECK(c.hy == c.hx);
  CHECK_FALSE(state.counters.contains("device_s"));
}

TEST_CASE("By phases, the counters add up to the iterations' times, and the tasks are in the launch") {
  Case<Slow> c;
  auto session = open<A2A3Sim>(c.graph);
  State state;
  observe::measure_phases(state, session, bind(c.x, c.hx), bind(c.y, c.hy));
  REQUIRE(state.times.size() == 4);
  double sum = 0;
  for (const double time : state.times) sum += time;
  const auto& n = state.counters;
  CHECK(n.at("begin_s") + n.at("launch_s") + n.at("finish_s") == doctest::Approx(sum / 4));
  CHECK(n.at("launch_s") >= 2e-3);
}

TEST_CASE("An engine that predicts the chip tells its time") {
  Case<Slow> c;
  auto session = open<A2A3SimOn<Model>>(c.graph);
  for (const bool by_phases : {false, true}) {
    State state;
    if (by_phases) {
      observe::measure_phases(state, session, bind(c.x, c.hx), bind(c.y, c.hy));
    } else {
      observe::measure_rounds(state, session, bind(c.x, c.hx), bind(c.y, c.hy));
    }
    CHECK(state.counters.at("device_s") == doctest::Approx(session.platform().engine().prediction().run_ns * 1e-9));
    CHECK(state.counters.at("device_s") > 0);
  }
}

TEST_CASE("A round that fails ends the case with the reason") {
  Case<Fragile> c;
  c.hx[0] = -1;
  for (const bool by_phases : {false, true}) {
    auto session = open<A2A3Sim>(c.graph);
    State state;
    if (by_phases) {
      observe::measure_phases(state, session, bind(c.x, c.hx), bind(c.y, c.hy));
    } else {
      observe::measure_rounds(state, session, bind(c.x, c.hx), bind(c.y, c.hy));
    }
    CHECK(says(state.error, "fragile", "a negative element"));
    CHECK(state.times.empty());
    CHECK(state.counters.empty());
  }
}
