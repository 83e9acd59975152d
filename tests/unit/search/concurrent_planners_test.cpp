// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/search/concurrent_planners.hpp>

#include <random.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/search/storage_tokens.hpp>
#include <rondo/session/open.hpp>
#include <unit/memory/random_problem.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <stdexcept>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::memory;
using namespace rondo::search;
using namespace rondo::test;

namespace {

/// Puts all buffers at offset 0.
struct Careless {
  static constexpr const char* name = "careless";
  static Plan plan(const Problem& problem) {
    Plan plan;
    plan.offsets.assign(problem.size(), 0);
    plan.arena = arena_of(problem, plan.offsets);
    return plan;
  }
};
struct Throwing {
  static constexpr const char* name = "throwing";
  static Plan plan(const Problem&) { throw std::runtime_error("out of ideas"); }
};
struct ThrowingNumber {
  static Plan plan(const Problem&) { throw 7; }
};
/// Waits until both planners run.
struct Meeting {
  static inline std::barrier<> both{2};
  static Plan plan(const Problem& problem) {
    both.arrive_and_wait();
    return Disjoint::plan(problem);
  }
};
struct Counted {
  static inline std::atomic<int> calls{0};
  static Plan plan(const Problem& problem) {
    ++calls;
    return Disjoint::plan(problem);
  }
};

struct Add {
  static constexpr std::string_view name = "add";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + 1;
  }
};

}  // namespace

TEST_CASE("The smallest valid plan wins, and of equal ones the first") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const Problem problem = testing::random_tiling(rondo::test::seed_of(seed), 60);
    using Three = Portfolio<Disjoint, StorageTokens, Greedy>;
    const Plan plan = Three::plan(problem);
    CHECK(check_plan(problem, plan).ok());
    const std::int64_t tokens = StorageTokens::plan(problem).arena;
    const std::int64_t greedy = Greedy::plan(problem).arena;
    CHECK(plan.arena == std::min({Disjoint::plan(problem).arena, tokens, greedy}));
    // The order of the names and the number of threads do not matter.
    CHECK(Portfolio<Greedy, Disjoint, StorageTokens>::plan(problem).arena == plan.arena);
    const auto in_turn = Three::plan_all(problem, 1);
    const auto at_once = Three::plan_all(problem, 8);
    for (std::size_t k = 0; k < in_turn.size(); ++k) {
      if (in_turn[k].has_run && at_once[k].has_run) CHECK(in_turn[k].plan.offsets == at_once[k].plan.offsets);
    }
  }
  const Problem apart{{{.lower = 0, .upper = 2, .size = 8}, {.lower = 1, .upper = 3, .size = 8}}, {}};
  CHECK(std::string{Portfolio<Disjoint, Greedy>::plan(apart).planner} == "disjoint");
}

TEST_CASE("Planners run at the same time") {
  const Problem problem{{{.lower = 0, .upper = 2, .size = 8}, {.lower = 5, .upper = 6, .size = 8}}, {}};
  const auto outcomes = Portfolio<Meeting, Meeting>::plan_all(problem, 2);  // in turn, the first would wait for ever
  CHECK(outcomes[0].is_valid());
  CHECK(outcomes[1].is_valid());
  CHECK(std::string{outcomes[0].planner} == "a planner without a name");
}

TEST_CASE("After a plan at the lower bound, planners named later are not started") {
  const Problem problem{{{.lower = 0, .upper = 2, .size = 8}, {.lower = 1, .upper = 3, .size = 8}}, {}};
  Counted::calls = 0;
  const auto outcomes = Portfolio<Greedy, Counted>::plan_all(problem, 1);
  CHECK(Counted::calls == 0);
  CHECK_FALSE(outcomes[1].has_run);
  CHECK_FALSE(outcomes[1].is_valid());
}

TEST_CASE("A wrong plan and a planner that throws are named, and not used") {
  const Problem problem{{{.lower = 0, .upper = 2, .size = 8}, {.lower = 1, .upper = 3, .size = 8}}, {}};
  const auto outcomes = Portfolio<Careless, Throwing, Disjoint>::plan_all(problem, 2);
  CHECK(std::string{outcomes[0].planner} == "careless");
  CHECK(outcomes[0].violation.kind == Violation::Kind::overlap);
  CHECK(outcomes[1].error == "out of ideas");
  CHECK(outcomes[2].is_valid());
  CHECK(Portfolio<Careless, Throwing, Disjoint>::plan(problem).offsets == std::vector<std::int64_t>{0, 8});
  const Raised none = raised([&] { (void)Portfolio<Careless, Throwing>::plan(problem); });
  CHECK(none.code == Errc::check_failed);
  CHECK(says(none.text, "'careless': two buffers share bytes", "'throwing': out of ideas"));
  const auto others = Portfolio<ThrowingNumber, Disjoint>::plan_all(problem, 2);
  CHECK(others[0].error == "an exception that is no std::exception");
  CHECK(others[1].is_valid());
  const Problem wrong{{{.lower = 3, .upper = 2, .size = -8}}, {}};
  CHECK_THROWS_AS((void)(Portfolio<Greedy>::plan(wrong)), Error);
}

TEST_CASE("A session takes a portfolio as its planner") {
  struct Policies : DefaultPolicies {
    using Plan = Portfolio<StorageTokens, Careless, Greedy>;
  };
  TaskGraph graph;
  const auto x = graph.input<float>("x", {100});
  auto last = graph.workspace<float>("t", {100});
  graph.add<Add>(x, last);
  for (int i = 0; i < 6; ++i) {
    const auto next = graph.workspace<float>("t" + std::to_string(i), {100});
    graph.add<Add>(last, next);
    last = next;
  }
  const auto y = graph.output<float>("y", {100});
  graph.add<Add>(last, y);
  auto session = open<A2A3Sim, Policies>(graph);
  CHECK(session.arena_bytes() == open<A2A3Sim>(graph).arena_bytes());
  std::vector<float> hx(100, 1.0F), hy(100);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy == std::vector<float>(100, 9.0F));
}
