// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/memory/planners.hpp>

#include <rondo/memory/check_plan.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace rondo::memory;

namespace {

// Four tensors of 64 bytes in a chain: two alive at a time.
constexpr Problem chain() {
  Problem p;
  for (std::int64_t i = 0; i < 4; ++i) p.buffers.push_back({.lower = i, .upper = i + 2, .size = 64, .alignment = 64});
  return p;
}

constexpr Problem everything() {
  Problem p;
  p.buffers.push_back({.lower = 0, .upper = 9, .size = 10, .alignment = 4, .gaps = {{2, 5}}});
  p.buffers.push_back({.lower = 2, .upper = 5, .size = 12, .alignment = 4});
  p.buffers.push_back({.lower = 0, .upper = 9, .size = 4, .fixed_offset = 12});
  p.buffers.push_back({.lower = 20, .upper = 21, .size = 8});
  p.buffers.push_back({.lower = 30, .upper = 31, .size = 8});
  p.conflicts.push_back({3, 4});
  return p;
}

}  // namespace

TEST_CASE("the compiler plans a graph that it knows") {
  static_assert(Greedy::plan(chain()).arena == 128);
  static_assert(Greedy::plan(chain()).optimal());
  static_assert(Greedy::plan(chain()).offsets[2] == Greedy::plan(chain()).offsets[0]);
}

TEST_CASE("all features of a problem can be planned at compile time") {
  static_assert(Greedy::plan(everything()).arena == 16);
  static_assert(lower_bound(everything()) == 16);
}

TEST_CASE("a buffer without bytes lies within the arena") {
  Problem p;
  p.buffers.push_back({.lower = 0, .upper = 1, .size = 100, .alignment = 64});
  p.buffers.push_back({.lower = 0, .upper = 1, .size = 0, .alignment = 64});
  CHECK(check_plan(p, Greedy::plan(p)).ok());
  CHECK(check_plan(p, Disjoint::plan(p)).ok());
}

TEST_CASE("a greedy plan is returned where it is as small as that of separate buffers, but above the lower bound") {
  Problem p;
  for (std::int64_t i = 0; i < 3; ++i) p.buffers.push_back({.lower = i, .upper = i + 1, .size = 8 * (i + 1)});
  p.conflicts = {{0, 1}, {0, 2}, {1, 2}};
  const Plan plan = Greedy::plan(p);
  CHECK(plan.arena == Disjoint::plan(p).arena);
  CHECK(plan.offsets == std::vector<std::int64_t>{40, 24, 0});  // the largest first
}

TEST_CASE("separate buffers that could share memory are not said to be optimal") {
  Problem p;
  for (std::int64_t i = 0; i < 3; ++i) p.buffers.push_back({.lower = i, .upper = i + 1, .size = 8 * (i + 1)});
  CHECK(Disjoint::plan(p).lower_bound == 24);
  CHECK(!Disjoint::plan(p).optimal());
  p.buffers[0].fixed_offset = 32;
  CHECK(Disjoint::plan(p).lower_bound == 40);
  p.buffers.assign(1, {.lower = 0, .upper = 1, .size = 8});
  CHECK(Disjoint::plan(p).optimal());
}

TEST_CASE("an empty problem takes nothing") { static_assert(Greedy::plan(Problem{}).arena == 0); }
