// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What Rondo makes of each result code of the driver.

#include <rondo/platform/cuda/codes.hpp>

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace rondo;
using platform::cuda::errc_of;

TEST_CASE("every code of the driver means what the table says, and every other one is a failure of the device") {
  const std::map<Errc, std::set<int>> table{
      {Errc::ok, {0}},
      {Errc::out_of_memory, {2}},
      {Errc::no_such_device, {34, 46, 100, 101, 802, 803, 804, 805}},
      {Errc::not_open, {3, 4, 201, 202, 708, 709}},
      {Errc::busy, {600, 807}},
      {Errc::out_of_resources, {205, 206, 701, 720, 808, 809}},
      {Errc::timed_out, {702, 909}},
      {Errc::unsupported, {36,  200, 209, 215, 217, 218, 221, 222, 223, 224, 225, 800,
                           801, 900, 901, 902, 903, 904, 905, 906, 907, 908, 910}},
      {Errc::invalid_argument, {1,   5,   6,   7,   8,   102, 207, 208, 210, 211, 212, 213, 216, 219, 300, 301,
                                302, 303, 304, 400, 401, 402, 500, 704, 705, 711, 712, 713, 912, 913, 914, 915}}};
  for (int code = 0; code <= 1000; ++code) {
    CAPTURE(code);
    Errc expected = Errc::device_failed;
    for (const auto& [errc, codes] : table) {
      if (codes.contains(code)) expected = errc;
    }
    CHECK(errc_of(code) == expected);
  }
}

TEST_CASE("a lost context poisons, and is not waited for; what a call refuses does neither") {
  for (const int code : {700, 702, 714, 715, 716, 717, 718, 719, 999}) {
    CAPTURE(code);
    CHECK(platform::cuda::is_sticky(code));
    CHECK(platform::cuda::status_of(code).poisoned());
    CHECK(!platform::cuda::may_go_on(code));
    CHECK(platform::cuda::released(code) == 0);
  }
  for (const int code : {1, 2, 209, 400, 500, 701, 900}) {
    CAPTURE(code);
    CHECK(!platform::cuda::is_sticky(code));
    CHECK(!platform::cuda::status_of(code).poisoned());
    CHECK(platform::cuda::may_go_on(code));
    CHECK(platform::cuda::released(code) == code);
  }
  CHECK(platform::cuda::status_of(platform::cuda::waited_too_long).poisoned());
  CHECK(platform::cuda::may_go_on(platform::cuda::waited_too_long));
}
