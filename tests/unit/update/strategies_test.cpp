// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/update/strategies.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <type_traits>

using namespace rondo;

TEST_CASE_TEMPLATE("A strategy never asks for more than the level it names, whatever changed", S, update::NoUpdate,
                   update::InitOnce) {
  S strategy;
  const std::uint64_t now[] = {0, 4096};
  const std::uint64_t same[] = {0, 4096};
  const std::uint64_t other[] = {8, 0};
  CHECK(strategy.decide({now, same, 2}) <= S::highest);
  CHECK(strategy.decide({now, other, 2}) <= S::highest);
  CHECK(strategy.decide({}) <= S::highest);
  CHECK(std::is_empty_v<S>);
}

TEST_CASE("NoUpdate refreshes nothing and InitOnce everything, every time") {
  const std::uint64_t now[] = {1};
  const std::uint64_t last[] = {2};
  for (int round = 0; round < 3; ++round) {
    CHECK(update::NoUpdate{}.decide({now, last, 1}) == UpdateLevel::none);
    CHECK(update::InitOnce{}.decide({now, now, 1}) == UpdateLevel::init);
  }
}

TEST_CASE("Each level includes those before it") {
  CHECK(UpdateLevel::none < UpdateLevel::host_input);
  CHECK(UpdateLevel::host_input < UpdateLevel::model_io);
  CHECK(UpdateLevel::model_io < UpdateLevel::feature_map_and_model_io);
  CHECK(UpdateLevel::feature_map_and_model_io < UpdateLevel::init);
}
