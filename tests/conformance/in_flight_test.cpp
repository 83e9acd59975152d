// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rounds in flight: what a session with several of them owes its user, on platforms with a queue and without.

#include "conformance/kernels.hpp"
#include "conformance/platforms.hpp"
#include "scale.hpp"

#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/platform/sim/traffic.hpp>
#include <rondo/session/open_static.hpp>
#include <rondo/session/round_loop.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace rondo;

namespace {

using Floats = std::vector<float>;
using Timed = A2A3SimOn<Inline, platform::sim::TimedBus>;

/// As busy_options, and a bus of which a round notices something.
template <class P>
typename P::Options options() {
  auto o = busy_options<P>();
  if constexpr (requires { o.traffic.copy_in_gbps; }) {
    o.traffic = {.copy_in_latency_ns = 3000, .copy_in_gbps = 5, .copy_out_latency_ns = 2000, .copy_out_gbps = 5};
  }
  return o;
}

/// r = a * r + x; y = r: the order of rounds shows in r.
struct Fold {
  static constexpr std::string_view name = "fold";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> r, Out<float> y, float a) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = r[i] = a * r[i] + x[i];
  }
};

/// y = factor * x
struct Times {
  static constexpr std::string_view name = "times";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, In<float> factor, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = factor[0] * x[i];
  }
};

struct Folding {
  explicit Folding(std::size_t size = 33) : n{size} { fold = graph.add<Fold>(x, r, y, 0.5F); }
  std::size_t n;
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {n});
  Output<float> y = graph.output<float>("y", {n});
  Resident<float> r = graph.resident<float>("r", {n});
  TaskId fold;
};

struct Picking {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {4});
  Output<float> y = graph.output<float>("y", {4});
  TaskId pick = graph.add<kernels::Picky>(x, y);
};

std::atomic<bool> gate_is_open{true};
/// y = x, once the gate is open.
struct Gate {
  static constexpr std::string_view name = "gate";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    while (!gate_is_open.load()) std::this_thread::yield();
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};
struct Gated {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {4});
  Output<float> y = graph.output<float>("y", {4});
  TaskId gate = graph.add<Gate>(x, y);
};

}  // namespace

TEST_CASE_TEMPLATE("overlapping rounds each give their own result, and residents see them in order", P, A2A3Sim,
                   A5SimOn<Pool>, Timed, A5SimOn<Model>, A2A3SimOn<Checked<Pool>>, A2A3OverStandIn, A5OverStandIn) {
  Folding g;
  auto session = open_pipelined<P, 3>(g.graph, options<P>());
  REQUIRE(session.upload(g.r, Floats(g.n, 1.0F)).ok());
  constexpr std::size_t rounds = 500;
  std::vector<Floats> x(rounds), y(rounds, Floats(g.n, -1.0F));
  std::vector<RoundTicket> tickets;
  for (std::size_t i = 0; i < rounds; ++i) {
    x[i].assign(g.n, static_cast<float>(i % 17));
    tickets.push_back(session.submit_round(bind(g.x, x[i]), bind(g.y, y[i])));
    REQUIRE_MESSAGE(tickets.back(), std::string(session.explain(tickets.back().submitted()).c_str()));
    x[i].assign(g.n, -7.0F);  // the session has taken it
    REQUIRE(session.in_flight() <= 3);
  }
  CHECK(session.wait(tickets[250]).ok());
  CHECK(session.rounds() >= 251);
  CHECK(session.wait_all().ok());
  CHECK(session.rounds() == rounds);
  float r = 1.0F;
  for (std::size_t i = 0; i < rounds; ++i) {
    r = 0.5F * r + static_cast<float>(i % 17);
    REQUIRE_MESSAGE(y[i] == Floats(g.n, r), "round ", i);
    REQUIRE(session.wait(tickets[i]).ok());  // tickets may be asked again, in any order
  }
  Floats last(g.n);
  REQUIRE(session.download(g.r, last).ok());
  CHECK(last == Floats(g.n, r));
}

TEST_CASE_TEMPLATE("a round that reads what one in flight will write waits for it", P, A2A3Sim, A5SimOn<Pool>, Timed,
                   A5SimOn<Model>, A2A3SimOn<Checked<Pool>>, A2A3OverStandIn, A5OverStandIn) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {40});
  const auto s = graph.inout<float>("s", {40});
  const auto y = graph.output<float>("y", {40});
  graph.add<kernels::Accumulate>(x, s);
  graph.add<kernels::Add>(x, s, y);
  auto session = open_pipelined<P, 3>(graph, options<P>());
  Floats hx(40, 1.0F), hs(40, 0.0F), hy(40);
  for (int i = 0; i < 100; ++i) REQUIRE(session.submit_round(bind(x, hx), bind(s, hs), bind(y, hy)));
  REQUIRE(session.wait_all().ok());
  CHECK(hs == Floats(40, 100.0F));
  CHECK(hy == Floats(40, 101.0F));

  SUBCASE("through another tensor, and only a part of it") {
    // Round i writes y into the front of the line, round i + 1 reads x from 8 elements further.
    Floats line(48, 2.0F), t(40, 0.0F);
    REQUIRE(session.submit_round(bind(x, hx), bind(s, t), bind(y, std::span(line).first(40))));
    REQUIRE(session.submit_round(bind(x, std::span<const float>(line).last(40)), bind(s, hs), bind(y, hy)));
    REQUIRE(session.wait_all().ok());
    CHECK(hs[0] == 100.0F + 2.0F);   // y of the first round was 1 + 1
    CHECK(hs[39] == 100.0F + 2.0F);  // what stood there
    CHECK(line[47] == 2.0F);
  }
}

TEST_CASE_TEMPLATE("rounds over memory that lies between that of others do not wait for them", P, A2A3Sim, Timed,
                   A2A3OverStandIn, A5OverStandIn) {
  gate_is_open = true;  // a platform may try its graph while it opens
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  const auto z = graph.output<float>("z", {4});
  graph.add<Gate>(x, y);
  graph.add<Gate>(x, z);
  auto session = open_pipelined<P, 3>(graph);
  gate_is_open = false;
  Floats block(12, 1.0F);  // y, x, z
  const auto part = [&](std::size_t i) { return std::span(block).subspan(i, 4); };
  const Floats before(4, 5.0F);
  REQUIRE(session.submit_round(bind(x, before), bind(y, part(0)), bind(z, part(8))));
  Floats y2(4), z2(4);
  const RoundTicket second = session.try_submit_round(bind(x, part(4)), bind(y, y2), bind(z, z2));
  CHECK(second);  // x stands between the outputs of the first, and in neither
  const RoundTicket third = session.try_submit_round(bind(x, part(6)), bind(y, y2), bind(z, z2));
  CHECK(third.submitted().code() == Errc::busy);  // two elements of z
  gate_is_open = true;
  REQUIRE(session.wait_all().ok());
  CHECK(block[0] == 5.0F);
  CHECK(block[11] == 5.0F);
  CHECK(y2 == Floats(4, 1.0F));
}

TEST_CASE_TEMPLATE("a full queue makes submit_round wait, and try_submit_round refuse", P, A2A3Sim, A5SimOn<Pool>,
                   A2A3OverStandIn, A5OverStandIn) {
  gate_is_open = true;
  Gated g;
  auto session = open_pipelined<P, 2>(g.graph, options<P>());
  gate_is_open = false;
  std::vector<Floats> x(4, Floats(4, 1.0F)), y(4, Floats(4, 0.0F));
  REQUIRE(session.submit_round(bind(g.x, x[0]), bind(g.y, y[0])));
  REQUIRE(session.submit_round(bind(g.x, x[1]), bind(g.y, y[1])));
  const RoundTicket refused =
      session.try_submit_round(bind(g.x, x[2]), bind(g.y, y[2]), [](Status) noexcept { std::abort(); });
  CHECK_FALSE(refused);
  CHECK(refused.submitted().code() == Errc::busy);
  CHECK(session.wait(refused).code() == Errc::busy);
  CHECK(session.in_flight() == 2);
  CHECK(session.poll() == 2);
  std::thread opener([] { gate_is_open = true; });
  REQUIRE(session.submit_round(bind(g.x, x[3]), bind(g.y, y[3])));
  opener.join();
  CHECK(session.wait_all().ok());
  CHECK(session.rounds() == 3);
  CHECK(y == std::vector<Floats>{Floats(4, 1.0F), Floats(4, 1.0F), Floats(4, 0.0F), Floats(4, 1.0F)});
}

TEST_CASE_TEMPLATE("completions are called once each, in order, and may submit rounds", P, A2A3Sim, A5SimOn<Pool>,
                   Timed, A5SimOn<Model>, A2A3OverStandIn, A5OverStandIn) {
  Folding g(5);
  auto session = open_pipelined<P, 3>(g.graph, options<P>());
  REQUIRE(session.upload(g.r, Floats(g.n, 0.0F)).ok());
  const Floats hx(g.n, 1.0F);
  std::deque<Floats> out;
  std::vector<int> order;
  int next = 0;
  std::map<int, std::uint64_t> numbers;
  struct Chain {
    decltype(session)& s;
    Folding& graph;
    const Floats& x;
    std::deque<Floats>& y;
    std::vector<int>& log;
    int& count;
    std::map<int, std::uint64_t>& number;
    void operator()(int mine) noexcept {
      if (y.size() <= static_cast<std::size_t>(mine)) y.resize(static_cast<std::size_t>(mine) + 1);
      Floats& mine_out = y[static_cast<std::size_t>(mine)] = Floats(graph.n);
      const RoundTicket t =
          s.submit_round(bind(graph.x, x), bind(graph.y, mine_out), [this, mine](Status status) noexcept {
            log.push_back(status.ok() ? mine : -1);
            if (count < 60) (*this)(count++);
          });
      number[mine] = t ? t.number() : 0;
    }
  } chain{session, g, hx, out, order, next, numbers};
  for (int i = 0; i < 5; ++i) chain(next++);
  CHECK(session.wait_all().ok());
  CHECK(session.in_flight() == 0);
  REQUIRE(order.size() >= 60);
  REQUIRE(order.size() == static_cast<std::size_t>(next));
  REQUIRE(numbers.size() == order.size());
  float r = 0.0F;
  for (std::size_t i = 0; i < order.size(); ++i) {
    CHECK(numbers[order[i]] == numbers[order[0]] + i);
    CHECK(out[static_cast<std::size_t>(order[i])][0] == (r = 0.5F * r + 1.0F));
  }
}

TEST_CASE_TEMPLATE("a wrong binding refuses the round and changes nothing", P, A2A3Sim, A5SimOn<Model>, A2A3OverStandIn,
                   A5OverStandIn) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto s = graph.inout<float>("s", {8});
  graph.add<kernels::Accumulate>(x, s);
  auto session = open_pipelined<P, 2>(graph, options<P>());
  Floats hx(8, 1.0F), hs(8), small(7);
  REQUIRE(session.submit_round(bind(x, hx), bind(s, hs)));
  bool called = false;
  const RoundTicket bad = session.submit_round(bind(x, small), bind(s, hs), [&](Status) noexcept { called = true; });
  CHECK(bad.submitted().code() == Errc::wrong_size);
  CHECK(std::string(session.explain(session.wait(bad)).c_str()).find("it takes 32 bytes, 28 were bound") !=
        std::string::npos);
  CHECK(session.submit_round(bind(x, hx)).submitted().code() == Errc::unbound_tensor);
  CHECK(session.submit_round(bind(x, hx), bind(x, hx)).submitted().code() == Errc::bound_twice);
  REQUIRE(session.submit_round(bind(s, hs), bind(x, hx)));  // any order
  CHECK(session.wait_all().ok());
  CHECK(session.rounds() == 2);
  CHECK_FALSE(called);
  CHECK(hs == Floats(8, 2.0F));

  auto other = open_pipelined<P, 2>(graph, options<P>());
  CHECK(other.wait(session.submit_round(bind(x, hx), bind(s, hs))).code() == Errc::invalid_argument);
  CHECK(other.wait(RoundTicket{}).code() == Errc::invalid_argument);
  CHECK(session.close().ok());
  CHECK(session.submit_round(bind(x, hx), bind(s, hs)).submitted().code() == Errc::closed);
  CHECK(hs == Floats(8, 3.0F));
}

TEST_CASE_TEMPLATE("a round that fails fails its own ticket, and those after it, each once", P, A2A3Sim, A5SimOn<Pool>,
                   Timed, A5SimOn<Model>, A2A3OverStandIn, A5OverStandIn) {
  Picking g;
  auto session = open_pipelined<P, 4>(g.graph, options<P>());
  std::vector<Floats> x(8, Floats(4, 1.0F)), y(8, Floats(4, 0.0F));
  x[3][0] = -1.0F;
  std::vector<Errc> seen;
  std::vector<RoundTicket> tickets;
  for (std::size_t i = 0; i < 8; ++i) {
    tickets.push_back(session.submit_round(bind(g.x, x[i]), bind(g.y, y[i]),
                                           [&](Status status) noexcept { seen.push_back(status.code()); }));
  }
  const Status all = session.wait_all();
  CHECK(all.code() == failure_of_a_kernel<P>);
  CHECK(session.poisoned());
  CHECK(session.rounds() == 3);
  std::size_t taken = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    taken += tickets[i] ? 1 : 0;
    const Errc expected = i < 3 ? Errc::ok : i == 3 ? failure_of_a_kernel<P> : Errc::poisoned;
    CHECK(session.wait(tickets[i]).code() == expected);
    CHECK(y[i] == Floats(4, i < 3 ? 1.0F : 0.0F));
  }
  CHECK(seen.size() == taken);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    CHECK(seen[i] == (i < 3 ? Errc::ok : i == 3 ? failure_of_a_kernel<P> : Errc::poisoned));
  }
  const Status late = session.run_round(bind(g.x, x[0]), bind(g.y, y[0]));
  CHECK(late.code() == Errc::poisoned);
  const std::string text(session.explain(late).c_str());
  CHECK_MESSAGE(text.find("task 0 'picky'") != std::string::npos, text);
  CHECK_MESSAGE(text.find("x[0] is negative") != std::string::npos, text);
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE("a stop request ends the round under way, and poisons", P, A2A3Sim, A5SimOn<Pool>) {
  gate_is_open = true;
  Gated g;
  auto session = open_pipelined<P, 3>(g.graph, options<P>());
  Floats x(4, 1.0F), y(4);
  std::atomic<bool> began{false};
  std::thread stopper([&] {
    while (!began) std::this_thread::yield();
    session.request_stop();
  });
  RoundTicket ticket;
  do {
    ticket = session.submit_round(bind(g.x, x), bind(g.y, y));
    began = true;
  } while (ticket);
  stopper.join();
  CHECK(ticket.submitted().code() == Errc::poisoned);
  CHECK(session.wait_all().code() == Errc::stopped);
}

TEST_CASE_TEMPLATE("a session that dies with rounds in flight finishes them first", P, A2A3Sim, A5SimOn<Pool>, Timed,
                   A2A3OverStandIn, A5OverStandIn) {
  Folding g;
  std::vector<Floats> y(3, Floats(g.n, -1.0F));
  int called = 0;
  {
    auto session = open_pipelined<P, 3>(g.graph, options<P>());
    REQUIRE(session.upload(g.r, Floats(g.n, 0.0F)).ok());
    const Floats x(g.n, 1.0F);
    for (Floats& out : y) {
      REQUIRE(session.submit_round(bind(g.x, x), bind(g.y, out), [&](Status s) noexcept { called += s.ok() ? 1 : 0; }));
    }
  }
  CHECK(called == 3);
  CHECK(y[2] == Floats(g.n, 1.75F));
}

TEST_CASE_TEMPLATE("scalars and residents change between rounds, never under one", P, A2A3Sim, A5SimOn<Pool>, Timed,
                   A5SimOn<Model>, A2A3SimOn<Checked<Pool>>, A2A3OverStandIn, A5OverStandIn) {
  Folding g;
  auto session = open_pipelined<P, 3>(g.graph, options<P>());
  Floats x(g.n, 1.0F);
  std::vector<Floats> y(6, Floats(g.n));
  CHECK(session.submit_round(bind(g.x, x), bind(g.y, y[0])).submitted().code() == Errc::uninitialized_read);
  REQUIRE(session.upload(g.r, Floats(g.n, 4.0F)).ok());
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(session.submit_round(bind(g.x, x), bind(g.y, y[i])));
  REQUIRE(session.set_scalar(g.fold, 0, 10.0F).ok());
  for (std::size_t i = 3; i < 6; ++i) REQUIRE(session.submit_round(bind(g.x, x), bind(g.y, y[i])));
  REQUIRE(session.upload(g.r, Floats(g.n, 0.0F)).ok());
  Floats r(g.n);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, r)).ok());
  const float expected[] = {3.0F, 2.5F, 2.25F, 23.5F, 236.0F, 2361.0F};
  for (std::size_t i = 0; i < 6; ++i) CHECK(y[i] == Floats(g.n, expected[i]));
  CHECK(r == Floats(g.n, 1.0F));
  CHECK(session.set_scalar(TaskId{9}, 0, 1.0F).code() == Errc::invalid_argument);
  CHECK(session.upload(g.r, Floats(g.n + 1)).code() == Errc::wrong_size);
  CHECK(session.run_round(bind(g.x, x), bind(g.y, r)).ok());
}

TEST_CASE_TEMPLATE("residents may be larger than all that rounds bind, and rounds may bind nothing", P, A2A3Sim,
                   A5SimOn<Pool>, A5SimOn<Model>, A2A3OverStandIn, A5OverStandIn) {
  TaskGraph graph;
  const auto a = graph.resident<float>("a", {5000});
  const auto b = graph.resident<float>("b", {5000});
  graph.add<kernels::Accumulate>(a, b);
  auto session = open_pipelined<P, 3>(graph, options<P>());
  REQUIRE(session.upload(a, Floats(5000, 2.0F)).ok());
  REQUIRE(session.upload(b, Floats(5000, 1.0F)).ok());
  for (int i = 0; i < 10; ++i) REQUIRE(session.submit_round());
  Floats hb(5000);
  REQUIRE(session.download(b, hb).ok());
  CHECK(hb == Floats(5000, 21.0F));

  const auto x = graph.input<float>("x", {1});
  const auto y = graph.output<float>("y", {1});
  graph.add<kernels::Add>(x, x, y);
  auto with_ports = open_pipelined<P, 3>(graph, options<P>());
  REQUIRE(with_ports.upload(a, Floats(5000, 2.0F)).ok());
  REQUIRE(with_ports.upload(b, Floats(5000, 1.0F)).ok());
  const Floats hx(1, 4.0F);
  Floats hy(1);
  for (int i = 0; i < 10; ++i) REQUIRE(with_ports.submit_round(bind(x, hx), bind(y, hy)));
  REQUIRE(with_ports.download(b, hb).ok());
  CHECK(hb == Floats(5000, 21.0F));
  CHECK(hy[0] == 8.0F);
}

TEST_CASE_TEMPLATE("bindings that were checked once serve every slot", P, A2A3Sim, A5SimOn<Pool>, A5SimOn<Model>,
                   A2A3OverStandIn, A5OverStandIn) {
  Folding g;
  auto session = open_pipelined<P, 3>(g.graph, options<P>());
  Floats x(g.n, 1.0F), y(g.n), small(1);
  const auto early = session.prebind(bind(g.x, x), bind(g.y, y));
  REQUIRE(session.upload(g.r, Floats(g.n, 0.0F)).ok());
  const auto binding = session.prebind(bind(g.x, x), bind(g.y, y));
  REQUIRE(binding);
  CHECK_FALSE(session.prebind(bind(g.x, small), bind(g.y, y)));
  CHECK(session.submit_round(session.prebind(bind(g.x, small), bind(g.y, y))).submitted().code() == Errc::wrong_size);
  int called = 0;
  float r = 0.0F;
  for (int i = 0; i < 20; ++i) {
    REQUIRE(session.submit_round(binding, [&](Status) noexcept { ++called; }));
    REQUIRE(session.submit_round(early));
    r = 0.5F * (0.5F * r + 1.0F) + 1.0F;
  }
  CHECK(session.wait_all().ok());
  CHECK(called == 20);
  CHECK(y == Floats(g.n, r));
}

namespace {

struct StaticFold {
  static constexpr auto build = [] {
    TaskGraph g;
    const auto x = g.input<float>("x", {16});
    const auto y = g.output<float>("y", {16});
    const auto t = g.workspace<float>("t", {16});
    g.add<kernels::Scale>(x, t, 2.0F);
    g.add<kernels::Add>(x, t, y);
    return g;
  };
};
constexpr auto& static_fold = static_graph<StaticFold::build>;

}  // namespace

TEST_CASE_TEMPLATE("a graph that the compiler knows has rounds in flight as well", P, A2A3Sim, A5SimOn<Pool>,
                   NullPlatform, A2A3OverStandIn, A5OverStandIn) {
  auto session = open_pipelined<P, static_fold, 3>();
  const auto x = static_fold.input<float>("x");
  const auto y = static_fold.output<float>("y");
  std::vector<Floats> out(50, Floats(16));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Floats in(16, static_cast<float>(i));
    REQUIRE(session.submit_round(bind(x, in), bind(y, out[i])));
  }
  REQUIRE(session.wait_all().ok());
  if constexpr (!std::is_same_v<P, NullPlatform>) {
    for (std::size_t i = 0; i < out.size(); ++i) CHECK(out[i] == Floats(16, 3.0F * static_cast<float>(i)));
  }
}

TEST_CASE_TEMPLATE("rounds in flight may bind device memory and bring bytes in the args", P, A2A3Sim, A5SimOn<Pool>,
                   A5SimOn<Model>) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {32});
  const auto factor = graph.host_input<float>("factor", {1});
  const auto y = graph.output<float>("y", {32});
  graph.add<Times>(x, factor, y);
  auto session = open_pipelined<P, 3>(graph, options<P>());
  constexpr std::size_t blocks = 5;
  std::vector<DevicePtr<std::byte>> memory;
  for (std::size_t b = 0; b < blocks; ++b) {
    memory.push_back(session.platform().allocate(Bytes{512}, Bytes{512}));
    auto* const f = reinterpret_cast<float*>(memory.back().address());
    for (std::size_t i = 0; i < 32; ++i) f[i] = static_cast<float>(b);
  }
  std::vector<Floats> out(40, Floats(32));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Floats host(32, 100.0F);
    const float by[] = {static_cast<float>(i)};
    const DeviceSpan<const float> device{DevicePtr<const float>{memory[i % blocks].address()}, 32};
    if (i % 3 == 0) {
      REQUIRE(session.submit_round(bind(x, host), bind(factor, by), bind(y, out[i])));
    } else {
      REQUIRE(session.submit_round(bind(x, device), bind(factor, by), bind(y, out[i])));
    }
  }
  REQUIRE(session.wait_all().ok());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto by = static_cast<float>(i);
    CHECK(out[i] == Floats(32, by * (i % 3 == 0 ? 100.0F : static_cast<float>(i % blocks))));
  }
  for (const auto block : memory) CHECK(session.platform().release(block).ok());
}

namespace {

/// For each round of several coroutines, the number of the coroutine and the rounds in flight when it went on.
using Resumed = std::vector<std::pair<int, std::size_t>>;

template <class Session>
RoundLoop run_loop(Session& session, const Picking& g, std::vector<Floats> in, Floats& out, Resumed* log, int id) {
  for (const Floats& each : in) {
    const Status status = co_await session.round(bind(g.x, each), bind(g.y, out));
    if (!status) co_return status;
    if (log != nullptr) log->push_back({id, session.in_flight()});
  }
  co_return Status{};
}

}  // namespace

TEST_CASE_TEMPLATE("coroutines await rounds, more of them than there are slots", P, A2A3Sim, A5SimOn<Pool>, Timed,
                   A5SimOn<Model>, A2A3OverStandIn, A5OverStandIn) {
  Picking g;
  auto session = open_pipelined<P, 2>(g.graph, options<P>());
  constexpr std::size_t loops = 5;
  std::vector<Floats> out(loops, Floats(4));
  Resumed log;
  std::vector<RoundLoop> running;
  for (std::size_t l = 0; l < loops; ++l) {
    running.push_back(run_loop(session, g, std::vector<Floats>(20, Floats(4, static_cast<float>(l + 1))), out[l], &log,
                               static_cast<int>(l)));
    CHECK_FALSE(running.back().done());
    CHECK(running.back().status().code() == Errc::busy);
  }
  CHECK(session.wait_all().ok());
  for (std::size_t l = 0; l < loops; ++l) {
    CHECK(running[l].done());
    CHECK(running[l].status().ok());
    CHECK(out[l] == Floats(4, static_cast<float>(l + 1)));
  }
  REQUIRE(log.size() == loops * 20);
  for (std::size_t i = 0; i < log.size(); ++i) {
    CHECK(log[i].first == static_cast<int>(i % loops));                       // nobody is passed over
    CHECK(log[i].second == (i + 1 == log.size() ? 0U : session.depth - 1U));  // and no slot stays free
  }

  SUBCASE("a failed round ends all of them") {
    std::vector<Floats> bad(3, Floats(4, 1.0F));
    bad[1][0] = -1.0F;
    RoundLoop a = run_loop(session, g, bad, out[0], nullptr, 0);
    RoundLoop b = run_loop(session, g, std::vector<Floats>(9, Floats(4, 1.0F)), out[1], nullptr, 0);
    RoundLoop c = run_loop(session, g, std::vector<Floats>(9, Floats(4, 1.0F)), out[2], nullptr, 0);
    std::vector<RoundLoop> many;  // more than the stack has room for
    const std::vector<Floats> twice(2, Floats(4, 1.0F));
    while (many.size() < 5000) many.push_back(run_loop(session, g, twice, out[3], nullptr, 0));
    CHECK(session.wait_all().code() == failure_of_a_kernel<P>);
    CHECK(a.status().code() == failure_of_a_kernel<P>);
    CHECK(b.status().code() == Errc::poisoned);
    CHECK(c.status().code() == Errc::poisoned);
    CHECK(std::all_of(many.begin(), many.end(), [](auto& l) { return l.status().code() == Errc::poisoned; }));
  }
  SUBCASE("those that are destroyed while they wait are forgotten") {
    RoundLoop kept = run_loop(session, g, std::vector<Floats>(4, Floats(4, 9.0F)), out[0], nullptr, 0);
    {
      RoundLoop submitted = run_loop(session, g, std::vector<Floats>(4, Floats(4, 9.0F)), out[1], nullptr, 0);
      RoundLoop waiting = run_loop(session, g, std::vector<Floats>(4, Floats(4, 9.0F)), out[2], nullptr, 0);
      RoundLoop later = run_loop(session, g, std::vector<Floats>(4, Floats(4, 9.0F)), out[3], nullptr, 0);
      {
        const RoundLoop dropped = std::move(waiting);
      }
      waiting = run_loop(session, g, {}, out[2], nullptr, 0);
      CHECK(waiting.done());
    }
    CHECK(session.wait_all().ok());
    CHECK(kept.done());
    CHECK(kept.status().ok());
    CHECK(out[0] == Floats(4, 9.0F));
  }
}

namespace {

/// Runs rounds until `ends`, at most 1,000.
template <class Session>
RoundLoop run_until(Session& session, const Picking& g, Floats& out, const bool& ends, int& rounds) {
  const Floats in(4, 1.0F);
  for (int i = 0; i < 1000 && !ends; ++i) {
    if (const Status status = co_await session.round(bind(g.x, in), bind(g.y, out)); !status) co_return status;
    ++rounds;
  }
  co_return Status{};
}

}  // namespace

TEST_CASE_TEMPLATE("a round that waits is submitted before those that coroutines await meanwhile", P, A2A3Sim,
                   A5SimOn<Pool>, Timed, A2A3OverStandIn, A5OverStandIn) {
  Picking g;
  auto session = open_pipelined<P, 2>(g.graph, options<P>());
  std::vector<Floats> out(4, Floats(4));
  bool ends = false;
  int rounds = 0;
  std::vector<RoundLoop> loops;
  for (std::size_t l = 0; l < 3; ++l) loops.push_back(run_until(session, g, out[l], ends, rounds));
  SUBCASE("for a slot") {
    const Floats in(4, 2.0F);
    REQUIRE(session.submit_round(bind(g.x, in), bind(g.y, out[3]), [&](Status) noexcept { ends = true; }));
    CHECK(rounds == 1);
  }
  SUBCASE("for what another one writes, and is then refused") {
    const RoundTicket refused = session.submit_round(bind(g.x, std::span(out[1]).first(2)), bind(g.y, out[3]));
    CHECK(refused.submitted().code() == Errc::wrong_size);
    CHECK(rounds == 2);
    CHECK(session.in_flight() == 1);  // the loops go on
    ends = true;
  }
  CHECK(session.wait_all().ok());
  for (const RoundLoop& loop : loops) CHECK(loop.status().ok());
  CHECK(rounds < 10);
}

TEST_CASE_TEMPLATE("a thousand random schedules give what one round at a time gives", P, A2A3Sim, A5SimOn<Pool>,
                   A2A3OverStandIn, A5OverStandIn) {
  Folding g(3);
  auto random = rondo::test::make_random(11);
  for (int schedule = 0; schedule < scaled(1000) / 20; ++schedule) {
    auto session = open_pipelined<P, 3>(g.graph, options<P>());
    for (int part = 0; part < 20; ++part) {
      float r = static_cast<float>(random() % 5);
      REQUIRE(session.upload(g.r, Floats(g.n, r)).ok());
      std::vector<Floats> y;
      y.reserve(24);
      std::vector<float> expected;
      std::vector<RoundTicket> tickets;
      int called = 0;
      int to_call = 0;
      for (int step = 0; step < 24; ++step) {
        const Floats x(g.n, static_cast<float>(random() % 9));
        switch (random() % 6) {
          case 0: (void)session.poll(); break;
          case 1:
            if (!tickets.empty()) REQUIRE(session.wait(tickets[random() % tickets.size()]).ok());
            break;
          case 2: {
            y.emplace_back(g.n);
            const RoundTicket t = session.try_submit_round(bind(g.x, x), bind(g.y, y.back()));
            if (!t) {
              REQUIRE(t.submitted().code() == Errc::busy);
              y.pop_back();
              break;
            }
            tickets.push_back(t);
            expected.push_back(r = 0.5F * r + x[0]);
            break;
          }
          default:
            y.emplace_back(g.n);
            ++to_call;
            tickets.push_back(session.submit_round(bind(g.x, x), bind(g.y, y.back()),
                                                   [&](Status s) noexcept { called += s.ok() ? 1 : 0; }));
            REQUIRE(tickets.back());
            expected.push_back(r = 0.5F * r + x[0]);
        }
      }
      REQUIRE(session.wait_all().ok());
      REQUIRE(called == to_call);
      for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == Floats(g.n, expected[i]));
    }
  }
}

TEST_CASE("rounds on a bus that takes its time take at least that") {
  Gated g;
  gate_is_open = true;
  Timed::Options o;
  o.traffic = {
      .copy_in_latency_ns = 200'000, .copy_in_gbps = 1e9, .copy_out_latency_ns = 300'000, .copy_out_gbps = 1e9};
  Floats x(4, 1.0F), y(4);
  const auto time = [&](auto&& rounds) {
    const std::uint64_t begin = platform::sim::now_ns();
    rounds();
    return platform::sim::now_ns() - begin;
  };
  auto one = open<Timed>(g.graph, o);
  CHECK(time([&] { REQUIRE(one.run_round(bind(g.x, x), bind(g.y, y)).ok()); }) >= 500'000);
  auto many = open_pipelined<Timed, 3>(g.graph, o);
  CHECK(time([&] { REQUIRE(many.run_round(bind(g.x, x), bind(g.y, y)).ok()); }) >= 500'000);
  CHECK(time([&] {
          for (int i = 0; i < 5; ++i) REQUIRE(many.submit_round(bind(g.x, x), bind(g.y, y)));
          REQUIRE(many.wait_all().ok());
        }) >= 200'000 + 5 * 300'000);
}

namespace {

struct Log {
  static constexpr Events events{Event::refreshes};
  std::vector<std::uint64_t> begun, ended;
  std::size_t refreshed_ = 0;
  void round_begins(RoundIndex round) noexcept { begun.push_back(static_cast<std::uint64_t>(round)); }
  void round_ends(RoundIndex round, Status) noexcept { ended.push_back(static_cast<std::uint64_t>(round)); }
  void refresh_begins() noexcept {}
  void refreshed(const update::Refreshed&) noexcept { ++refreshed_; }
};

}  // namespace

TEST_CASE("an observer hears of each round once, in order, with its number") {
  struct Logging : DefaultPolicies {
    using Observe = Log;
  };
  Folding g;
  auto session = open_pipelined<A2A3Sim, 3, Logging>(g.graph);
  REQUIRE(session.upload(g.r, Floats(g.n, 0.0F)).ok());
  Floats x(g.n), y(g.n);
  for (int i = 0; i < 10; ++i) REQUIRE(session.submit_round(bind(g.x, x), bind(g.y, y)));
  REQUIRE(session.wait_all().ok());
  std::vector<std::uint64_t> all(10);
  for (std::size_t i = 0; i < 10; ++i) all[i] = i;
  CHECK(session.observer().begun == all);
  CHECK(session.observer().ended == all);
}
