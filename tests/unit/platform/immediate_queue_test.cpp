// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "unit/session/scripted_platform.hpp"

#include <rondo/platform/immediate_queue.hpp>
#include <rondo/session/in_flight.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace rondo;
using test::Script;
using test::ScriptedPlatform;

namespace {

struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};
struct InFlight : DefaultPolicies {
  static constexpr std::size_t rounds_in_flight = 3;
};

}  // namespace

TEST_CASE("A platform without a queue runs each round while it is submitted") {
  static_assert(!HasQueue<ScriptedPlatform>);
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<Twice>(x, y);
  Script script;
  auto session = open<ScriptedPlatform, InFlight>(graph, {&script});
  (void)script.take();
  const std::vector<float> hx(4, 1.0F);
  std::vector<float> hy(4);
  int called = 0;
  const auto submit = [&] {
    return session.submit_round(bind(x, hx), bind(y, hy), [&](Status) noexcept { ++called; });
  };
  REQUIRE(submit());
  CHECK(script.take() == "copy_in:16 launch copy_out:16 wait");
  CHECK(called == 0);
  CHECK(session.in_flight() == 1);
  CHECK(session.poll() == 0);
  CHECK(called == 1);

  SUBCASE("a step that fails and leaves the platform usable refuses the round") {
    for (const char* const step : {"copy_in", "launch", "copy_out", "wait"}) {
      CAPTURE(step);
      script.fail_on = step;
      script.failure = Status{Errc::unsupported};
      const RoundTicket ticket = submit();
      CHECK(ticket.submitted().code() == Errc::unsupported);
      CHECK(session.in_flight() == 0);
      script.fail_on.clear();
      hy.assign(4, 0.0F);
      REQUIRE(session.wait(submit()).ok());
      CHECK(hy == std::vector<float>(4, 2.0F));
    }
    CHECK(called == 5);
    CHECK(session.rounds() == 5);
  }
}

TEST_CASE("A step that poisons fails the round, and nothing behind it runs") {
  for (const char* const step : {"copy_in", "launch", "copy_out", "wait"}) {
    CAPTURE(step);
    TaskGraph graph;
    const auto x = graph.input<float>("x", {4});
    const auto y = graph.output<float>("y", {4});
    graph.add<Twice>(x, y);
    Script script;
    auto session = open<ScriptedPlatform, InFlight>(graph, {&script});
    const std::vector<float> hx(4, 1.0F);
    std::vector<float> hy(4);
    Errc called = Errc::ok;
    script.fail_on = step;
    script.failure = Status{Errc::device_failed}.poisoning();
    const RoundTicket ticket =
        session.submit_round(bind(x, hx), bind(y, hy), [&](Status status) noexcept { called = status.code(); });
    REQUIRE(ticket);
    CHECK(session.wait(ticket).code() == Errc::device_failed);
    CHECK(called == Errc::device_failed);
    (void)script.take();
    CHECK(session.submit_round(bind(x, hx), bind(y, hy)).submitted().code() == Errc::poisoned);
    CHECK(script.take().empty());
    script.fail_on.clear();
    CHECK(session.close().ok());
  }
}
