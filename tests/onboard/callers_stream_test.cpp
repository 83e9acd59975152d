// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rounds on a stream that somebody else owns: in order with what is there, never waited for unless a call says so, and
// as part of a graph that the owner captures.

#include "onboard/fixture.hpp"
#include "open_in_time.hpp"

#include <rondo/launch/round_values.hpp>
#include <rondo/observe/counters.hpp>
#include <rondo/platform/onboard/library.hpp>
#include <rondo/platform/onboard/onboard.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

using namespace rondo;
using namespace onboard_test;
using namespace rondo::platform::onboard;

namespace {

using Counts = std::map<std::string, std::uint64_t>;
constexpr std::size_t n = Graph::n;

/// Whoever owns the stream: a framework that calls the runtime by itself.
struct Owner {
  Owner() {
    open_library(c);
    REQUIRE(c.init(nullptr) == 0);
    REQUIRE(c.set_device(0) == 0);
    REQUIRE(c.create_stream(&stream, 0, 0) == 0);
    stand_in::live_of_others() = 3;
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() {
    stand_in::live_of_others() = 0;
    if (is_gone) return;
    CHECK(c.synchronize(stream, -1) == 0);
    CHECK(c.destroy_stream(stream) == 0);
    CHECK(c.reset_device(0) == 0);
    CHECK(c.finalize() == 0);
  }
  /// Puts a copy inside of the device on the stream.
  int copy(DeviceSpan<float> to, DeviceSpan<float> from) const {
    const auto at = [](DeviceSpan<float> span) { return reinterpret_cast<void*>(span.data().address()); };
    return c.copy_async(at(to), 4 * n, at(from), 4 * n, device_to_device, stream);
  }
  void synchronise() const { REQUIRE(c.synchronize(stream, -1) == 0); }
  [[nodiscard]] RunInstance end_capture() const {
    RunInstance graph = nullptr;
    REQUIRE(c.capture_end(stream, &graph) == 0);
    REQUIRE(graph != nullptr);
    return graph;
  }
  template <class P>
  [[nodiscard]] typename P::Options options() const {
    typename P::Options options;
    options.stream = stream;
    return options;
  }
  /// How often anybody but the owner's own calls, so many, waited for the stream.
  [[nodiscard]] std::uint64_t waits(std::uint64_t own = 0) const { return rondo_stand_in_synchronised(stream) - own; }

  Calls c;
  Stream stream = nullptr;
  bool is_gone = false;
};

/// Device memory for all that the graph binds.
template <class P>
struct Memory {
  explicit Memory(P& platform)
      : x(platform, n, 2),
        other(platform, n, 5),
        w(platform, n, 1),
        y(platform, n),
        z(platform, n),
        s(platform, n, 10) {}
  /// Enqueues a round that reads `in` as x and writes `out` as y.
  Status enqueue(RoundSession<P>& session, const Graph& g, auto&& in, auto&& out) {
    return session.enqueue_round(bind(g.x, in), bind(g.w, w.span()), bind(g.y, out), bind(g.s, s.span()));
  }
  DeviceFloats<P> x, other, w, y, z, s;
};

struct ZeroedSum {
  ZeroedSum() {
    graph.zero(sum);
    graph.add<kernels::Accumulate>(x, sum);
    graph.add<kernels::Scale>(sum, y, 2.0F);
  }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {n});
  Output<float> y = graph.output<float>("y", {n});
  Workspace<float> sum = graph.workspace<float>("sum", {n});
};

}  // namespace

TEST_CASE("What docs/callers_stream.md shows") {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  using Npu = A2A3OverStandIn;
  Graph g;
  const auto [x, w, y, s] = std::tuple(g.x, g.w, g.y, g.s);
  const auto& graph = g.graph;
  const auto& acl = owner.c;
  Stream const stream = owner.stream;
  Npu::Options options;
  options.stream = stream;
  auto session = rondo::open<Npu>(graph, options);
  {
    Memory<Npu> m(session.platform());
    const auto dx = m.x.span(), other_dx = m.other.span(), dw = m.w.span(), dy = m.y.span(), ds = m.s.span();
    auto status = session.enqueue_round(bind(x, dx), bind(w, dw), bind(y, dy), bind(s, ds));
    CHECK(status.ok());
    RunInstance captured = nullptr;
    acl.capture_begin(stream, capture_thread_local);
    status = session.enqueue_round(bind(x, dx), bind(w, dw), bind(y, dy), bind(s, ds));
    acl.capture_end(stream, &captured);
    CHECK(status.ok());
    status = session.refresh_for_replay(bind(x, other_dx), bind(w, dw), bind(y, dy), bind(s, ds));
    acl.execute(captured, stream);
    CHECK(status.ok());
    CHECK(session.wait_for_enqueued().ok());
    owner.synchronise();
    CHECK(m.y.values() == Floats(n, 18));
    CHECK(acl.destroy_instance(captured) == 0);
  }
}

TEST_CASE("Rounds in flight, of many shapes and with a clock run beside a caller's stream or on it") {
  const Clean clean;
  const Owner owner;
  using P = A2A3OverStandIn;
  struct Timed : DefaultPolicies {
    using Time = DeviceTime;
  };
  Graph g;
  Floats x(n, 3), w(n, 1), y(n), s(n, 10);
  {
    auto session = open_pipelined<P, 2>(g.graph, owner.options<P>());
    for (int r = 0; r < 5; ++r) {
      REQUIRE(session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)));
    }
    CHECK(session.wait_all().ok());
    CHECK(y == Floats(n, 12));
  }
  {
    auto session = open<P, Timed>(g.graph, owner.options<P>());
    REQUIRE(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
    CHECK(session.last_round_ns() > 0);
    CHECK(y == Floats(n, 12));
  }
}

TEST_CASE_TEMPLATE("Rounds in flight run, and their session closes, while the owner captures the stream", P,
                   A2A3OverStandIn, A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  Graph g;
  Floats x(n, 3), w(n, 1), y(n), z(n), s(n, 10);
  for (const int mode : {capture_global, capture_thread_local, capture_relaxed}) {
    CAPTURE(mode);
    auto session = open_pipelined<P, 2>(g.graph, owner.options<P>());
    const auto before = session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s));
    REQUIRE(owner.c.capture_begin(owner.stream, mode) == 0);
    CHECK(session.wait(before).ok());
    CHECK(y == Floats(n, 12));
    const auto during = session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, z), bind(g.s, s));
    while (session.poll() != 0) std::this_thread::yield();
    CHECK(session.wait(during).ok());
    CHECK(z == Floats(n, 12));
    CHECK(session.close().ok());
    RunInstance graph = nullptr;
    CHECK(owner.c.capture_end(owner.stream, &graph) == 0);
    CHECK(owner.c.destroy_instance(graph) == 0);
  }
  CHECK(misuses() == "");
}

TEST_CASE_TEMPLATE("On a caller's stream a session waits only where it says so, and leaves the stream as it was", P,
                   A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  const Owner owner;
  Graph g;
  {
    auto session = open<P>(g.graph, owner.options<P>());
    CHECK(owner.waits() == 0);
    CHECK(session.end_event() == nullptr);
    {
      Memory<P> m(session.platform());
      const auto enqueue = [&] { return m.enqueue(session, g, m.x.span(), m.y.span()); };
      REQUIRE(enqueue().ok());
      rondo_stand_in_reset();
      for (int r = 0; r < 4; ++r) REQUIRE(enqueue().ok());
      CHECK(counted() == Counts{{"aclmdlRICaptureGetInfo", 4}, {"aclmdlRIExecuteAsync", 4}, {"aclrtRecordEvent", 4}});
      REQUIRE(session.wait_for_enqueued().ok());
      CHECK(owner.waits() == 0);
      CHECK(session.rounds() == 5);
      CHECK(m.y.values() == Floats(n, 9));
      CHECK(m.s.values() == Floats(n, 20));

      // A round that waits does so for the stream, and is in order with the others.
      Floats x(n, 3), w(n, 1), y(n), s(n, 10);
      REQUIRE(enqueue().ok());
      REQUIRE(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
      CHECK(owner.waits() == 1);
      CHECK(y == Floats(n, 12));
      CHECK(m.s.values() == Floats(n, 22));
      REQUIRE(enqueue().ok());
      CHECK(session.close().ok());
      CHECK(owner.waits() == 1);
      CHECK(m.s.values() == Floats(n, 24));
    }
  }
  CHECK(calls("aclrtDestroyStream") == 1);  // the session's own
  CHECK(calls("aclrtStreamAbort") == 0);
  Stream still_there = owner.stream;
  CHECK(owner.c.synchronize(still_there, -1) == 0);
}

TEST_CASE_TEMPLATE("Enqueued rounds take their turn: after what the owner put there, before what it puts there next", P,
                   A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  const Owner owner;
  Graph g;
  auto session = open<P>(g.graph, owner.options<P>());
  {
    Memory<P> m(session.platform());
    std::vector<std::unique_ptr<DeviceFloats<P>>> results;
    for (int r = 0; r < 6; ++r) results.push_back(std::make_unique<DeviceFloats<P>>(session.platform(), n));
    PinnedArray<float, P> pinned(session.platform(), n);
    PinnedArray<float, P> back(session.platform(), n);
    for (float& value : pinned) value = 4;
    rondo_stand_in_hold();  // the device is slow, the host is not
    for (std::size_t r = 0; r < results.size(); ++r) {
      Floats w(n, 1);
      REQUIRE(owner.copy(m.x.span(), r % 2 == 0 ? m.other.span() : m.w.span()) == 0);
      REQUIRE(session
                  .enqueue_round(bind(g.x, m.x.span()), bind(g.w, snapshot(w)), bind(g.y, results[r]->span()),
                                 bind(g.s, m.s.span()))
                  .ok());
      w.assign(n, 1000);  // its bytes were taken
    }
    REQUIRE(
        session.enqueue_round(bind(g.x, pinned), bind(g.w, m.w.span()), bind(g.y, m.y.span()), bind(g.s, m.s.span()))
            .ok());
    REQUIRE(session.enqueue_round(bind(g.x, m.w.span()), bind(g.w, m.w.span()), bind(g.y, back), bind(g.s, m.s.span()))
                .ok());
    REQUIRE(owner.copy(m.z.span(), m.y.span()) == 0);
    // Another stream goes on after the last round by its event.
    Stream other = nullptr;
    REQUIRE(owner.c.create_stream(&other, 0, 0) == 0);
    REQUIRE(owner.c.wait_event(other, session.end_event()) == 0);
    REQUIRE(owner.c.copy_async(reinterpret_cast<void*>(m.other.span().data().address()), 4 * n,
                               reinterpret_cast<void*>(m.s.span().data().address()), 4 * n, device_to_device,
                               other) == 0);
    CHECK(results[0]->values() == Floats(n, 0));
    CHECK(owner.waits() == 0);
    rondo_stand_in_resume();
    REQUIRE(owner.c.synchronize(other, -1) == 0);
    CHECK(m.other.values() == Floats(n, 10 + 3 * 5 + 3 * 1 + 4 + 1));
    owner.synchronise();
    for (std::size_t r = 0; r < results.size(); ++r) CHECK(results[r]->values() == Floats(n, r % 2 == 0 ? 18 : 6));
    CHECK(m.z.values() == Floats(n, 15));
    for (const float value : back) CHECK(value == 6);
    CHECK(owner.c.destroy_stream(other) == 0);
  }
  CHECK(calls("pageable") == 0);
}

TEST_CASE_TEMPLATE("A round is recorded in a capture of any mode, with a binding that is fixed", P, A2A3OverStandIn,
                   A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  for (const int mode : {capture_global, capture_thread_local, capture_relaxed}) {
    CAPTURE(mode);
    const Owner owner;
    Graph g;
    auto session = open<P>(g.graph, owner.options<P>());
    Memory<P> m(session.platform());
    PinnedArray<float, P> in(session.platform(), n);
    PinnedArray<float, P> out(session.platform(), n);
    const auto enqueue = [&](auto& y) { return m.enqueue(session, g, in, y); };
    for (float& value : in) value = 1;
    REQUIRE(enqueue(out).ok());  // the table is in use when the capture begins
    rondo_stand_in_reset();
    REQUIRE(owner.c.capture_begin(owner.stream, mode) == 0);
    REQUIRE(owner.copy(m.x.span(), m.w.span()) == 0);
    REQUIRE(enqueue(out).ok());
    REQUIRE(owner.copy(m.z.span(), m.s.span()) == 0);
    RunInstance const graph = owner.end_capture();
    CHECK(calls("aclrtSynchronizeStreamWithTimeout") == 0);
    CHECK(calls("aclmdlRIExecuteAsync") == 0);
    CHECK(rondo_stand_in_capture_mode() == capture_global);
    owner.synchronise();
    CHECK(m.s.values() == Floats(n, 11));
    for (int replay = 1; replay <= 3; ++replay) {
      for (float& value : in) value = static_cast<float>(replay);  // read anew at each replay
      REQUIRE(owner.c.execute(graph, owner.stream) == 0);
      owner.synchronise();
      for (const float value : out) CHECK(value == 3 * static_cast<float>(replay + 1));
    }
    CHECK(m.z.values() == Floats(n, 11 + 1 + 2 + 3));
    CHECK(session.rounds() == 2);
    CHECK(owner.waits(4) == 0);
    CHECK(owner.c.destroy_instance(graph) == 0);
    CHECK(misuses() == "");
  }
}

TEST_CASE_TEMPLATE("A table that a recording changes waits for the rounds that still read it", P, A2A3OverStandIn,
                   A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  Graph g;
  auto session = open<P>(g.graph, owner.options<P>());
  {
    Memory<P> m(session.platform());
    const auto enqueue = [&](DeviceFloats<P>& x, DeviceFloats<P>& y) {
      return m.enqueue(session, g, x.span(), y.span());
    };
    rondo_stand_in_hold();
    REQUIRE(enqueue(m.x, m.y).ok());
    REQUIRE(owner.c.capture_begin(owner.stream, capture_global) == 0);
    rondo_stand_in_hold_until_awaited();
    REQUIRE(enqueue(m.other, m.z).ok());
    RunInstance const graph = owner.end_capture();
    CHECK(m.y.values() == Floats(n, 9));
    REQUIRE(owner.c.execute(graph, owner.stream) == 0);
    owner.synchronise();
    CHECK(m.z.values() == Floats(n, 18));
    CHECK(m.y.values() == Floats(n, 9));
    CHECK(owner.c.destroy_instance(graph) == 0);
  }
}

TEST_CASE_TEMPLATE("Before each replay its owner binds other memory, without waiting", P, A2A3OverStandIn,
                   A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  Graph g;
  auto session = open<P>(g.graph, owner.options<P>());
  {
    Memory<P> m(session.platform());
    PinnedArray<float, P> w(session.platform(), n);
    PinnedArray<float, P> w2(session.platform(), n);
    for (float& value : w) value = 1;
    std::vector<std::unique_ptr<DeviceFloats<P>>> in, out;
    for (int r = 0; r < 5; ++r) {
      in.push_back(std::make_unique<DeviceFloats<P>>(session.platform(), n, static_cast<float>(r)));
      out.push_back(std::make_unique<DeviceFloats<P>>(session.platform(), n));
    }
    const auto refresh = [&](std::size_t r) {
      return session.refresh_for_replay(bind(g.x, in[r]->span()), bind(g.w, w), bind(g.y, out[r]->span()),
                                        bind(g.s, m.s.span()));
    };
    CHECK(refresh(0).code() == Errc::invalid_argument);  // nothing was recorded yet
    REQUIRE(owner.c.capture_begin(owner.stream, capture_global) == 0);
    REQUIRE(
        session.enqueue_round(bind(g.x, m.x.span()), bind(g.w, w), bind(g.y, m.y.span()), bind(g.s, m.s.span())).ok());
    CHECK(refresh(0).code() == Errc::busy);
    RunInstance const graph = owner.end_capture();
    rondo_stand_in_hold();
    rondo_stand_in_reset();
    rondo_stand_in_hold();
    for (std::size_t r = 0; r < in.size(); ++r) {
      REQUIRE(refresh(r).ok());
      REQUIRE(owner.c.execute(graph, owner.stream) == 0);
    }
    REQUIRE(refresh(4).ok());  // nothing new: no copy
    CHECK(calls("aclrtMemcpyAsync") == 5);
    CHECK(calls("aclmdlRIExecuteAsync") == 5);
    CHECK(owner.waits() == 0);
    rondo_stand_in_resume();
    owner.synchronise();
    for (std::size_t r = 0; r < in.size(); ++r) {
      CHECK(out[r]->values() == Floats(n, 3 * static_cast<float>(r + 1)));
    }
    CHECK(m.s.values() == Floats(n, 10 + 0 + 1 + 2 + 3 + 4));
    CHECK(session.rounds() == 1);

    // What the graph copies has its address in the graph.
    const auto of = [&](Errc code, TensorKey key) { return Status::of_tensor(code, index(key.tensor())); };
    CHECK(session.refresh_for_replay(bind(g.x, in[1]->span()), bind(g.w, w2), bind(g.y, m.y.span()),
                                     bind(g.s, m.s.span())) == of(Errc::fixed_address, g.w.key));
    CHECK(session.refresh_for_replay(bind(g.x, in[1]->span()), bind(g.w, m.w.span()), bind(g.y, m.y.span()),
                                     bind(g.s, m.s.span())) == of(Errc::fixed_address, g.w.key));
    CHECK(session.refresh_for_replay(bind(g.x, w), bind(g.w, w), bind(g.y, m.y.span()), bind(g.s, m.s.span())) ==
          of(Errc::fixed_address, g.x.key));
    DeviceFloats<P> elsewhere(session.platform(), session.arena_bytes().value / 4 + 256);
    const std::uint64_t base = align_up(elsewhere.span().data().address(), 1024);
    CHECK(session.move_arena({DevicePtr<std::byte>{base}, session.arena_bytes().value}).code() == Errc::fixed_address);
    Graph other;
    CHECK(session
              .refresh_for_replay(bind(other.x, in[1]->span()), bind(g.w, w), bind(g.y, m.y.span()),
                                  bind(g.s, m.s.span()))
              .code() == Errc::wrong_tensor);
    rondo_stand_in_fault("aclmdlRICaptureGetInfo", 1, 107000);
    CHECK(refresh(2).code() == Errc::invalid_argument);
    REQUIRE(refresh(2).ok());
    owner.synchronise();
    CHECK(owner.c.destroy_instance(graph) == 0);
  }
}

TEST_CASE_TEMPLATE("Before a replay its owner gives other host inputs, and an event comes after what that copies", P,
                   A2A3OverStandIn, A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  TaskGraph tasks;
  const auto x = tasks.input<float>("x", {n});
  const auto added = tasks.host_input<float>("added", {n});
  const auto y = tasks.output<float>("y", {n});
  tasks.add<kernels::Add>(x, added, y);
  auto session = open<P>(tasks, owner.options<P>());
  {
    DeviceFloats<P> dx(session.platform(), n, 1), dy(session.platform(), n), dz(session.platform(), n);
    PinnedArray<float, P> values(session.platform(), n);
    const auto give = [&](float value) {
      for (float& each : values) each = value;
    };
    give(1);
    REQUIRE(owner.c.capture_begin(owner.stream, capture_thread_local) == 0);
    REQUIRE(session.enqueue_round(bind(x, dx.span()), bind(added, values), bind(y, dy.span())).ok());
    RunInstance const graph = owner.end_capture();
    REQUIRE(owner.c.execute(graph, owner.stream) == 0);
    owner.synchronise();
    CHECK(dy.values() == Floats(n, 2));
    PinnedArray<float, P> others(session.platform(), n);  // host inputs may come from elsewhere
    for (float& each : others) each = 5;
    const std::uint64_t events = calls("aclrtRecordEvent");
    REQUIRE(session.refresh_for_replay(bind(x, dx.span()), bind(added, others), bind(y, dz.span())).ok());
    CHECK(calls("aclrtRecordEvent") == events + 1);
    REQUIRE(owner.c.execute(graph, owner.stream) == 0);
    owner.synchronise();
    CHECK(dz.values() == Floats(n, 6));
    CHECK(dy.values() == Floats(n, 2));
    // The copy that a refused event follows is over before its memory is given back.
    give(7);
    rondo_stand_in_hold();
    rondo_stand_in_fault("aclrtRecordEvent", 1, 107000);
    CHECK(session.refresh_for_replay(bind(x, dx.span()), bind(added, values), bind(y, dz.span())).code() ==
          Errc::invalid_argument);
    rondo_stand_in_hold_until_awaited();
    const std::uint64_t waits = owner.waits();
    CHECK(session.wait_for_enqueued().ok());
    CHECK(owner.waits() == waits);
    CHECK(owner.c.destroy_instance(graph) == 0);
    {
      Floats hx(n, 1), hv(n, 1), hy(n);
      auto open_round = session.begin_round(bind(x, hx), bind(added, hv), bind(y, hy));
      CHECK(session.refresh_for_replay(bind(x, dx.span()), bind(added, values), bind(y, dz.span())).code() ==
            Errc::busy);
      CHECK(std::move(open_round).launch().finish().status().ok());
    }
  }
  CHECK(session.close().ok());
  CHECK(session.refresh_for_replay().code() == Errc::closed);
}

TEST_CASE_TEMPLATE("A device that is lost while a round is enqueued poisons the session", P, A2A3OverStandIn,
                   A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  Graph g;
  auto session = open<P>(g.graph, owner.options<P>());
  Memory<P> m(session.platform());
  const auto enqueue = [&] { return m.enqueue(session, g, m.x.span(), m.y.span()); };
  REQUIRE(enqueue().ok());
  REQUIRE(session.wait_for_enqueued().ok());
  rondo_stand_in_fault("aclmdlRIExecuteAsync", 1, 507015);
  const Status lost = enqueue();
  CHECK(lost.code() == Errc::device_failed);
  CHECK(lost.poisoned());
  CHECK(session.poisoned());
  CHECK(enqueue().code() == Errc::poisoned);
}

TEST_CASE_TEMPLATE(
    "What begins with a device that is lost, or waits for enqueued rounds that failed, poisons the session", P,
    A2A3OverStandIn, A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  Graph g;
  auto session = open<P>(g.graph, owner.options<P>());
  Memory<P> m(session.platform());
  REQUIRE(m.enqueue(session, g, m.x.span(), m.y.span()).ok());
  owner.synchronise();
  Status status;
  SUBCASE("a round that is enqueued") {
    rondo_stand_in_fault("aclmdlRICaptureGetInfo", 1, 507015);
    status = m.enqueue(session, g, m.x.span(), m.y.span());
  }
  SUBCASE("a refresh for a replay") {
    rondo_stand_in_fault("aclmdlRICaptureGetInfo", 1, 507015);
    status = session.refresh_for_replay(bind(g.x, m.x.span()), bind(g.w, m.w.span()), bind(g.y, m.y.span()),
                                        bind(g.s, m.s.span()));
  }
  SUBCASE("an input that is to be held") {
    rondo_stand_in_fault("aclrtQueryEventStatus", 1, 507015);
    status = session.hold(g.x);
  }
  CHECK(status.poisoned());
  CHECK(std::string(session.explain(status).c_str()).find("507015") != std::string::npos);
  CHECK(session.poisoned());
  CHECK(m.enqueue(session, g, m.x.span(), m.y.span()).code() == Errc::poisoned);
}

TEST_CASE_TEMPLATE("An input may be held after a round that ran, not after one that was only recorded", P,
                   A2A3OverStandIn, A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  Graph g;
  auto session = open<P>(g.graph, owner.options<P>());
  Memory<P> m(session.platform());
  const auto enqueue = [&] { return m.enqueue(session, g, m.x.span(), m.y.span()); };
  REQUIRE(enqueue().ok());
  CHECK(session.hold(g.w).ok());
  CHECK(session.release_hold(g.w).ok());
  REQUIRE(owner.c.capture_begin(owner.stream, capture_thread_local) == 0);
  REQUIRE(enqueue().ok());
  RunInstance const graph = owner.end_capture();
  CHECK(session.hold(g.w) == Status::of_tensor(Errc::unbound_tensor, index(g.w.key.tensor())));
  REQUIRE(enqueue().ok());
  CHECK(session.hold(g.w).ok());
  CHECK(owner.c.destroy_instance(graph) == 0);
}

TEST_CASE_TEMPLATE("A capture takes several rounds of one binding, and refuses another binding", P, A2A3OverStandIn,
                   A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  Graph g;
  auto session = open<P>(g.graph, owner.options<P>());
  {
    Memory<P> m(session.platform());
    const auto enqueue = [&](DeviceFloats<P>& x) { return m.enqueue(session, g, x.span(), m.y.span()); };
    REQUIRE(owner.c.capture_begin(owner.stream, capture_thread_local) == 0);
    REQUIRE(enqueue(m.x).ok());
    REQUIRE(enqueue(m.x).ok());
    CHECK(enqueue(m.other).code() == Errc::fixed_address);
    RunInstance graph = owner.end_capture();
    REQUIRE(session
                .refresh_for_replay(bind(g.x, m.x.span()), bind(g.w, m.w.span()), bind(g.y, m.y.span()),
                                    bind(g.s, m.s.span()))
                .ok());
    REQUIRE(owner.c.execute(graph, owner.stream) == 0);
    owner.synchronise();
    CHECK(m.s.values() == Floats(n, 14));
    CHECK(m.y.values() == Floats(n, 9));
    CHECK(owner.c.destroy_instance(graph) == 0);
    // Another capture may have it.
    REQUIRE(owner.c.capture_begin(owner.stream, capture_thread_local) == 0);
    REQUIRE(enqueue(m.other).ok());
    graph = owner.end_capture();
    REQUIRE(owner.c.execute(graph, owner.stream) == 0);
    owner.synchronise();
    CHECK(m.s.values() == Floats(n, 19));
    CHECK(owner.c.destroy_instance(graph) == 0);
  }
}

namespace {

struct WithValues : DefaultPolicies {
  using Values = launch::RoundValues<>;
};
struct AddStep {
  static constexpr std::string_view name = "add_step";
  static constexpr auto core = CoreType::vector;
  static void run(launch::Step step, InOut<float> y) noexcept { y[0] += static_cast<float>(step.number); }
};

}  // namespace

TEST_CASE_TEMPLATE("A round that a capture refuses uses no number of the session's values", P, A2A3OverStandIn,
                   A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  TaskGraph graph;
  const auto y = graph.inout<float>("y", {1});
  graph.add<AddStep>(launch::step(graph, "step", 10), y);
  auto session = open<P, WithValues>(graph, owner.options<P>());
  {
    DeviceFloats<P> memory(session.platform(), 1);
    const auto enqueue = [&] { return session.enqueue_round(bind(y, memory.span())); };
    REQUIRE(owner.c.capture_begin(owner.stream, capture_thread_local) == 0);
    REQUIRE(enqueue().ok());  // 10, in each replay
    CHECK(enqueue().code() == Errc::fixed_address);
    CHECK(session.values().rounds() == 1);
    RunInstance captured = owner.end_capture();
    REQUIRE(owner.c.execute(captured, owner.stream) == 0);
    REQUIRE(enqueue().ok());  // 11
    owner.synchronise();
    CHECK(memory.values() == Floats(1, 21));
    CHECK(owner.c.destroy_instance(captured) == 0);
  }
}

namespace {

/// A clock that only the test moves.
struct SetClock {
  static inline std::uint64_t time = 0;
  static std::uint64_t now() noexcept { return time; }
};
struct WithTimes : DefaultPolicies {
  using Observe = observe::CountersWith<SetClock>;
};

}  // namespace

TEST_CASE("The time of the caller after a refused round is not one of the next round, which it enqueues") {
  const Clean clean;
  const Owner owner;
  Graph g;
  auto session = open<A2A3OverStandIn, WithTimes>(g.graph, owner.options<A2A3OverStandIn>());
  {
    Memory<A2A3OverStandIn> m(session.platform());
    Floats wrong(n - 1), s(n);
    CHECK(session.run_round(bind(g.x, m.x.span()), bind(g.w, m.w.span()), bind(g.y, wrong), bind(g.s, s)).code() ==
          Errc::wrong_size);
    SetClock::time += 1000;
    REQUIRE(
        session
            .enqueue_round(bind(g.x, m.x.span()), bind(g.w, m.w.span()), bind(g.y, m.y.span()), bind(g.s, m.s.span()))
            .ok());
    for (const std::uint64_t ns : observe::snapshot(session).phase_ns) CHECK(ns == 0);
  }
}

TEST_CASE_TEMPLATE("What a capture would spoil is refused, and neither the capture nor the session takes harm", P,
                   A2A3OverStandIn, A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  Graph g;
  auto session = open<P>(g.graph, owner.options<P>());
  {
    Memory<P> m(session.platform());
    Floats x(n, 3), w(n, 1), y(n), s(n, 10);
    const auto run = [&] { return session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)); };
    REQUIRE(owner.c.capture_begin(owner.stream, capture_thread_local) == 0);
    const Status status = run();
    CHECK(status.code() == Errc::busy);
    CHECK(std::string(session.explain(status).c_str()).find("Options::stream is being captured") != std::string::npos);
    CHECK_FALSE(session.poisoned());
    CHECK(session.enqueue_round(bind(g.x, snapshot(x)), bind(g.w, m.w.span()), bind(g.y, m.y.span()),
                                bind(g.s, m.s.span())) ==
          Status::of_tensor(Errc::unsupported, index(g.x.key.tensor())));
    REQUIRE(
        session
            .enqueue_round(bind(g.x, m.x.span()), bind(g.w, m.w.span()), bind(g.y, m.y.span()), bind(g.s, m.s.span()))
            .ok());
    RunInstance const graph = owner.end_capture();
    REQUIRE(run().ok());
    CHECK(y == Floats(n, 12));
    CHECK(session
              .refresh_for_replay(bind(g.x, m.x.span()), bind(g.w, m.w.span()), bind(g.y, m.y.span()),
                                  bind(g.s, m.s.span()))
              .ok());
    REQUIRE(owner.c.execute(graph, owner.stream) == 0);
    owner.synchronise();
    CHECK(m.y.values() == Floats(n, 9));
    CHECK(m.s.values() == Floats(n, 12));
    CHECK(owner.c.destroy_instance(graph) == 0);

    // Of a capture that another stream's event has ended, the runtime tells at its end, and so does the round.
    Stream other = nullptr;
    platform::onboard::Event event = nullptr;
    RunInstance lost = nullptr;
    REQUIRE(owner.c.create_stream(&other, 0, 0) == 0);
    REQUIRE(owner.c.create_event(&event, event_flag_sync) == 0);
    REQUIRE(owner.c.capture_begin(owner.stream, capture_thread_local) == 0);
    REQUIRE(owner.c.capture_begin(other, capture_thread_local) == 0);
    REQUIRE(owner.c.record_event(event, other) == 0);
    CHECK(owner.c.wait_event(owner.stream, event) == 107032);
    CHECK(session
              .enqueue_round(bind(g.x, m.x.span()), bind(g.w, m.w.span()), bind(g.y, m.y.span()), bind(g.s, m.s.span()))
              .ok());
    CHECK(owner.c.capture_end(owner.stream, &lost) == 507903);
    CHECK(owner.c.capture_end(other, &lost) == 507903);
    CHECK(owner.c.destroy_stream(other) == 0);
    CHECK(owner.c.destroy_event(event) == 0);
    REQUIRE(run().ok());
  }
  CHECK(misuses() == "");
}

TEST_CASE_TEMPLATE("A session closes while its stream is captured, unless it would have to wait for the stream", P,
                   A2A3OverStandIn, A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  const auto live_of_owner = rondo_stand_in_live(nullptr);
  for (const int rounds : {0, 1, 2}) {  // the second cannot be waited for during a capture
    CAPTURE(rounds);
    Graph g;
    auto session = open<P>(g.graph, owner.options<P>());
    auto m = std::make_unique<Memory<P>>(session.platform());
    Floats x(n, 3), w(n, 1), y(n), s(n, 10);
    REQUIRE(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
    if (rounds > 0) REQUIRE(m->enqueue(session, g, m->x.span(), m->y.span()).ok());
    if (rounds > 1) {
      rondo_stand_in_fault("aclrtRecordEvent", 0, 107000);
      REQUIRE_FALSE(m->enqueue(session, g, m->x.span(), m->y.span()).ok());
      rondo_stand_in_clear_faults();
    }
    REQUIRE(owner.c.capture_begin(owner.stream, capture_thread_local) == 0);
    REQUIRE(owner.copy(m->other.span(), m->x.span()) == 0);
    if (rounds > 1) {
      const auto live = rondo_stand_in_live(nullptr);
      const Status status = session.close();
      CHECK(status.code() == Errc::busy);
      CHECK(std::string(session.explain(status).c_str()).find("end the capture of your stream first") !=
            std::string::npos);
      CHECK(rondo_stand_in_live(nullptr) == live);
      CHECK(owner.c.destroy_instance(owner.end_capture()) == 0);
      REQUIRE(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
      m.reset();
      CHECK(session.close().ok());
    } else {
      CHECK(m->x.release().ok());
      m.reset();
      const Status status = session.close();
      CHECK_MESSAGE(status.ok(), std::string(session.explain(status).c_str()));
      CHECK(rondo_stand_in_live(nullptr) == live_of_owner);
      CHECK(owner.c.destroy_instance(owner.end_capture()) == 0);
    }
    CHECK(rondo_stand_in_live(nullptr) == live_of_owner);
  }
  CHECK(misuses() == "");
}

TEST_CASE_TEMPLATE("A capture that the runtime knows to be lost takes no round", P, A2A3OverStandIn, A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  rondo_stand_in_chip(P::Arch::name);
  const Owner owner;
  Graph g;
  auto session = open<P>(g.graph, owner.options<P>());
  Memory<P> m(session.platform());
  const auto enqueue = [&] { return m.enqueue(session, g, m.x.span(), m.y.span()); };
  REQUIRE(owner.c.capture_begin(owner.stream, capture_thread_local) == 0);
  rondo_stand_in_limit("queues", 1);
  for (int i = 0; i < 2100; ++i) (void)owner.copy(m.z.span(), m.x.span());  // more than one queue takes
  CHECK(enqueue() == Status{Errc::unsupported});
  RunInstance lost = nullptr;
  CHECK(owner.c.capture_end(owner.stream, &lost) == 507903);
  rondo_stand_in_limit("queues", 1984);
  REQUIRE(enqueue().ok());
  REQUIRE(session.wait_for_enqueued().ok());
  CHECK(m.y.values() == Floats(n, 9));
}

TEST_CASE_TEMPLATE("Zeroed workspaces and library calls are recorded, too", P, A2A3OverStandIn, A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  ZeroedSum z;
  const auto copy = [](const LibraryCall& call) {
    return P::enqueue_copy(call.stream(), call.data<void>(1), call.data<void>(0),
                           static_cast<std::size_t>(call.elements(0)) * sizeof(float));
  };
  const auto copied = z.graph.workspace<float>("copied", {n});
  const auto last = z.graph.output<float>("last", {n});
  z.graph.add_call("copy", {reads(z.sum), writes(copied)}, copy);
  z.graph.add<kernels::Scale>(copied, last, 1.0F);
  auto session = open<P>(z.graph, owner.options<P>());
  CHECK(owner.waits() == 0);
  {
    DeviceFloats<P> x(session.platform(), n, 3), y(session.platform(), n), l(session.platform(), n);
    const auto enqueue = [&] {
      return session.enqueue_round(bind(z.x, x.span()), bind(z.y, y.span()), bind(last, l.span()));
    };
    REQUIRE(enqueue().ok());
    REQUIRE(enqueue().ok());
    owner.synchronise();
    CHECK(y.values() == Floats(n, 6));
    REQUIRE(owner.c.capture_begin(owner.stream, capture_thread_local) == 0);
    REQUIRE(enqueue().ok());
    RunInstance const graph = owner.end_capture();
    x.fill(7);
    for (int replay = 0; replay < 2; ++replay) REQUIRE(owner.c.execute(graph, owner.stream) == 0);
    owner.synchronise();
    CHECK(y.values() == Floats(n, 14));
    CHECK(l.values() == Floats(n, 7));
    CHECK(owner.c.destroy_instance(graph) == 0);
  }
}

TEST_CASE_TEMPLATE("Device memory is copied to and from fixed addresses on the stream; a recorded copy keeps it", P,
                   A2A3OverStandIn, A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto w = graph.input<float>("w", {n});
  const auto y = graph.output<float>("y", {n});
  const auto z = graph.output<float>("z", {n});
  const auto copy = [](const LibraryCall& call) {
    return P::enqueue_copy(call.stream(), call.data<void>(1), call.data<void>(0),
                           static_cast<std::size_t>(call.elements(0)) * sizeof(float));
  };
  graph.add_call("copy", {reads(x), writes(y)}, copy);
  graph.add<kernels::Scale>(w, z, 2.0F);
  auto session = open<P>(graph, owner.options<P>());
  {
    DeviceFloats<P> one(session.platform(), n, 1), two(session.platform(), n, 2), other(session.platform(), n, 5),
        dy(session.platform(), n), dz(session.platform(), n);
    // The copies are steps on the stream, between those of its owner.
    REQUIRE(session.enqueue_round(bind(x, one.span()), bind(w, other.span()), bind(y, two.span()), bind(z, dz.span()))
                .ok());
    REQUIRE(owner.copy(one.span(), other.span()) == 0);
    REQUIRE(
        session.enqueue_round(bind(x, one.span()), bind(w, two.span()), bind(y, dy.span()), bind(z, dz.span())).ok());
    CHECK(owner.waits() == 0);
    owner.synchronise();
    CHECK(two.values() == Floats(n, 1));
    CHECK(dy.values() == Floats(n, 5));
    CHECK(dz.values() == Floats(n, 2));

    REQUIRE(owner.c.capture_begin(owner.stream, capture_thread_local) == 0);
    REQUIRE(
        session.enqueue_round(bind(x, one.span()), bind(w, two.span()), bind(y, dy.span()), bind(z, dz.span())).ok());
    RunInstance const captured = owner.end_capture();
    one.fill(7);
    REQUIRE(owner.c.execute(captured, owner.stream) == 0);
    owner.synchronise();
    CHECK(dy.values() == Floats(n, 7));
    const auto refresh = [&](auto&& in, auto w_in, auto out) {
      return session.refresh_for_replay(bind(x, in), bind(w, w_in), bind(y, out), bind(z, dz.span()));
    };
    REQUIRE(refresh(one.span(), other.span(), dy.span()).ok());
    one.fill(8);
    REQUIRE(owner.c.execute(captured, owner.stream) == 0);
    owner.synchronise();
    CHECK(dy.values() == Floats(n, 8));
    CHECK(dz.values() == Floats(n, 10));
    const auto of = [](Errc code, TensorKey key) { return Status::of_tensor(code, index(key.tensor())); };
    CHECK(refresh(two.span(), other.span(), dy.span()) == of(Errc::fixed_address, x.key));
    CHECK(refresh(one.span(), other.span(), two.span()) == of(Errc::fixed_address, y.key));
    PinnedArray<float, P> pinned(session.platform(), n);
    CHECK(refresh(pinned, other.span(), dy.span()) == of(Errc::fixed_address, x.key));
    CHECK(owner.c.destroy_instance(captured) == 0);

    // A copy from memory of the host is recorded likewise.
    PinnedArray<float, P> another(session.platform(), n);
    REQUIRE(owner.c.capture_begin(owner.stream, capture_thread_local) == 0);
    REQUIRE(session.enqueue_round(bind(x, pinned), bind(w, two.span()), bind(y, dy.span()), bind(z, dz.span())).ok());
    // A round that is refused is not recorded, and neither is its memory.
    CHECK(
        session.enqueue_round(bind(x, another), bind(w, other.span()), bind(y, dy.span()), bind(z, dz.span())).code() ==
        Errc::fixed_address);
    RunInstance const from_host = owner.end_capture();
    CHECK(refresh(another, other.span(), dy.span()) == of(Errc::fixed_address, x.key));
    REQUIRE(refresh(pinned, other.span(), dy.span()).ok());
    for (float& each : pinned) each = 9;
    REQUIRE(owner.c.execute(from_host, owner.stream) == 0);
    owner.synchronise();
    CHECK(dy.values() == Floats(n, 9));
    CHECK(owner.c.destroy_instance(from_host) == 0);
  }
}

TEST_CASE_TEMPLATE("A global capture of another thread is respected: sessions open and run beside it", P,
                   A2A3ThatComputes, A5ThatComputes) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  REQUIRE(owner.c.capture_begin(owner.stream, capture_global) == 0);
  std::thread other([&] {
    Graph g;
    typename P::Options options;
    options.measure_refresh_costs = true;  // by copies that wait
    auto session = open<P>(g.graph, options);
    rondo_stand_in_reset();
    Floats x(n, 3), w(n, 1), y(n), s(n, 10);
    CHECK(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
    CHECK(y == Floats(n, 12));
    CHECK(calls("aclmdlRICaptureThreadExchangeMode") == 0);  // a round makes no call that is unsafe
    CHECK(rondo_stand_in_capture_mode() == capture_global);
    CHECK(session.close().ok());
  });
  other.join();
  RunInstance const graph = owner.end_capture();
  CHECK(owner.c.destroy_instance(graph) == 0);
}

TEST_CASE_TEMPLATE("What cannot be put on the stream is told, and nothing is waited for", P, A2A3OverStandIn,
                   A5OverStandIn) {
  const Clean clean;
  const Owner owner;
  Graph g;
  {
    auto session = open<P>(g.graph);
    Memory<P> m(session.platform());
    CHECK(session.enqueue_round(bind(g.x, m.x.span()), bind(g.w, m.w.span()), bind(g.y, m.y.span()),
                                bind(g.s, m.s.span())) == Status{Errc::unsupported});  // the options name no stream
    CHECK(session.wait_for_enqueued().ok());
  }
  auto session = open<P>(g.graph, owner.options<P>());
  {
    Memory<P> m(session.platform());
    PinnedArray<float, P> pinned(session.platform(), n);
    for (float& value : pinned) value = 2;
    const auto enqueue = [&] { return m.enqueue(session, g, pinned, m.y.span()); };
    REQUIRE(enqueue().ok());
    std::uint64_t refused = 0;
    for (const char* const call :
         {"aclmdlRICaptureGetInfo", "aclrtMemcpyAsync", "aclmdlRIExecuteAsync", "aclrtRecordEvent"}) {
      CAPTURE(call);
      rondo_stand_in_fault(call, 1, 107000);
      const Status status = enqueue();
      CHECK(status.code() == Errc::invalid_argument);
      CHECK_FALSE(status.poisoned());
      refused +=
          std::string(session.platform().failure_text().c_str()).find(std::string(call) + " returned 107000") == 0;
      REQUIRE(enqueue().ok());
    }
    CHECK(refused == 4);
    CHECK(owner.waits() == 0);
    owner.synchronise();
    CHECK(m.y.values() == Floats(n, 9));
    for (float& value : pinned) value = 4;
    rondo_stand_in_fault("aclmdlRIExecuteAsync", 1, 207000);
    REQUIRE(enqueue().ok());  // where the replay is refused, tasks are launched one by one
    owner.synchronise();
    CHECK(m.y.values() == Floats(n, 15));
    CHECK(session.enqueue_round(bind(g.x, m.x.span())).code() == Errc::unbound_tensor);
    Floats x(n, 3), w(n, 1), y(n), s(n, 10);
    auto round = session.begin_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s));
    CHECK(enqueue().code() == Errc::busy);
    CHECK(std::move(round).launch().finish().status().ok());
    // A task that fails on the device is told to whoever waits for the stream.
    rondo_stand_in_fault("device", 3, 507015);  // after two copies
    REQUIRE(enqueue().ok());
    CHECK(session.wait_for_enqueued().ok());
    CHECK(errc_of(owner.c.synchronize(owner.stream, -1)) == Errc::device_failed);
    rondo_stand_in_limit("snapshot_copies", 0);  // then bytes are copied once earlier rounds are over
    for (int r = 1; r <= 3; ++r) {
      Floats bytes(n, static_cast<float>(r));
      REQUIRE(session
                  .enqueue_round(bind(g.x, snapshot(bytes)), bind(g.w, m.w.span()), bind(g.y, m.y.span()),
                                 bind(g.s, m.s.span()))
                  .ok());
    }
    REQUIRE(session.wait_for_enqueued().ok());
    CHECK(m.y.values() == Floats(n, 12));
    CHECK(session.close().ok());
    CHECK(session.enqueue_round(bind(g.x, m.x.span()), bind(g.w, m.w.span()), bind(g.y, m.y.span()),
                                bind(g.s, m.s.span())) == Status{Errc::closed});
    CHECK(session.wait_for_enqueued() == Status{Errc::closed});
  }
}

TEST_CASE_TEMPLATE("The steps before one that is refused are over before what they use is given back", P,
                   A2A3OverStandIn, A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  Graph g;
  for (const char* const call : {"aclmdlRIExecuteAsync", "aclrtRecordEvent"}) {
    for (const char* const what : {"device memory", "pinned memory", "the session"}) {
      CAPTURE(call);
      CAPTURE(what);
      auto session = open<P>(g.graph, owner.options<P>());
      auto m = std::make_unique<Memory<P>>(session.platform());
      auto pinned = std::make_unique<PinnedArray<float, P>>(session.platform(), n);
      const auto enqueue = [&] { return m->enqueue(session, g, *pinned, m->y.span()); };
      REQUIRE(enqueue().ok());
      REQUIRE(session.wait_for_enqueued().ok());
      rondo_stand_in_hold();
      rondo_stand_in_fault(call, 1, 107000);
      CHECK(enqueue().code() == Errc::invalid_argument);
      rondo_stand_in_hold_until_awaited();
      if (what[0] == 'd') m.reset();
      if (what[0] == 'p') pinned.reset();
      if (what[0] == 't') CHECK(session.close().ok());
    }
  }
}

TEST_CASE_TEMPLATE("A stream that does not come to an end is neither aborted nor destroyed", P, A2A3OverStandIn,
                   A5OverStandIn) {
  const Clean clean;
  enum class Waits : std::uint8_t { in_round, for_enqueued, between_rounds, to_close };
  for (const Waits waits : {Waits::in_round, Waits::for_enqueued, Waits::between_rounds, Waits::to_close}) {
    CAPTURE(static_cast<int>(waits));
    Owner owner;
    Graph g;
    auto options = owner.options<P>();
    options.timeout_ms = 400;
    options.reset_failed_device = true;
    auto session = test::open_in_time([&] { return open<P>(g.graph, options); });
    auto m = std::make_unique<Memory<P>>(session.platform());
    rondo_stand_in_reset();
    rondo_stand_in_hang();
    Floats x(n, 3), w(n, 1), y(n), s(n, 10);
    Status status;
    if (waits == Waits::in_round) {
      status = session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s));
    } else {
      REQUIRE(session
                  .enqueue_round(bind(g.x, m->x.span()), bind(g.w, m->w.span()), bind(g.y, m->y.span()),
                                 bind(g.s, m->s.span()))
                  .ok());
      status = waits == Waits::for_enqueued ? session.wait_for_enqueued()
               : waits == Waits::to_close   ? session.close()
                                            : session.hold(g.x);
    }
    CHECK(status.code() == (waits == Waits::between_rounds ? Errc::poisoned : Errc::timed_out));
    CHECK(std::string(session.explain(status).c_str()).find(describe(Errc::timed_out)) != std::string::npos);
    CHECK(status.poisoned());
    if (waits == Waits::to_close) {
      CHECK(session.wait_for_enqueued() == Status{Errc::closed});
    } else {
      CHECK(session.wait_for_enqueued() == Status{Errc::poisoned}.poisoning());
    }
    (void)session.close();
    CHECK(calls("aclrtStreamAbort") == 0);
    CHECK(calls("aclrtDestroyStreamForce") == 0);
    CHECK(calls("aclrtResetDeviceForce") == 1);  // the options allow it; all of the process is gone with it
    owner.is_gone = true;
    m.reset();
    rondo_stand_in_reset();
    CHECK(owner.c.finalize() == 0);
  }
}

TEST_CASE_TEMPLATE("Beside a caller's stream, rounds in flight end at their limit on a device that gives no answer", P,
                   A2A3OverStandIn, A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  Graph g;
  auto options = owner.options<P>();
  options.timeout_ms = 400;
  Floats x(n, 3), w(n, 1), y(n), s(n, 10);
  {
    auto session = test::open_in_time([&] { return open_pipelined<P, 2>(g.graph, options); });
    rondo_stand_in_limit("silent", 1);
    rondo_stand_in_hang();
    const auto ticket = session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s));
    CHECK(session.wait(ticket).code() == Errc::timed_out);
    (void)session.close();
  }
  CHECK(calls("aclrtStreamAbort") != 0);
  rondo_stand_in_resume();
  while (rondo_stand_in_live(nullptr) != 3) std::this_thread::yield();  // for a call that got no answer
}

TEST_CASE("A block is given back after a failure of enqueued rounds, and the failure is returned") {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Owner owner;
  Graph g;
  auto session = open<A2A3OverStandIn>(g.graph, owner.options<A2A3OverStandIn>());
  auto m = std::make_unique<Memory<A2A3OverStandIn>>(session.platform());
  REQUIRE(m->enqueue(session, g, m->x.span(), m->y.span()).ok());
  owner.synchronise();
  rondo_stand_in_fault("aclrtQueryEventStatus", 1, 507015);
  CHECK(m->other.release().code() == Errc::device_failed);
  CHECK(m->z.release().ok());
}
