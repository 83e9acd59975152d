// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/result.hpp>

#include <doctest/doctest.h>

#include <limits>

using rondo::measure::Fault;
using rondo::measure::Measured;

TEST_CASE("The best repeat is the shortest, the median the one in the middle, and of none both are infinite") {
  Measured m;
  CHECK(m.best() == std::numeric_limits<double>::infinity());
  CHECK(m.median() == std::numeric_limits<double>::infinity());
  m.seconds = {3, 1, 9, 2, 5};
  CHECK(m.best() == 1);
  CHECK(m.median() == 3);
  CHECK(m.ok());
  m.fault = Fault::run;
  CHECK(!m.ok());
}
