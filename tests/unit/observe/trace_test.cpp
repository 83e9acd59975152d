// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/observe/trace.hpp>

#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

/// Moves on by one each time it is read.
struct CountingClock {
  static inline std::uint64_t reads = 0;
  static std::uint64_t now() noexcept { return ++reads; }
};
using CountedTrace = observe::TraceWith<256, CountingClock>;

struct Counted : DefaultPolicies {
  using Observe = CountedTrace;
};

std::string text(const CountedTrace& trace) {
  std::string result;
  for (std::size_t i = 0; i < trace.spans().size(); ++i) {
    const observe::Span& s = trace.spans()[i];
    result += (s.what == CountedTrace::round ? "round" : "phase" + std::to_string(s.what)) + ' ' +
              std::to_string(s.round) + ' ' + std::to_string(s.start) + '-' + std::to_string(s.end) +
              (s.bytes != 0 ? " <" + std::to_string(s.bytes) + '>' : "") + '\n';
  }
  return result;
}

struct Rig {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {2});
  Output<float> y = graph.output<float>("y", {2});
  TaskId task = graph.add<Fragile>(x, y);
  std::vector<float> hx{1, 2};
  std::vector<float> hy = std::vector<float>(2);
  Rig() { CountingClock::reads = 0; }
  template <class Session>
  Status run(Session& session) {
    return session.run_round(bind(x, hx), bind(y, hy));
  }
};

}  // namespace

TEST_CASE("A round leaves a span, and each of its phases one that begins where the one before it ends") {
  Rig rig;
  auto session = open<A2A3Sim, Counted>(rig.graph);
  CHECK(rig.run(session).ok());
  CHECK(text(session.observer()) ==
        "phase1 0 1-2\n"      // bind
        "phase2 0 3-4 <8>\n"  // copy in
        "phase4 0 4-5\n"      // launch
        "phase5 0 5-6 <8>\n"  // copy out
        "phase6 0 6-7\n"      // wait
        "round 0 1-7\n");
  CHECK(CountingClock::reads == 7);
}

TEST_CASE("A refused round leaves no span, whatever comes after it") {
  Rig rig;
  auto session = open<A2A3Sim, Counted>(rig.graph);
  auto round = session.begin_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
  const std::size_t spans = session.observer().spans().size();
  CHECK(rig.run(session).code() == Errc::busy);
  CHECK(std::move(round).launch().finish().status().ok());
  CHECK(session.observer().spans().size() == spans + 4);  // launch, copy out, wait, and the round
}

TEST_CASE("A refresh of the args table is a phase of its own, with its strategy") {
  Rig rig;
  auto session = open<A2A3Sim, Counted>(rig.graph);
  alignas(32) float elsewhere[8] = {3, 4};
  const DeviceSpan<const float> device{DevicePtr<const float>{reinterpret_cast<std::uintptr_t>(elsewhere)}, 2};
  CHECK(session.run_round(bind(rig.x, device), bind(rig.y, rig.hy)).ok());
  const auto& spans = session.observer().spans();
  REQUIRE(spans.size() == 7);
  CHECK(spans[2].what == static_cast<std::uint32_t>(Phase::refresh));
  CHECK(spans[2].detail == static_cast<std::uint32_t>(UpdateLevel::model_io));
  CHECK(spans[3].what == static_cast<std::uint32_t>(Phase::launch));
  CHECK(spans[2].end == spans[3].start);
}

namespace {
struct Timed : Counted {
  using Time = DeviceTime;
};
}  // namespace

TEST_CASE("With DeviceTime a round's time on the device is kept beside its time on the host; without it, it is not") {
  Rig rig;
  auto plain = open<A2A3SimOn<Model>, Counted>(rig.graph);
  REQUIRE(rig.run(plain).ok());
  REQUIRE(plain.observer().spans().size() == 6);
  auto timed = open<A2A3SimOn<Model>, Timed>(rig.graph);
  REQUIRE(rig.run(timed).ok());
  const auto& spans = timed.observer().spans();
  REQUIRE(spans.size() == 7);
  CHECK(spans[6].what == CountedTrace::on_device);
  CHECK(spans[6].round == 0);
  CHECK(spans[6].end == spans[5].end);
  CHECK(spans[6].bytes == static_cast<std::uint64_t>(timed.last_round_ns()));
  CHECK(spans[6].bytes > 0);
}

TEST_CASE("Rounds that are under way at once are kept apart") {
  CountingClock::reads = 0;
  CountedTrace trace;
  trace.round_begins(RoundIndex{7});
  trace.round_begins(RoundIndex{8});
  trace.round_ends(RoundIndex{7}, {});
  trace.round_begins(RoundIndex{9});
  trace.round_ends(RoundIndex{8}, Status{Errc::stopped});
  trace.round_ends(RoundIndex{9}, {});
  CHECK(text(trace) == "round 7 1-3\nround 8 2-5\nround 9 4-6\n");
  CHECK(trace.spans()[1].detail == static_cast<std::uint32_t>(Errc::stopped));
}

TEST_CASE("A failed round leaves its span with its code, and what comes after is as before") {
  Rig rig;
  auto session = open<A2A3Sim, Counted>(rig.graph);
  rig.hx[0] = -1;
  CHECK(rig.run(session).poisoned());
  const auto& spans = session.observer().spans();
  REQUIRE(spans.size() == 4);
  CHECK(spans[2].what == static_cast<std::uint32_t>(Phase::launch));
  CHECK(spans[3].what == CountedTrace::round);
  CHECK(spans[3].detail == static_cast<std::uint32_t>(Errc::kernel_failed));
}

TEST_CASE("Switched off, the clock is not read; switched on in the middle of a round, nothing half is kept") {
  Rig rig;
  auto session = open<A2A3Sim, Counted>(rig.graph);
  CountedTrace& trace = session.observer();
  trace.record(false);
  CHECK(rig.run(session).ok());
  CHECK(CountingClock::reads == 0);
  CHECK(trace.spans().size() == 0);

  auto round = session.begin_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
  trace.record(true);
  CHECK(std::move(round).launch().finish().status().ok());
  // The round's begin was not seen; launch, copy out and wait were.
  CHECK(trace.spans().size() == 3);

  auto other = session.begin_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
  trace.record(false);
  CHECK(std::move(other).launch().finish().status().ok());
  CHECK(trace.spans().size() == 5);
  trace.record(true);
  trace.clear();
  CHECK(rig.run(session).ok());
  CHECK(trace.spans().size() == 6);
}

TEST_CASE("Any thread may switch while another runs rounds") {
  Rig rig;
  struct Traces : DefaultPolicies {
    using Observe = observe::Trace;
  };
  auto session = open<A2A3Sim, Traces>(rig.graph);
  std::thread other([&] {
    for (int i = 0; i < 2000; ++i) session.observer().record(i % 2 == 0);
  });
  for (int i = 0; i < 2000; ++i) CHECK(rig.run(session).ok());
  other.join();
  const auto& spans = session.observer().spans();
  for (std::size_t i = 0; i < spans.size(); ++i) CHECK(spans[i].start <= spans[i].end);
}

TEST_CASE("The oldest spans give way, and are counted") {
  auto trace = std::make_unique<observe::TraceWith<3, CountingClock>>();
  for (std::uint32_t i = 0; i < 10; ++i) {
    trace->round_begins(RoundIndex{i});
    trace->round_ends(RoundIndex{i}, {});
  }
  CHECK(trace->spans().capacity() == 4);
  CHECK(trace->spans().size() == 4);
  CHECK(trace->spans().dropped() == 6);
  for (std::uint32_t i = 0; i < 4; ++i) CHECK(trace->spans()[i].round == 6 + i);
}
