// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/search/local_search.hpp>

#include <doctest/doctest.h>

#include <unit/memory/random_problem.hpp>

using namespace rondo;
using namespace rondo::memory;
using namespace rondo::search;

namespace {

/// Two tilings far apart in time, with light traffic before, between and after them.
Problem two_peaks() {
  Problem p;
  for (const std::uint64_t seed : {1U, 2U}) {
    for (Buffer b : testing::random_tiling(seed, 40).buffers) {
      b.lower += static_cast<std::int64_t>(seed) * 4'000'000;
      b.upper += static_cast<std::int64_t>(seed) * 4'000'000;
      p.buffers.push_back(b);
    }
  }
  for (std::int64_t i = 0; i < 400; ++i)
    p.buffers.push_back({.lower = i * 30'000, .upper = i * 30'000 + 50'000, .size = 40'000});
  for (Buffer& b : p.buffers) {
    const bool light = b.size == 40'000 && b.upper - b.lower == 50'000;
    const auto within = [&](std::int64_t t) {
      return (t > 4'000'000 && t < 5'100'000) || (t > 8'000'000 && t < 9'100'000);
    };
    if (light && (within(b.lower) || within(b.upper))) b.size = 0;
  }
  return p;
}

}  // namespace

TEST_CASE("a buffer that sticks out is worked in among those around it") {
  // Best in 8; first fit in this order leaves the last on top.
  const Problem problem{{{.lower = 0, .upper = 2, .size = 2},
                         {.lower = 1, .upper = 4, .size = 2},
                         {.lower = 3, .upper = 6, .size = 4},
                         {.lower = 0, .upper = 4, .size = 4}},
                        {}};
  Plan plan;
  plan.offsets = {0, 2, 4, 8};
  plan.arena = 12;
  plan.lower_bound = lower_bound(problem);
  const Sections sections{problem};
  LocalSearch{problem, sections}.improve(plan, plan.lower_bound, {.nodes = 1000});
  CHECK(plan.arena == testing::smallest_arena(problem));
  CHECK(check_plan(problem, plan).ok());
}

TEST_CASE("a plan is never made worse, and stays as it is without budget") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const Problem problem = memory::testing::random_problem(seed, {.buffers = 40, .steps = 30});
    const Sections sections{problem};
    std::vector<std::uint32_t> order(problem.size());
    std::iota(order.begin(), order.end(), 0U);
    Plan plan;
    plan.offsets = FirstFit{problem}.run(order);
    plan.arena = arena_of(problem, plan.offsets);
    plan.lower_bound = lower_bound(problem, sections);
    const std::int64_t before = plan.arena;
    LocalSearch{problem, sections}.improve(plan, plan.lower_bound, {.nodes = 2000, .window = 20});
    REQUIRE(plan.arena <= before);
    REQUIRE(check_plan(problem, plan).ok());
  }
}

TEST_CASE("stretches that are too high are planned anew, the fullest times first and exactly") {
  const Problem problem = two_peaks();
  const Sections sections{problem};
  std::vector<std::uint32_t> order(problem.size());
  std::iota(order.begin(), order.end(), 0U);
  Plan plan;
  plan.offsets = FirstFit{problem}.run(order);
  plan.arena = arena_of(problem, plan.offsets);
  plan.lower_bound = lower_bound(problem, sections);
  REQUIRE(plan.arena > plan.lower_bound);
  LocalSearch{problem, sections}.improve_stretches(plan, plan.lower_bound, {.nodes = 100'000});
  CHECK(plan.optimal());
  CHECK(check_plan(problem, plan).ok());
}
