// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/trial.hpp>

#include <doctest/doctest.h>

using namespace rondo::measure;

TEST_CASE("Calls that are timed after rounds leave no device times of the rounds") {
  Trial trial("no file", "", 0, {.repeat = 3});
  trial.measured().seconds = {1, 2};
  trial.measured().device_seconds = {1, 2};
  trial.time_calls([] {});
  CHECK(trial.measured().seconds.size() == 3);
  CHECK(trial.measured().device_seconds.empty());
}
