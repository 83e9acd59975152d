// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/start_thread.hpp>

#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <pthread.h>

#include <cstddef>
#include <string>

using namespace rondo;

TEST_CASE("A thread that cannot be started is out_of_resources, with advice") {
  pthread_attr_t before, vast;
  REQUIRE(pthread_getattr_default_np(&before) == 0);
  REQUIRE(pthread_attr_init(&vast) == 0);
  REQUIRE(pthread_attr_setstacksize(&vast, std::size_t{1} << 50) == 0);
  REQUIRE(pthread_setattr_default_np(&vast) == 0);
  const test::Raised raised =
      test::raised([] { platform::start_thread([] {}, "the test's thread", "; ask for less").join(); });
  CHECK(pthread_setattr_default_np(&before) == 0);
  CHECK(raised.code == Errc::out_of_resources);
  const char* const expected =
      "the test's thread could not be started: the system says error 11, no thread is left; ask for less";
  CHECK_MESSAGE(raised.text.find(expected) != std::string::npos, raised.text);
}
