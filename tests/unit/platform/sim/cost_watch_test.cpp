// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/cost_watch.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

using rondo::platform::sim::CostWatch;

namespace {

using Costs = std::vector<double>;

/// So many looks at the same costs. @returns the number of the first that said yes, from 1; 0: none did
std::uint32_t look(CostWatch& watch, const Costs& costs, std::uint32_t times) {
  for (std::uint32_t i = 1; i <= times; ++i) {
    if (watch.look(costs)) return i;
  }
  return 0;
}

}  // namespace

TEST_CASE("Costs that stay, or change by little, ask for nothing") {
  CostWatch watch(3);
  watch.expect(Costs{100, 200, 300});
  CHECK(look(watch, {100, 200, 300}, 100) == 0);
  CHECK(look(watch, {110, 210, 280}, 100) == 0);
}

TEST_CASE("Costs that change ask for a schedule at the second look, for what they cost then") {
  CostWatch watch(2);
  watch.expect(Costs{100, 100});
  CHECK(!watch.look(Costs{100, 300}));
  REQUIRE(watch.look(Costs{100, 500}));
  CHECK(Costs(watch.costs().begin(), watch.costs().end()) == Costs{100, 400});
  watch.expect(watch.costs());
  CHECK(look(watch, {100, 400}, 100) == 0);
}

TEST_CASE("Advice that is not taken does not spoil the next") {
  CostWatch watch(2);
  watch.expect(Costs{100, 100});
  for (int i = 0; i < 5; ++i) {
    REQUIRE(look(watch, {500, 300}, 100) != 0);
    CHECK(Costs(watch.costs().begin(), watch.costs().end()) == Costs{500, 300});
  }
}

TEST_CASE("A single look that differs is forgotten") {
  CostWatch watch(2);
  watch.expect(Costs{100, 100});
  for (int i = 0; i < 10; ++i) {
    CHECK(!watch.look(Costs{100, 9000}));
    CHECK(!watch.look(Costs{100, 100}));
  }
}

TEST_CASE("Costs that move from one task to another count, though their sum stays") {
  CostWatch watch(2);
  watch.expect(Costs{100, 300});
  CHECK(look(watch, {300, 100}, 2) == 2);
}

TEST_CASE(
    "Costs that keep changing are looked at more often before the next answer, and less often after a calm time") {
  CostWatch watch(1);
  watch.expect(Costs{100});
  double cost = 100;
  const auto next_change = [&] {
    const std::uint32_t looks = look(watch, {cost *= 2}, 100);
    watch.expect(Costs{cost});
    return looks;
  };
  CHECK(next_change() == 2);
  CHECK(next_change() == 2);
  CHECK(next_change() == 4);
  CHECK(next_change() == 8);
  CHECK(next_change() == 8);
  CHECK(look(watch, {cost}, CostWatch::calm_looks) == 0);
  CHECK(next_change() == 2);
}

TEST_CASE("Calls that cost nothing ask for nothing") {
  CostWatch watch(2);
  CHECK(look(watch, {0, 0}, 50) == 0);
}
