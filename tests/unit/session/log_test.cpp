// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/log.hpp>

#include <rondo/platform/null.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

std::vector<std::string> lines;

struct Logged : DefaultPolicies {
  static void log(LogEvent event, const char* text) noexcept {
    lines.push_back(std::string{to_string(event)} + " | " + text);
  }
};

struct Sink {
  void operator()(LogEvent event, const char*) const noexcept { lines.emplace_back(to_string(event)); }
};
struct LoggedByObject : DefaultPolicies {
  static constexpr Sink log{};
};

struct Rig {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {2});
  Output<float> y = graph.output<float>("y", {2});
  Workspace<float> unused = graph.workspace<float>("unused", {2});
  TaskId task = graph.add<Fragile>(x, y);
  std::vector<float> hx{1, 2};
  std::vector<float> hy = std::vector<float>(2);
  Rig() { lines.clear(); }
  template <class Session>
  Status run(Session& session) {
    return session.run_round(bind(x, hx), bind(y, hy));
  }
};

}  // namespace

TEST_CASE("A session with a sink logs its opening, its plan and its close, and no round") {
  Rig rig;
  {
    auto session = open<A2A3Sim, Logged>(rig.graph);
    CHECK(lines.size() == 2);
    CHECK(lines[0] == "opened | a2a3_sim: 1 tasks, 3 tensors, 2 of them bound each round");
    const std::string bytes = std::to_string(session.args().image().size());
    CHECK(lines[1] == "planned | a2a3_sim: greedy planned an arena of " + std::to_string(session.arena_bytes().value) +
                          " bytes for tensors of 24, an args table of " + bytes);
    for (int i = 0; i < 10; ++i) CHECK(rig.run(session).ok());
    CHECK(lines.size() == 2);
    CHECK(session.close().ok());
    CHECK(session.close().ok());
  }
  CHECK(lines.size() == 3);
  CHECK(lines[2] == "closed | a2a3_sim: closed after 10 rounds");
}

TEST_CASE("What poisons a session is logged once, with the task's name") {
  Rig rig;
  auto session = open<A2A3Sim, Logged>(rig.graph);
  rig.hx[0] = -1;
  CHECK(rig.run(session).poisoned());
  REQUIRE(lines.size() == 3);
  CHECK(lines[2].starts_with("poisoned | a2a3_sim, round 0: task 0 'fragile': "));
  CHECK(rig.run(session).poisoned());
  CHECK(lines.size() == 3);
}

TEST_CASE("What a platform lacks is logged, and what stands in for it") {
  Rig rig;
  auto session = open<NullPlatform, Logged>(rig.graph);
  CHECK(lines == std::vector<std::string>{lines[0], lines[1],
                                          "missing | null: the device does not compute its args; the host does",
                                          "missing | null: a launch carries no addresses; they are copied"});
}

TEST_CASE("A pool that kept to one thread is logged as a fallback") {
  Rig rig;
  {
    auto session = open<A2A3SimOn<Pool>, Logged>(rig.graph);
    CHECK(rig.run(session).ok());
  }
  REQUIRE(lines.size() == 4);
  CHECK(lines[2].starts_with("fallback | "));
}

TEST_CASE("A session with rounds in flight logs as one, not each slot") {
  Rig rig;
  {
    auto session = open_pipelined<A2A3Sim, 3, Logged>(rig.graph);
    REQUIRE(lines.size() == 2);
    CHECK(lines[1].ends_with(", 3 rounds in flight"));
    for (int i = 0; i < 4; ++i) CHECK(session.submit_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy)));
    CHECK(session.wait_all().ok());
    rig.hx[0] = -1;
    CHECK(session.run_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy)).poisoned());
    REQUIRE(lines.size() == 3);
    CHECK(lines[2].starts_with("poisoned | a2a3_sim, round 4: task 0 'fragile': "));
  }
  REQUIRE(lines.size() == 4);
  CHECK(lines[3] == "closed | a2a3_sim: closed after 4 rounds");
}

TEST_CASE("A sink may be an object") {
  Rig rig;
  {
    auto session = open<A2A3Sim, LoggedByObject>(rig.graph);
  }
  CHECK(lines == std::vector<std::string>{"opened", "planned", "closed"});
}
