// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What happens at the ends: opening, closing, exiting; on every platform, the null one included.

#include "conformance/kernels.hpp"
#include "conformance/platforms.hpp"

#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>

#include <doctest/doctest.h>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace rondo;

#define RONDO_TEST_PLATFORMS                                                                                     \
  NullPlatform, A2A3Sim, HostOn<Pool>, A5SimOn<Pool>, A2A3SimOn<Model>, A5SimOn<Checked<Pool>>, A2A3OverStandIn, \
      A5OverStandIn, toy::ToyPlatform

namespace {

struct Doubling {
  Doubling() : x{graph.input<float>("x", {4})}, y{graph.output<float>("y", {4})} {
    graph.add<kernels::Scale>(x, y, 2.0F);
  }
  TaskGraph graph;
  Input<float> x;
  Output<float> y;
};

}  // namespace

TEST_CASE_TEMPLATE("closing is idempotent, and later rounds are refused", P, RONDO_TEST_PLATFORMS) {
  Doubling g;
  auto session = open<P>(g.graph, busy_options<P>());
  std::vector<float> x(4), y(4);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
  CHECK(session.close().ok());
  CHECK(session.close().ok());
  const Status status = session.run_round(bind(g.x, x), bind(g.y, y));
  CHECK(status.code() == Errc::closed);
  CHECK_FALSE(status.poisoned());
}

TEST_CASE_TEMPLATE("a session may be opened and closed many times", P, RONDO_TEST_PLATFORMS) {
  Doubling g;
  std::vector<float> x(4), y(4);
  for (int i = 0; i < 200; ++i) {
    auto session = open<P>(g.graph, busy_options<P>());
    REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
  }
}

TEST_CASE_TEMPLATE("bindings are checked on every platform", P, RONDO_TEST_PLATFORMS) {
  Doubling g;
  auto session = open<P>(g.graph, busy_options<P>());
  std::vector<float> x(4), y(4), few(3);
  CHECK(session.run_round(bind(g.x, x)).code() == Errc::unbound_tensor);
  CHECK(session.run_round(bind(g.x, x), bind(g.x, x)).code() == Errc::bound_twice);
  CHECK(session.run_round(bind(g.x, x), bind(g.y, few)).code() == Errc::wrong_size);
  CHECK(session.run_round(bind(g.x, x), bind(g.y, std::span<float>(static_cast<float*>(nullptr), 4))).code() ==
        Errc::null_memory);
  CHECK(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
}

TEST_CASE_TEMPLATE("a process may exit with an open session, in the middle of a round", P, RONDO_TEST_PLATFORMS) {
  std::fflush(nullptr);  // or the child prints what the parent has buffered, too
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    static Doubling g;                                          // outlives main, as a user's globals do
    static auto session = open<P>(g.graph, busy_options<P>());  // destroyed by exit()
    static std::vector<float> x(4), y(4);
    if (!session.run_round(bind(g.x, x), bind(g.y, y))) std::_Exit(2);
    static auto running = session.begin_round(bind(g.x, x), bind(g.y, y)).launch();
    std::exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("on the pool, two vector tasks and a cube task run at the same time") {
  static std::atomic<int> arrived;
  arrived = 0;
  // Each waits until all three are there; in sequence none would get past the first.
  const auto meet = +[](std::int64_t* args) {
    arrived.fetch_add(1);
    while (arrived.load() < 3) std::this_thread::yield();
    *reinterpret_cast<std::int32_t*>(args[0]) = arrived.load();
  };
  TaskGraph graph;
  const auto a = graph.output<std::int32_t>("a", {1});
  const auto b = graph.output<std::int32_t>("b", {1});
  const auto c = graph.output<std::int32_t>("c", {1});
  graph.add_raw("meet_a", CoreType::vector, meet, writes(a));
  graph.add_raw("meet_b", CoreType::vector, meet, writes(b));
  graph.add_raw("meet_c", CoreType::cube, meet, writes(c));
  auto session = open<A2A3SimOn<Pool>>(graph, busy_options<A2A3SimOn<Pool>>());
  std::int32_t ha = 0, hb = 0, hc = 0;
  REQUIRE(session.run_round(bind(a, ha), bind(b, hb), bind(c, hc)).ok());
  CHECK(ha + hb + hc == 9);
}
