// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/policies.hpp>

#include <rondo/session/open.hpp>
#include <unit/session/scripted_platform.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Journal {
  std::vector<std::string> entries;
  void round_begins(RoundIndex i) noexcept { entries.push_back("begin " + std::to_string(index(i))); }
  void round_ends(RoundIndex i, Status s) noexcept {
    entries.push_back("end " + std::to_string(index(i)) + (s.ok() ? " ok" : " failed"));
  }
};
struct WithJournal : DefaultPolicies {
  using Observe = Journal;
};

/// Asks for the level that its caller set, and remembers the changes that it was shown.
struct Scripted {
  static constexpr UpdateLevel highest = UpdateLevel::init;
  static inline UpdateLevel answer = UpdateLevel::none;
  static inline std::vector<UpdateLevel> shown;
  UpdateLevel decide(Changes changes) noexcept {
    shown.push_back(changes.level());
    return answer;
  }
};
struct WithScripted : DefaultPolicies {
  using Update = Scripted;
};

std::vector<std::string> reports;
struct WithReports : DefaultPolicies {
  static void report_unclosed(Status status, const char* text) noexcept {
    reports.push_back(std::string{describe(status.code())} + " | " + text);
  }
};

struct Rig {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {2});
  Output<float> y = graph.output<float>("y", {2});
  TaskId task = graph.add<Fragile>(x, y);
  Script script;
  std::vector<float> hx{1, 2};
  std::vector<float> hy = std::vector<float>(2);
  template <class Session>
  Status run(Session& session) {
    return session.run_round(bind(x, hx), bind(y, hy));
  }
};

}  // namespace

TEST_CASE("An observer hears of each round's begin and end, whichever way it runs, and not of refused ones") {
  Rig rig;
  auto session = open<ScriptedPlatform, WithJournal>(rig.graph, {&rig.script});
  CHECK(rig.run(session).ok());
  CHECK(session.run_round(bind(rig.y, rig.hy), bind(rig.x, rig.hx)).ok());
  const auto prebound = session.prebind(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
  CHECK(session.run_round(prebound).ok());
  CHECK(session.begin_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy)).launch().finish().status().ok());
  CHECK(session.run_round(bind(rig.x, rig.hx)).code() == Errc::unbound_tensor);
  rig.hx[0] = -1;
  CHECK(rig.run(session).code() == Errc::kernel_failed);
  CHECK(rig.run(session).code() == Errc::poisoned);
  CHECK(session.observer().entries == std::vector<std::string>{"begin 0", "end 0 ok", "begin 1", "end 1 ok", "begin 2",
                                                               "end 2 ok", "begin 3", "end 3 ok", "begin 4",
                                                               "end 4 failed"});
}

TEST_CASE("A strategy that the compiler cannot evaluate is asked each round, and shown what changed") {
  Rig rig;
  auto session = open<ScriptedPlatform, WithScripted>(rig.graph, {&rig.script});
  const auto shown_to = [&](UpdateLevel answer) {
    Scripted::answer = answer;
    Scripted::shown.clear();
    CHECK(rig.run(session).ok());
    REQUIRE(Scripted::shown.size() == 1);
    return Scripted::shown[0];
  };
  CHECK(shown_to(UpdateLevel::none) == UpdateLevel::none);
  CHECK(shown_to(UpdateLevel::init) == UpdateLevel::none);
  const Bytes bytes = session.arena_bytes();
  const auto elsewhere = session.platform().allocate(bytes, Bytes{1024});
  REQUIRE(session.move_arena({elsewhere, bytes.value}).ok());
  CHECK(shown_to(UpdateLevel::none) == UpdateLevel::feature_map_and_model_io);
  CHECK(shown_to(UpdateLevel::init) == UpdateLevel::feature_map_and_model_io);  // shown again: it was not refreshed
  CHECK(shown_to(UpdateLevel::none) == UpdateLevel::none);
  REQUIRE(session.close().ok());
  CHECK(session.platform().release(elsewhere).ok());
}

TEST_CASE("A strategy that acts between moves is asked in each round, also where bindings were made before") {
  Rig rig;
  auto session = open<ScriptedPlatform, WithScripted>(rig.graph, {&rig.script});
  DynamicBindings bindings(session);
  REQUIRE(bindings.bind(rig.x.key.tensor(), static_cast<const void*>(rig.hx.data()), Bytes{rig.hx.size() * 4}).ok());
  REQUIRE(bindings.bind(rig.y.key.tensor(), static_cast<void*>(rig.hy.data()), Bytes{rig.hy.size() * 4}).ok());
  Scripted::answer = UpdateLevel::none;
  Scripted::shown.clear();
  for (int round = 0; round < 3; ++round) REQUIRE(session.run_round(bindings).ok());
  CHECK(Scripted::shown.size() == 3);
}

TEST_CASE("Whatever level a strategy asks for, the rounds give the same results") {
  for (const auto level :
       {UpdateLevel::none, UpdateLevel::model_io, UpdateLevel::feature_map_and_model_io, UpdateLevel::init}) {
    Rig rig;
    Scripted::answer = level;
    auto session = open<ScriptedPlatform, WithScripted>(rig.graph, {&rig.script});
    for (float i = 0; i < 5; ++i) {
      rig.hx = {i, -i};
      REQUIRE(rig.run(session).ok());
      REQUIRE(rig.hy == rig.hx);
    }
  }
  Scripted::answer = UpdateLevel::none;
}

TEST_CASE("A destructor that cannot close reports to the policy's hook, with a sentence") {
  for (const char* where : {"wait", "unload", "release"}) {
    CAPTURE(where);
    reports.clear();
    Rig rig;
    {
      auto session = open<ScriptedPlatform, WithReports>(rig.graph, {&rig.script});
      CHECK(rig.run(session).ok());
      rig.script.fail_on = where;
      rig.script.failure = Status{Errc::timed_out};
    }
    REQUIRE(reports.size() == 1);
    CHECK(says(reports[0], "did not finish in time"));
    CHECK(says(rig.script.take(), "release"));  // whatever failed before it
  }
}

TEST_CASE("Unless a policy says otherwise, the report of a destructor goes to the standard error output") {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int usual = dup(STDERR_FILENO);
  (void)dup2(fileno(file), STDERR_FILENO);
  DefaultPolicies::report_unclosed(Status{Errc::timed_out}, "the device hangs");
  (void)dup2(usual, STDERR_FILENO);
  (void)close(usual);
  std::rewind(file);
  char text[64] = {};
  (void)std::fread(text, 1, sizeof text - 1, file);
  (void)std::fclose(file);
  CHECK(std::string(text) == "rondo: the device hangs\n");
}

TEST_CASE("A destructor is silent about sessions that close well, were closed, or told their failure already") {
  reports.clear();
  Rig rig;
  {
    auto session = open<ScriptedPlatform, WithReports>(rig.graph, {&rig.script});
    CHECK(rig.run(session).ok());
  }
  {
    auto session = open<ScriptedPlatform, WithReports>(rig.graph, {&rig.script});
    rig.script.fail_on = "release";
    rig.script.failure = Status{Errc::device_failed};
    CHECK(session.close().code() == Errc::device_failed);
    rig.script.fail_on.clear();
  }
  {
    auto session = open<ScriptedPlatform, WithReports>(rig.graph, {&rig.script});
    rig.hx[0] = -1;
    CHECK(rig.run(session).code() == Errc::kernel_failed);
  }
  CHECK(reports.empty());
}

TEST_CASE("The defaults are those of the design, and cost no space") {
  CHECK(std::is_same_v<DefaultPolicies::Runtime, runtime::HostBuildGraph>);
  CHECK(std::is_same_v<DefaultPolicies::Update, update::Auto>);
  CHECK(std::is_empty_v<DefaultPolicies::Observe>);
}
