// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/version.hpp>

#include <doctest/doctest.h>

TEST_CASE("The version is a constant of three numbers that are not negative") {
  static_assert(rondo::version.major >= 0 && rondo::version.minor >= 0 && rondo::version.patch >= 0);
  CHECK(rondo::version.major + rondo::version.minor + rondo::version.patch > 0);
}
