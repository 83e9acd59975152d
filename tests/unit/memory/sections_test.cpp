// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/memory/sections.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include "random_problem.hpp"

#include <cstdint>

using namespace rondo::memory;

TEST_CASE("a chain of buffers, each overlapping the next, has one section per overlap") {
  const Problem chain{{{.lower = 0, .upper = 2, .size = 1},
                       {.lower = 1, .upper = 3, .size = 1},
                       {.lower = 2, .upper = 4, .size = 1},
                       {.lower = 3, .upper = 5, .size = 1}},
                      {}};
  const Sections sections{chain};
  CHECK(sections.count() == 3);
  CHECK(sections.hull(0) == SectionRange{0, 1});
  CHECK(sections.hull(1) == SectionRange{0, 2});
  CHECK(sections.hull(2) == SectionRange{1, 3});
  CHECK(sections.hull(3) == SectionRange{2, 3});
}

TEST_CASE("a buffer without bytes, without lifetime, or all gap has no section") {
  const Sections sections{{{{.lower = 0, .upper = 4, .size = 0},
                            {.lower = 2, .upper = 2, .size = 9},
                            {.lower = 0, .upper = 4, .size = 9, .gaps = {{0, 4}}}},
                           {}}};
  CHECK(sections.count() == 0);
  for (std::size_t i = 0; i < 3; ++i) CHECK(sections.empty(i));
}

TEST_CASE("two buffers share a section exactly if they are in use together or conflict explicitly") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    const Problem problem = testing::random_problem(rondo::test::seed_of(seed), {.buffers = 14, .steps = 12});
    const Sections sections{problem};
    for (std::uint32_t a = 0; a < problem.size(); ++a) {
      for (std::uint32_t b = 0; b < problem.size(); ++b) {
        if (a == b) continue;
        const bool both_have_bytes = problem.buffers[a].size > 0 && problem.buffers[b].size > 0;
        bool apart = in_use_together(problem.buffers[a], problem.buffers[b]);
        for (const auto& [x, y] : problem.conflicts) apart = apart || (x == a && y == b) || (x == b && y == a);
        REQUIRE(sections.meet(a, b) == (apart && both_have_bytes));
      }
    }
  }
}
