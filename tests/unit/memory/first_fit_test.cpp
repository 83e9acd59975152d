// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/memory/first_fit.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include "random_problem.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

using namespace rondo::memory;

namespace {

std::vector<std::int64_t> place(const Problem& problem, Fit fit = Fit::first) {
  std::vector<std::uint32_t> order(problem.size());
  std::iota(order.begin(), order.end(), 0U);
  return FirstFit{problem}.run(order, fit);
}

// Four stay, with free places of 16, 8 and 12 bytes between them; the last one looks for a place.
Problem with_holes(std::int64_t size, std::int64_t alignment) {
  return {{{.upper = 1, .size = 4, .fixed_offset = 16},
           {.upper = 1, .size = 4, .fixed_offset = 28},
           {.upper = 1, .size = 4, .fixed_offset = 44},
           {.upper = 1, .size = size, .alignment = alignment}},
          {}};
}

}  // namespace

TEST_CASE("first fit takes the lowest place that is large enough") {
  CHECK(place(with_holes(8, 1))[3] == 0);
  CHECK(place(with_holes(17, 1))[3] == 48);
}

TEST_CASE("best fit takes the smallest place that is large enough") {
  CHECK(place(with_holes(8, 1), Fit::best)[3] == 20);
  CHECK(place(with_holes(9, 1), Fit::best)[3] == 32);
  CHECK(place(with_holes(13, 1), Fit::best)[3] == 0);
  CHECK(place(with_holes(17, 1), Fit::best)[3] == 48);
}

TEST_CASE("places are compared by what an aligned buffer can use of them") {
  // The 8 bytes at 20 hold only 4 from 24 on; the 12 at 32 are whole.
  CHECK(place(with_holes(8, 8), Fit::best)[3] == 32);
  CHECK(place(with_holes(4, 8), Fit::best)[3] == 24);
}

TEST_CASE("preset offsets are kept and planned around") {
  const Problem problem{{{.upper = 2, .size = 4}, {.upper = 2, .size = 4}, {.upper = 2, .size = 4}}, {}};
  CHECK(FirstFit{problem}.run({0, 1, 2}, Fit::first, {-1, 0, -1}) == std::vector<std::int64_t>{4, 0, 8});
}

TEST_CASE("first fit agrees with a search of every offset") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const Problem problem = testing::random_problem(
        rondo::test::seed_of(seed), {.buffers = 25, .steps = 15, .largest = 12, .fixed_offsets = false});
    std::vector<std::uint32_t> order(problem.size());
    std::iota(order.begin(), order.end(), 0U);
    const std::vector<std::int64_t> offsets = FirstFit{problem}.run(order);
    for (std::uint32_t i = 0; i < problem.size(); ++i) {
      const Buffer& b = problem.buffers[i];
      const auto free_at = [&](std::int64_t offset) {
        for (std::uint32_t j = 0; j < i; ++j) {
          const Buffer& other = problem.buffers[j];
          bool apart = in_use_together(b, other);
          for (const auto& [x, y] : problem.conflicts) apart = apart || (x == i && y == j) || (x == j && y == i);
          if (apart && offset < offsets[j] + other.size && offsets[j] < offset + b.size) return false;
        }
        return true;
      };
      std::int64_t lowest = 0;
      while (!free_at(lowest)) lowest += b.alignment;
      if (b.size > 0) REQUIRE(offsets[i] == lowest);
    }
  }
}
