// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/update/mechanism.hpp>

#include <doctest/doctest.h>

#include <string_view>

using namespace rondo;
using update::Mechanism;

TEST_CASE("Each mechanism has its name") {
  CHECK(std::string_view(to_string(Mechanism::none)) == "none");
  CHECK(std::string_view(to_string(Mechanism::in_place)) == "in_place");
  CHECK(std::string_view(to_string(Mechanism::segment_copy)) == "segment_copy");
  CHECK(std::string_view(to_string(Mechanism::device_op)) == "device_op");
  CHECK(std::string_view(to_string(Mechanism::in_launch)) == "in_launch");
}
