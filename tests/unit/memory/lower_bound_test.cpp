// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/memory/lower_bound.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include "random_problem.hpp"

#include <cstdint>

using namespace rondo::memory;

TEST_CASE("the lower bound is the most that is in use at once") {
  CHECK(lower_bound({}) == 0);
  CHECK(lower_bound({{{.lower = 0, .upper = 2, .size = 3},
                      {.lower = 1, .upper = 3, .size = 4},
                      {.lower = 2, .upper = 4, .size = 5}},
                     {}}) == 9);
}

TEST_CASE("gaps, fixed offsets and conflicts count") {
  CHECK(lower_bound(
            {{{.lower = 0, .upper = 9, .size = 3, .gaps = {{2, 5}}}, {.lower = 2, .upper = 5, .size = 4}}, {}}) == 4);
  CHECK(lower_bound({{{.lower = 0, .upper = 1, .size = 3, .fixed_offset = 100}}, {}}) == 103);
  CHECK(lower_bound({{{.lower = 0, .upper = 1, .size = 3}, {.lower = 5, .upper = 6, .size = 4}}, {{0, 1}}}) == 7);
  CHECK(lower_bound({{{.lower = 0, .upper = 0, .size = 8}}, {}}) == 8);
}

TEST_CASE("all but the topmost buffer of a section take their size rounded up to the common alignment") {
  const Buffer odd{.lower = 0, .upper = 1, .size = 5, .alignment = 8};
  const Buffer wide{.lower = 0, .upper = 1, .size = 1, .alignment = 16};
  CHECK(lower_bound({{odd, odd}, {}}) == 13);
  CHECK(lower_bound({{odd, odd, wide}, {}}) == 17);  // 8 + 8 + 1
  const Buffer byte{.lower = 0, .upper = 1, .size = 1};
  CHECK(lower_bound({{odd, odd, byte}, {}}) == 11);
}

TEST_CASE("the lower bound never exceeds the smallest arena") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const Problem problem =
        testing::random_problem(rondo::test::seed_of(seed), {.buffers = 5, .steps = 5, .largest = 30});
    REQUIRE(lower_bound(problem) <= testing::smallest_arena(problem));
  }
}
