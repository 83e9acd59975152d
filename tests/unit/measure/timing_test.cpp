// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/timing.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/rondo.hpp>

#include "unit/support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace rondo;
using namespace rondo::measure;

struct Stated {
  static constexpr std::string_view name = "stated";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept { y[0] = 2 * x[0]; }
  static double cost(In<float>, Out<float>) { return 100'000; }
};

struct OneTask {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {1});
  Output<float> y = graph.output<float>("y", {1});
  template <class K>
  static OneTask of() {
    OneTask one;
    one.graph.add<K>(one.x, one.y);
    return one;
  }
};

}  // namespace

TEST_CASE("A call is made for warm-up, and number times for each repeat") {
  int calls = 0, pauses = 0;
  const auto seconds = time_calls({.warm_up = 2, .number = 5, .repeat = 4}, [&] { ++calls; }, [&] { ++pauses; });
  CHECK(seconds.size() == 4);
  CHECK(calls == 2 + 5 * 4);
  CHECK(pauses == 4);
  for (const double s : seconds) CHECK(s >= 0);
  const auto none = time_calls({.warm_up = 0, .number = 0, .repeat = 0}, [&] { ++calls; });
  CHECK(none.size() == 1);
}

TEST_CASE("A time that is too short is taken again over more calls, and is that of one call") {
  volatile int calls = 0;
  double shortest = 0;
  // A call takes some nanoseconds, so a repeat has about a million calls, unless the machine stops during each one.
  do {
    calls = 0;
    const auto seconds =
        time_calls({.warm_up = 0, .number = 1, .repeat = 10, .min_repeat_ms = 5}, [&] { calls = calls + 1; });
    CHECK(seconds.size() == 10);
    shortest = *std::min_element(seconds.begin(), seconds.end());
  } while (calls <= 20 || shortest >= 5e-3);
}

TEST_CASE("Flushing and cooling down come before each repeat and change nothing else") {
  int calls = 0;
  const auto seconds =
      time_calls({.warm_up = 0, .repeat = 3, .cooldown_ms = 1, .flush_bytes = 1 << 20}, [&] { ++calls; });
  CHECK(calls == 3);
  CHECK(seconds.size() == 3);
}

TEST_CASE("Rounds of a session are timed, warm-up and all") {
  OneTask one = OneTask::of<Stated>();
  auto session = open<A2A3Sim>(one.graph);
  float x = 21, y = 0;
  const Times times = time_rounds({.warm_up = 3, .number = 2, .repeat = 5}, session, bind(one.x, x), bind(one.y, y));
  CHECK(times.seconds.size() == 5);
  CHECK(times.device_seconds.empty());
  CHECK(session.rounds() == 13);
  CHECK(y == 42);
}

TEST_CASE("A device that knows how long a round takes on it is asked after each repeat") {
  OneTask one = OneTask::of<Stated>();
  auto session = open<A2A3SimOn<Model>>(one.graph);
  float x = 21, y = 0;
  const Times times = time_rounds({.repeat = 2}, session, bind(one.x, x), bind(one.y, y));
  REQUIRE(times.device_seconds.size() == 2);
  CHECK(times.device_seconds[0] == 1e-9 * session.platform().engine().prediction().run_ns);
  CHECK(times.device_seconds[0] > 100e-6);
}

namespace {
struct Timed : DefaultPolicies {
  using Time = DeviceTime;
};
}  // namespace

TEST_CASE("A session tells how long the tasks of its last round ran where its platform can") {
  static_assert(HasRoundTime<A2A3SimOn<Model>> && !HasRoundTime<A2A3Sim>);
  OneTask one = OneTask::of<Stated>();
  auto session = open<A2A3SimOn<Model>, Timed>(one.graph);
  CHECK(session.last_round_ns() == 0);
  float x = 21, y = 0;
  REQUIRE(session.run_round(bind(one.x, x), bind(one.y, y)));
  CHECK(session.last_round_ns() == session.platform().engine().prediction().run_ns);
  CHECK(session.last_round_ns() > 100e3);
}

TEST_CASE("A round that fails is a fault, with what the session says of it") {
  OneTask one = OneTask::of<test::Fragile>();
  auto session = open<A2A3Sim>(one.graph);
  float x = -1, y = 0;
  try {
    (void)time_rounds({}, session, bind(one.x, x), bind(one.y, y));
    FAIL("it must throw");
  } catch (const Failure& failure) {
    CHECK(failure.fault() == Fault::run);
    CHECK(test::says(failure.what(), "fragile"));
  }
}
