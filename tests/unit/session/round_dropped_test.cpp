// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/round.hpp>

#include <rondo/session/open.hpp>
#include <unit/session/scripted_platform.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Rig {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {2});
  Output<float> y = graph.output<float>("y", {2});
  TaskId task = graph.add<Fragile>(x, y);
  Script script;
  RoundSession<ScriptedPlatform> session = open<ScriptedPlatform>(graph, {&script});
  std::vector<float> hx{1, 2};
  std::vector<float> hy = std::vector<float>(2);

  auto begin() { return session.begin_round(bind(x, hx), bind(y, hy)); }
  Status run() { return session.run_round(bind(x, hx), bind(y, hy)); }
};

/// Remembers how many rounds began and ended, and how the last one did.
struct Counter {
  int begun = 0;
  int ended = 0;
  Status last;
  void round_begins(RoundIndex) noexcept { ++begun; }
  void round_ends(RoundIndex, Status status) noexcept {
    ++ended;
    last = status;
  }
};
struct Counted : DefaultPolicies {
  using Observe = Counter;
};

}  // namespace

TEST_CASE("A kernel that throws poisons the session even if its round is dropped before it is finished") {
  Rig rig;
  rig.hx[0] = -1;
  {
    auto launched = rig.begin().launch();
  }
  CHECK(rig.session.poisoned());
  rig.hx[0] = 1;
  CHECK(rig.run().code() == Errc::poisoned);
}

TEST_CASE("A copy that poisons does so even if its round is dropped") {
  Rig rig;
  rig.script.fail_on = "copy_in";
  rig.script.failure = Status{Errc::device_failed}.poisoning();
  {
    auto bound = rig.begin();
  }
  rig.script.fail_on.clear();
  CHECK(rig.session.poisoned());
}

TEST_CASE("An observer hears the end of every round whose begin it heard, of dropped and of closed ones too") {
  Script script;
  Rig rig;
  auto session = open<ScriptedPlatform, Counted>(rig.graph, {&script});
  {
    auto round = session.begin_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
  }
  CHECK(session.observer().begun == session.observer().ended);
  CHECK(session.observer().last.code() == Errc::abandoned);
  script.fail_on = "wait";
  script.failure = Status{Errc::timed_out};
  {
    auto round = session.begin_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
  }
  script.fail_on.clear();
  CHECK(session.observer().begun == session.observer().ended);
  CHECK(session.observer().last.code() == Errc::timed_out);
  auto round = session.begin_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy)).launch();
  (void)session.close();
  CHECK(session.observer().begun == session.observer().ended);
  CHECK(session.observer().last.code() == Errc::closed);
}
