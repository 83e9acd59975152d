// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/search/detail/section_search.hpp>

#include <doctest/doctest.h>

#include <random.hpp>
#include <unit/memory/random_problem.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <vector>

using namespace rondo;
using namespace rondo::memory;
using namespace rondo::search;
using namespace rondo::search::detail;

namespace {

SearchModel model_of(const Problem& problem) { return make_search_model(problem, Sections{problem}); }

}  // namespace

TEST_CASE("the search says found at the smallest capacity and impossible below it, whatever its strategy") {
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    CAPTURE(seed);
    const Problem problem = memory::testing::random_problem(
        rondo::test::seed_of(seed), {.buffers = 6, .steps = 5, .largest = 20, .fixed_offsets = seed % 2 == 0});
    std::int64_t smallest = testing::smallest_arena(problem);
    const SearchModel model = model_of(problem);
    // The search ignores buffers of fixed offset and those that meet no other: what it may use is the whole arena.
    if (model.count() == 0) continue;
    for (int s = 0; s < 16; ++s) {
      const SearchStrategy strategy{static_cast<Branching>(s % 4), static_cast<Preference>(s / 4),
                                    s % 3 == 0 ? 0.0 : 0.5, seed};
      SectionSearch<std::int32_t> narrow{model, 64};
      REQUIRE(narrow.run(smallest, strategy, {1'000'000}) == SearchResult::found);
      std::vector<std::int64_t> offsets(problem.size(), 0);
      for (std::uint32_t i = 0; i < problem.size(); ++i) {
        if (problem.buffers[i].is_fixed()) offsets[i] = problem.buffers[i].fixed_offset;
      }
      for (std::size_t c = 0; c < model.count(); ++c) offsets[model.buffer[c]] = narrow.offset(c);
      REQUIRE(testing::check_offsets(problem, offsets).ok());
      REQUIRE(arena_of(problem, offsets) <= smallest);

      SectionSearch<std::int64_t> wide{model, 64};
      const SearchResult below = wide.run(smallest - 1, strategy, {1'000'000});
      // Below the smallest arena a plan of the free buffers alone exists only if something else decides the arena.
      std::int64_t others = 0;
      for (std::uint32_t i = 0; i < problem.size(); ++i) {
        const Buffer& b = problem.buffers[i];
        if (b.is_fixed() || Sections{problem}.empty(i)) others = std::max(others, offsets[i] + b.size);
      }
      if (others < smallest) REQUIRE(below == SearchResult::impossible);
    }
  }
}

TEST_CASE("the search gives up at its limit of nodes and does not claim a proof") {
  const Problem problem = testing::random_tiling(5, 60);
  const SearchModel model = model_of(problem);
  SectionSearch<std::int32_t> search{model};
  CHECK(search.run(1 << 20, {}, {10}) == SearchResult::gave_up);
  CHECK(search.nodes() <= 11);
}

TEST_CASE("a cancelled search gives up") {
  const Problem problem = testing::random_tiling(5, 400);
  const SearchModel model = model_of(problem);
  SectionSearch<std::int32_t> search{model};
  const std::atomic<bool> cancelled{true};
  CHECK(search.run(1 << 20, {}, {1'000'000, std::chrono::steady_clock::time_point::max(), &cancelled}) ==
        SearchResult::gave_up);
}

TEST_CASE("two hundred identical twins are one case, not factorially many") {
  const Problem twins{std::vector<Buffer>(200, {.lower = 0, .upper = 5, .size = 3}), {}};
  const SearchModel model = model_of(twins);
  SectionSearch<std::int32_t> search{model};
  CHECK(search.run(600, {}, {1000}) == SearchResult::found);
  CHECK(search.run(599, {}, {1000}) == SearchResult::impossible);
}

TEST_CASE("offsets are counted in the largest unit that all sizes share") {
  const Problem problem{
      {{.upper = 2, .size = 3 << 20, .alignment = 1024}, {.upper = 2, .size = 5 << 20, .alignment = 64}}, {}};
  const SearchModel model = model_of(problem);
  CHECK(model.unit == 1 << 20);
  CHECK(model.plain);
  CHECK(model.next_capacity(8 << 20) == (9 << 20) - 63);
}

TEST_CASE("a run whose time is up ends at its first node, and a large problem looks at the clock at nearly each") {
  const Problem problem = memory::testing::random_problem(
      rondo::test::seed_of(1), {.buffers = 2000, .steps = 2000, .largest = 999, .fixed_offsets = false});
  const SearchModel model = model_of(problem);
  REQUIRE(model.count() > 1000);
  const std::atomic<bool> cancelled{true};
  SectionSearch<std::int32_t> search{model};
  for (int s = 0; s < 16; ++s) {
    const SearchStrategy strategy{static_cast<Branching>(s % 4), static_cast<Preference>(s / 4)};
    const std::int64_t capacity = 1'000'000;  // enough for all, so that only the limit ends the run
    CHECK(search.run(capacity, strategy, {500, std::chrono::steady_clock::time_point::min()}) == SearchResult::gave_up);
    CHECK(search.nodes() == 1);
    CHECK(search.run(capacity, strategy, {.nodes = 500, .cancelled = &cancelled}) == SearchResult::gave_up);
    CHECK(search.nodes() == 1);
  }
  for (const std::size_t buffers : {1U, 100U, 1000U, 8000U, 100'000U}) {
    const std::uint64_t nodes = SectionSearch<std::int32_t>::nodes_per_look(buffers);
    CHECK(nodes >= 1);
    CHECK((nodes == 1 || nodes * buffers <= 16'384));
  }
}
