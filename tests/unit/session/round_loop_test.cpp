// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/round_loop.hpp>

#include <unit/support.hpp>

#include <doctest/doctest.h>

using namespace rondo;
using namespace rondo::test;

namespace {

RoundLoop loop_that(bool throws) {
  if (throws) throw Error(Errc::invalid_argument, Error::Text("no data is left"));
  co_return Status{Errc::stopped};
}

}  // namespace

TEST_CASE("A loop gives the status that its coroutine returned, or throws what it threw") {
  const RoundLoop returned = loop_that(false);
  CHECK(returned.done());
  CHECK(returned.status().code() == Errc::stopped);

  const RoundLoop thrown = loop_that(true);
  CHECK(thrown.done());
  for (int again = 0; again < 2; ++again) {
    const Raised r = raised([&] { (void)thrown.status(); });
    CHECK(r.code == Errc::invalid_argument);
    CHECK(r.text == "no data is left");
  }
}
