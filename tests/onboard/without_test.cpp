// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Runtimes that lack a call. without.py makes such a library and names in RONDO_TEST_WITHOUT what is not in it.

#include "onboard/fixture.hpp"
#include "small_rings.hpp"

#include <rondo/orchestrated.hpp>
#include <rondo/platform/onboard/library.hpp>
#include <rondo/platform/onboard/onboard.hpp>

#include <doctest/doctest.h>

using namespace rondo;
using namespace onboard_test;

TEST_CASE_TEMPLATE("A runtime without an optional call does what it can, with the same results", P, A2A3OverStandIn,
                   A5OverStandIn) {
  if (!missing_required().empty()) return;
  const Clean clean;
  Graph g;
  for (const bool virtual_memory : {false, true}) {
    for (const Completion completion : {Completion::stream, Completion::event, Completion::host_func}) {
      rondo_stand_in_reset();
      rondo_stand_in_limit("virtual_memory", virtual_memory ? 1 : 0);
      typename P::Options options;
      options.completion = completion;
      options.profiler_ranges = true;
      if (launches_nothing()) {
        try {
          auto session = open<P>(g.graph, options);
          FAIL("it was opened");
        } catch (const Error& e) {
          CHECK(e.code() == Errc::unsupported);
          CHECK(std::string(e.what()).find("neither aclrtLaunchKernelV2 nor") != std::string::npos);
        }
        continue;
      }
      auto session = open<P>(g.graph, options);
      {
        DeviceFloats<P> x(session.platform(), Graph::n, 5);
        for (int r = 0; r < 6; ++r) {
          const auto value = static_cast<float>(r);
          Floats hx(Graph::n, value), w(Graph::n, 1), y(Graph::n), s(Graph::n, 10);
          const bool bound = r % 3 == 2;
          const Status status = bound ? session.run_round(bind(g.x, x.span()), bind(g.w, w), bind(g.y, y), bind(g.s, s))
                                      : session.run_round(bind(g.x, hx), bind(g.w, w), bind(g.y, y), bind(g.s, s));
          REQUIRE(status.ok());
          const float in = bound ? 5 : value;
          REQUIRE(y == Floats(Graph::n, 3 * (in + 1)));
          REQUIRE(s == Floats(Graph::n, 10 + in));
        }
      }
      bool captures = true;
      for (const char* const needed : {"aclrtLaunchKernelV2", "aclmdlRICaptureBegin", "aclmdlRICaptureEnd",
                                       "aclmdlRIExecuteAsync", "aclmdlRIDestroy"}) {
        captures = captures && !lacks(needed);
      }
      CHECK(session.platform().is_captured() == captures);
      CHECK(session.platform().refused_captures() == 0);
      CHECK(session.close().ok());
    }
  }
}

TEST_CASE_TEMPLATE("Rounds on a caller's stream need no optional call but a launch", P, A2A3OverStandIn,
                   A5OverStandIn) {
  if (!missing_required().empty() || launches_nothing()) return;
  const Clean clean;
  platform::onboard::Calls c;
  platform::onboard::open_library(c);
  void* stream = nullptr;
  REQUIRE(c.init(nullptr) == 0);
  REQUIRE(c.set_device(0) == 0);
  REQUIRE(c.create_stream(&stream, 0, 0) == 0);
  stand_in::live_of_others() = 3;
  {
    Graph g;
    typename P::Options options;
    options.stream = stream;
    auto session = open<P>(g.graph, options);
    DeviceFloats<P> w(session.platform(), Graph::n, 1), y(session.platform(), Graph::n);
    DeviceFloats<P> z(session.platform(), Graph::n), s(session.platform(), Graph::n, 10);
    for (int r = 1; r <= 4; ++r) {
      const Floats x(Graph::n, static_cast<float>(r));
      REQUIRE(session
                  .enqueue_round(bind(g.x, snapshot(x)), bind(g.w, w.span()), bind(g.y, (r % 2 == 0 ? y : z).span()),
                                 bind(g.s, s.span()))
                  .ok());
    }
    CHECK(session.wait_for_enqueued().ok());
    CHECK(rondo_stand_in_synchronised(stream) == 0);
    CHECK(y.values() == Floats(Graph::n, 15));
    CHECK(z.values() == Floats(Graph::n, 12));
    CHECK(s.values() == Floats(Graph::n, 20));
  }
  CHECK(c.destroy_stream(stream) == 0);
  CHECK(c.reset_device(0) == 0);
  CHECK(c.finalize() == 0);
  stand_in::live_of_others() = 0;
}

namespace {
struct OnDevice : DefaultPolicies {
  using Refresh = update::Always<update::Mechanism::device_op>;
};
}  // namespace

TEST_CASE("The device computes addresses only where tasks read their args in its memory") {
  if (!missing_required().empty() || launches_nothing()) return;
  const Clean clean;
  using P = A2A3ThatComputes;
  const bool is_able = !lacks("aclrtLaunchKernelV2") && !lacks("aclrtLaunchKernelWithHostArgs");
  Graph g;
  try {
    auto session = open<P, OnDevice>(g.graph);
    REQUIRE(is_able);
    DeviceFloats<P> first(session.platform(), Graph::n, 1), second(session.platform(), Graph::n, 2);
    Floats w(Graph::n, 1), y(Graph::n), s(Graph::n);
    for (const auto& [x, expected] : {std::pair{first.span(), 6.0F}, {second.span(), 9.0F}}) {
      REQUIRE(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
      CHECK(y == Floats(Graph::n, expected));
    }
  } catch (const Error& e) {
    CHECK_FALSE(is_able);
    CHECK(e.code() == Errc::unsupported);
  }
}

namespace {
struct BuiltThere : DefaultPolicies {
  using Runtime = runtime::TensorMapRingBuffer;
};
}  // namespace

TEST_CASE_TEMPLATE("A runtime that launches nothing on the AICPU says so when a session wants its graph built there", P,
                   A2A3OverStandIn, A5OverStandIn) {
  if (!missing_required().empty()) return;
  const Clean clean;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  const auto orchestration = [=](auto& round) { round.template add<kernels::Scale>(x, y, 2.0F); };
  const char* const needed = lacks("aclrtRegisterCpuFunc") ? "no aclrtRegisterCpuFunc"
                             : launches_nothing()          ? "no aclrtLaunchKernelV2"
                                                           : nullptr;
  try {
    auto session = open<P, BuiltThere>(graph, orchestration, small_rings<runtime::OrchestratedOptions<P>>());
    REQUIRE(needed == nullptr);
    const Floats hx(8, 3);
    Floats hy(8);
    for (int round = 0; round < 3; ++round) {
      hy.assign(8, 0);
      REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
      REQUIRE(hy == Floats(8, 6));
    }
    CHECK(session.close().ok());
  } catch (const Error& e) {
    REQUIRE(needed != nullptr);
    CHECK(e.code() == Errc::unsupported);
    CHECK(std::string(e.what()).find(needed) != std::string::npos);
  }
}

TEST_CASE("A runtime without a required call is refused by its name") {
  const std::string missing = missing_required();
  if (missing.empty()) return;
  Graph g;
  for (int attempt = 0; attempt < 2; ++attempt) {  // the second as the first: nothing is half found
    try {
      auto session = open<A2A3Onboard>(g.graph);
      FAIL("it was opened");
    } catch (const Error& e) {
      CHECK(e.code() == Errc::unsupported);
      CHECK(std::string(e.what()).find("has no " + missing) != std::string::npos);
    }
  }
}
