// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What a session offers between rounds and in other ways to run one, with rounds in flight.

#include "device_floats.hpp"
#include "kernels.hpp"
#include "platforms.hpp"

#include <rondo/orchestrated.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace rondo;

namespace {

using Floats = std::vector<float>;

// The checking engine knows the addresses that its program was loaded with, so tests that move them leave it out.
#define RONDO_TEST_PLATFORMS A2A3Sim, HostOn<Pool>, A2A3SimOn<Model>, toy::ToyPlatform, A2A3OverStandIn, A5OverStandIn
#define RONDO_TEST_PLATFORMS_AND_CHECKED RONDO_TEST_PLATFORMS, A2A3SimOn<platform::sim::Checked<Pool>>

/// y = a (x + w), total += x
struct Graph {
  static constexpr std::size_t n = 16;
  Graph() {
    const auto sum = graph.workspace<float>("sum", {n});
    graph.add<kernels::Add>(x, w, sum);
    scale = graph.add<kernels::Scale>(sum, y, 3.0F);
    graph.add<kernels::Accumulate>(x, total);
    graph.keep(w);
  }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {n});
  Input<float> w = graph.input<float>("w", {n});
  Output<float> y = graph.output<float>("y", {n});
  Resident<float> total = graph.resident<float>("total", {n});
  TaskId scale{};
};
constexpr std::size_t n = Graph::n;

template <class P>
auto opened(const Graph& g) {
  return open_pipelined<P, 3>(g.graph, busy_options<P>());
}
Floats filled(float value) { return Floats(n, value); }

}  // namespace

TEST_CASE_TEMPLATE("what a session does between rounds waits for those in flight", P,
                   RONDO_TEST_PLATFORMS_AND_CHECKED) {
  const Graph g;
  auto session = opened<P>(g);
  REQUIRE(session.upload(g.total, filled(0)).ok());
  const Floats x = filled(1), w = filled(2);
  std::deque<Floats> y;
  float scale = 3;
  std::vector<float> expected;
  const auto in_flight = [&] {
    for (int i = 0; i < 3; ++i) {
      y.push_back(filled(-1));
      expected.push_back(scale * 3);
      REQUIRE(session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, y.back())));
    }
  };
  const auto came = [&] {
    CHECK(session.in_flight() == 0);
    for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == filled(expected[i]));
  };
  Floats total(n), out(n);
  in_flight();
  REQUIRE(session.download(g.total, total).ok());
  CHECK(total == filled(3));
  came();
  in_flight();
  REQUIRE(session.set_scalar(g.scale, 0, 5.0F).ok());
  came();
  scale = 5;
  in_flight();
  REQUIRE(session.run_round(bind(g.w, w), bind(g.y, out), bind(g.x, x)).ok());
  CHECK(out == filled(15));
  came();
  in_flight();
  {
    auto round = session.begin_round(bind(g.x, x), bind(g.w, w), bind(g.y, out));
    came();
    out.assign(n, 0);
    // A round that is open refuses all others, and keeps what they bind.
    Floats other(n);
    CHECK(session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, other)).submitted().code() == Errc::busy);
    CHECK(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, other)).code() == Errc::busy);
    CHECK(session.upload(g.total, x).code() == Errc::busy);
    CHECK(session.hold(g.w).code() == Errc::busy);
    REQUIRE(std::move(round).launch().finish().status().ok());
    CHECK(out == filled(15));
  }
  in_flight();
  {
    auto dropped = session.begin_round(bind(g.x, x), bind(g.w, w), bind(g.y, out)).launch();
  }
  in_flight();
  REQUIRE(session.upload(g.total, filled(100)).ok());
  came();
  in_flight();
  const auto binding = session.prebind(bind(g.x, x), bind(g.w, w), bind(g.y, out));
  REQUIRE(session.submit_round(binding));
  REQUIRE(session.run_round(binding).ok());
  came();
  REQUIRE(session.download(g.total, total).ok());
  CHECK(total == filled(105));
  const auto rounds = session.rounds();
  in_flight();
  CHECK(session.close().ok());
  came();
  CHECK(session.rounds() == rounds + 3);
  CHECK(session.run_round(binding).code() == Errc::closed);
}

TEST_CASE_TEMPLATE("an input is held for all slots as the last round left it, whichever slot that was", P,
                   RONDO_TEST_PLATFORMS) {
  const Graph g;
  for (std::size_t before = 1; before <= 4; ++before) {
    auto session = opened<P>(g);
    REQUIRE(session.upload(g.total, filled(0)).ok());
    CHECK(session.hold(g.w).code() == Errc::unbound_tensor);
    const Floats x = filled(1);
    Floats out(n);
    const auto check_rounds = [&](float bound, float w) {
      const Floats held = filled(bound);
      std::deque<Floats> y;
      for (int i = 0; i < 7; ++i) {
        y.push_back(filled(-1));
        REQUIRE(session.submit_round(bind(g.x, x), bind(g.w, held), bind(g.y, y.back())));
      }
      REQUIRE(session.wait_all().ok());
      for (const Floats& each : y) REQUIRE(each == filled(3 * (1 + w)));
    };
    const Floats wrong = filled(9);
    auto early = session.prebind(bind(g.x, x), bind(g.w, wrong), bind(g.y, out));
    for (std::size_t i = 0; i < before; ++i) {
      const Floats w = filled(static_cast<float>(10 * i));
      REQUIRE(session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, out)));
    }
    const auto last = static_cast<float>(10 * (before - 1));
    // What is refused does not count as a round that left something, or lost it.
    const Floats small(n - 1);
    CHECK(session.submit_round(bind(g.x, x), bind(g.w, small), bind(g.y, out)).submitted().code() == Errc::wrong_size);
    REQUIRE(session.hold(g.w).ok());
    check_rounds(500, last);
    const auto late = session.prebind(bind(g.x, x), bind(g.w, wrong), bind(g.y, out));
    for (int i = 0; i < 4; ++i) {
      out.assign(n, 0);
      REQUIRE(session.run_round(i % 2 == 0 ? early : late).ok());
      CHECK(out == filled(3 * (1 + last)));
      REQUIRE(session.submit_round(i % 2 == 0 ? late : early));
      REQUIRE(session.wait_all().ok());
      CHECK(out == filled(3 * (1 + last)));
    }
    REQUIRE(session.begin_round(bind(g.x, x), bind(g.w, wrong), bind(g.y, out)).launch().finish().status().ok());
    CHECK(out == filled(3 * (1 + last)));
    REQUIRE(session.hold(g.w).ok());  // once more, after rounds of other slots
    check_rounds(600, last);
    REQUIRE(session.release_hold(g.w).ok());
    check_rounds(4, 4);
    REQUIRE(session.run_round(early).ok());
    CHECK(out == filled(30));
    REQUIRE(session.run_round(late).ok());
    CHECK(out == filled(30));

    DeviceFloats dw(session.platform(), n, 50);
    REQUIRE(session.submit_round(bind(g.x, x), bind(g.w, dw.span()), bind(g.y, out)));
    REQUIRE(session.hold(g.w).ok());
    check_rounds(4, 50);
    REQUIRE(session.release_hold(g.w).ok());
    check_rounds(7, 7);

    DeviceFloats dx(session.platform(), n, 2);
    REQUIRE(session.submit_round(bind(g.x, dx.span()), bind(g.w, dw.span()), bind(g.y, out)));
    REQUIRE(session.hold(g.x).ok());
    REQUIRE(session.hold(g.w).ok());
    check_rounds(4, 51);
    REQUIRE(session.close().ok());
  }
}

TEST_CASE_TEMPLATE("a host input that is held keeps its values in all slots", P, RONDO_TEST_PLATFORMS) {
  for (std::size_t before = 1; before <= 4; ++before) {
    TaskGraph graph;
    const auto x = graph.input<float>("x", {8});
    const auto bias = graph.host_input<float>("bias", {8});
    const auto y = graph.output<float>("y", {8});
    graph.add<kernels::Add>(x, bias, y);
    auto session = open_pipelined<P, 3>(graph);
    const Floats hx(8, 1);
    const auto check_rounds = [&](float bound, float expected) {
      const Floats b(8, bound);
      std::deque<Floats> out;
      for (int i = 0; i < 7; ++i) {
        out.emplace_back(8, -1.0F);
        REQUIRE(session.submit_round(bind(x, hx), bind(bias, b), bind(y, out.back())));
      }
      REQUIRE(session.wait_all().ok());
      for (const Floats& each : out) CHECK(each == Floats(8, 1 + expected));
    };
    Floats out(8);
    for (std::size_t i = 1; i <= before; ++i) {
      const Floats b(8, static_cast<float>(i));
      REQUIRE(session.submit_round(bind(x, hx), bind(bias, b), bind(y, out)));
    }
    const Input<float> held{bias.key};  // as programs in C and Python name it
    REQUIRE(session.hold(held).ok());
    check_rounds(100, static_cast<float>(before));
    REQUIRE(session.release_hold(held).ok());
    check_rounds(200, 200);
  }
}

TEST_CASE("in flight, an update strategy decides which inputs may be held") {
  struct Policies : DefaultPolicies {
    using Update = update::HostInput;
  };
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto bias = graph.host_input<float>("bias", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<kernels::Add>(x, bias, y);
  auto session = open_pipelined<A2A3Sim, 2, Policies>(graph);
  const Floats one = filled(1), two = filled(2);
  Floats out(n);
  REQUIRE(session.run_round(bind(x, one), bind(bias, two), bind(y, out)).ok());
  CHECK(session.hold(Input<float>{bias.key}).ok());
  CHECK(session.hold(x) == Status::of_tensor(Errc::unsupported, index(x.key.tensor())));
}

TEST_CASE_TEMPLATE("the arena moves for all slots, and releases what they hold there", P, RONDO_TEST_PLATFORMS) {
  const Graph g;
  auto session = opened<P>(g);
  REQUIRE(session.upload(g.total, filled(0)).ok());
  const Floats x = filled(1);
  std::deque<Floats> y;
  const auto submit = [&](float value) {
    const Floats weights = filled(value);
    y.push_back(filled(-1));
    REQUIRE(session.submit_round(bind(g.x, x), bind(g.w, weights), bind(g.y, y.back())));
  };
  for (int i = 0; i < 5; ++i) submit(2);
  REQUIRE(session.hold(g.w).ok());
  for (int i = 0; i < 3; ++i) submit(1000);
  const Floats w = filled(2);
  Floats out(n);
  const auto binding = session.prebind(bind(g.x, x), bind(g.w, w), bind(g.y, out));
  const Bytes bytes = session.arena_bytes();
  const auto block = session.platform().allocate(bytes, Bytes{P::Arch::arena_alignment});
  submit(1000);
  REQUIRE(session.move_arena({block, bytes.value}).ok());
  CHECK(session.in_flight() == 0);
  CHECK(session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, out)).submitted().code() ==
        Errc::uninitialized_read);
  REQUIRE(session.upload(g.total, filled(7)).ok());
  CHECK(session.run_round(binding).code() == Errc::stale_memory);
  CHECK(session.submit_round(binding).submitted().code() == Errc::stale_memory);
  CHECK(session.hold(g.w).code() == Errc::unbound_tensor);  // nothing was left there yet
  for (const Floats& each : y) CHECK(each == filled(9));
  y.clear();
  for (int i = 0; i < 7; ++i) submit(static_cast<float>(i));
  REQUIRE(session.wait_all().ok());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == filled(3 * (1 + static_cast<float>(i))));
  REQUIRE(session.download(g.total, out).ok());
  CHECK(out == filled(14));
  REQUIRE(session.hold(g.w).ok());
  y.clear();
  for (int i = 0; i < 4; ++i) submit(1000);
  REQUIRE(session.wait_all().ok());
  for (const Floats& each : y) CHECK(each == filled(21));
  REQUIRE(session.close().ok());
  CHECK(session.platform().release(block).ok());
}

TEST_CASE_TEMPLATE("device memory is found by each slot after a hold, next to an input that is held, and after a move",
                   P, RONDO_TEST_PLATFORMS) {
  const Graph g;
  auto session = opened<P>(g);
  REQUIRE(session.upload(g.total, filled(0)).ok());
  const Floats x = filled(1), w = filled(2), wrong = filled(9);
  const DeviceFloats dw(session.platform(), n, 50);
  DeviceFloats dy(session.platform(), n);
  Floats y(n);
  const auto check_round = [&](float expected, auto memory) {
    y.assign(n, -1);
    REQUIRE(session.submit_round(bind(g.x, x), bind(g.w, memory), bind(g.y, y)));
    REQUIRE(session.wait_all().ok());
    CHECK(y == filled(expected));
  };
  for (int i = 0; i < 3; ++i) check_round(9, std::span(w));
  check_round(153, dw.span());
  REQUIRE(session.hold(g.w).ok());
  REQUIRE(session.release_hold(g.w).ok());
  for (int i = 0; i < 3; ++i) check_round(153, dw.span());

  check_round(9, std::span(w));
  REQUIRE(session.hold(g.w).ok());
  for (int i = 0; i < 3; ++i) {
    dy.fill(0);
    REQUIRE(session.submit_round(bind(g.x, x), bind(g.w, wrong), bind(g.y, dy.span())));
    REQUIRE(session.wait_all().ok());
    CHECK(dy.values() == filled(9));
  }
  REQUIRE(session.release_hold(g.w).ok());

  const Bytes bytes = session.arena_bytes();
  const auto block = session.platform().allocate(bytes, Bytes{P::Arch::arena_alignment});
  REQUIRE(session.move_arena({block, bytes.value}).ok());
  REQUIRE(session.upload(g.total, filled(0)).ok());
  for (int i = 0; i < 3; ++i) check_round(9, std::span(w));
  for (int i = 0; i < 3; ++i) check_round(153, dw.span());
  REQUIRE(session.close().ok());
  CHECK(session.platform().release(block).ok());
}

TEST_CASE("with one round at a time, the only binding of a graph may be held, also at a fixed address") {
  for (const bool is_fixed : {false, true}) {
    TaskGraph graph;
    const auto x = graph.input<float>("x", {n});
    const auto sum = graph.resident<float>("sum", {n});
    const TaskId task = graph.add<kernels::Accumulate>(x, sum);
    graph.keep(x);
    if (is_fixed) graph.fix_addresses(task);
    const Floats two = filled(2), wrong = filled(9);
    auto session = open<A2A3Sim>(graph);
    REQUIRE(session.upload(sum, filled(0)).ok());
    REQUIRE(session.run_round(bind(x, two)).ok());
    REQUIRE(session.hold(x).ok());
    REQUIRE(session.run_round(bind(x, wrong)).ok());
    Floats host(n);
    REQUIRE(session.download(sum, host).ok());
    CHECK(host == filled(4));
  }
}

TEST_CASE_TEMPLATE("bindings that only the running program knows run rounds in flight", P,
                   RONDO_TEST_PLATFORMS_AND_CHECKED) {
  const Graph g;
  auto session = opened<P>(g);
  REQUIRE(session.upload(g.total, filled(0)).ok());
  DynamicBindings bindings(session);
  const Bytes size{n * sizeof(float)};
  const auto bind_to = [&](TensorKey key, Floats& memory) {
    REQUIRE(bindings.bind(key.tensor(), memory.data(), size));
  };
  Floats x = filled(1), w = filled(1);
  bind_to(g.x.key, x);
  bind_to(g.w.key, w);
  CHECK(session.submit_round(bindings).submitted().code() == Errc::unbound_tensor);
  CHECK(session.begin_round(bindings).launch().finish().status().code() == Errc::unbound_tensor);
  std::deque<Floats> y;
  int called = 0;
  for (int i = 0; i < 30; ++i) {
    y.push_back(filled(-1));
    bind_to(g.y.key, y.back());
    w.assign(n, static_cast<float>(i));
    if (i % 7 == 3) {
      REQUIRE(session.run_round(bindings).ok());
    } else if (i % 7 == 5) {
      auto round = session.begin_round(bindings);
      Floats elsewhere = filled(-5);
      bind_to(g.y.key, elsewhere);  // from the next round on
      CHECK(session.submit_round(bindings).submitted().code() == Errc::busy);
      CHECK(session.run_round(bindings).code() == Errc::busy);
      REQUIRE(std::move(round).launch().finish().status().ok());
      CHECK(elsewhere == filled(-5));
    } else {
      REQUIRE(session.submit_round(bindings, [&](Status s) noexcept { called += s.ok() ? 1 : 0; }));
    }
  }
  REQUIRE(session.wait_all().ok());
  CHECK(called == 22);  // 30 rounds, of which 4 and 4 were waited for one by one
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == filled(3 * (1 + static_cast<float>(i))));

  // A completion binds other memory while a round waits for a slot, or for what it reads.
  std::vector<Floats> out(8, filled(0));
  Floats late = filled(0);
  bind_to(g.y.key, out[0]);
  w.assign(n, 1);
  REQUIRE(session.submit_round(bindings, [&](Status) noexcept {
    bind_to(g.y.key, out[1]);
    bind_to(g.w.key, out[0]);  // what that round has written
  }));
  for (int i = 0; i < 2; ++i) REQUIRE(session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, late)));
  REQUIRE(session.submit_round(bindings));  // waits for the first; its bindings are those of now or of then
  REQUIRE(session.submit_round(bindings));
  REQUIRE(session.wait_all().ok());
  CHECK(out[0] == filled(6));
  CHECK(out[1] == filled(21));

  // The same before a round that is taken step by step, which waits for all.
  for (Floats& one : out) one = filled(-1);
  bind_to(g.y.key, out[2]);
  bind_to(g.w.key, w);
  REQUIRE(session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, late),
                               [&](Status) noexcept { bind_to(g.y.key, out[3]); }));
  REQUIRE(session.begin_round(bindings).launch().finish().status().ok());
  CHECK(out[2] == filled(-1));
  CHECK(out[3] == filled(6));

  // Those of another session over a larger graph.
  TaskGraph larger;
  for (int i = 0; i < 9; ++i) (void)larger.input<float>("x" + std::to_string(i), {1});
  auto others = open_pipelined<P, 3>(larger, busy_options<P>());
  DynamicBindings foreign(others);
  REQUIRE(session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, late)));
  CHECK(session.submit_round(foreign).submitted().code() == Errc::wrong_tensor);
  CHECK(session.run_round(foreign).code() == Errc::wrong_tensor);
  for (const std::uint32_t wrong : {5U, 1000U, 0xFFFF'FFFFU}) {
    CHECK(bindings.bind(TensorId{wrong}, x.data(), size).code() == Errc::wrong_tensor);
    CHECK(session.check_bytes(TensorId{wrong}, size).code() == Errc::wrong_tensor);
  }
  REQUIRE(session.wait_all().ok());
}

namespace {

template <class Runtime_>
struct With : DefaultPolicies {
  using Runtime = Runtime_;
};
template <class P, class R>
struct On {
  using Platform = P;
  using Policies = With<R>;
};
using runtime::AicpuBuildGraph;
using runtime::TensorMapRingBuffer;

}  // namespace

TEST_CASE_TEMPLATE("rounds whose graph an orchestration builds are in flight, too", C, On<A2A3Sim, TensorMapRingBuffer>,
                   On<A5SimOn<Pool>, TensorMapRingBuffer>, On<A2A3Sim, AicpuBuildGraph>,
                   On<A5SimOn<Pool>, AicpuBuildGraph>) {
  using P = typename C::Platform;
  static_assert(HasQueuedOrchestration<P>);
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto times = graph.input<std::int32_t>("times", {});
  const auto bias = graph.host_input<float>("bias", {8});
  const auto y = graph.inout<float>("y", {8});
  const auto total = graph.resident<float>("total", {8});
  bool throws = false;
  auto session = open_pipelined<P, 3, typename C::Policies>(graph, [&, x, times, bias, y, total](auto& round) {
    if (throws && round.value(times) == 3) throw std::runtime_error("three is too many");
    auto last = round.template add<kernels::Accumulate>(x, total);
    const auto biased = round.template add<kernels::Accumulate>(bias, y);
    if constexpr (requires { round.add_edge(last, biased); }) round.add_edge(last, biased);
    last = biased;
    for (std::int32_t i = 0; i < round.value(times); ++i) {
      const auto next = round.template add<kernels::Accumulate>(total, y);
      if constexpr (requires { round.add_edge(last, next); }) round.add_edge(last, next);
      last = next;
    }
  });
  const Floats hx(8, 1);
  Floats hy(8);
  Floats hbias(8, 0);
  std::int32_t n_times = 1;
  CHECK(session.submit_round(bind(x, hx), bind(times, n_times), bind(bias, hbias), bind(y, hy)).submitted().code() ==
        Errc::uninitialized_read);
  REQUIRE(session.upload(total, Floats(8, 0)).ok());
  std::deque<Floats> out;
  for (int i = 0; i < 30; ++i) {
    out.emplace_back(8, 10.0F);
    n_times = i % 4;
    hbias.assign(8, static_cast<float>(i));
    REQUIRE(session.submit_round(bind(x, hx), bind(times, n_times), bind(bias, hbias), bind(y, out.back())));
    n_times = -1;  // the session has taken it
    if (i % 10 == 9) {
      n_times = 2;
      const Floats none(8, 0);
      REQUIRE(session.run_round(bind(x, none), bind(times, n_times), bind(bias, hbias), bind(y, hy)).ok());
    }
  }
  REQUIRE(session.wait_all().ok());
  for (std::size_t i = 0; i < out.size(); ++i) {
    CHECK(out[i] == Floats(8, static_cast<float>(10 + i) + static_cast<float>(i % 4) * static_cast<float>(i + 1)));
  }
  Floats sum(8);
  REQUIRE(session.download(total, sum).ok());
  CHECK(sum == Floats(8, 30));

  throws = true;
  std::vector<RoundTicket> tickets;
  std::vector<Floats> ys(3, Floats(8));
  for (std::int32_t i = 2; i < 5; ++i) {
    tickets.push_back(session.submit_round(bind(x, hx), bind(times, i), bind(bias, hbias),
                                           bind(y, ys[static_cast<std::size_t>(i - 2)])));
  }
  CHECK(session.wait(tickets[0]).ok());
  const Status failed = session.wait(tickets[1]);
  CHECK(failed.code() == Errc::orchestration_failed);
  CHECK(session.wait(tickets[2]).code() == Errc::poisoned);
  const std::string text(session.explain(failed).c_str());
  CHECK_MESSAGE(text.find("three is too many") != std::string::npos, text);
  CHECK(session.poisoned());
  CHECK(session.close().ok());
}
