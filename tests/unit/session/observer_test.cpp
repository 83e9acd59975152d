// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/observer.hpp>

#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/shaped_session.hpp>
#include <unit/session/scripted_platform.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

/// All that an observer may hear, as text.
struct Listener {
  static constexpr Events events{Event::phases, Event::copies, Event::refreshes, Event::deliveries};
  std::string heard;
  void round_begins(RoundIndex) noexcept { heard += "begins "; }
  void round_ends(RoundIndex, Status s) noexcept { heard += s.ok() ? "ends" : "fails"; }
  void enters(Phase phase) noexcept {
    constexpr const char* names[] = {"outside ", "bind ", "copy_in ", "refresh ", "launch ", "copy_out ", "wait "};
    heard += names[static_cast<int>(phase)];
  }
  void delivers(RoundIndex i) noexcept { heard += "delivers" + std::to_string(index(i)) + " "; }
  void copies_in(Bytes b) noexcept { heard += "<" + std::to_string(b.value) + " "; }
  void copies_out(Bytes b) noexcept { heard += ">" + std::to_string(b.value) + " "; }
  void refresh_begins() noexcept { heard += "refresh( "; }
  void refreshed(const update::Refreshed&) noexcept { heard += "refreshed) "; }
};
struct Listening : DefaultPolicies {
  using Observe = Listener;
};

struct Rig {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {2});
  Output<float> y = graph.output<float>("y", {2});
  TaskId task = graph.add<Fragile>(x, y);
  std::vector<float> hx{1, 2};
  std::vector<float> hy = std::vector<float>(2);
};

template <class Session>
std::string taken(Session& session) {
  return std::exchange(session.observer().heard, {});
}

constexpr const char* whole_round = "bind begins copy_in <8 launch copy_out >8 wait ends";

}  // namespace

TEST_CASE("An observer hears each phase of a round, and the bytes of each copy, whichever way the round runs") {
  Rig rig;
  auto session = open<A2A3Sim, Listening>(rig.graph);
  taken(session);
  CHECK(session.run_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy)).ok());
  CHECK(taken(session) == whole_round);
  CHECK(session.run_round(bind(rig.y, rig.hy), bind(rig.x, rig.hx)).ok());
  CHECK(taken(session) == whole_round);
  const auto prebound = session.prebind(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
  CHECK(session.run_round(prebound).ok());
  CHECK(taken(session) == whole_round);
}

TEST_CASE("An observer of a session of shapes hears the same, also of rounds with dynamic bindings") {
  Rig rig;
  auto session = open_shaped<A2A3Sim, Listening>(rig.graph);
  CHECK(session.run_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy)).ok());
  CHECK(taken(session) == whole_round);
  DynamicBindings bindings(session);
  REQUIRE(bindings.bind(rig.x.key.tensor(), rig.hx.data(), Bytes{8}).ok());
  REQUIRE(bindings.bind(rig.y.key.tensor(), rig.hy.data(), Bytes{8}).ok());
  CHECK(session.run_round(bindings).ok());
  CHECK(taken(session) == whole_round);
}

TEST_CASE("Between the steps of a round an observer hears that the host is outside") {
  Rig rig;
  auto session = open<A2A3Sim, Listening>(rig.graph);
  taken(session);
  auto round = session.begin_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
  CHECK(taken(session) == "bind begins copy_in <8 outside ");
  auto running = std::move(round).launch();
  CHECK(taken(session) == "launch outside ");
  CHECK(std::move(running).finish().status().ok());
  CHECK(taken(session) == "copy_out >8 wait ends");
}

TEST_CASE("An observer hears of a refresh between the copies and the launch") {
  Rig rig;
  auto session = open<A2A3Sim, Listening>(rig.graph);
  taken(session);
  alignas(32) float elsewhere[8] = {3, 4};
  const DeviceSpan<const float> device{DevicePtr<const float>{reinterpret_cast<std::uintptr_t>(elsewhere)}, 2};
  CHECK(session.run_round(bind(rig.x, device), bind(rig.y, rig.hy)).ok());
  CHECK(taken(session) == "bind begins copy_in refresh( refreshed) launch copy_out >8 wait ends");
}

TEST_CASE("An observer hears of what is copied between rounds") {
  Rig rig;
  const auto w = rig.graph.resident<float>("w", {2});
  rig.graph.add<Accumulate>(rig.x, w);
  auto session = open<A2A3Sim, Listening>(rig.graph);
  taken(session);
  CHECK(session.upload(w, rig.hx).ok());
  CHECK(taken(session) == "<8 ");
  CHECK(session.download(w, rig.hy).ok());
  CHECK(taken(session) == ">8 ");
}

TEST_CASE("Of a refused round an observer hears that bindings were looked at, and no more") {
  Rig rig;
  auto session = open<A2A3Sim, Listening>(rig.graph);
  taken(session);
  CHECK(session.run_round(bind(rig.x, rig.hx)).code() == Errc::unbound_tensor);
  CHECK(taken(session) == "bind ");
}

TEST_CASE("Of a round that fails before it is submitted an observer hears the end, and the device is waited for") {
  Rig rig;
  Script script;
  auto session = open_pipelined<ScriptedPlatform, 2, Listening>(rig.graph, {&script});
  taken(session);
  (void)script.take();
  script.fail_on = "copy_in";
  script.failure = Status{Errc::out_of_resources};
  CHECK(session.submit_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy)).submitted().code() == Errc::out_of_resources);
  CHECK(taken(session) == "bind begins copy_in <8 fails");
  CHECK(script.take() == "copy_in:8 wait");
}

TEST_CASE("Of rounds in flight an observer hears when each is handed over, and when the host waits for which") {
  Rig rig;
  auto session = open_pipelined<A2A3Sim, 2, Listening>(rig.graph);
  taken(session);
  constexpr const char* handed_over = "bind begins copy_in <8 launch copy_out >8 wait outside ";
  const auto submit = [&] { return session.submit_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy)); };
  CHECK(submit());
  CHECK(taken(session) == handed_over);
  CHECK(submit());
  CHECK(taken(session) == handed_over);
  CHECK(submit());  // all slots are taken, so it waits for the first
  CHECK(taken(session) == std::string{"delivers0 copy_out ends"} + handed_over);
  CHECK(session.wait_all().ok());
  CHECK(taken(session) == "delivers1 copy_out endsdelivers2 copy_out ends");
}
