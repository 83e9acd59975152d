// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/check_close.hpp>

#include "unit/support.hpp"

#include <doctest/doctest.h>

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
