// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/search/skyline.hpp>

#include <rondo/memory/lower_bound.hpp>
#include <rondo/memory/orders.hpp>

#include <doctest/doctest.h>

#include <random.hpp>
#include <unit/memory/random_problem.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace rondo;
using namespace rondo::memory;
using namespace rondo::search;

TEST_CASE("buffers are stacked on what they meet and nothing is filled in below") {
  const Problem problem{{{.lower = 0, .upper = 2, .size = 4},
                         {.lower = 1, .upper = 4, .size = 3, .alignment = 8},
                         {.lower = 3, .upper = 5, .size = 2}},
                        {}};
  CHECK(skyline(problem, Sections{problem}, {0, 1, 2}) == std::vector<std::int64_t>{0, 8, 11});
  CHECK(skyline(problem, Sections{problem}, {2, 0, 1}) == std::vector<std::int64_t>{0, 8, 0});
}

TEST_CASE("nested lifetimes are planned without waste") {
  Problem nested;
  for (std::int64_t i = 0; i < 50; ++i) {
    nested.buffers.push_back({.lower = i, .upper = 100 - i, .size = 7 + i % 5});
    nested.buffers.push_back({.lower = i, .upper = i + 1, .size = 3});
  }
  const Sections sections{nested};
  const std::vector<std::int64_t> offsets = skyline(nested, sections, make_order(nested, sections, Order::duration));
  CHECK(testing::check_offsets(nested, offsets).ok());
  CHECK(arena_of(nested, offsets) == lower_bound(nested, sections));
}

TEST_CASE("heights of ranges agree with an array of heights") {
  auto random = rondo::test::make_random(7);
  search::detail::Heights heights{37};
  std::vector<std::int64_t> expected(37, 0);
  for (int step = 0; step < 2000; ++step) {
    const auto first = static_cast<std::int32_t>(random() % 37);
    const auto last = first + 1 + static_cast<std::int32_t>(random() % static_cast<unsigned>(37 - first));
    REQUIRE(heights.highest({first, last}) == *std::max_element(expected.begin() + first, expected.begin() + last));
    const std::int64_t height = static_cast<std::int64_t>(random() % 1000);
    heights.set({first, last}, height);
    std::fill(expected.begin() + first, expected.begin() + last, height);
  }
}
