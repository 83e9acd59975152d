// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/observe/deadlines.hpp>

#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <vector>

using namespace rondo;
using namespace rondo::test;
using std::chrono::nanoseconds;

namespace {

/// Shows what the test sets; its unit is 2 ns.
struct SetClock {
  static inline std::uint64_t time = 0;
  static std::uint64_t now() noexcept { return time; }
  static observe::Timebase timebase() noexcept { return {0, 0, 2}; }
};
using Deadlines = observe::DeadlinesWith<SetClock>;

struct Policies : DefaultPolicies {
  using Observe = Deadlines;
};

void take(Deadlines& deadlines, std::uint64_t round, std::uint64_t ticks, Status status = {}) {
  deadlines.round_begins(RoundIndex{round});
  SetClock::time += ticks;
  deadlines.round_ends(RoundIndex{round}, status);
}

/// Takes as many units of the clock as x says.
struct Wait {
  static constexpr std::string_view name = "wait";
  static constexpr auto core = CoreType::vector;
  static void run(In<std::int32_t> x, Out<std::int32_t> y) {
    if (x[0] < 0) throw x[0];
    SetClock::time += static_cast<std::uint64_t>(x[0]);
    y[0] = x[0];
  }
};

struct Rig {
  TaskGraph graph;
  Input<std::int32_t> x = graph.input<std::int32_t>("x", {1});
  Output<std::int32_t> y = graph.output<std::int32_t>("y", {1});
  TaskId task = graph.add<Wait>(x, y);
};

}  // namespace

TEST_CASE("Rounds that take longer than the limit are missed, to the unit") {
  Deadlines deadlines;
  deadlines.set_limit(nanoseconds(200));
  for (std::uint64_t round = 0; round < 200; ++round) take(deadlines, round, 90 + round % 20);  // 180 to 218 ns
  const observe::DeadlineReport report = deadlines.report();
  CHECK(report.rounds == 200);
  CHECK(report.missed == 10 * 9);  // 101 to 109 units
  CHECK(report.limit_ns == 200);
  CHECK(report.max_ns == 218);
  CHECK(report.p50_ns == 198);  // units below 256 are kept as they are
}

TEST_CASE("Without a limit nothing is missed, and a limit may be taken away") {
  Deadlines deadlines;
  take(deadlines, 0, 1'000'000);
  CHECK(deadlines.report().missed == 0);
  deadlines.set_limit(nanoseconds(10));
  take(deadlines, 1, 6);
  deadlines.set_limit(nanoseconds(0));
  take(deadlines, 2, 6);
  CHECK(deadlines.report().missed == 1);
  CHECK(deadlines.report().limit_ns == 0);
}

TEST_CASE("A limit of more ticks than a clock can count is none") {
  struct Fine : SetClock {
    static observe::Timebase timebase() noexcept { return {0, 0, 0.25}; }
  };
  observe::DeadlinesWith<Fine> deadlines;
  deadlines.set_limit(nanoseconds::max());
  deadlines.round_begins(RoundIndex{0});
  SetClock::time += 6;
  deadlines.round_ends(RoundIndex{0}, {});
  CHECK(deadlines.report().missed == 0);
}

TEST_CASE("Zero rounds, and rounds that are forgotten, are reported as zeros") {
  Deadlines deadlines;
  deadlines.set_limit(nanoseconds(2));
  for (int i = 0; i < 2; ++i) {
    const observe::DeadlineReport report = deadlines.report();
    CHECK(report.rounds == 0);
    CHECK(report.missed == 0);
    CHECK(report.p50_ns == 0);
    CHECK(report.p999_ns == 0);
    CHECK(report.max_ns == 0);
    take(deadlines, 0, 100);
    take(deadlines, 1, 100, Status{Errc::wrong_size});
    deadlines.clear();
  }
}

TEST_CASE("A round that fails is missed, and its time counts for nothing") {
  Deadlines deadlines;
  deadlines.set_limit(nanoseconds(200));
  take(deadlines, 0, 10);
  take(deadlines, 1, 1, Status{Errc::kernel_failed});
  const observe::DeadlineReport report = deadlines.report();
  CHECK(report.rounds == 2);
  CHECK(report.missed == 1);
  CHECK(deadlines.times().count() == 1);
}

TEST_CASE("Rounds in flight have each their own begin") {
  Deadlines deadlines;
  for (std::uint64_t round = 0; round < 64; ++round) {
    deadlines.round_begins(RoundIndex{round});
    SetClock::time += 1;
  }
  for (std::uint64_t round = 0; round < 64; ++round) deadlines.round_ends(RoundIndex{round}, {});
  CHECK(deadlines.times().count() == 64);
  CHECK(deadlines.times().percentile(0.5) == 32);
  CHECK(deadlines.times().greatest() == 64);
}

TEST_CASE("A session tells its observer of its rounds") {
  Rig rig;
  auto session = open<A2A3Sim, Policies>(rig.graph);
  session.observer().set_limit(nanoseconds(100));
  std::int32_t y = 0;
  for (const std::int32_t ticks : {10, 20, 30, 60, 70})
    REQUIRE(session.run_round(bind(rig.x, ticks), bind(rig.y, y)).ok());
  const std::int32_t negative = -1;
  CHECK_FALSE(session.run_round(bind(rig.x, negative), bind(rig.y, y)).ok());
  const observe::DeadlineReport report = session.observer().report();
  CHECK(report.rounds == 6);
  CHECK(report.missed == 3);
  CHECK(report.p50_ns == 60);
  CHECK(report.max_ns == 140);
}

TEST_CASE("The processor's clock gives times in nanoseconds") {
  observe::Deadlines deadlines;
  deadlines.set_limit(std::chrono::hours(1));
  deadlines.round_begins(RoundIndex{0});
  const std::uint64_t begin = observe::SteadyClock::now();
  while (observe::SteadyClock::now() - begin < 3'000'000) {
  }
  deadlines.round_ends(RoundIndex{0}, {});
  CHECK(deadlines.report().max_ns > 2'900'000);
  CHECK(deadlines.report().missed == 0);
}
