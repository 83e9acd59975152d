// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/search/exact_search.hpp>

#include <doctest/doctest.h>

#include <unit/memory/random_problem.hpp>

#include <cstdint>
#include <numeric>
#include <vector>

using namespace rondo;
using namespace rondo::memory;
using namespace rondo::search;

namespace {

Plan start_plan(const Problem& problem, const Sections& sections) {
  Plan plan;
  plan.offsets = FirstFit{problem}.run([&] {
    std::vector<std::uint32_t> order(problem.size());
    std::iota(order.begin(), order.end(), 0U);
    return order;
  }());
  plan.arena = arena_of(problem, plan.offsets);
  plan.lower_bound = lower_bound(problem, sections);
  return plan;
}

}  // namespace

TEST_CASE("perfect tilings are put together again") {
  for (const std::size_t pieces : {10U, 50U, 100U, 200U}) {
    CAPTURE(pieces);
    const Problem problem = testing::random_tiling(pieces, pieces);
    const Sections sections{problem};
    Plan plan = start_plan(problem, sections);
    REQUIRE(plan.arena > (1 << 20));
    ExactSearch{problem, sections}.improve(plan, {.rounds = 12});
    CHECK(plan.arena == 1 << 20);
    CHECK(check_plan(problem, plan).ok());
  }
}

TEST_CASE("what is found depends neither on threads nor on whether the rounds come in one call or several") {
  const Problem problem =
      memory::testing::random_problem(3, {.buffers = 60, .steps = 20, .largest = 999, .degenerate = false});
  const Sections sections{problem};
  Plan at_once = start_plan(problem, sections);
  ExactSearch{problem, sections}.improve(at_once, {.rounds = 4, .growth = 1});
  for (const unsigned threads : {2U, 4U}) {
    Plan plan = start_plan(problem, sections);
    ExactSearch search{problem, sections};
    for (int k = 0; k < 4; ++k) search.improve(plan, {.rounds = 1, .growth = 1, .threads = threads});
    CHECK(plan.offsets == at_once.offsets);
    CHECK(plan.lower_bound == at_once.lower_bound);
  }
}

TEST_CASE("where the bound is out of reach the search raises it") {
  // Loads of 4 everywhere, but no plan in 4: the middle buffer of 2 would have to bend.
  const Problem problem{{{.lower = 0, .upper = 2, .size = 3},
                         {.lower = 0, .upper = 1, .size = 1},
                         {.lower = 1, .upper = 3, .size = 1},
                         {.lower = 2, .upper = 4, .size = 2},
                         {.lower = 2, .upper = 3, .size = 1},
                         {.lower = 3, .upper = 5, .size = 2},
                         {.lower = 4, .upper = 5, .size = 2}},
                        {{0, 5}}};
  const Sections sections{problem};
  Plan plan = start_plan(problem, sections);
  ExactSearch{problem, sections}.improve(plan, {});
  CHECK(plan.optimal());
  CHECK(plan.arena == testing::smallest_arena(problem));
}

TEST_CASE("sizes beyond 32 bits are planned as well as small ones") {
  Problem problem = testing::random_tiling(11, 40);
  for (Buffer& b : problem.buffers) b.size = b.size * 1'000'003 * 1'000;
  problem.buffers.push_back({.lower = -2, .upper = -1, .size = 1});  // keeps the unit at one byte
  const Sections sections{problem};
  Plan plan = start_plan(problem, sections);
  ExactSearch{problem, sections}.improve(plan, {.rounds = 12});
  CHECK(plan.optimal());
  CHECK(check_plan(problem, plan).ok());
}
