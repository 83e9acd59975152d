// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Sessions that share the shapes of one symbolic graph, and arenas that grow under known shapes.

#include "platforms.hpp"

#include <rondo/memory/planners.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace rondo;

namespace {

using Floats = std::vector<float>;

/// t = 2 x, then total += the sum of t, then y = t + total
struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = CoreType::vector;
  static void run(Block b, In<float, 2> x, Out<float, 2> t) noexcept {
    for (std::size_t i = b.index; i < t.size(); i += b.count) t[i] = 2 * x[i];
  }
};
struct Gather {
  static constexpr std::string_view name = "gather";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> t, InOut<float> total, Out<float> y) noexcept {
    for (std::size_t i = 0; i < t.size(); ++i) total[0] += t[i];
    for (std::size_t i = 0; i < t.size(); ++i) y[i] = t[i] + total[0];
  }
};

struct Gathering {
  explicit Gathering(bool fixed = false) {
    graph.add<Twice>(Blocks{min(ceil_div(n, 8), 20)}, x, t);
    const TaskId gather = graph.add<Gather>(t, total, y);
    if (fixed) graph.fix_addresses(gather);
  }
  TaskGraph graph;
  Dim n = graph.dim("n");
  Input<float> x = graph.input<float>("x", {n, 4});
  Workspace<float> t = graph.workspace<float>("t", {n, 4});
  Output<float> y = graph.output<float>("y", {n, 4});
  Resident<float> total = graph.resident<float>("total", {1});
};

/// A round of n = rows, every output checked; returns whether all was right.
template <class Session>
bool round_is_right(Session& session, const Gathering& g, std::size_t rows, float& total) {
  Floats x(rows * 4), y(x.size(), -1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i + rows) % 5);
  if (!session.run_round(bind(g.x, x), bind(g.y, y))) return false;
  for (const float value : x) total += 2 * value;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (y[i] != 2 * x[i] + total) return false;
  }
  return true;
}

/// Counts the shapes that were planned, and so resolved.
struct CountedPlan : memory::Greedy {
  static inline std::atomic<int> plans{0};
  static memory::Plan plan(const memory::Problem& problem) {
    ++plans;
    return memory::Greedy::plan(problem);
  }
  static int taken() { return plans.exchange(0); }
};

struct Counted : DefaultPolicies {
  using Lookups = launch::Counts;
  using Plan = CountedPlan;
};
/// Never rewrites the arena's addresses.
struct OnlyModelIo : Counted {
  using Update = update::ModelIo;
};

}  // namespace

TEST_CASE_TEMPLATE("Sessions over shared shapes plan each of them once, and each has its own memory", P, A2A3Sim,
                   A5SimOn<Pool>, A2A3SimOn<Model>) {
  const Gathering g;
  (void)CountedPlan::taken();
  const auto shapes = share_shapes<P, Counted>(g.graph);
  auto first = open_shaped(shapes, busy_options<P>());
  auto second = open_shaped(shapes, busy_options<P>());
  float totals[2] = {0, 100};
  REQUIRE(first.upload(g.total, Floats{totals[0]}).ok());
  REQUIRE(second.upload(g.total, Floats{totals[1]}).ok());
  for (int round = 0; round < 20; ++round) {
    const std::size_t rows = 1 + static_cast<std::size_t>(round * 3 % 4);
    CHECK(round_is_right(first, g, rows, totals[0]));
    CHECK(round_is_right(second, g, 5 - rows, totals[1]));
  }
  CHECK(CountedPlan::taken() == 4);
  CHECK(first.entries() == 4);
  CHECK(second.entries() == 4);
}

TEST_CASE("A shape prepared for all is resolved once, and a shape that is none is refused and not kept") {
  const Gathering g;
  (void)CountedPlan::taken();
  const auto shapes = share_shapes<A2A3Sim, Counted>(g.graph);
  shapes.prepare({{g.n, 16}});
  CHECK(CountedPlan::taken() == 1);
  auto session = open_shaped(shapes);
  session.prepare({{g.n, 16}});
  float total = 0;
  REQUIRE(session.upload(g.total, Floats{0}).ok());
  CHECK(round_is_right(session, g, 16, total));
  CHECK(session.entries() == 1);
  CHECK_THROWS_AS(shapes.prepare({}), Error);
  CHECK_THROWS_AS(shapes.prepare({{g.n, 16}, {g.n, 16}}), Error);
  CHECK_THROWS_AS(shapes.prepare({{g.n, std::int64_t{1} << 61}}), Error);
  CHECK_THROWS_AS(shapes.prepare({{g.n, std::int64_t{1} << 61}}), Error);
  CHECK(CountedPlan::taken() == 0);
}

TEST_CASE("Threads that meet the same shapes at the same time share them, and no round disturbs another") {
  const Gathering g;
  const auto wrong_rounds = [&](const auto& shapes) {
    std::atomic<int> wrong{0};
    const auto work = [&](std::size_t seed) {
      auto session = open_shaped(shapes);
      float total = 0;
      if (!session.upload(g.total, Floats{0}).ok()) ++wrong;
      for (std::size_t round = 0; round < 120; ++round) {
        if (round % 30 == 0) total = 0;  // sums stay small enough to be exact
        if (round % 30 == 0 && !session.upload(g.total, Floats{0}).ok()) ++wrong;
        if (!round_is_right(session, g, 1 + (round * seed) % 9, total)) ++wrong;
      }
    };
    std::vector<std::thread> threads;
    for (const std::size_t seed : {1U, 2U, 5U, 7U}) threads.emplace_back(work, seed);
    for (std::thread& thread : threads) thread.join();
    return wrong.load();
  };
  CHECK(wrong_rounds(share_shapes<A2A3Sim, Counted, launch::Lru<6>>(g.graph)) == 0);
  (void)CountedPlan::taken();
  CHECK(wrong_rounds(share_shapes<A2A3Sim, Counted, launch::Lru<9>>(g.graph)) == 0);
  CHECK(CountedPlan::taken() == 9);
}

TEST_CASE("A session goes on with a shape that the others' book has dropped") {
  const Gathering g;
  const auto shapes = share_shapes<A2A3Sim, Counted, launch::Lru<1>>(g.graph);
  (void)CountedPlan::taken();
  auto session = open_shaped(shapes);
  float total = 0;
  REQUIRE(session.upload(g.total, Floats{0}).ok());
  CHECK(round_is_right(session, g, 3, total));
  shapes.prepare({{g.n, 9}});
  CHECK(round_is_right(session, g, 3, total));
  CHECK(CountedPlan::taken() == 2);
}

TEST_CASE_TEMPLATE("An arena that grows forgets no shape, whatever the update strategy rewrites", Policies, Counted,
                   OnlyModelIo) {
  for (const bool fixed : {false, true}) {
    CAPTURE(fixed);
    const Gathering g(fixed);
    const auto shapes = share_shapes<A5Sim, Policies>(g.graph);
    (void)CountedPlan::taken();
    auto session = open_shaped(shapes);
    float total = 0;
    REQUIRE(session.upload(g.total, Floats{0}).ok());
    std::uint64_t grown = 0;
    for (const std::size_t rows : {4U, 40U, 400U, 4000U, 4U, 40U, 400U, 4000U}) {
      const Bytes before = session.arena_bytes();
      total = 0;
      REQUIRE(session.upload(g.total, Floats{0}).ok());
      CHECK(round_is_right(session, g, rows, total));
      grown += before < session.arena_bytes() ? 1 : 0;
    }
    CHECK(grown == 4);
    CHECK(session.entries() == 4);
    CHECK(session.lookups().misses == 4);
    CHECK(CountedPlan::taken() == 4);
    Floats sum(1);
    REQUIRE(session.download(g.total, sum).ok());
    CHECK(sum[0] == total);
  }
}

TEST_CASE("Reserving moves the arena under known shapes, which stay known") {
  const Gathering g;
  auto session = open_shaped<A2A3Sim, Counted>(g.graph);
  float total = 0;
  REQUIRE(session.upload(g.total, Floats{0}).ok());
  CHECK(round_is_right(session, g, 4, total));
  session.reserve(Bytes{1 << 20});
  CHECK(round_is_right(session, g, 4, total));
  CHECK(round_is_right(session, g, 4, total));
  CHECK(session.lookups().misses == 1);
}
