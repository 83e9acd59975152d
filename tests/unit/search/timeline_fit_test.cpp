// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/search/timeline_fit.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace rondo;
using namespace rondo::memory;
using namespace rondo::search;
using Offsets = std::vector<std::int64_t>;

TEST_CASE("bytes are given back at the end of a lifetime and joined with their neighbours") {
  const Problem problem{{{.lower = 0, .upper = 2, .size = 8},
                         {.lower = 0, .upper = 2, .size = 4},
                         {.lower = 0, .upper = 9, .size = 2},
                         {.lower = 2, .upper = 4, .size = 12}},
                        {}};
  CHECK(timeline_fit(problem) == Offsets{0, 8, 12, 0});
}

TEST_CASE("each buffer takes the smallest free place that holds it, not the lowest") {
  const Problem problem{{{.lower = 0, .upper = 1, .size = 8},
                         {.lower = 0, .upper = 9, .size = 6},
                         {.lower = 0, .upper = 1, .size = 5},
                         {.lower = 0, .upper = 9, .size = 4},
                         {.lower = 1, .upper = 9, .size = 5}},
                        {}};
  CHECK(timeline_fit(problem) == Offsets{0, 8, 14, 19, 14});
}

TEST_CASE("alignment leaves the bytes before it free for others") {
  const Problem problem{{{.lower = 0, .upper = 9, .size = 3},
                         {.lower = 1, .upper = 9, .size = 8, .alignment = 8},
                         {.lower = 2, .upper = 9, .size = 5}},
                        {}};
  CHECK(timeline_fit(problem) == Offsets{0, 8, 3});
}
