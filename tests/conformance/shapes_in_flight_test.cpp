// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Sessions over symbolic graphs with rounds of different shapes in flight.

#include "device_floats.hpp"
#include "kernels.hpp"
#include "platforms.hpp"

#include <rondo/launch/round_values.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/round_loop.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

using namespace rondo;

namespace {

using Floats = std::vector<float>;

#define RONDO_TEST_PLATFORMS \
  A2A3Sim, HostOn<Pool>, A2A3SimOn<platform::sim::Checked<Inline>>, toy::ToyPlatform, A2A3OverStandIn, A5OverStandIn

/// last += x[0]; y = x + last: the order of rounds shows in the resident.
struct Chain {
  static constexpr std::string_view name = "chain";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> last, Out<float> y) noexcept {
    if (x.size() != 0) last[0] += x[0];
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + last[0];
  }
};
/// bins[0] += 1 and is left at zero; y = x.
struct Reset {
  static constexpr std::string_view name = "reset";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> bins, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + bins[0];
    bins[0] = 0;
  }
};

struct Chained {
  Chained() { graph.add<Chain>(x, last, y); }
  TaskGraph graph;
  Dim n = graph.dim("n");
  Input<float> x = graph.input<float>("x", {n});
  Output<float> y = graph.output<float>("y", {n});
  Resident<float> last = graph.resident<float>("last", {1});
};
struct Picking {
  TaskGraph graph;
  Dim n = graph.dim("n");
  Input<float> x = graph.input<float>("x", {n});
  Output<float> y = graph.output<float>("y", {n});
  TaskId pick = graph.add<kernels::Picky>(x, y);
};

/// t = x[0]
struct Spread {
  static constexpr std::string_view name = "spread";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> t) noexcept {
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = x[0];
  }
};
/// sum += the last element of t
struct AddLast {
  static constexpr std::string_view name = "add_last";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> t, InOut<float> sum) noexcept { sum[0] += t[t.size() - 1]; }
};
/// t = 2 x; y = 3 t; shown = t
struct Showing {
  Showing() {
    graph.add<kernels::Scale>(x, t, 2.0F);
    graph.add<kernels::Scale>(t, y, 3.0F);
    graph.make_view(shown, t);
  }
  TaskGraph graph;
  Dim n = graph.dim("n");
  Input<float> x = graph.input<float>("x", {n});
  Workspace<float> t = graph.workspace<float>("t", {n});
  Output<float> y = graph.output<float>("y", {n});
  Output<float> shown = graph.output<float>("shown", {n});
};
/// y[0] = whether the addresses of x and y are multiples of the alignment of tensors
template <class P>
struct IsAligned {
  static constexpr std::string_view name = "is_aligned";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    const auto either = reinterpret_cast<std::uintptr_t>(&x[0]) | reinterpret_cast<std::uintptr_t>(&y[0]);
    y[0] = either % P::Arch::tensor_alignment == 0 ? 1 : 0;
  }
};

/// Notes where its tensors lie.
struct Where {
  static constexpr std::string_view name = "where";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> t, Out<float> y) noexcept {
    seen.push_back({&x[0], &t[0], &y[0], x.size()});
  }
  struct Places {
    const float *x, *t, *y;
    std::size_t size;
  };
  static inline std::vector<Places> seen;
};

template <class P, std::size_t Capacity = 64, class Policies = DefaultPolicies, std::size_t Depth = 3>
using Session = ShapedSession<P, Policies, launch::Lru<Capacity>, Depth>;
template <class P, std::size_t Depth>
using SessionOfDepth = Session<P, 64, DefaultPolicies, Depth>;

template <class S>
std::string explained(const S& session, Status status) {
  return session.explain(status).c_str();
}

}  // namespace

TEST_CASE_TEMPLATE("rounds of different shapes overlap, while the arena grows and shapes are evicted", P,
                   RONDO_TEST_PLATFORMS) {
  const Chained g;
  Session<P, 3> session(g.graph, busy_options<P>());
  REQUIRE(session.upload(g.last, Floats{0}).ok());
  constexpr std::size_t rounds = 120;
  std::deque<Floats> y;
  std::vector<Floats> x;
  std::vector<RoundTicket> tickets;
  int called = 0;
  Bytes arena = session.arena_bytes();
  std::size_t grown = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    // Mostly shapes that are known; now and then a larger one than any before.
    const std::size_t size = i % 30 == 29 ? 40 * i : 1 + i % 3 + (i / 20);
    x.emplace_back(size, static_cast<float>(i % 7));
    y.emplace_back(size, -1.0F);
    tickets.push_back(
        session.submit_round(bind(g.x, x[i]), bind(g.y, y[i]), [&](Status s) noexcept { called += s.ok() ? 1 : 0; }));
    REQUIRE_MESSAGE(tickets[i], explained(session, tickets[i].submitted()));
    CHECK(session.entries() <= 3);
    if (session.arena_bytes() != arena) ++grown, arena = session.arena_bytes();
  }
  REQUIRE(session.wait_all().ok());
  CHECK(called == static_cast<int>(rounds));
  CHECK(session.rounds() == rounds);
  CHECK(grown >= 3);
  float last = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    last += static_cast<float>(i % 7);
    REQUIRE(session.wait(tickets[i]).ok());
    REQUIRE_MESSAGE(y[i] == Floats(x[i].size(), static_cast<float>(i % 7) + last), "round ", i);
  }
  Floats host(1);
  REQUIRE(session.download(g.last, host).ok());
  CHECK(host[0] == last);

  // Other ways to run a round, with rounds in flight.
  Floats hx(4, 1.0F), a(4), b(4), c(6);
  const Floats hc(6, 1.0F);
  REQUIRE(session.submit_round(bind(g.x, hx), bind(g.y, a)));
  REQUIRE(session.submit_round(with_symbols({{g.n, 4}}), bind(g.x, hx), bind(g.y, b)));
  REQUIRE(session.run_round(bind(g.y, c), bind(g.x, hc, {6})).ok());
  CHECK(session.in_flight() == 0);
  CHECK(a == Floats(4, last + 2));
  CHECK(b == Floats(4, last + 3));
  CHECK(c == Floats(6, last + 4));
  REQUIRE(session.submit_round(bind(g.x, hx), bind(g.y, a)));
  REQUIRE(session.upload(g.last, Floats{100}).ok());
  CHECK(a == Floats(4, last + 5));
  REQUIRE(session.submit_round(bind(g.x, a), bind(g.y, b)));  // what the last but one has written
  session.prepare({{g.n, 77}});
  session.reserve(Bytes{session.arena_bytes().value * 2});
  REQUIRE(session.submit_round(bind(g.x, b), bind(g.y, c)).submitted().code() != Errc::ok);  // 4 is not 6
  REQUIRE(session.submit_round(bind(g.x, b), bind(g.y, a)));
  REQUIRE(session.wait_all().ok());
  CHECK(b == Floats(4, 100 + 2 * (last + 5)));
  CHECK(a == Floats(4, 2 * b[0] + 100 + last + 5));
}

TEST_CASE_TEMPLATE("rounds of known shapes do not wait for each other", P, A2A3OverStandIn, A5OverStandIn) {
  const Chained g;
  Session<P> session(g.graph, busy_options<P>());
  REQUIRE(session.upload(g.last, Floats{0}).ok());
  const Floats small(4, 1), large(6, 1);
  Floats y4(4), y6(6);
  session.prepare({{g.n, 4}});
  session.prepare({{g.n, 6}});
  REQUIRE(session.submit_round(bind(g.x, small), bind(g.y, y4)));
  REQUIRE(session.submit_round(bind(g.x, large), bind(g.y, y6)));
  CHECK(session.in_flight() == 2);
  REQUIRE(session.wait_all().ok());
  CHECK(y4 == Floats(4, 2));
  CHECK(y6 == Floats(6, 3));
}

TEST_CASE_TEMPLATE("a round that finds its workspace zero waits for rounds of other shapes", P, RONDO_TEST_PLATFORMS) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto bins = graph.workspace<float>("bins", {1});
  const auto y = graph.output<float>("y", {n});
  graph.zero(bins, Zeroed::once);
  graph.add<Reset>(x, bins, y);
  Session<P> session(graph, busy_options<P>());
  session.prepare({{n, 4}});
  session.prepare({{n, 600}});
  const Floats small(4, 1), large(600, 1);
  Floats y4(4), y600(600);
  REQUIRE(session.submit_round(bind(x, small), bind(y, y4)));
  REQUIRE(session.submit_round(bind(x, large), bind(y, y600)));
  CHECK(session.in_flight() == 1);
  REQUIRE(session.wait_all().ok());
  CHECK(y4 == small);
  CHECK(y600 == large);
}

TEST_CASE_TEMPLATE("a completion may close the session for which a round of another shape waits", P,
                   RONDO_TEST_PLATFORMS) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto bins = graph.workspace<float>("bins", {1});
  const auto y = graph.output<float>("y", {n});
  graph.zero(bins, Zeroed::once);
  graph.add<Reset>(x, bins, y);
  for (const std::size_t size : {4U, 600U}) {  // known, and new
    CAPTURE(size);
    Session<P> session(graph, busy_options<P>());
    session.prepare({{n, 4}});
    session.prepare({{n, 2}});
    const Floats two(2, 1), in(size, 1);
    Floats y2(2), out(size);
    Status closed = Status{Errc::busy};
    REQUIRE(session.submit_round(bind(x, two), bind(y, y2), [&](Status) noexcept { closed = session.close(); }));
    CHECK(session.submit_round(bind(x, in), bind(y, out)).submitted() == Status{Errc::closed});
    CHECK(closed.ok());
    CHECK(y2 == two);
  }
}

TEST_CASE_TEMPLATE("a round that runs directly comes after the completions of those submitted", P,
                   RONDO_TEST_PLATFORMS) {
  const Chained g;
  Session<P> session(g.graph, busy_options<P>());
  REQUIRE(session.upload(g.last, Floats{0}).ok());
  session.prepare({{g.n, 4}});
  const Floats x(4, 1);
  Floats first(4), second(4);
  bool is_called = false;
  REQUIRE(session.submit_round(bind(g.x, x), bind(g.y, first), [&](Status) noexcept { is_called = true; }));
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, second)).ok());
  CHECK(is_called);
  CHECK(session.in_flight() == 0);
  CHECK(session.rounds() == 2);
  CHECK(second == Floats(4, 3));
}

TEST_CASE_TEMPLATE("a round that is refused for its addresses is explained with its own sizes", P, A2A3Sim,
                   A2A3OverStandIn, A5OverStandIn) {
  const Chained g;
  Session<P> session(g.graph, busy_options<P>());
  REQUIRE(session.upload(g.last, Floats{0}).ok());
  DynamicBindings bindings(session);
  const DeviceFloats both(session.platform(), 64);
  for (const std::size_t n : {48U, 64U}) {
    for (const TensorKey key : {g.x.key, g.y.key}) {
      REQUIRE(bindings.bind(key.tensor(), both.span().data().template as<std::byte>(), Bytes{4 * n}).ok());
    }
    const Status status = session.run_round(bindings);
    CHECK(status.code() == Errc::overlapping);
    const std::string said = explained(session, status);
    CHECK_MESSAGE(said.find(std::to_string(n) + " × float32") != std::string::npos, said);
  }
}

TEST_CASE_TEMPLATE("a completion may submit rounds while a new shape waits for those in flight", P,
                   RONDO_TEST_PLATFORMS) {
  const Chained g;
  Session<P, 2> session(g.graph, busy_options<P>());
  REQUIRE(session.upload(g.last, Floats{0}).ok());
  std::deque<Floats> y;
  std::vector<int> order;
  const Floats one(2, 1.0F), three(3, 1.0F);
  const auto submit = [&](const Floats& x, auto done) {
    y.emplace_back(x.size(), -1.0F);
    REQUIRE(session.submit_round(bind(g.x, x), bind(g.y, y.back()), done));
  };
  submit(one, [&](Status) noexcept { order.push_back(0); });
  REQUIRE(session.wait_all().ok());
  submit(one, [&](Status) noexcept {
    order.push_back(1);
    submit(one, [&](Status) noexcept { order.push_back(2); });
    submit(one, [&](Status) noexcept { order.push_back(3); });
  });
  submit(three, [&](Status) noexcept { order.push_back(4); });  // a shape that is new waits for the first
  for (int i = 0; i < 7; ++i)
    submit(i % 2 == 0 ? one : three, [&order, i](Status) noexcept { order.push_back(5 + i); });
  REQUIRE(session.wait_all().ok());
  REQUIRE(order.size() == 12);
  Floats last(1);
  REQUIRE(session.download(g.last, last).ok());
  CHECK(last[0] == 12);
  std::vector<float> seen;
  for (const Floats& out : y) seen.push_back(out[0] - 1);
  std::sort(seen.begin(), seen.end());
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == static_cast<float>(i + 1));
}

namespace {

/// Runs rounds of one shape until `ends`, at most `most`.
template <class Session>
RoundLoop run_until(Session& session, Input<float> x, Output<float> y, std::size_t size, const bool& ends,
                    int most = 1000) {
  const Floats in(size, 1.0F);
  Floats out(size);
  for (int i = 0; i < most && !ends; ++i) {
    if (const Status status = co_await session.round(bind(x, in), bind(y, out)); !status) co_return status;
  }
  co_return Status{};
}

}  // namespace

TEST_CASE_TEMPLATE("a round of a new shape waits only for the rounds in flight, not for loops", P,
                   RONDO_TEST_PLATFORMS) {
  const Chained g;
  Session<P> session(g.graph, busy_options<P>());
  REQUIRE(session.upload(g.last, Floats{0}).ok());
  bool ends = false;
  std::vector<RoundLoop> loops;
  for (const std::size_t size : {2U, 3U, 2U, 3U}) loops.push_back(run_until(session, g.x, g.y, size, ends));
  const Floats in(4, 1.0F);
  Floats out(4);
  SUBCASE("of a coroutine") {
    const RoundLoop next = run_until(session, g.x, g.y, 4, ends, 1);
    while (!next.done() && session.rounds() < 100) (void)session.poll();
    CHECK(next.done());
    CHECK(session.rounds() < 30);
  }
  SUBCASE("submitted") {
    REQUIRE(session.submit_round(bind(g.x, in), bind(g.y, out)));
    CHECK(session.rounds() < 30);
  }
  SUBCASE("that cannot be set up") {
    CHECK(session.submit_round(bind(g.x, in), bind(g.y, std::span(out).first(3))).submitted().code() ==
          Errc::wrong_size);
    CHECK(session.rounds() < 30);
    CHECK(session.in_flight() != 0);
  }
  ends = true;
  CHECK(session.wait_all().ok());
  for (const RoundLoop& loop : loops) CHECK(loop.status().ok());
}

TEST_CASE_TEMPLATE("loops go on after a round that is run between theirs", P, RONDO_TEST_PLATFORMS) {
  const Chained g;
  auto session = open_shaped<P>(g.graph, busy_options<P>());
  REQUIRE(session.upload(g.last, Floats{0}).ok());
  const bool ends = false;
  const RoundLoop loop = run_until(session, g.x, g.y, 4, ends, 3);
  const Floats in(4, 1.0F);
  Floats out(4);
  CHECK(session.run_round(bind(g.x, in), bind(g.y, out)).ok());
  CHECK(session.wait_all().ok());
  CHECK(loop.done());
  CHECK(session.rounds() == 4);
}

TEST_CASE_TEMPLATE("loops of shapes that wait for each other take turns", P, RONDO_TEST_PLATFORMS) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto bins = graph.workspace<float>("bins", {1});
  const auto y = graph.output<float>("y", {n});
  graph.zero(bins, Zeroed::once);
  graph.add<Reset>(x, bins, y);
  Session<P> session(graph, busy_options<P>());
  bool ends = false;
  const RoundLoop a = run_until(session, x, y, 2, ends);
  const RoundLoop b = run_until(session, x, y, 3, ends);
  const RoundLoop c = run_until(session, x, y, 3, ends, 10);
  while (!c.done() && session.rounds() < 500) (void)session.poll();
  CHECK(c.done());
  CHECK(session.rounds() < 500);  // each poll ended, so the other loops had not run all their rounds
  ends = true;
  CHECK(session.wait_all().ok());
  CHECK(a.status().ok());
  CHECK(b.status().ok());
}

TEST_CASE_TEMPLATE("a round of some shape that fails names its task, and poisons those after it", P,
                   RONDO_TEST_PLATFORMS) {
  const Picking g;
  Session<P> session(g.graph, busy_options<P>());
  std::vector<Floats> x{Floats(2, 1), Floats(3, 1), Floats(2, -1), Floats(3, 1), Floats(2, 1)}, y;
  for (const Floats& in : x) y.emplace_back(in.size(), 0.0F);
  session.prepare({{g.n, 2}});
  session.prepare({{g.n, 3}});
  std::vector<RoundTicket> tickets;
  std::vector<Errc> seen;
  for (std::size_t i = 0; i < x.size(); ++i) {
    tickets.push_back(
        session.submit_round(bind(g.x, x[i]), bind(g.y, y[i]), [&](Status s) noexcept { seen.push_back(s.code()); }));
  }
  SUBCASE("waited for") {}
  SUBCASE("when a shape that is new waits for it") {
    const Floats in(5, 1);
    Floats out(5);
    CHECK(session.submit_round(bind(g.x, in), bind(g.y, out)).submitted().code() == Errc::poisoned);
    CHECK(out == Floats(5));
  }
  SUBCASE("when it is closed") { CHECK(session.close().ok()); }
  CHECK(session.wait_all().code() == failure_of_a_kernel<P>);
  CHECK(session.rounds() == 2);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Errc expected = i < 2 ? Errc::ok : i == 2 ? failure_of_a_kernel<P> : Errc::poisoned;
    CHECK(session.wait(tickets[i]).code() == expected);
    if (i < seen.size()) CHECK(seen[i] == expected);
    CHECK(y[i] == Floats(x[i].size(), i < 2 ? 1.0F : 0.0F));
  }
  const Status status = session.wait(tickets[2]);
  const std::string text = explained(session, status);
  CHECK_MESSAGE(text.find("'picky'") != std::string::npos, text);
  CHECK(session.close().ok());  // the round has told
  CHECK(session.close().ok());
  CHECK(session.submit_round(bind(g.x, x[0]), bind(g.y, y[0])).submitted().code() == Errc::closed);
  CHECK(session.run_round(bind(g.x, x[0]), bind(g.y, y[0])).code() == Errc::closed);
  CHECK_THROWS_AS(session.prepare({{g.n, 9}}), Error);
}

TEST_CASE_TEMPLATE("a round that fails while a new shape waits for it keeps its own explanation", P,
                   RONDO_TEST_PLATFORMS) {
  const Picking g;
  Session<P> session(g.graph, busy_options<P>());
  session.prepare({{g.n, 2}});
  const Floats bad(2, -1), other(5, 1);
  Floats y2(2), y5(5);
  const RoundTicket ticket = session.submit_round(bind(g.x, bad), bind(g.y, y2));
  REQUIRE(ticket);
  CHECK(session.submit_round(bind(g.x, other), bind(g.y, y5)).submitted().code() == Errc::poisoned);
  const Status status = session.wait(ticket);
  CHECK(status.code() == failure_of_a_kernel<P>);
  const std::string text = explained(session, status);
  CHECK_MESSAGE(text.find("'picky'") != std::string::npos, text);
}

TEST_CASE_TEMPLATE("a round whose shape loses the device returns that failure, also after others were delivered", P,
                   A2A3OverStandIn, A5OverStandIn) {
  rondo_stand_in_reset();
  const Chained g;
  Session<P> session(g.graph, busy_options<P>());
  REQUIRE(session.upload(g.last, Floats{0}).ok());
  session.prepare({{g.n, 2}});
  const Floats x(2, 1), large(5000, 1);
  Floats y(2), z(5000);
  const RoundTicket ticket = session.submit_round(bind(g.x, x), bind(g.y, y));
  REQUIRE(ticket);
  rondo_stand_in_fault("aclrtMemcpyAsync", 1, 507899);  // while the arena moves
  const Status status = session.submit_round(bind(g.x, large), bind(g.y, z)).submitted();
  CHECK(rondo_stand_in_faults_left() == 0);
  CHECK(status.code() == Errc::device_failed);
  CHECK(status.poisoned());
  CHECK(session.wait(ticket).ok());
  CHECK(session.submit_round(bind(g.x, x), bind(g.y, y)).submitted().code() == Errc::poisoned);
  (void)session.close();
  rondo_stand_in_reset();
}

TEST_CASE_TEMPLATE("a session of shapes that is closed or dies with rounds in flight finishes them", P,
                   RONDO_TEST_PLATFORMS) {
  const Chained g;
  const Floats x(5, 1.0F), x2(9, 1.0F);
  Floats y(5), y2(9);
  int called = 0;
  const auto count = [&](Status s) noexcept { called += s.ok() ? 1 : 0; };
  {
    Session<P> session(g.graph, busy_options<P>());
    REQUIRE(session.upload(g.last, Floats{0}).ok());
    session.prepare({{g.n, 5}});
    session.prepare({{g.n, 9}});
    REQUIRE(session.submit_round(bind(g.x, x), bind(g.y, y), count));
    REQUIRE(session.submit_round(bind(g.x, x2), bind(g.y, y2), count));
    SUBCASE("closed") {
      CHECK(session.close().ok());
      CHECK(called == 2);
      CHECK(session.close().ok());
      CHECK(session.upload(g.last, Floats{0}).code() == Errc::closed);
      CHECK(session.rounds() == 2);
    }
    SUBCASE("dies") {}
  }
  CHECK(called == 2);
  CHECK(y == Floats(5, 2.0F));
  CHECK(y2 == Floats(9, 3.0F));
}

TEST_CASE_TEMPLATE("bindings that only the running program knows run rounds of any shape, in flight", P,
                   RONDO_TEST_PLATFORMS) {
  const Chained g;
  Session<P> session(g.graph, busy_options<P>());
  REQUIRE(session.upload(g.last, Floats{0}).ok());
  DynamicBindings bindings(session);
  float last = 0;
  std::deque<Floats> y;
  for (std::size_t i = 0; i < 40; ++i) {
    Floats x(1 + i % 4, 2.0F);
    y.emplace_back(x.size(), -1.0F);
    REQUIRE(bindings.bind(g.y.key.tensor(), y[i].data(), Bytes{4 * x.size()}));
    if (i == 0) CHECK(session.submit_round(bindings).submitted().code() == Errc::unbound_tensor);
    REQUIRE(bindings.bind(g.x.key.tensor(), static_cast<const void*>(x.data()), Bytes{4 * x.size()}));
    if (i % 5 == 0) {
      REQUIRE(session.run_round(bindings).ok());
    } else {
      REQUIRE(session.submit_round(bindings, [](Status) noexcept {}));
    }
    x.assign(x.size(), -9.0F);  // the session has taken it
  }
  REQUIRE(session.wait_all().ok());
  for (const Floats& out : y) CHECK(out == Floats(out.size(), 2 + (last += 2)));

  // Tensors that there are not, those of other kinds, and sizes that nothing fits.
  Floats x(3);
  for (const std::uint32_t wrong : {2U, 3U, 4U, 1000U, 0x7FFF'FFFFU, 0xFFFF'FFFFU}) {
    CHECK(bindings.bind(TensorId{wrong}, x.data(), Bytes{12}).code() == Errc::wrong_tensor);
    CHECK(session.check_bytes(TensorId{wrong}, Bytes{12}).code() ==
          (wrong == 2 ? Errc::wrong_size : Errc::wrong_tensor));
  }
  CHECK(bindings.bind(g.x.key.tensor(), x.data(), Bytes{11}).code() == Errc::wrong_size);
  CHECK(session.upload(Resident<float>{g.x.key}, Floats(1)).code() == Errc::wrong_tensor);
  const Chained other;
  CHECK(session.submit_round(bind(other.x, x), bind(other.y, x)).submitted().code() == Errc::wrong_tensor);
  TaskGraph larger;
  for (std::uint32_t i = 0; i < 9; ++i) {
    const auto beyond = larger.output<float>("y" + std::to_string(i), {1});
    if (i < session.graph().tensors().size()) continue;
    CHECK(session.submit_round(bind(g.x, x), bind(beyond, x)).submitted().code() == Errc::wrong_tensor);
  }
  // Another session's of the same type, over a graph with more tensors.
  Session<P> others(larger, busy_options<P>());
  DynamicBindings foreign(others);
  REQUIRE(session.submit_round(bind(g.x, x), bind(g.y, x)));
  CHECK(session.submit_round(foreign).submitted().code() == Errc::wrong_tensor);
  CHECK(session.run_round(foreign).code() == Errc::wrong_tensor);
  REQUIRE(session.wait_all().ok());
}

TEST_CASE_TEMPLATE("a completion may run and change bindings while a new shape waits for those in flight", P,
                   RONDO_TEST_PLATFORMS) {
  const Chained g;
  Session<P> session(g.graph, busy_options<P>());
  REQUIRE(session.upload(g.last, Floats{0}).ok());
  DynamicBindings inner(session), outer(session);
  const auto bind_to = [&](DynamicBindings<Session<P>>& bindings, Floats& x, Floats& y) {
    y.assign(x.size(), -1.0F);
    REQUIRE(bindings.bind(g.x.key.tensor(), x.data(), Bytes{4 * x.size()}));
    REQUIRE(bindings.bind(g.y.key.tensor(), y.data(), Bytes{4 * y.size()}));
  };
  Floats x1(1, 1.0F), x2(2, 1.0F), x5(5, 1.0F), x7(7, 1.0F), y1(1), y2, y5, y7;
  bind_to(inner, x2, y2);
  bind_to(outer, x5, y5);
  // It runs a round of a third shape.
  REQUIRE(session.submit_round(bind(g.x, x1), bind(g.y, y1),
                               [&](Status) noexcept { REQUIRE(session.submit_round(inner)); }));
  REQUIRE(session.submit_round(outer));
  REQUIRE(session.wait_all().ok());
  CHECK(y1 == Floats(1, 2));
  CHECK(y2 == Floats(2, y2[0]));
  CHECK(y5 == Floats(5, y5[0]));
  CHECK(y2[0] + y5[0] == 3 + 4);  // in either order
  for (auto* const bindings : {&inner, &outer}) REQUIRE(session.submit_round(*bindings));
  REQUIRE(session.run_round(bind(g.x, x5), bind(g.y, y5)).ok());
  REQUIRE(session.run_round(bind(g.x, x2), bind(g.y, y2)).ok());
  CHECK(y5 == Floats(5, 7));
  CHECK(y2 == Floats(2, 8));

  // It changes the bindings of the round that waits: to another shape, and from memory with strides to some without.
  const std::int64_t every_other[] = {2};
  for (const std::int64_t strided : {0, 9, 11}) {
    bind_to(outer, x5, y5);
    Floats wide(2 * static_cast<std::size_t>(strided), 1.0F), narrow(static_cast<std::size_t>(strided), -1.0F);
    if (strided != 0) {
      REQUIRE(outer.bind(g.x.key.tensor(), wide.data(), StridedLayout(4, &strided, every_other, 1)));
      REQUIRE(outer.bind(g.y.key.tensor(), narrow.data(), Bytes{4 * narrow.size()}));
    }
    REQUIRE(session.upload(g.last, Floats{0}).ok());
    session.prepare({{g.n, 1}});
    REQUIRE(session.submit_round(bind(g.x, x1), bind(g.y, y1), [&](Status) noexcept { bind_to(outer, x7, y7); }));
    bool is_done = false;
    REQUIRE(session.submit_round(outer, [&](Status s) noexcept { is_done = s.ok(); }));
    REQUIRE(session.wait_all().ok());
    CHECK(is_done);
    const bool is_changed = y7[0] != -1;
    CHECK((is_changed     ? y7
           : strided != 0 ? narrow
                          : y5) == Floats(is_changed     ? 7
                                          : strided != 0 ? narrow.size()
                                                         : 5,
                                          3));
    if (is_changed) CHECK((strided != 0 ? narrow[0] : y5[0]) == -1);
    REQUIRE(session.run_round(outer).ok());
    CHECK(y7 == Floats(7, 4));
  }
}

TEST_CASE_TEMPLATE("memory is reserved on top of what completions needed meanwhile", P, RONDO_TEST_PLATFORMS) {
  const Chained g;
  Session<P> session(g.graph, busy_options<P>());
  REQUIRE(session.upload(g.last, Floats{0}).ok());
  const Floats x(1, 1.0F), large(5000, 1.0F);
  Floats y(1), z(5000);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
  REQUIRE(session.submit_round(bind(g.x, x), bind(g.y, y), [&](Status) noexcept {
    REQUIRE(session.submit_round(bind(g.x, large), bind(g.y, z)));
  }));
  session.reserve(Bytes{session.arena_bytes().value + 4096});
  CHECK(z == Floats(5000, 1 + 3));
  REQUIRE(session.arena_bytes().value >= 2 * 4 * large.size());
  for (int i = 0; i < 4; ++i) REQUIRE(session.submit_round(bind(g.x, large), bind(g.y, z)));
  REQUIRE(session.wait_all().ok());
  CHECK(z == Floats(5000, 1 + 7));
}

TEST_CASE_TEMPLATE("an output that shows a workspace is found after the arena has grown", P, A2A3Sim, A5SimOn<Pool>,
                   A2A3OverStandIn) {
  const Showing g;
  SessionOfDepth<P, 2> session(g.graph, busy_options<P>());
  float value = 0;
  for (const std::size_t n : {4U, 400U, 4U, 4000U, 400U, 4U}) {
    const Floats x[] = {Floats(n, value + 1), Floats(n, value + 2)};
    Floats y[] = {Floats(n), Floats(n)}, shown[] = {Floats(n), Floats(n)};
    for (int i = 0; i < 2; ++i) {  // one in each slot
      REQUIRE(session.submit_round(bind(g.x, x[i]), bind(g.y, y[i]), bind(g.shown, shown[i])));
    }
    REQUIRE(session.wait_all().ok());
    for (int i = 0; i < 2; ++i) {
      ++value;
      CHECK(y[i] == Floats(n, 6 * value));
      CHECK(shown[i] == Floats(n, 2 * value));
    }
  }
}

TEST_CASE_TEMPLATE("rounds that copy nothing to the arena need no memory of their own", P, RONDO_TEST_PLATFORMS) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.host_input<float>("x", {n});
  const auto sum = graph.resident<float>("sum", {1});
  const auto t = graph.workspace<float>("t", {n * 1024});
  graph.add<Spread>(x, t);
  graph.add<AddLast>(t, sum);
  Session<P> session(graph, busy_options<P>());
  REQUIRE(session.upload(sum, Floats{0}).ok());
  for (const std::size_t size : {3U, 1U, 3U, 1U}) {
    const Floats hx(size, 2);
    REQUIRE(session.submit_round(bind(x, hx)));
  }
  REQUIRE(session.wait_all().ok());
  CHECK(session.arena_bytes().value >= 3 * 4096);
  CHECK(session.arena_bytes().value < 4 * 4096);  // one workspace for all
  Floats host(1);
  REQUIRE(session.download(sum, host).ok());
  CHECK(host[0] == 8);
}

TEST_CASE("shapes move with an arena that grows, unless an output shows a slot's own workspace") {
  const auto allocations = [](auto& session, Dim n) {
    for (const std::int64_t size : {4, 6, 8}) session.prepare({{n, size}});
    rondo_stand_in_reset();
    session.reserve(Bytes{session.arena_bytes().value + 4096});
    return rondo_stand_in_calls("aclrtMalloc");
  };
  const Chained chained;
  const Showing showing;
  SessionOfDepth<A2A3OverStandIn, 3> of_chained(chained.graph);
  SessionOfDepth<A2A3OverStandIn, 1> of_showing(showing.graph);
  SessionOfDepth<A2A3OverStandIn, 2> of_showing_in_slots(showing.graph);
  CHECK(allocations(of_chained, chained.n) == 1);
  CHECK(allocations(of_showing, showing.n) == 1);  // the only slot is in the arena
  CHECK(allocations(of_showing_in_slots, showing.n) > 1);
}

TEST_CASE("a shape moves where another one needs more of what all slots share, although the arena is large enough") {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto t = graph.workspace<float>("t", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<kernels::Scale>(x, t, 1.0F);
  graph.add<Where>(x, t, y);
  SessionOfDepth<A2A3Sim, 2> session(graph);
  session.reserve(Bytes{1 << 20});
  Floats in(1000), out(1000);
  const auto run = [&](std::size_t size) {
    Where::seen.clear();
    for (int slot = 0; slot < 2; ++slot) {
      REQUIRE(session.submit_round(bind(x, std::span(in).first(size)), bind(y, std::span(out).first(size))));
    }
    REQUIRE(session.wait_all().ok());
    REQUIRE(Where::seen.size() == 2);
    return Where::seen;
  };
  (void)run(4);
  const auto large = run(1000), small = run(4);
  for (const auto& of_small : small) {
    for (const float* const at : {of_small.x, of_small.y}) {
      CHECK((at < large[0].t || at >= large[0].t + large[0].size));
    }
  }
  CHECK(small[0].x != small[1].x);
}

TEST_CASE("a round of a shape that the runtime refuses to begin leaves the session as it was") {
  const Showing g;
  SessionOfDepth<A2A3OverStandIn, 1> session(g.graph);
  const Floats x(4, 1);
  Floats y(4), shown(4);
  const auto run = [&] { return session.run_round(bind(g.x, x), bind(g.y, y), bind(g.shown, shown)); };
  REQUIRE(run().ok());
  rondo_stand_in_fault("aclrtMemcpyAsync", 1, 207001);
  CHECK(run() == Status{Errc::out_of_memory});
  CHECK_FALSE(session.poisoned());
  rondo_stand_in_fault("aclrtMemcpyAsync", 1, 207001);
  const auto refused = session.submit_round(bind(g.x, x), bind(g.y, y), bind(g.shown, shown));
  CHECK(refused.submitted() == Status{Errc::out_of_memory});
  CHECK_FALSE(session.poisoned());
  CHECK(run().ok());
  CHECK(y == Floats(4, 6));
}

TEST_CASE_TEMPLATE("tensors stay aligned if an odd number of bytes is reserved", P, A2A3Sim, A2A3OverStandIn) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<IsAligned<P>>(x, y);
  SessionOfDepth<P, 2> session(graph, busy_options<P>());
  session.prepare({{n, 1}});
  session.reserve(Bytes{session.arena_bytes().value + 1});
  const Floats hx(1);
  Floats a(1), b(1);
  REQUIRE(session.submit_round(bind(x, hx), bind(y, a)));
  REQUIRE(session.submit_round(bind(x, hx), bind(y, b)));
  REQUIRE(session.wait_all().ok());
  CHECK(a[0] == 1);
  CHECK(b[0] == 1);
}

TEST_CASE_TEMPLATE("a slot of the queue stages what a round of any shape copies, also in its args", P, A2A3OverStandIn,
                   A5OverStandIn) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto in_args = graph.host_input<float>("in_args", {256});
  const auto y = graph.output<float>("y", {1});
  graph.add<kernels::Add>(x, in_args, y);
  Session<P> session(graph, busy_options<P>());
  const Floats h(256, 2);
  for (const std::size_t size : {1000U, 4U, 3000U}) {
    const Floats hx(size, 3);
    Floats hy(1);
    session.prepare({{n, static_cast<std::int64_t>(size)}});
    rondo_stand_in_reset();
    REQUIRE(session.submit_round(bind(x, hx), bind(in_args, h), bind(y, hy)));
    CHECK(rondo_stand_in_calls("aclrtMemcpy") == 0);  // which waits
    REQUIRE(session.wait_all().ok());
    CHECK(hy[0] == 5);
  }
}

TEST_CASE_TEMPLATE("more than a slot of the queue stages travels, too", P, A2A3Sim, A2A3OverStandIn, A5OverStandIn) {
  const Chained g;
  auto options = busy_options<P>();
  if constexpr (requires { options.staging; }) options.staging = Bytes{1U << 20};
  Session<P> session(g.graph, options);
  REQUIRE(session.upload(g.last, Floats{0}).ok());
  constexpr std::size_t n = 400'000;
  std::vector<Floats> x, y(6, Floats(n, -1));
  for (std::size_t i = 0; i < y.size(); ++i) x.emplace_back(n, static_cast<float>(i + 1));
  for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(session.submit_round(bind(g.x, x[i]), bind(g.y, y[i])));
  REQUIRE(session.wait_all().ok());
  float last = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    last += x[i][0];
    CHECK(y[i] == Floats(n, x[i][0] + last));
  }
}

TEST_CASE_TEMPLATE("what outputs show of residents and of zeroed workspace is each round's own, whatever its shape", P,
                   A2A3Sim, A5SimOn<Pool>, A2A3OverStandIn) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const auto last = graph.resident<float>("last", {1});
  const auto shown = graph.output<float>("shown", {1});
  const auto bins = graph.workspace<float>("bins", {4});
  const auto t = graph.workspace<float>("t", {n});
  graph.zero(bins, Zeroed::once);
  graph.add<Chain>(x, last, t);
  graph.add<Reset>(t, bins, y);
  graph.make_view(shown, last);
  const auto plain = graph.output<float>("plain", {n});
  graph.make_view(plain, t);
  Session<P> session(graph, busy_options<P>());
  REQUIRE(session.upload(last, Floats{0}).ok());
  std::deque<Floats> hy, hplain;
  std::vector<Floats> hshown(40, Floats(1));
  for (std::size_t i = 0; i < hshown.size(); ++i) {
    const Floats hx(1 + i / 2 % 5 * 20, 1.0F);
    hy.emplace_back(hx.size());
    hplain.emplace_back(hx.size());
    REQUIRE(session.submit_round(bind(x, hx), bind(y, hy[i]), bind(shown, hshown[i]), bind(plain, hplain[i])));
    CHECK(session.in_flight() == 1);  // also if the round before has the same shape
  }
  REQUIRE(session.wait_all().ok());
  for (std::size_t i = 0; i < hshown.size(); ++i) {
    CHECK(hshown[i][0] == static_cast<float>(i + 1));
    CHECK(hplain[i] == hy[i]);
    CHECK(hy[i] == Floats(hy[i].size(), static_cast<float>(i + 2)));
  }
}

namespace {

struct WithValues : DefaultPolicies {
  using Values = launch::RoundValues<>;
};
/// y = step
struct Tell {
  static constexpr std::string_view name = "tell";
  static constexpr auto core = CoreType::vector;
  static void run(Out<std::uint64_t> y, launch::Step step, launch::HostScalar<float> rate) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = step.number * 10 + static_cast<std::uint64_t>(rate.value);
  }
};

/// Where destructors report.
std::vector<Status>& reported() {
  static std::vector<Status> list;
  return list;
}
struct Reporting : DefaultPolicies {
  static void report_unclosed(Status status, const char* text) noexcept {
    if (text[0] != '\0') reported().push_back(status);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("values count all rounds, whatever their shape, in flight", P, A2A3Sim, A5SimOn<Pool>,
                   A2A3OverStandIn) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto y = graph.output<std::uint64_t>("y", {n});
  const auto step = launch::step(graph, "step");
  const auto rate = launch::scalar(graph, "rate", 1.0F);
  graph.add<Tell>(y, step, rate);
  Session<P, 4, WithValues> session(graph, busy_options<P>());
  std::deque<std::vector<std::uint64_t>> told;
  for (std::size_t i = 0; i < 40; ++i) {
    if (i == 20) REQUIRE(session.values().set(rate, 5.0F).ok());
    told.emplace_back(1 + i % 6);
    REQUIRE(session.submit_round(bind(y, told[i])));
  }
  REQUIRE(session.wait_all().ok());
  for (std::size_t i = 0; i < told.size(); ++i) {
    CHECK(told[i] == std::vector<std::uint64_t>(told[i].size(), 10 * i + (i < 20 ? 1 : 5)));
  }
}

TEST_CASE("a session of shapes whose destructor cannot release what it holds reports it") {
  const Chained g;
  for (const char* call : {"aclrtFree", "aclrtDestroyStream", "aclrtDestroyEvent"}) {
    CAPTURE(call);
    reported().clear();
    rondo_stand_in_reset();
    const Floats x(3, 1);
    Floats y(3);
    {
      Session<A2A3OverStandIn, 64, Reporting> session(g.graph);
      REQUIRE(session.upload(g.last, Floats{0}).ok());
      REQUIRE(session.submit_round(bind(g.x, x), bind(g.y, y)));
      rondo_stand_in_fault(call, 1, 207000);
    }
    rondo_stand_in_clear_faults();
    REQUIRE(reported().size() == 1);
    CHECK(reported()[0].code() == platform::onboard::errc_of(207000));
  }
  // A session that was closed by hand has told its caller.
  reported().clear();
  {
    Session<A2A3OverStandIn, 64, Reporting> session(g.graph);
    REQUIRE(session.upload(g.last, Floats{0}).ok());
    rondo_stand_in_fault("aclrtFree", 1, 207000);
    CHECK_FALSE(session.close().ok());
    CHECK(session.close().ok());
  }
  rondo_stand_in_clear_faults();
  CHECK(reported().empty());
}
