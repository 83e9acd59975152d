// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What every platform that computes must do, round after round: one suite, run on each chip and engine.

#include "conformance/kernels.hpp"
#include "conformance/platforms.hpp"

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/graph/instantiate.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rondo;

#define RONDO_TEST_PLATFORMS                                                                                      \
  A2A3Sim, HostOn<Pool>, A5SimOn<Pool>, A2A3SimOn<Model>, A5SimOn<Checked<Pool>>, A2A3OverStandIn, A5OverStandIn, \
      toy::ToyPlatform

namespace {

using Floats = std::vector<float>;

/// y = 3 * (x + x), s += x: an input, an output, an inout, a workspace, two core types.
struct Small {
  explicit Small(std::size_t size)
      : x{graph.input<float>("x", {size})},
        y{graph.output<float>("y", {size})},
        s{graph.inout<float>("s", {size})},
        n{size} {
    const auto sum = graph.workspace<float>("sum", {size});
    graph.add<kernels::Add>(x, x, sum);
    graph.add<kernels::Scale>(sum, y, 3.0F);
    graph.add<kernels::Accumulate>(x, s);
  }

  TaskGraph graph;
  Input<float> x;
  Output<float> y;
  InputOutput<float> s;
  std::size_t n;
};

struct Rewriting : DefaultPolicies {
  using Update = update::InitOnce;
};

struct Log {
  int begun = 0;
  int good = 0;
  int bad = 0;
  void round_begins(RoundIndex) noexcept { ++begun; }
  void round_ends(RoundIndex, Status s) noexcept { ++(s ? good : bad); }
};
struct Logging : DefaultPolicies {
  using Observe = Log;
};

template <class Session>
void check_good_round(Session& session, const Small& g, float value) {
  Floats x(g.n, value), y(g.n, -1.0F), s(g.n, 100.0F);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y), bind(g.s, s)).ok());
  CHECK(y == Floats(g.n, 6.0F * value));
  CHECK(s == Floats(g.n, 100.0F + value));
}

}  // namespace

TEST_CASE_TEMPLATE("a thousand rounds with changing inputs each give their own result", P, RONDO_TEST_PLATFORMS) {
  Small g(37);
  auto session = open<P>(g.graph, busy_options<P>());
  Floats x(g.n), y(g.n), s(g.n);
  Floats running(g.n);
  for (int round = 0; round < 1000; ++round) {
    for (std::size_t i = 0; i < g.n; ++i) x[i] = static_cast<float>((round * 31 + static_cast<int>(i) * 7) % 64);
    REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y), bind(g.s, s)).ok());
    bool good = true;
    for (std::size_t i = 0; i < g.n; ++i) {
      running[i] += x[i];
      good = good && y[i] == 6.0F * x[i] && s[i] == running[i];
    }
    REQUIRE_MESSAGE(good, "round ", round);
  }
  CHECK(session.rounds() == 1000);
}

TEST_CASE_TEMPLATE("A tensor without elements is bound to no memory, which is never copied", P, RONDO_TEST_PLATFORMS) {
  TaskGraph symbolic;
  const Dim n = symbolic.dim("n");
  const auto none = symbolic.input<float>("none", {n});
  const auto x = symbolic.input<float>("x", {4});
  const auto y = symbolic.output<float>("y", {4});
  const auto nothing = symbolic.output<float>("nothing", {n});
  symbolic.add<kernels::Scale>(none, nothing, 2.0F);
  symbolic.add<kernels::Scale>(x, y, 2.0F);
  const std::int64_t zero[] = {0};
  const TaskGraph graph = graph::instantiate(symbolic, zero);
  const Floats empty, hx(4, 3.0F);
  Floats also_empty, hy(4);
  auto session = open<P>(graph, busy_options<P>());
  const auto good = [&](Status status) {
    INFO(std::string(session.explain(status).c_str()));
    CHECK(status.ok());
    CHECK(hy == Floats(4, 6.0F));
    hy.assign(4, 0.0F);
  };
  for (int round = 0; round < 2; ++round) {
    good(session.run_round(bind(none, empty), bind(x, hx), bind(y, hy), bind(nothing, also_empty)));
    good(session.run_round(bind(nothing, also_empty), bind(y, hy), bind(x, hx), bind(none, empty)));
    const auto prebound = session.prebind(bind(none, empty), bind(x, hx), bind(y, hy), bind(nothing, also_empty));
    good(session.run_round(prebound));
    auto begun = session.begin_round(bind(none, empty), bind(x, hx), bind(y, hy), bind(nothing, also_empty));
    good(std::move(begun).launch().finish().status());
  }
  // Memory that other tensors have must still be there.
  CHECK(session.run_round(bind(none, empty), bind(x, hx), bind(y, also_empty), bind(nothing, also_empty)).code() ==
        Errc::wrong_size);
  CHECK(session.run_round(bind(none, empty), bind(x, hx), bind(y, hy)).code() == Errc::unbound_tensor);
  auto pipelined = open_pipelined<P, 2>(graph, busy_options<P>());
  for (int round = 0; round < 4; ++round) {
    REQUIRE(pipelined.submit_round(bind(none, empty), bind(x, hx), bind(y, hy), bind(nothing, also_empty)));
  }
  good(pipelined.wait_all());
}

/// Writes y, which is the only port.
struct Constant {
  static constexpr std::string_view name = "constant";
  static constexpr CoreType core = CoreType::vector;
  static void run(Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 5;
  }
};

TEST_CASE_TEMPLATE("A round with one binding is refused when that has another size or no memory", P,
                   RONDO_TEST_PLATFORMS) {
  TaskGraph graph;
  const auto y = graph.output<float>("y", {4});
  graph.add<Constant>(y);
  auto session = open<P>(graph);
  Floats hy(4), longer(5);
  REQUIRE(session.run_round(bind(y, hy)));
  CHECK(session.run_round(bind(y, longer)).code() == Errc::wrong_size);
  CHECK(session.run_round(bind(y, std::span<float>(static_cast<float*>(nullptr), 4))).code() == Errc::null_memory);
  REQUIRE(session.run_round(bind(y, hy)));
  CHECK(hy == Floats(4, 5));
  CHECK(longer == Floats(5));
}

TEST_CASE_TEMPLATE("every task of a random graph runs exactly once per round", P, RONDO_TEST_PLATFORMS) {
  constexpr std::size_t tasks = 60;
  constexpr int rounds = 300;
  auto random = rondo::test::make_random(7);
  TaskGraph graph{Edges::explicit_};
  std::vector<Resident<std::int32_t>> counters;
  for (std::size_t t = 0; t < tasks; ++t) {
    counters.push_back(graph.resident<std::int32_t>("n" + std::to_string(t), {1}));
    const TaskId task = t % 3 == 0 ? graph.add<kernels::Count<CoreType::cube>>(counters[t])
                                   : graph.add<kernels::Count<CoreType::vector>>(counters[t]);
    for (int e = 0; e < 3 && t > 0; ++e) graph.add_edge(TaskId{static_cast<std::uint32_t>(random() % t)}, task);
  }
  auto session = open<P>(graph, busy_options<P>());
  for (auto c : counters) REQUIRE(session.upload(c, std::int32_t{0}).ok());
  for (int round = 0; round < rounds; ++round) REQUIRE(session.run_round().ok());
  for (auto c : counters) {
    std::int32_t n = 0;
    REQUIRE(session.download(c, n).ok());
    CHECK(n == rounds);
  }
}

TEST_CASE_TEMPLATE("dependent tasks run in the order of their edges, whatever the threads do", P,
                   RONDO_TEST_PLATFORMS) {
  // A chain that is not commutative: x -> 2x+x -> ..., alternating core types; any swap changes the result.
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  auto last = graph.workspace<float>("t0", {8});
  graph.add<kernels::Scale>(x, last, 2.0F);
  for (int i = 1; i < 12; ++i) {
    const auto next = graph.workspace<float>("t" + std::to_string(i), {8});
    if (i % 2 == 0) graph.add<kernels::Scale>(last, next, 2.0F);
    if (i % 2 == 1) graph.add<kernels::Add>(last, x, next);
    last = next;
  }
  graph.add<kernels::Scale>(last, y, 1.0F);
  float expected = 2.0F;
  for (int i = 1; i < 12; ++i) expected = i % 2 == 0 ? 2.0F * expected : expected + 1.0F;
  auto session = open<P>(graph, busy_options<P>());
  Floats hx(8, 1.0F), hy(8);
  for (int round = 0; round < 200; ++round) {
    hy.assign(8, 0.0F);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    REQUIRE(hy == Floats(8, expected));
  }
}

TEST_CASE_TEMPLATE("a task of n blocks runs each block once per round", P, RONDO_TEST_PLATFORMS) {
  constexpr std::uint32_t blocks = 24;
  TaskGraph graph;
  const auto n = graph.inout<std::int32_t>("n", {blocks});
  graph.add<kernels::CountBlocks>(Blocks{blocks}, n);
  auto session = open<P>(graph, busy_options<P>());
  std::vector<std::int32_t> counts(blocks);
  for (int round = 0; round < 50; ++round) REQUIRE(session.run_round(bind(n, counts)).ok());
  CHECK(counts == std::vector<std::int32_t>(blocks, 50 * static_cast<std::int32_t>(blocks)));
}

TEST_CASE_TEMPLATE("a raw kernel of simpler's ABI runs unchanged", P, RONDO_TEST_PLATFORMS) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  const auto entry = +[](std::int64_t* args) {
    const auto* in = reinterpret_cast<const float*>(args[0]);
    auto* out = reinterpret_cast<float*>(args[1]);
    const float factor = std::bit_cast<float>(static_cast<std::uint32_t>(args[2]));
    for (std::int64_t i = 0; i < args[3]; ++i) out[i] = factor * in[i];
  };
  graph.add_raw("scale", CoreType::vector, entry, reads(x), writes(y), 2.5F, std::int64_t{4});
  auto session = open<P>(graph, busy_options<P>());
  Floats hx{1, 2, 3, 4}, hy(4);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy == Floats{2.5F, 5, 7.5F, 10});
}

TEST_CASE_TEMPLATE("a big session, then a small one in its place, then a big one again", P, RONDO_TEST_PLATFORMS) {
  for (const std::size_t n : {100'000U, 3U, 50'000U, 1U}) {
    Small g(n);
    auto session = open<P>(g.graph, busy_options<P>());
    for (int round = 1; round <= 3; ++round) check_good_round(session, g, static_cast<float>(round));
  }
}

TEST_CASE_TEMPLATE("a round that is refused between two good ones changes nothing", P, RONDO_TEST_PLATFORMS) {
  Small g(16);
  auto session = open<P>(g.graph, busy_options<P>());
  check_good_round(session, g, 2.0F);

  Floats x(16, 5.0F), y(16, -7.0F), s(16, 1.0F), few(15, 5.0F);
  const Status status = session.run_round(bind(g.x, few), bind(g.y, y), bind(g.s, s));
  CHECK(status.code() == Errc::wrong_size);
  CHECK(std::string(session.explain(status).c_str()).find("'x'") != std::string::npos);
  CHECK(y == Floats(16, -7.0F));
  CHECK(s == Floats(16, 1.0F));
  CHECK_FALSE(session.poisoned());
  CHECK(session.rounds() == 1);

  check_good_round(session, g, 3.0F);
}

TEST_CASE_TEMPLATE("pairs are matched by identity, not by order", P, RONDO_TEST_PLATFORMS) {
  Small g(8);
  auto session = open<P>(g.graph, busy_options<P>());
  Floats x(8, 4.0F), y(8), s(8, 1.0F);
  REQUIRE(session.run_round(bind(g.s, s), bind(g.y, y), bind(g.x, x)).ok());
  CHECK(y == Floats(8, 24.0F));
  CHECK(s == Floats(8, 5.0F));
}

TEST_CASE_TEMPLATE("only what was bound is copied, and only in its direction", P, RONDO_TEST_PLATFORMS) {
  Small g(8);
  auto session = open<P>(g.graph, busy_options<P>());
  const Floats x(8, 1.0F);  // const: an input is never written
  Floats around(10, -1.0F);
  Floats s(8);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, std::span(around).subspan(1, 8)), bind(g.s, s)).ok());
  CHECK(around.front() == -1.0F);
  CHECK(around.back() == -1.0F);
  CHECK(around[1] == 6.0F);
  CHECK(around[8] == 6.0F);
}

TEST_CASE_TEMPLATE("a kernel that throws poisons its session and no other", P, RONDO_TEST_PLATFORMS) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<kernels::Picky>(x, y);
  auto session = open<P>(graph, busy_options<P>());
  auto other = open<P>(graph, busy_options<P>());
  Floats hx(4, 1.0F), hy(4);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());

  hx[0] = -1.0F;
  const Status failed = session.run_round(bind(x, hx), bind(y, hy));
  CHECK(failed.code() == failure_of_a_kernel<P>);
  CHECK(failed.poisoned());
  const std::string text = session.explain(failed).c_str();
  CHECK(text.find("'picky'") != std::string::npos);
  CHECK(text.find("x[0] is negative") != std::string::npos);

  hx[0] = 1.0F;
  const Status refused = session.run_round(bind(x, hx), bind(y, hy));
  CHECK(refused.code() == Errc::poisoned);
  CHECK(refused.poisoned());
  CHECK(std::string(session.explain(refused).c_str()).find("'picky'") != std::string::npos);
  CHECK(session.poisoned());

  REQUIRE(other.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy == hx);
  CHECK(session.close().ok());
  CHECK(session.run_round(bind(x, hx), bind(y, hy)).code() == Errc::closed);
}

TEST_CASE_TEMPLATE("two sessions at once do not see each other", P, RONDO_TEST_PLATFORMS) {
  Small g(64);
  Small h(5);
  auto a = open<P>(g.graph, busy_options<P>());
  auto b = open<P>(h.graph, busy_options<P>());
  auto c = open<P>(g.graph, busy_options<P>());  // the same graph twice
  for (int round = 1; round <= 50; ++round) {
    check_good_round(a, g, static_cast<float>(round));
    check_good_round(b, h, static_cast<float>(-round));
    check_good_round(c, g, static_cast<float>(2 * round));
  }
}

TEST_CASE_TEMPLATE("tensors of another graph are refused", P, RONDO_TEST_PLATFORMS) {
  Small g(8);
  Small h(8);
  auto session = open<P>(g.graph, busy_options<P>());
  Floats x(8), y(8), s(8);
  CHECK(session.run_round(bind(h.x, x), bind(h.y, y), bind(h.s, s)).code() == Errc::wrong_tensor);
  check_good_round(session, g, 1.0F);
}

TEST_CASE_TEMPLATE("step by step gives what run_round gives", P, RONDO_TEST_PLATFORMS) {
  Small g(16);
  auto session = open<P>(g.graph, busy_options<P>());
  for (int round = 0; round < 100; ++round) {
    Floats x(16, static_cast<float>(round)), y(16), s(16);
    auto bound = session.begin_round(bind(g.x, x), bind(g.y, y), bind(g.s, s));
    CHECK(session.run_round(bind(g.x, x), bind(g.y, y), bind(g.s, s)).code() == Errc::busy);
    auto launched = std::move(bound).launch();
    const auto finished = std::move(launched).finish();
    REQUIRE(finished.status().ok());
    CHECK(finished.index() == RoundIndex{static_cast<std::uint64_t>(round)});
    REQUIRE(y == Floats(16, 6.0F * static_cast<float>(round)));
  }
  CHECK(session.rounds() == 100);
}

TEST_CASE_TEMPLATE("a round that was refused at its binding finishes with that status", P, RONDO_TEST_PLATFORMS) {
  Small g(16);
  auto session = open<P>(g.graph, busy_options<P>());
  Floats x(16), y(15), s(16);
  CHECK(session.begin_round(bind(g.x, x), bind(g.y, y), bind(g.s, s)).launch().finish().status().code() ==
        Errc::wrong_size);
  check_good_round(session, g, 1.0F);
}

TEST_CASE_TEMPLATE("a round dropped half-way leaves the session usable", P, RONDO_TEST_PLATFORMS) {
  Small g(16);
  auto session = open<P>(g.graph, busy_options<P>());
  Floats x(16, 2.0F), y(16, -1.0F), s(16);
  {
    auto dropped = session.begin_round(bind(g.x, x), bind(g.y, y), bind(g.s, s));
  }
  check_good_round(session, g, 1.0F);
  {
    auto dropped = session.begin_round(bind(g.x, x), bind(g.y, y), bind(g.s, s)).launch();
  }
  CHECK(y == Floats(16, -1.0F));
  check_good_round(session, g, 2.0F);
}

TEST_CASE_TEMPLATE("a session destroyed in the middle of a round waits, and the round says so", P,
                   RONDO_TEST_PLATFORMS) {
  Small g(100'000);
  Floats x(g.n, 2.0F), y(g.n, -1.0F), s(g.n);
  using Session = decltype(open<P>(g.graph));
  {
    auto session = std::make_unique<Session>(freeze(g.graph), busy_options<P>());
    auto launched = session->begin_round(bind(g.x, x), bind(g.y, y), bind(g.s, s)).launch();
    session.reset();
    CHECK(std::move(launched).finish().status().code() == Errc::closed);
  }
  {
    auto session = std::make_unique<Session>(freeze(g.graph), busy_options<P>());
    auto bound = session->begin_round(bind(g.x, x), bind(g.y, y), bind(g.s, s));
    session.reset();
    CHECK(std::move(bound).launch().finish().status().code() == Errc::closed);
  }
  CHECK(y == Floats(g.n, -1.0F));
}

TEST_CASE_TEMPLATE("prebound rounds give what checked rounds give", P, RONDO_TEST_PLATFORMS) {
  Small g(16);
  auto session = open<P>(g.graph, busy_options<P>());
  Floats x(16), y(16), s(16);
  const auto binding = session.prebind(bind(g.s, s), bind(g.x, x), bind(g.y, y));
  REQUIRE(binding);
  for (int round = 0; round < 100; ++round) {
    x.assign(16, static_cast<float>(round));
    REQUIRE(session.run_round(binding).ok());
    REQUIRE(y == Floats(16, 6.0F * static_cast<float>(round)));
  }

  auto other = open<P>(g.graph, busy_options<P>());
  CHECK(other.run_round(binding).code() == Errc::wrong_tensor);
  const auto bad = session.prebind(bind(g.x, x), bind(g.y, y));
  CHECK_FALSE(bad);
  CHECK(session.run_round(bad).code() == Errc::unbound_tensor);
  REQUIRE(session.close().ok());
  CHECK(session.run_round(binding).code() == Errc::closed);
}

TEST_CASE_TEMPLATE("bindings that only the running program knows give what checked rounds give", P,
                   RONDO_TEST_PLATFORMS) {
  Small g(64);
  auto session = open<P>(g.graph, busy_options<P>());
  Floats x(g.n), y(g.n), s(g.n);
  DynamicBindings bindings(session);
  const Bytes size{g.n * sizeof(float)};
  REQUIRE(bindings.bind(g.s.key.tensor(), s.data(), size));
  REQUIRE(bindings.bind(g.y.key.tensor(), y.data(), size));
  REQUIRE(bindings.bind(g.x.key.tensor(), static_cast<const void*>(x.data()), size));
  float sum = 0;
  for (int round = 0; round < 30; ++round) {
    const auto value = static_cast<float>(round);
    x.assign(g.n, value);
    if (round % 2 == 0) {
      REQUIRE(session.run_round(bindings));
    } else {
      REQUIRE(session.begin_round(bindings).launch().finish().status());
    }
    sum += value;
    REQUIRE(y == Floats(g.n, 6.0F * value));
    REQUIRE(s == Floats(g.n, sum));
  }
}

TEST_CASE_TEMPLATE("a prebinding does not outlive its session into one at the same address", P, RONDO_TEST_PLATFORMS) {
  Small g(16);
  Floats x(16), y(16), s(16);
  using Session = decltype(open<P>(g.graph));
  std::optional<Session> session;
  session.emplace(freeze(g.graph), busy_options<P>());
  const auto binding = session->prebind(bind(g.x, x), bind(g.y, y), bind(g.s, s));
  session.emplace(freeze(g.graph), busy_options<P>());
  CHECK(session->run_round(binding).code() == Errc::wrong_tensor);
}

TEST_CASE_TEMPLATE("resident tensors stay on the device until they are downloaded", P, RONDO_TEST_PLATFORMS) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto total = graph.resident<float>("total", {4});
  graph.add<kernels::Accumulate>(x, total);
  auto session = open<P>(graph, busy_options<P>());
  Floats hx(4, 1.0F), host(4);

  const Status early = session.run_round(bind(x, hx));
  CHECK(early.code() == Errc::uninitialized_read);
  CHECK(std::string(session.explain(early).c_str()).find("'total'") != std::string::npos);

  REQUIRE(session.upload(total, Floats(4, 10.0F)).ok());
  for (int round = 0; round < 5; ++round) REQUIRE(session.run_round(bind(x, hx)).ok());
  REQUIRE(session.download(total, host).ok());
  CHECK(host == Floats(4, 15.0F));
  REQUIRE(session.upload(total, Floats(4, 0.0F)).ok());
  REQUIRE(session.run_round(bind(x, hx)).ok());
  REQUIRE(session.download(total, host).ok());
  CHECK(host == Floats(4, 1.0F));

  Floats few(3);
  CHECK(session.download(total, few).code() == Errc::wrong_size);
  CHECK(session.pair(total).size() == 4);
  CHECK(session.pair(total).device().address() % P::Arch::tensor_alignment == 0);
}

TEST_CASE_TEMPLATE("a resident tensor that tasks write first needs no upload", P, RONDO_TEST_PLATFORMS) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto copy = graph.resident<float>("copy", {4});
  graph.add<kernels::Scale>(x, copy, 1.0F);
  auto session = open<P>(graph, busy_options<P>());
  Floats hx(4, 3.0F), host(4);
  REQUIRE(session.run_round(bind(x, hx)).ok());
  REQUIRE(session.download(copy, host).ok());
  CHECK(host == hx);
}

TEST_CASE_TEMPLATE("a stop that is requested between two rounds ends the second one, and fails nothing before it", P,
                   A2A3Sim, HostOn<Pool>, A5SimOn<Checked<Pool>>) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  const auto sum = graph.resident<float>("sum", {4});
  graph.add<kernels::Scale>(x, y, 3.0F);
  graph.add<kernels::Accumulate>(x, sum);
  for (const bool has_second : {false, true}) {
    auto session = open<P>(graph, busy_options<P>());
    Floats hx(4, 1.0F), hy(4), total(4, 5.0F);
    REQUIRE(session.upload(sum, total).ok());
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    session.request_stop();
    REQUIRE(session.download(sum, total).ok());
    CHECK(total == Floats(4, 6.0F));
    if (has_second) CHECK(session.run_round(bind(x, hx), bind(y, hy)).code() == Errc::stopped);
    CHECK(session.close().ok());
  }
}

TEST_CASE_TEMPLATE("rewriting the whole args table each round changes no result", P, RONDO_TEST_PLATFORMS) {
  Small g(16);
  auto session = open<P, Rewriting>(g.graph, busy_options<P>());
  for (int round = 0; round < 20; ++round) check_good_round(session, g, static_cast<float>(round));
}

TEST_CASE_TEMPLATE("an observer hears of each round once, with its status", P, RONDO_TEST_PLATFORMS) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<kernels::Picky>(x, y);
  auto session = open<P, Logging>(graph, busy_options<P>());
  Floats hx(4, 1.0F), hy(4);
  for (int round = 0; round < 3; ++round) REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  hx[0] = -1.0F;
  CHECK_FALSE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(session.observer().begun == 4);
  CHECK(session.observer().good == 3);
  CHECK(session.observer().bad == 1);
}

TEST_CASE_TEMPLATE("asking for more memory than the device has names both figures", P, RONDO_TEST_PLATFORMS) {
  Small g(1000);
  auto options = busy_options<P>();
  options.device_memory = Bytes{1000};
  try {
    auto session = open<P>(g.graph, options);
    FAIL("opened");
  } catch (const Error& e) {
    CHECK(e.code() == Errc::out_of_memory);
    CHECK(std::string(e.what()).find("1000") != std::string::npos);
  }
}

TEST_CASE_TEMPLATE("a graph without tasks or without tensors runs", P, RONDO_TEST_PLATFORMS) {
  TaskGraph nothing;
  auto empty = open<P>(nothing, busy_options<P>());
  CHECK(empty.run_round().ok());
  CHECK(empty.arena_bytes() == Bytes{0});

  TaskGraph graph;
  const auto x = graph.inout<float>("x", {4});
  auto session = open<P>(graph, busy_options<P>());
  Floats hx{1, 2, 3, 4};
  CHECK(session.run_round(bind(x, hx)).ok());
  CHECK(hx == Floats{1, 2, 3, 4});
}
