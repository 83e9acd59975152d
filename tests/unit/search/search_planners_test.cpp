// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/search/planners.hpp>

#include <rondo/memory/planners.hpp>

#include <doctest/doctest.h>

#include <random.hpp>
#include <scale.hpp>
#include <unit/memory/random_problem.hpp>

#include <chrono>
#include <string>

using namespace rondo;
using namespace rondo::memory;
using namespace rondo::search;
using namespace std::chrono_literals;

TEST_CASE("an empty problem has an empty plan") {
  const Plan plan = plan_fast({});
  CHECK(plan.offsets.empty());
  CHECK(plan.arena == 0);
  CHECK(plan.optimal());
  CHECK(plan_best({}, 1s).optimal());
}

TEST_CASE("buffers without bytes or lifetime are planned like all others") {
  const Problem problem{{{.lower = 0, .upper = 3, .size = 0},
                         {.lower = 2, .upper = 2, .size = 7},
                         {.lower = -9, .upper = 9, .size = 5, .alignment = 4}},
                        {}};
  const Plan plan = plan_best(problem, 1s);
  CHECK(check_plan(problem, plan).ok());
  CHECK(plan.arena == 7);
  CHECK(plan.optimal());
}

TEST_CASE("fixed offsets that clash are refused by number") {
  const Problem problem{{{.lower = 0, .upper = 3, .size = 8, .fixed_offset = 0},
                         {.lower = 5, .upper = 7, .size = 8, .fixed_offset = 0},
                         {.lower = 2, .upper = 4, .size = 8, .fixed_offset = 4}},
                        {}};
  std::string text;
  try {
    (void)plan_fast(problem);
  } catch (const rondo::Error& error) {
    text = error.what();
  }
  CHECK(text.find("buffers 0 and 2 are fixed to the same bytes") != std::string::npos);
}

TEST_CASE("a plan that the budget was too small for is valid and says so") {
  // Tiles on a coarse grid, in odd shapes: hard, and no time for it.
  Problem problem = testing::random_tiling(1, 900);
  for (Buffer& b : problem.buffers) {
    b.lower &= ~0x3fff;
    b.upper = ((b.upper - 1) | 0x3fff) + 1;
  }
  const Plan plan = plan_best(problem, 1ms, 2);
  CHECK(check_plan(problem, plan).ok());
  CHECK(plan.out_of_budget == !plan.optimal());
}

TEST_CASE("tilings are planned exactly at once") {
  const Problem problem = testing::random_tiling(3, 100);
  const Plan plan = plan_best(problem, std::chrono::nanoseconds::max());
  CHECK(plan.arena == 1 << 20);
  CHECK_FALSE(plan.out_of_budget);
  CHECK(check_plan(problem, plan).ok());
}

TEST_CASE("a plan is improved to the optimum, and one that cannot be is left alone") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Problem problem = testing::random_tiling(seed, 60);
    Plan plan = Greedy::plan(problem);
    improve_plan(problem, plan, std::chrono::hours{10'000}, 1);
    CHECK(plan.arena == 1 << 20);
    CHECK(plan.optimal());
    CHECK_FALSE(plan.out_of_budget);
    CHECK(check_plan(problem, plan).ok());
    const Plan best = plan;
    improve_plan(problem, plan, 0s);
    CHECK(plan.offsets == best.offsets);
  }
}

TEST_CASE("a plan is improved without a limit of time as with a long one") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Problem problem = testing::random_problem(seed, {.buffers = 12});
    Plan plan = Greedy::plan(problem);
    Plan other = plan;
    improve_plan(problem, plan, std::chrono::nanoseconds::max(), 1);
    improve_plan(problem, other, std::chrono::hours{10'000}, 1);
    CHECK(plan.arena == other.arena);
    CHECK(plan.optimal() == other.optimal());
  }
}

TEST_CASE("large tilings are planned to the bound") {
  const Problem problem = testing::random_tiling(1, sanitized ? 2'000 : 20'000);
  const Plan plan = plan_best(problem, std::chrono::nanoseconds::max());
  CHECK(plan.optimal());
  CHECK(check_plan(problem, plan).ok());
}

TEST_CASE("a tiling with holes is planned to the bound without a search") {
  for (const std::int64_t pinwheels : {0, 3}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      CAPTURE(pinwheels);
      CAPTURE(seed);
      Problem problem = testing::random_tiling(seed, 400, pinwheels);
      problem.buffers.resize(problem.size() - 4);
      const Plan plan = plan_fast(problem, 1);
      CHECK(plan.arena == 1 << 20);
      CHECK(check_plan(problem, plan).ok());
    }
  }
}

TEST_CASE("many buffers, few or many of them alive at once, are planned within a few percent") {
  Problem sparse;
  Problem dense;
  auto engine = rondo::test::make_random<std::mt19937_64>(1);
  const auto random = [&](std::int64_t n) {
    return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(n));
  };
  constexpr std::int64_t n = 20'000;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t lower = random(n);
    sparse.buffers.push_back(
        {.lower = lower, .upper = lower + 1 + random(120), .size = 64 * (1 + (random(16'000) >> random(10)))});
  }
  for (std::int64_t i = 0; i < n / 2; ++i) {
    const std::int64_t size = 64 * (1 + random(4000));
    dense.buffers.push_back({.lower = i, .upper = n - i, .size = size});
    dense.buffers.push_back({.lower = n - i - 1, .upper = n - i + 1, .size = size});
  }
  const Plan of_sparse = plan_fast(sparse);
  CHECK(check_plan(sparse, of_sparse).ok());
  CHECK(of_sparse.ratio() < 1.03);
  const Plan of_dense = plan_fast(dense);
  CHECK(check_plan(dense, of_dense).ok());
  CHECK(of_dense.ratio() < 1.001);
}
