// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/onboard/codes.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace rondo;
using namespace rondo::platform::onboard;

TEST_CASE("The runtime's codes come to what the API's documentation says of them") {
  CHECK(errc_of(0) == Errc::ok);
  for (const int code : {100000, 107000}) CHECK(errc_of(code) == Errc::invalid_argument);
  CHECK(errc_of(107001) == Errc::no_such_device);
  CHECK(errc_of(107002) == Errc::not_open);
  for (const int code : {107019, 507046}) CHECK(errc_of(code) == Errc::timed_out);
  for (const int code : {207000, 200001, 200006, 207019}) CHECK(errc_of(code) == Errc::unsupported);
  for (const int code : {207001, 207018}) CHECK(errc_of(code) == Errc::out_of_memory);
  for (const int code : {207005, 207008, 207009}) CHECK(errc_of(code) == Errc::out_of_resources);
  for (const int code : {507011, 507014, 507015, 507018}) CHECK(errc_of(code) == Errc::device_failed);
  CHECK(errc_of(999999) == Errc::device_failed);  // nobody knows, so nothing is promised any more
}

TEST_CASE("A device that failed, or does not finish, poisons; a call that was refused does not") {
  CHECK(status_of(0).ok());
  CHECK(status_of(507015).poisoned());
  CHECK(status_of(507046).poisoned());
  CHECK_FALSE(status_of(207001).poisoned());
  CHECK_FALSE(status_of(107000).poisoned());
}

TEST_CASE("A failed call becomes an Error with the call, the code, what it means and the runtime's own words") {
  Calls calls;
  check(calls, "a2a3_onboard", "aclInit", 0);
  try {
    check(calls, "a2a3_onboard", "aclrtMalloc", 207001);
    FAIL("nothing was thrown");
  } catch (const Error& e) {
    CHECK(e.code() == Errc::out_of_memory);
    CHECK(std::string(e.what()) ==
          "a2a3_onboard: aclrtMalloc returned 207001: the device has not enough memory; use smaller tensors");
  }
  calls.recent_error = []() -> const char* { return "EL0004: no memory"; };
  try {
    check(calls, "a5_onboard", "aclrtMalloc", 207001);
    FAIL("nothing was thrown");
  } catch (const Error& e) {
    CHECK(std::string(e.what()).find("; it said: EL0004: no memory") != std::string::npos);
  }
}
