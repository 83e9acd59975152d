// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/executor.hpp>

#include <rondo/session/open.hpp>
#include <rondo/session/shaped_session.hpp>
#include <unit/session/scripted_platform.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

/// Hears of the refresh, which asks nothing of a platform whose args are in host memory.
struct HearsOfRefresh {
  static constexpr Events events{Event::refreshes};
  static inline Script* script = nullptr;
  void round_begins(RoundIndex) noexcept {}
  void round_ends(RoundIndex, Status) noexcept {}
  void refresh_begins() noexcept {
    if (script != nullptr) script->calls.emplace_back("refresh");
  }
  void refreshed(const update::Refreshed&) noexcept {}
};
struct Policies : DefaultPolicies {
  using Observe = HearsOfRefresh;
};

struct Plus {
  static constexpr std::string_view name = "plus";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> s, Out<float> y, In<float> by) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) {
      s[i] += x[i];
      y[i] = s[i] + by[0];
    }
  }
};

struct Rig {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {2});
  InputOutput<float> s = graph.inout<float>("s", {4});
  Output<float> y = graph.output<float>("y", {2});
  HostInput<float> by = graph.host_input<float>("by", {1});
  TaskId task = graph.add<Plus>(x, s, y, by);
  Script script;
  std::vector<float> hx{1, 2}, hs{10, 20, 30, 40}, hy = std::vector<float>(2);
  float hby = 100;

  Rig() { HearsOfRefresh::script = &script; }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  ~Rig() { HearsOfRefresh::script = nullptr; }

  /// Runs a round with `run`, twice: what is asked of the platform is the same in the first and in later rounds.
  template <class Run>
  void check(const char* way, const std::string& expected, Run run) {
    CAPTURE(way);
    for (int round = 0; round < 2; ++round) {
      hs = {10, 20, 30, 40};
      hy = {0, 0};
      (void)script.take();
      CHECK(run());
      CHECK(script.take() == expected);
      CHECK(hs == std::vector<float>{11, 22, 30, 40});
      CHECK(hy == std::vector<float>{111, 122});
    }
  }
  template <class Session>
  void bind_all(DynamicBindings<Session>& bindings) {
    CHECK(bindings.bind(x.key.tensor(), hx.data(), Bytes{8}));
    CHECK(bindings.bind(s.key.tensor(), hs.data(), Bytes{16}));
    CHECK(bindings.bind(y.key.tensor(), hy.data(), Bytes{8}));
    CHECK(bindings.bind(by.key.tensor(), &hby, Bytes{4}));
  }
  /// All the ways that all kinds of session have.
  template <class Session>
  void check_all(Session& session) {
    const std::string whole = "copy_in:8 copy_in:16 refresh launch copy_out:16 copy_out:8 wait";
    check("pairs", whole, [&] { return session.run_round(bind(x, hx), bind(s, hs), bind(y, hy), bind(by, hby)).ok(); });
    check("any order", whole,
          [&] { return session.run_round(bind(by, hby), bind(y, hy), bind(x, hx), bind(s, hs)).ok(); });
    DynamicBindings<Session> dynamic(session);
    bind_all(dynamic);
    check("dynamic", whole, [&] { return session.run_round(dynamic).ok(); });
    if constexpr (requires { session.prebind(); }) {
      const auto prebound = session.prebind(bind(x, hx), bind(s, hs), bind(y, hy), bind(by, hby));
      check("prebound", whole, [&] { return session.run_round(prebound).ok(); });
      check("stepwise", whole, [&] {
        return session.begin_round(bind(x, hx), bind(s, hs), bind(y, hy), bind(by, hby))
            .launch()
            .finish()
            .status()
            .ok();
      });
      check("dynamic, stepwise", whole, [&] { return session.begin_round(dynamic).launch().finish().status().ok(); });
    }
    if constexpr (requires { session.wait_all(); }) {
      check("submitted", whole, [&] {
        return session.submit_round(bind(x, hx), bind(s, hs), bind(y, hy), bind(by, hby)).submitted().ok() &&
               session.wait_all().ok();
      });
      check("dynamic, submitted", whole,
            [&] { return session.submit_round(dynamic).submitted().ok() && session.wait_all().ok(); });
      if constexpr (requires { session.prebind(); }) {
        const auto prebound = session.prebind(bind(x, hx), bind(s, hs), bind(y, hy), bind(by, hby));
        check("prebound, submitted", whole,
              [&] { return session.submit_round(prebound).submitted().ok() && session.wait_all().ok(); });
      }
    }
  }
};

}  // namespace

TEST_CASE("A round takes the same steps in the same order, whatever the session and however its tensors are bound") {
  Rig rig;
  SUBCASE("one round at a time") {
    auto session = open<ScriptedPlatform, Policies>(rig.graph, {&rig.script});
    rig.check_all(session);
  }
  SUBCASE("rounds in flight") {
    auto session = open_pipelined<ScriptedPlatform, 2, Policies>(rig.graph, {&rig.script});
    rig.check_all(session);
  }
  SUBCASE("many shapes") {
    auto session = open_shaped<ScriptedPlatform, Policies>(rig.graph, {&rig.script});
    (void)session.run_round(bind(rig.x, rig.hx), bind(rig.s, rig.hs), bind(rig.y, rig.hy), bind(rig.by, rig.hby));
    (void)session.run_round(bind(rig.by, rig.hby), bind(rig.y, rig.hy), bind(rig.x, rig.hx), bind(rig.s, rig.hs));
    rig.check_all(session);
  }
}

TEST_CASE("A step that fails is the last one but for the wait, whatever the way the round runs") {
  const auto steps_before = [](const std::string& step) {
    if (step == "copy_in") return "copy_in:8 wait";
    if (step == "launch") return "copy_in:8 copy_in:16 refresh launch wait";
    return "copy_in:8 copy_in:16 refresh launch copy_out:16 wait";
  };
  for (const std::string step : {"copy_in", "launch", "copy_out"}) {
    CAPTURE(step);
    for (int way = 0; way < 4; ++way) {
      CAPTURE(way);
      Rig rig;
      auto session = open<ScriptedPlatform, Policies>(rig.graph, {&rig.script});
      DynamicBindings dynamic(session);
      rig.bind_all(dynamic);
      const auto prebound =
          session.prebind(bind(rig.x, rig.hx), bind(rig.s, rig.hs), bind(rig.y, rig.hy), bind(rig.by, rig.hby));
      (void)rig.script.take();
      rig.script.fail_on = step;
      rig.script.failure = Status{Errc::timed_out};
      const Status status = way == 0 ? session.run_round(bind(rig.x, rig.hx), bind(rig.s, rig.hs), bind(rig.y, rig.hy),
                                                         bind(rig.by, rig.hby))
                            : way == 1 ? session.run_round(prebound)
                            : way == 2 ? session.run_round(dynamic)
                                       : session.begin_round(dynamic).launch().finish().status();
      CHECK(status.code() == Errc::timed_out);
      // A round taken step by step waits once more: its finish() does, and so does what takes note of a failure.
      std::string expected = steps_before(step);
      if (way == 3) expected += " wait";
      CHECK(rig.script.take() == expected);
      CHECK_FALSE(session.poisoned());
    }
  }
}
