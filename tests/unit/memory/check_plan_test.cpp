// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/memory/check_plan.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

using namespace rondo::memory;
using Kind = Violation::Kind;

namespace {

Violation check(const Problem& problem, std::vector<std::int64_t> offsets, std::int64_t arena) {
  Plan plan;
  plan.offsets = std::move(offsets);
  plan.arena = arena;
  return check_plan(problem, plan);
}

const Problem pair{{{.lower = 0, .upper = 4, .size = 8}, {.lower = 2, .upper = 6, .size = 4}}, {}};

}  // namespace

TEST_CASE("a correct plan passes") {
  CHECK(check(pair, {0, 8}, 12).ok());
  CHECK(check(pair, {4, 0}, 12).ok());
  CHECK(check({}, {}, 0).ok());
}

TEST_CASE("each kind of mistake is told apart") {
  CHECK(check(pair, {0}, 12).kind == Kind::wrong_count);
  CHECK(check(pair, {0, -4}, 12).kind == Kind::negative_offset);
  CHECK(check(pair, {0, 7}, 11).kind == Kind::overlap);
  CHECK(check(pair, {1, 0}, 9).kind == Kind::overlap);
  CHECK(check(pair, {0, 2}, 8).kind == Kind::overlap);
  CHECK(check(pair, {0, 8}, 11).kind == Kind::outside_the_arena);
  CHECK(check(pair, {0, 8}, 13).kind == Kind::arena_not_tight);
  CHECK(check({{{.upper = 1, .size = 4, .alignment = 4}}, {}}, {2}, 6).kind == Kind::misaligned);
  CHECK(check({{{.upper = 1, .size = 4, .fixed_offset = 4}}, {}}, {0}, 4).kind == Kind::fixed_offset_moved);
}

TEST_CASE("each kind of mistake has a sentence of its own") {
  std::set<std::string> sentences;
  constexpr auto kinds = static_cast<std::size_t>(Kind::overlap) + 1;
  for (std::size_t k = 0; k < kinds; ++k) sentences.insert(to_string(static_cast<Kind>(k)));
  CHECK(sentences.size() == kinds);
  CHECK(sentences.count("?") == 0);
}

TEST_CASE("an overlap names both buffers") {
  const Violation v = check(pair, {0, 7}, 11);
  CHECK(v.a == 1);
  CHECK(v.b == 0);
}

TEST_CASE("buffers that only touch in time, or lie in each other's gaps, may share bytes") {
  CHECK(check({{{.lower = 0, .upper = 2, .size = 8}, {.lower = 2, .upper = 4, .size = 8}}, {}}, {0, 0}, 8).ok());
  const Problem gap{{{.lower = 0, .upper = 9, .size = 8, .gaps = {{2, 5}}}, {.lower = 2, .upper = 5, .size = 8}}, {}};
  CHECK(check(gap, {0, 0}, 8).ok());
  const Problem too_long{{{.lower = 0, .upper = 9, .size = 8, .gaps = {{2, 5}}}, {.lower = 2, .upper = 6, .size = 8}},
                         {}};
  CHECK(check(too_long, {0, 0}, 8).kind == Kind::overlap);
}

TEST_CASE("explicit conflicts are checked though the lifetimes lie apart") {
  const Problem apart{{{.lower = 0, .upper = 1, .size = 8}, {.lower = 5, .upper = 6, .size = 8}}, {{0, 1}}};
  CHECK(check(apart, {0, 0}, 8).kind == Kind::overlap);
  CHECK(check(apart, {0, 8}, 16).ok());
}

TEST_CASE("what has no bytes or no lifetime overlaps nothing") {
  const Problem none{
      {{.lower = 0, .upper = 4, .size = 8}, {.lower = 0, .upper = 4, .size = 0}, {.lower = 2, .upper = 2, .size = 8}},
      {}};
  CHECK(check(none, {0, 3, 0}, 8).ok());
}
