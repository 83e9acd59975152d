// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Sessions that fail at random, and are opened again from their last checkpoint: the results are those of a run in
// which nothing failed.

#include "conformance/kernels.hpp"
#include "conformance/platforms.hpp"

#include <rondo/orchestrated.hpp>
#include <rondo/session/recoverable.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace rondo;

namespace {

using Floats = std::vector<float>;
constexpr std::size_t n = 1500;  // more than is copied with others
constexpr std::uint64_t rounds = 60;

std::atomic<int> fuse{0};  ///< at 1, the next task fails

/// w += a * x + step; y = w
struct Advance {
  static constexpr std::string_view name = "advance";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> w, Out<float> y, float a, launch::Step step) {
    if (fuse.load() != 0 && fuse.fetch_sub(1) == 1) throw std::runtime_error("the fuse has blown");
    for (std::size_t i = 0; i < w.size(); ++i) {
      w[i] += a * x[i] + static_cast<float>(step.number);
      y[i] = w[i];
    }
  }
};
struct Scaled {
  static constexpr std::string_view name = "scaled";
  static constexpr auto core = CoreType::cube;
  static void run(In<float> y, In<float> v, Out<float> z) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = y[i] * v[i];
  }
};

struct StepPolicies : DefaultPolicies {
  using Values = launch::RoundValues<>;
};

/// Two residents, of which one changes in each round; a scalar and a value that change between rounds.
struct Graph {
  explicit Graph(Extent size = n) {
    const auto made = [&](const char* name) { return graph.input<float>(name, {size}); };
    x = made("x");
    z = graph.output<float>("z", {size});
    const auto y = graph.workspace<float>("y", {size});
    step = launch::step(graph, "step");
    advance = graph.add<Advance>(x, w, y, 1.0F, step);
    graph.add<Scaled>(y, v, z);
  }
  TaskGraph graph;
  Resident<float> w = graph.resident<float>("w", {n});
  Resident<float> v = graph.resident<float>("v", {n});
  Input<float> x;
  Output<float> z;
  launch::Value<launch::Step> step;
  TaskId advance{};
};

/// The callable that opens a session over a graph.
template <class P, class Graph>
[[nodiscard]] auto opener_of(const Graph& g) {
  return [&g](const typename P::Options& options) { return open<P, StepPolicies>(g.graph, options); };
}

[[nodiscard]] Floats input_of(std::uint64_t round) { return Floats(n, static_cast<float>(round % 7)); }
/// The scalar of a round, which set_scalar() changes after each tenth.
[[nodiscard]] float scalar_of(std::uint64_t round) { return static_cast<float>(1 + round / 10); }

/// z of each round.
[[nodiscard]] std::vector<float> expected(bool changes_scalar) {
  std::vector<float> z;
  float w = 5;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    w += (changes_scalar ? scalar_of(round) : 1) * static_cast<float>(round % 7) + static_cast<float>(round);
    z.push_back(w * 2);
  }
  return z;
}

/// Whether a round fails although the random numbers do not say so: one in the middle, until there were three failures.
[[nodiscard]] bool is_due(std::uint64_t round, int recoveries) { return round == rounds / 2 && recoveries < 3; }

/// Runs all rounds and fails at random; takes a checkpoint after each third round.
template <bool changes_scalar, class Session>
void run_with_failures(Session& session, const Graph& g, unsigned stream) {
  auto random = test::make_random(stream);
  std::vector<Floats> results(rounds, Floats(n));
  Floats w(n);
  REQUIRE(session->upload(g.w, Floats(n, 5)).ok());
  REQUIRE(session->upload(g.v, Floats(n, 2)).ok());
  REQUIRE(session.checkpoint().ok());
  int recoveries = 0;
  for (std::uint64_t round = 0; round < rounds;) {
    Status status;
    if constexpr (changes_scalar) {
      if (round % 10 == 0) REQUIRE(session->set_scalar(g.advance, 0, scalar_of(round)).ok());
    }
    const Floats x = input_of(round);
    if (random() % 8 == 0 || is_due(round, recoveries)) fuse = 1;
    bool device_may_fail = false;
    if constexpr (is_over_stand_in<typename Session::Session::Platform>) {
      device_may_fail = random() % 8 == 0;
      // The operation that fails must not depend on how fast the device is.
      if (device_may_fail) rondo_stand_in_settle();
      if (device_may_fail) rondo_stand_in_fault("device", 1 + random() % 6, 507899);
    }
    status = session->run_round(bind(g.x, x), bind(g.z, results[round]));
    if (status.ok() && ++round % 3 == 0) status = session.checkpoint();
    if (status.ok() && round == rounds) status = session->download(g.w, w);  // waits for that
    fuse = 0;
    if (device_may_fail) rondo_stand_in_settle();
    if (device_may_fail) rondo_stand_in_clear_faults();
    if (status.ok()) {
      CHECK(session.rounds() == round);
      continue;
    }
    REQUIRE_MESSAGE(status.poisoned(), std::string(session->explain(status).c_str()));
    const std::uint64_t reached = round;
    round = session.recover();
    CHECK(round <= reached);
    CHECK(reached - round <= 6);
    CHECK(session.rounds() == round);
    ++recoveries;
  }
  CHECK(recoveries > 2);
  const std::vector<float> z = expected(changes_scalar);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    INFO("round ", round);
    REQUIRE(results[round] == Floats(n, z[round]));
  }
  CHECK(w == Floats(n, z.back() / 2));
}

}  // namespace

#define RONDO_TEST_PLATFORMS                                                                                      \
  A2A3Sim, HostOn<Pool>, A5SimOn<Pool>, A2A3SimOn<Model>, A5SimOn<Checked<Pool>>, A2A3OverStandIn, A5OverStandIn, \
      toy::ToyPlatform

TEST_CASE_TEMPLATE("Rounds that fail at random and run again give the results of a run without failures", P,
                   RONDO_TEST_PLATFORMS) {
  const Graph g;
  for (unsigned stream = 1; stream <= 3; ++stream) {
    Recoverable session(opener_of<P>(g), busy_options<P>());
    run_with_failures<true>(session, g, stream);
  }
}

TEST_CASE_TEMPLATE("Rounds in flight that fail and run again give the same results", P, A5SimOn<Pool>, HostOn<Pool>,
                   A2A3OverStandIn) {
  const Graph g;
  const auto opener = [&](const typename P::Options& options) {
    return open_pipelined<P, 3, StepPolicies>(g.graph, options);
  };
  Recoverable session(opener, busy_options<P>());
  run_with_failures<true>(session, g, 4);

  // Several at once: what was in flight when one failed is run again.
  session.recover();
  const std::uint64_t first = session.rounds();
  std::vector<Floats> z(8, Floats(n));
  const Floats x(n, 1);
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (Floats& to : z) {
      if (attempt == 0 && &to == &z[2]) fuse = 1;
      (void)session->submit_round(bind(g.x, x), bind(g.z, to));
      if (attempt == 0 && &to == &z[2]) (void)session->wait_all();
      fuse = 0;
    }
    const Status status = session->wait_all();
    CHECK(status.ok() == (attempt == 1));
    if (attempt == 0) CHECK(session.recover() == first);
  }
  CHECK(session.rounds() == first + 8);
  for (std::size_t i = 1; i < z.size(); ++i) {
    CHECK(z[i][0] - z[i - 1][0] == 2 * (scalar_of(59) + static_cast<float>(first + i)));
  }
}

TEST_CASE_TEMPLATE("Rounds of different shapes that fail and run again give the same results", P, A5SimOn<Pool>,
                   A2A3OverStandIn) {
  // The residents are of one size; inputs and outputs follow a symbol.
  TaskGraph graph;
  const Dim rows = graph.dim("rows");
  Resident<float> w = graph.resident<float>("w", {n});
  const auto x = graph.input<float>("x", {rows, n});
  const auto z = graph.output<float>("z", {n});
  const auto step = launch::step(graph, "step");
  graph.add<Advance>(x, w, z, 1.0F, step);
  const SharedShapes<P, StepPolicies> shapes(std::move(graph), busy_options<P>());
  const auto opener = [&](const typename P::Options& options) { return open_shaped(shapes, options); };
  Recoverable session(opener, busy_options<P>());
  REQUIRE(session->upload(w, Floats(n, 5)).ok());
  REQUIRE(session.checkpoint().ok());
  auto random = test::make_random(3);
  int recoveries = 0;
  std::vector<float> results(rounds);
  for (std::uint64_t round = 0; round < rounds;) {
    const Floats hx((1 + round % 3) * n, static_cast<float>(round % 7));
    Floats hz(n);
    if (random() % 8 == 0 || is_due(round, recoveries)) fuse = 1;
    Status status = session->run_round(bind(x, hx), bind(z, hz));
    fuse = 0;
    results[round] = hz[n - 1];
    if (status.ok() && ++round % 3 == 0) status = session.checkpoint();
    if (status.ok()) continue;
    REQUIRE(status.poisoned());
    round = session.recover();
    ++recoveries;
  }
  CHECK(recoveries > 2);
  const std::vector<float> of_all = expected(false);
  for (std::uint64_t round = 0; round < rounds; ++round) CHECK(results[round] == of_all[round] / 2);
}

TEST_CASE_TEMPLATE("Without a checkpoint a session is opened as at first", P, A2A3Sim, A2A3OverStandIn,
                   toy::ToyPlatform) {
  const Graph g;
  Recoverable session(opener_of<P>(g), busy_options<P>());
  const Floats x(n);
  Floats z(n);
  CHECK(session.recover() == 0);
  CHECK(session->run_round(bind(g.x, x), bind(g.z, z)).code() == Errc::uninitialized_read);
  REQUIRE(session.checkpoint().ok());  // which holds no contents either
  CHECK(session.recover() == 0);
  CHECK(session->run_round(bind(g.x, x), bind(g.z, z)).code() == Errc::uninitialized_read);
  REQUIRE(session->upload(g.w, Floats(n, 1)).ok());
  REQUIRE(session->upload(g.v, Floats(n, 1)).ok());
  CHECK(session->run_round(bind(g.x, x), bind(g.z, z)).ok());
  CHECK(z == Floats(n, 1));
  CHECK(session->close().ok());  // before the memory of its checkpoints is released
  CHECK(session.checkpoint().code() == Errc::closed);
  CHECK(session.recover() == 0);  // of the last checkpoint, which still holds no contents
  CHECK(session->run_round(bind(g.x, x), bind(g.z, z)).code() == Errc::uninitialized_read);
  CHECK(session->close().ok());
}

TEST_CASE_TEMPLATE("A checkpoint of a graph without residents is one between two rounds as well", P, A2A3Sim,
                   A5SimOn<Pool>) {
  struct Numbers {
    TaskGraph graph;
    Input<float> x = graph.input<float>("x", {1});
    InputOutput<float> w = graph.inout<float>("w", {1});
    Output<float> y = graph.output<float>("y", {1});
    Numbers() { graph.add<Advance>(x, w, y, 1.0F, launch::step(graph, "step")); }
  } const g;
  const auto opener = [&](const typename P::Options& options) {
    return open_pipelined<P, 3, StepPolicies>(g.graph, options);
  };
  Recoverable session(opener, busy_options<P>());
  const Floats x(1);
  Floats w[] = {Floats(1), Floats(1), Floats(1)};
  Floats y(1);
  const auto step = [&] {
    w[0] = {0};
    REQUIRE(session->run_round(bind(g.x, x), bind(g.w, w[0]), bind(g.y, y)).ok());
    return y[0];
  };
  REQUIRE(session.checkpoint().ok());
  for (Floats& each : w) REQUIRE(session->submit_round(bind(g.x, x), bind(g.w, each), bind(g.y, y)));
  REQUIRE(session.checkpoint().ok());  // waits for the rounds
  CHECK(session.recover() == 3);
  CHECK(step() == 3);

  fuse = 1;
  REQUIRE(session->run_round(bind(g.x, x), bind(g.w, w[0]), bind(g.y, y)).poisoned());
  CHECK(session.checkpoint().code() == Errc::poisoned);
  CHECK(session.recover() == 3);
  CHECK(step() == 3);
  auto round = session->begin_round(bind(g.x, x), bind(g.w, w[0]), bind(g.y, y));
  CHECK(session.checkpoint().code() == Errc::busy);
  REQUIRE(std::move(round).launch().finish().status().ok());
  REQUIRE(session->close().ok());
  CHECK(session.checkpoint().code() == Errc::closed);
}

TEST_CASE_TEMPLATE("Completions may make checkpoints while one is made, and the last of all is restored", P, A2A3Sim,
                   A5SimOn<Pool>) {
  const Graph g;
  Recoverable session(
      [&](const typename P::Options& options) { return open_pipelined<P, 3, StepPolicies>(g.graph, options); },
      busy_options<P>());
  REQUIRE(session->upload(g.w, Floats(n, 1000)).ok());
  REQUIRE(session->upload(g.v, Floats(n, 1)).ok());
  const Floats x(n, 1);
  Floats z[3] = {Floats(n), Floats(n), Floats(n)};
  int made = 0;
  const auto submit = [&] {
    for (Floats& each : z) {
      REQUIRE(session->submit_round(bind(g.x, x), bind(g.z, each), [&](Status status) noexcept {
        if (status.ok() && session.checkpoint().ok()) ++made;
      }));
    }
  };
  submit();
  REQUIRE(session.checkpoint().ok());
  CHECK(made == 3);
  Floats before(n), after(n);
  REQUIRE(session->download(g.w, before).ok());
  CHECK(session.recover() == 3);
  REQUIRE(session->download(g.w, after).ok());
  CHECK(after == before);
}

TEST_CASE("Where opening fails the checkpoint is kept, and other options are taken") {
  using P = A2A3OverStandIn;
  rondo_stand_in_reset();
  rondo_stand_in_limit("devices", 2);
  const Graph g;
  Recoverable session(opener_of<P>(g), P::Options{});
  REQUIRE(session->upload(g.w, Floats(n, 3)).ok());
  REQUIRE(session->upload(g.v, Floats(n, 1)).ok());
  const Floats x(n);
  Floats z(n);
  REQUIRE(session->run_round(bind(g.x, x), bind(g.z, z)).ok());
  REQUIRE(session.checkpoint().ok());
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      (void)session.recover({.device = 7});
      FAIL("there is no such device");
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find("7") != std::string::npos);
    }
    CHECK(session->run_round(bind(g.x, x), bind(g.z, z)).code() == Errc::closed);
  }
  CHECK(session.recover({.device = 1}) == 1);
  REQUIRE(session->run_round(bind(g.x, x), bind(g.z, z)).ok());
  CHECK(z == Floats(n, 4));  // 3, and the step of the second round
  CHECK(session.recover() == 1);
  CHECK(session->close().ok());
  rondo_stand_in_reset();
}

TEST_CASE("A callable that opens another graph is refused, and the checkpoint is kept") {
  const Graph one, other;
  bool opens_other = false;
  const auto opener = [&](const A2A3Sim::Options& options) {
    return open<A2A3Sim, StepPolicies>(opens_other ? other.graph : one.graph, options);
  };
  Recoverable session(opener, A2A3Sim::Options{});
  REQUIRE(session->upload(one.w, Floats(n, 3)).ok());
  REQUIRE(session->upload(one.v, Floats(n, 1)).ok());
  REQUIRE(session.checkpoint().ok());
  opens_other = true;
  try {
    (void)session.recover();
    FAIL("the graph is another");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::wrong_tensor);
  }
  opens_other = false;
  CHECK(session.recover() == 0);
  Floats w(n);
  REQUIRE(session->download(one.w, w).ok());
  CHECK(w == Floats(n, 3));
}

TEST_CASE("A checkpoint after the first one waits for nothing, and is not used if a failure comes before its copies") {
  using P = A2A3OverStandIn;
  rondo_stand_in_reset();
  const Graph g;
  Recoverable session(opener_of<P>(g), P::Options{});
  REQUIRE(session->upload(g.w, Floats(n, 0)).ok());
  REQUIRE(session->upload(g.v, Floats(n, 1)).ok());
  const Floats x(n, 1);
  Floats z(n);
  const auto waits = [] { return rondo_stand_in_calls("aclrtSynchronizeStreamWithTimeout"); };
  REQUIRE(session.checkpoint().ok());
  REQUIRE(session->run_round(bind(g.x, x), bind(g.z, z)).ok());
  const std::uint64_t before = waits();
  CHECK(before != 0);
  REQUIRE(session.checkpoint().ok());
  CHECK(waits() == before);
  fuse = 1;
  REQUIRE(session->run_round(bind(g.x, x), bind(g.z, z)).poisoned());
  CHECK(session.recover() == 0);  // the second may not have arrived
  REQUIRE(session->run_round(bind(g.x, x), bind(g.z, z)).ok());
  REQUIRE(session.checkpoint().ok());
  REQUIRE(session->run_round(bind(g.x, x), bind(g.z, z)).ok());
  fuse = 1;
  REQUIRE(session->run_round(bind(g.x, x), bind(g.z, z)).poisoned());
  CHECK(session.recover() == 1);  // it has arrived with the second round
  REQUIRE(session->run_round(bind(g.x, x), bind(g.z, z)).ok());
  CHECK(z == Floats(n, 3));
  CHECK(session->close().ok());
}

TEST_CASE("A checkpoint of little memory is complete although a call is refused after it") {
  using P = A2A3OverStandIn;
  rondo_stand_in_reset();
  TaskGraph graph;
  const auto w = graph.resident<float>("w", {16});
  const auto x = graph.input<float>("x", {16});
  graph.add<kernels::Accumulate>(x, w);
  Recoverable session([&](const P::Options& options) { return open<P>(graph, options); }, P::Options{});
  const Floats ones(16, 1);
  REQUIRE(session->upload(w, Floats(16, 0)).ok());
  REQUIRE(session.checkpoint().ok());
  for (int round = 0; round < 3; ++round) REQUIRE(session->run_round(bind(x, ones)).ok());
  REQUIRE(session.checkpoint().ok());
  rondo_stand_in_fault("aclmdlRIExecuteAsync", 1, 207008);
  CHECK(!session->run_round(bind(x, ones)).ok());
  REQUIRE(session->run_round(bind(x, ones)).ok());
  CHECK(session.recover() == 3);
  Floats now(16);
  REQUIRE(session->download(w, now).ok());
  CHECK(now == Floats(16, 3));
  CHECK(session->close().ok());
}

TEST_CASE("A move of the arena ends the copies of a checkpoint, since the caller may then use the old memory") {
  using P = A2A3OverStandIn;
  rondo_stand_in_reset();
  rondo_stand_in_limit("devices", 1);
  const Graph g;
  P other{P::Options{}};
  Recoverable session(opener_of<P>(g), P::Options{});
  const Bytes bytes = session->arena_bytes();
  const auto first = other.allocate(bytes, Bytes{P::Arch::arena_alignment});
  const auto second = other.allocate(bytes, Bytes{P::Arch::arena_alignment});
  REQUIRE(session->move_arena({first, bytes.value}).ok());
  REQUIRE(session->upload(g.w, Floats(n, 0)).ok());
  REQUIRE(session->upload(g.v, Floats(n, 1)).ok());
  REQUIRE(session.checkpoint().ok());
  const Floats x(n, 1);
  Floats z(n);
  REQUIRE(session->run_round(bind(g.x, x), bind(g.z, z)).ok());
  Floats w(n);
  REQUIRE(session->download(g.w, w).ok());
  const Floats expected = w;
  rondo_stand_in_hold();
  REQUIRE(session.checkpoint().ok());
  rondo_stand_in_hold_until_awaited();
  REQUIRE(session->move_arena({second, bytes.value}).ok());
  const Floats junk(bytes.value / sizeof(float), 77);
  rondo_stand_in_poke(first.address(), junk.data(), bytes.value);
  REQUIRE(session->upload(g.w, Floats(n, 5)).ok());
  REQUIRE(session->upload(g.v, Floats(n, 1)).ok());
  REQUIRE(session->run_round(bind(g.x, x), bind(g.z, z)).ok());  // the checkpoint has arrived by then
  CHECK(session.recover() == 1);
  REQUIRE(session->download(g.w, w).ok());
  CHECK(w == expected);
  REQUIRE(session->close().ok());
  CHECK(other.release(first).ok());
  CHECK(other.release(second).ok());
  CHECK(other.close().ok());
}

TEST_CASE("A checkpoint that is refused leaves the pending one as it is") {
  using P = A2A3OverStandIn;
  rondo_stand_in_reset();
  const Graph g;
  Recoverable session(opener_of<P>(g), P::Options{});
  REQUIRE(session->upload(g.w, Floats(n, 0)).ok());
  REQUIRE(session->upload(g.v, Floats(n, 1)).ok());
  REQUIRE(session.checkpoint().ok());
  const Floats x(n, 1);
  Floats z(n);
  REQUIRE(session->run_round(bind(g.x, x), bind(g.z, z)).ok());
  REQUIRE(session.checkpoint().ok());  // its copies are pending
  {
    auto round = session->begin_round(bind(g.x, x), bind(g.z, z));
    CHECK(session.checkpoint().code() == Errc::busy);
    REQUIRE(std::move(round).launch().finish().status().ok());
  }
  CHECK(session.recover() == 1);
}

TEST_CASE("A callable whose graph has grown is refused") {
  Graph g;
  const auto opener = [&](const A2A3Sim::Options& options) { return open<A2A3Sim, StepPolicies>(g.graph, options); };
  Recoverable session(opener, A2A3Sim::Options{});
  REQUIRE(session->upload(g.w, Floats(n, 3)).ok());
  REQUIRE(session->upload(g.v, Floats(n, 1)).ok());
  REQUIRE(session.checkpoint().ok());
  (void)g.graph.resident<float>("more", {n});
  try {
    (void)session.recover();
    FAIL("the graph has grown");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::wrong_tensor);
  }
}

TEST_CASE("Residents of a graph that is built in each round are restored") {
  struct Policies : DefaultPolicies {
    using Runtime = runtime::TensorMapRingBuffer;
  };
  using P = A2A3SimOn<Pool>;
  TaskGraph interface;
  const auto x = interface.input<float>("x", {n});
  const auto w = interface.resident<float>("w", {n});
  const auto orchestrate = [=](auto& round) { round.template add<kernels::Accumulate>(x, w); };
  const auto opener = [&](const auto& options) { return open<P, Policies>(interface, orchestrate, options); };
  Recoverable session(opener, typename Policies::Runtime::template Options<P>{});
  REQUIRE(session->upload(w, Floats(n, 1)).ok());
  const Floats one(n, 1);
  REQUIRE(session->run_round(bind(x, one)).ok());
  REQUIRE(session.checkpoint().ok());
  REQUIRE(session->run_round(bind(x, one)).ok());
  CHECK(session.recover() == 1);
  REQUIRE(session->run_round(bind(x, one)).ok());
  Floats now(n);
  REQUIRE(session->download(w, now).ok());
  CHECK(now == Floats(n, 3));
}

TEST_CASE("What recovery.md shows runs") {
  using P = A2A3Sim;
  using Policies = StepPolicies;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto w = graph.resident<float>("w", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<Advance>(x, w, y, 1.0F, launch::step(graph, "step"));
  const Floats weights(n, 1);
  const std::vector<Floats> batches(250, Floats(n, 1));
  std::vector<Floats> results(250, Floats(n));
  int has_failed = 0;
  {
    const auto opener = [&](const P::Options& options) { return rondo::open<P, Policies>(graph, options); };
    rondo::Recoverable session(opener, P::Options{});
    rondo::Status status = session->upload(w, weights);
    if (status.ok()) status = session.checkpoint();
    for (std::uint64_t round = 0; status.ok() && round < batches.size();) {
      if (round == 249 && !has_failed) fuse = has_failed = 1;
      status = session->run_round(bind(x, batches[round]), bind(y, results[round]));
      if (status.ok() && ++round % 100 == 0) status = session.checkpoint();
      if (!status.poisoned()) continue;
      CHECK(fuse == 0);
      round = session.recover();  // the rounds after the checkpoint run again
      CHECK(round == 200);
      status = {};
    }
    CHECK(session.rounds() == 250);
    CHECK(results[249] == Floats(n, 1 + 250 + 249 * 250 / 2));
  }
}
