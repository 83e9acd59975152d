// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/memory/hot_spots.hpp>

#include <rondo/memory/lower_bound.hpp>

#include <doctest/doctest.h>

#include "random_problem.hpp"

using namespace rondo::memory;

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

TEST_CASE("the fullest times are planned first and exactly, the rest around them") {
  const Problem problem = two_peaks();
  const Sections sections{problem};
  const std::int64_t bound = lower_bound(problem, sections);
  const auto offsets = plan_hot_spots(problem, sections, bound, 0.9, {.rounds = 12});
  REQUIRE_FALSE(offsets.empty());
  CHECK(testing::check_offsets(problem, offsets).ok());
  CHECK(arena_of(problem, offsets) == bound);
}

TEST_CASE("nothing is planned if the hot part is too large") {
  const Problem problem = two_peaks();
  const Sections sections{problem};
  CHECK(plan_hot_spots(problem, sections, lower_bound(problem, sections), 0.9, {.rounds = 1}, 79).empty());
}
