// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include "scale.hpp"

#include <rondo/memory/planners.hpp>
#include <rondo/search/displacement.hpp>
#include <rondo/search/planners.hpp>
#include <rondo/search/skyline.hpp>
#include <rondo/search/storage_tokens.hpp>
#include <rondo/search/timeline_fit.hpp>

#include <doctest/doctest.h>

#include <random.hpp>
#include <unit/memory/random_problem.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace memory = rondo::memory;
namespace search = rondo::search;
using memory::testing::check_offsets;
using memory::testing::Features;
using memory::testing::random_problem;

namespace {

Features features_of(std::uint64_t seed) {
  Features f;
  f.buffers = seed % 37;
  f.steps = 4 + static_cast<std::int64_t>(seed % 50);
  f.largest = std::int64_t{1} << (1 + seed % 12);
  f.alignments = (seed & 1) != 0;
  f.gaps = (seed & 2) != 0;
  f.fixed_offsets = (seed & 4) != 0;
  f.conflicts = (seed & 8) != 0;
  f.degenerate = (seed & 16) != 0;
  return f;
}

void require_valid(const memory::Problem& problem, std::vector<std::int64_t> offsets, const char* planner) {
  const memory::Violation v = check_offsets(problem, std::move(offsets));
  INFO(std::string{planner} << ": " << to_string(v.kind) << " of " << v.a << " and " << v.b);
  REQUIRE(v.ok());
}

}  // namespace

TEST_CASE("every planner makes a valid plan of thousands of random problems with all features mixed") {
  for (std::uint64_t seed = 0; seed < std::uint64_t{scaled(4000)}; ++seed) {
    CAPTURE(seed);
    const Features features = features_of(seed);
    const memory::Problem problem = random_problem(rondo::test::seed_of(seed), features);
    const memory::Sections sections{problem};
    const std::int64_t bound = memory::lower_bound(problem, sections);

    memory::FirstFit fitter{problem};
    for (const memory::Order order : {memory::Order::size, memory::Order::duration, memory::Order::area,
                                      memory::Order::breadth, memory::Order::conflicts, memory::Order::start}) {
      for (const memory::Fit fit : {memory::Fit::first, memory::Fit::best}) {
        require_valid(problem, fitter.run(memory::make_order(problem, sections, order), fit), to_string(order));
      }
    }
    require_valid(problem, search::StorageTokens::offsets(problem), search::StorageTokens::name);
    if (!features.fixed_offsets) {
      const auto by_duration = memory::make_order(problem, sections, memory::Order::duration);
      require_valid(problem, search::skyline(problem, sections, by_duration), "skyline");
      if (!features.conflicts) {
        require_valid(problem, search::timeline_fit(problem), "timeline, best fit");
      }
    }
    const memory::Plan at_once = search::plan_fast(problem, 1);
    REQUIRE(memory::check_plan(problem, at_once).ok());
    REQUIRE(at_once.arena >= bound);
    const memory::Plan constant = memory::Greedy::plan(problem);
    REQUIRE(memory::check_plan(problem, constant).ok());

    memory::Plan searched;
    searched.offsets = fitter.run(memory::make_order(problem, sections, memory::Order::start));
    searched.arena = memory::arena_of(problem, searched.offsets);
    searched.lower_bound = bound;
    for (const std::uint64_t kind : {0U, 1U}) {
      const std::int64_t before = searched.arena;
      search::DisplacementSearch{problem, 20, 2 * seed + kind}.improve(searched, {.steps = 2000});
      REQUIRE(memory::check_plan(problem, searched).ok());
      REQUIRE(searched.arena <= before);
    }
  }
}

TEST_CASE("the search finds the smallest arena there is and proves it") {
  for (std::uint64_t seed = 0; seed < std::uint64_t{scaled(1500)}; ++seed) {
    CAPTURE(seed);
    Features features = features_of(seed);
    features.buffers = 1 + seed % 6;
    features.steps = 3 + static_cast<std::int64_t>(seed % 4);
    features.largest = 1 + static_cast<std::int64_t>(seed % 40);
    const memory::Problem problem = random_problem(rondo::test::seed_of(seed), features);
    const memory::Plan plan = search::plan_best(problem, std::chrono::nanoseconds::max(), 1);
    REQUIRE(memory::check_plan(problem, plan).ok());
    REQUIRE(plan.arena == memory::testing::smallest_arena(problem));
    REQUIRE(plan.optimal());
    REQUIRE_FALSE(plan.out_of_budget);
  }
}

TEST_CASE("the result does not depend on the number of threads") {
  for (std::uint64_t seed = 0; seed < std::uint64_t{scaled(40)}; ++seed) {
    CAPTURE(seed);
    Features features = features_of(seed);
    features.buffers = 60;
    features.steps = 25;
    const memory::Problem problem = random_problem(rondo::test::seed_of(seed), features);
    const memory::Plan one = search::plan_fast(problem, 1);
    for (const unsigned threads : {2U, 3U}) {
      const memory::Plan many = search::plan_fast(problem, threads);
      REQUIRE(many.offsets == one.offsets);
      REQUIRE(many.arena == one.arena);
      REQUIRE(many.lower_bound == one.lower_bound);
    }
  }
}
