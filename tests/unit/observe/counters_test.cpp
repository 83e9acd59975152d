// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/observe/counters.hpp>

#include <rondo/observe/clocks.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/shaped_session.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

/// Moves on by 10 each time it is read.
struct CountingClock {
  static inline std::uint64_t last = 0;
  static std::uint64_t now() noexcept { return last += 10; }
};
template <class C>
struct Counting : DefaultPolicies {
  using Observe = C;
};

struct Rig {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {2});
  Output<float> y = graph.output<float>("y", {2});
  TaskId task = graph.add<Fragile>(x, y);
  std::vector<float> hx{1, 2};
  std::vector<float> hy = std::vector<float>(2);
  template <class Session>
  Status run(Session& session) {
    return session.run_round(bind(x, hx), bind(y, hy));
  }
};

}  // namespace

TEST_CASE("Counters count rounds, failures, and the bytes of copies") {
  Rig rig;
  auto session = open<A2A3Sim, Counting<observe::Counters>>(rig.graph);
  for (int i = 0; i < 5; ++i) CHECK(rig.run(session).ok());
  CHECK(session.run_round(bind(rig.x, rig.hx)).code() == Errc::unbound_tensor);
  rig.hx[0] = -1;
  CHECK(!rig.run(session).ok());
  const observe::CountersSnapshot s = observe::snapshot(session);
  CHECK(s.rounds == 5);
  CHECK(s.failed_rounds == 1);
  CHECK(s.copies_in == 6);
  CHECK(s.bytes_in == 48);
  CHECK(s.copies_out == 5);
  CHECK(s.bytes_out == 40);
  CHECK(s.refreshes[static_cast<std::size_t>(UpdateLevel::init)] == 1);
  for (const std::uint64_t ns : s.phase_ns) CHECK(ns == 0);
}

TEST_CASE("With a clock, counters know the host's time in each phase") {
  Rig rig;
  auto session = open<A2A3Sim, Counting<observe::CountersWith<CountingClock>>>(rig.graph);
  for (int i = 0; i < 3; ++i) CHECK(rig.run(session).ok());
  CHECK(session.run_round(bind(rig.x, rig.hx)).code() == Errc::unbound_tensor);  // leaves no time behind
  const observe::CountersSnapshot s = observe::snapshot(session);
  CHECK(s.phase_ns[static_cast<std::size_t>(Phase::outside)] == 0);
  for (const Phase p : {Phase::bind, Phase::copy_in, Phase::launch, Phase::copy_out, Phase::wait}) {
    CHECK(s.phase_ns[static_cast<std::size_t>(p)] == 30);
  }
  CHECK(s.phase_ns[static_cast<std::size_t>(Phase::refresh)] == 0);
}

TEST_CASE("The caller's own time counts in no phase, also after a refused round and between submission and delivery") {
  using Timed = Counting<observe::CountersWith<CountingClock>>;
  Rig rig;
  std::vector<float> too_long(3);
  const auto in_phases = [](auto& session) {
    std::uint64_t sum = 0;
    for (const std::uint64_t ns : observe::snapshot(session).phase_ns) sum += ns;
    return sum;
  };
  const auto pause = [] { CountingClock::last += 1'000'000; };
  const auto fly = [&](auto& session) {
    const RoundTicket first = session.submit_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
    CHECK(!session.submit_round(bind(rig.x, too_long), bind(rig.y, rig.hy)).submitted().ok());
    pause();
    CHECK(session.wait(first).ok());
    const RoundTicket second = session.submit_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
    pause();
    CHECK(session.wait(second).ok());
    CHECK(in_phases(session) > 0);
    CHECK(in_phases(session) < 1000);
  };
  SUBCASE("on a platform with a queue") {
    auto session = open_pipelined<A2A3Sim, 2, Timed>(rig.graph);
    fly(session);
  }
  SUBCASE("on a platform without") {
    auto session = open_pipelined<A2A3SimOn<Checked<Inline>>, 2, Timed>(rig.graph);
    fly(session);
  }
  SUBCASE("a round that is refused in the middle of another") {
    auto session = open<A2A3Sim, Timed>(rig.graph);
    auto round = session.begin_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
    CHECK(rig.run(session).code() == Errc::busy);
    pause();
    CHECK(std::move(round).launch().finish().status().ok());
    CHECK(in_phases(session) < 1000);
  }
  SUBCASE("a round that is refused, and then another is abandoned by close()") {
    auto session = open<A2A3Sim, Timed>(rig.graph);
    auto round = session.begin_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
    CHECK(rig.run(session).code() == Errc::busy);
    pause();
    CHECK(session.close().ok());
    CHECK(in_phases(session) < 1000);
  }
}

TEST_CASE("Without a clock, counters do not listen to phases") {
  constexpr auto listens = []<class C>(C& c) { return requires { c.enters(Phase::bind); }; };
  observe::Counters plain;
  observe::TimedCounters timed;
  CHECK(!listens(plain));
  CHECK(listens(timed));
}

TEST_CASE("Readings of a clock with a timebase come out in nanoseconds") {
  struct Ticks : CountingClock {
    static observe::Timebase timebase() noexcept { return {.tick = 0, .ns = 0, .ns_per_tick = 250}; }
  };
  Rig rig;
  auto in_ticks = open<A2A3Sim, Counting<observe::CountersWith<CountingClock>>>(rig.graph);
  auto in_ns = open<A2A3Sim, Counting<observe::CountersWith<Ticks>>>(rig.graph);
  for (int i = 0; i < 10; ++i) CHECK((rig.run(in_ticks).ok() && rig.run(in_ns).ok()));
  const observe::CountersSnapshot ticks = observe::snapshot(in_ticks), ns = observe::snapshot(in_ns);
  for (std::size_t p = 0; p < std::size(ns.phase_ns); ++p) CHECK(ns.phase_ns[p] == 250 * ticks.phase_ns[p]);
  CHECK(ns.phase_ns[static_cast<std::size_t>(Phase::launch)] != 0);
}

TEST_CASE("Another thread reads counters while rounds run, and no figure goes back") {
  Rig rig;
  auto session = open<A2A3Sim, Counting<observe::TimedCounters>>(rig.graph);
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> looks{0};
  std::thread reader([&] {
    observe::CountersSnapshot before{};
    while (!over.load()) {
      const observe::CountersSnapshot now = observe::snapshot(session);
      CHECK(now.rounds >= before.rounds);
      CHECK(now.bytes_in >= before.bytes_in);
      CHECK(now.phase_ns[static_cast<std::size_t>(Phase::launch)] >=
            before.phase_ns[static_cast<std::size_t>(Phase::launch)]);
      before = now;
      ++looks;
      std::this_thread::yield();
    }
  });
  std::uint64_t rounds = 0;
  for (; rounds < 3000 || looks.load() < 3; ++rounds) REQUIRE(rig.run(session).ok());
  over = true;
  reader.join();
  CHECK(observe::snapshot(session).rounds == rounds);
}

TEST_CASE("A pool's threads that go to sleep are counted") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  const auto y = graph.output<float>("y", {64});
  const auto z = graph.output<float>("z", {64});
  graph.add<Scale>(x, y, 2.0F);
  graph.add<Scale>(x, z, 3.0F);
  A2A3SimOn<Pool>::Options options{};
  options.engine = {.threads = 2, .scheduling = platform::sim::Scheduling::uniform};
  auto session = open<A2A3SimOn<Pool>, Counting<observe::Counters>>(graph, options);
  std::vector<float> hx(64), hy(64), hz(64);
  CHECK(session.run_round(bind(x, hx), bind(y, hy), bind(z, hz)).ok());
  const auto parks = [&] { return observe::snapshot(session).parks; };
  while (parks() == 0) std::this_thread::yield();
  const std::uint64_t first = parks();
  CHECK(session.run_round(bind(x, hx), bind(y, hy), bind(z, hz)).ok());
  while (parks() == first) std::this_thread::yield();
}

TEST_CASE("A session of many shapes has one observer for all of them, which hears no round twice") {
  TaskGraph graph;
  const auto n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<Fragile>(x, y);
  auto session = open_shaped<A2A3Sim, Counting<observe::CountersWith<CountingClock>>>(graph);
  std::vector<float> in(8, 1.0F), out(8);
  std::uint64_t bytes = 0;
  for (const std::size_t size : {8U, 2U, 8U, 4U, 2U, 2U}) {
    REQUIRE(session.run_round(bind(x, std::span<const float>(in.data(), size)), bind(y, std::span(out.data(), size))));
    bytes += 4 * size;
  }
  CHECK(!session.run_round(bind(x, in)).ok());  // refused: there is no round
  CHECK(session.rounds() == 6);
  const observe::CountersSnapshot s = observe::snapshot(session);
  CHECK(s.rounds == 6);
  CHECK(s.failed_rounds == 0);
  CHECK(s.copies_in == 6);
  CHECK(s.bytes_in == bytes);
  CHECK(s.bytes_out == bytes);
  CHECK(s.phase_ns[static_cast<std::size_t>(Phase::launch)] == 6 * 10);
  in[0] = -1;
  CHECK(!session.run_round(bind(x, in), bind(y, out)).ok());
  CHECK(observe::snapshot(session).failed_rounds == 1);
  CHECK(session.rounds() == 6);
}

TEST_CASE("What is moved to a resident of many shapes is counted") {
  TaskGraph graph;
  const auto n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto w = graph.resident<float>("w", {16});
  graph.add_raw("reads", CoreType::vector, +[](ArgWord*) {}, reads(x), reads(w));
  auto session = open_shaped<A2A3Sim, Counting<observe::Counters>>(graph);
  std::vector<float> weights(16, 3.0F);
  REQUIRE(session.upload(w, weights));
  REQUIRE(session.download(w, weights));
  CHECK(session.observer().bytes_in == 64);
  CHECK(session.observer().bytes_out == 64);
}
