// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/search/detail/overlap_index.hpp>

#include <doctest/doctest.h>

#include <random.hpp>
#include <unit/memory/random_problem.hpp>

#include <cstdint>
#include <set>

using namespace rondo;
using namespace rondo::memory;
using namespace rondo::search;

TEST_CASE("rivals are exactly those that must be kept apart") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const Problem problem = memory::testing::random_problem(rondo::test::seed_of(seed), {.buffers = 18, .steps = 14});
    const search::detail::OverlapIndex index{problem};
    for (std::uint32_t i = 0; i < problem.size(); ++i) {
      std::set<std::uint32_t> found;
      index.for_each_rival(i, [&](std::uint32_t other) { found.insert(other); });
      std::set<std::uint32_t> expected;
      for (std::uint32_t j = 0; j < problem.size(); ++j) {
        if (j == i || problem.buffers[i].size == 0 || problem.buffers[j].size == 0) continue;
        if (in_use_together(problem.buffers[i], problem.buffers[j])) expected.insert(j);
      }
      for (const auto& [a, b] : problem.conflicts) {
        if (problem.buffers[a].size == 0 || problem.buffers[b].size == 0) continue;
        if (a == i) expected.insert(b);
        if (b == i) expected.insert(a);
      }
      REQUIRE(found == expected);
    }
  }
}
