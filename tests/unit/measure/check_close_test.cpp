// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/check_close.hpp>

#include "unit/support.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using rondo::measure::check_close;
using rondo::measure::Failure;
using rondo::measure::Fault;
using rondo::measure::Tolerance;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

/// What the check says; empty if it says nothing.
std::string verdict(const std::vector<float>& got, const std::vector<float>& want, const Tolerance& tolerance = {}) {
  try {
    check_close("c", got, want, tolerance);
  } catch (const Failure& failure) {
    CHECK(failure.fault() == Fault::wrong_answer);
    return failure.what();
  }
  return {};
}

}  // namespace

TEST_CASE("Equal elements pass, and so do those within the tolerance") {
  CHECK(verdict({1, 2, 3}, {1, 2, 3}).empty());
  CHECK(verdict({100.5F}, {100}, {.relative = 0.01, .absolute = 0}).empty());
  CHECK(verdict({0.5F}, {0}, {.relative = 0, .absolute = 0.5}).empty());
  CHECK(verdict({not_a_number, inf, -inf}, {not_a_number, inf, -inf}).empty());
}

TEST_CASE("What is out of tolerance is named, counted and measured") {
  const std::string text = verdict({1, 2.5F, 3, 7}, {1, 2, 3, 4});
  CHECK(rondo::test::says(text, "c[1] is 2.5", "says 2;", "2 of 4", "by 3 at most"));
  CHECK(!verdict({101.5F}, {100}, {.relative = 0.01, .absolute = 0}).empty());
}

TEST_CASE("Integers of 64 bits are compared and named exactly") {
  constexpr Tolerance none{.relative = 0, .absolute = 0};
  constexpr std::int64_t large = (std::int64_t{1} << 53U) + 1;
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::vector<std::int64_t> got{large, least};
  check_close("c", got, std::vector{large, least}, none);
  try {
    check_close("c", got, std::vector{large - 1, least + 2}, none);
    FAIL("not told apart");
  } catch (const Failure& failure) {
    CHECK(rondo::test::says(failure.what(), "c[0] is 9007199254740993", "says 9007199254740992;", "2 of 2",
                            "by 2 at most"));
  }
  // The type of the reference may be another one.
  CHECK_THROWS_AS(check_close("c", std::vector{most}, std::vector{most - 1}, none), Failure);
  CHECK_THROWS_AS(check_close("c", std::vector<std::int64_t>{-1}, std::vector{most}, none), Failure);
  check_close("c", std::vector<bool>{true}, std::vector<std::uint8_t>{1}, none);
}

TEST_CASE("No tolerance makes a NaN or an infinity right") {
  const Tolerance generous{.relative = inf, .absolute = inf};
  CHECK(!verdict({not_a_number}, {1}, generous).empty());
  CHECK(!verdict({1}, {not_a_number}, generous).empty());
  CHECK(!verdict({inf}, {-inf}, generous).empty());
  CHECK(!verdict({inf}, {1}, generous).empty());
  CHECK(rondo::test::says(verdict({not_a_number, 5}, {1, 1}), "2 of 2"));
}

TEST_CASE("Another number of elements is a wrong answer too") {
  CHECK(rondo::test::says(verdict({1, 2}, {1}), "2 elements", "reference 1"));
}
