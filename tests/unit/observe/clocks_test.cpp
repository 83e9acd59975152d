// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/observe/clocks.hpp>

#include <rondo/observe/clocks.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using namespace rondo::observe;

TEST_CASE("A timebase turns readings into nanoseconds, before its anchor and after it, and keeps their order") {
  const Timebase base{1000, 5000, 0.5};
  CHECK(base.to_ns(1000) == 5000);
  CHECK(base.to_ns(1002) == 5001);
  CHECK(base.to_ns(998) == 4999);
  CHECK(base.to_ns(0) == 4500);
  for (std::uint64_t t = 900; t < 1100; ++t) CHECK(base.to_ns(t) <= base.to_ns(t + 1));
  CHECK(Timebase{}.to_ns(12'345'678'901'234'567U) == 12'345'678'901'234'568U);  // as exact as a double: 2^53 and above
}

TEST_CASE("The processor's counter goes forward, and its timebase agrees with the steady clock") {
  (void)TickClock::anchor();
  CHECK(timebase_of<SteadyClock>().to_ns(123) == 123);
  const std::uint64_t first = TickClock::now();
  const Timebase base = timebase_of<TickClock>();
  const std::uint64_t second = TickClock::now();
  CHECK(second > first);
  CHECK(base.ns_per_tick > 0);
  CHECK(base.to_ns(second) >= base.to_ns(first));
  // Between two readings of the other clock, give or take a millisecond, and a tenth of the time since the rate was
  // measured; the counter's unit alone would be off by far.
  const std::uint64_t before = SteadyClock::now();
  const std::uint64_t between = base.to_ns(TickClock::now());
  const std::uint64_t after = SteadyClock::now();
  const std::uint64_t tolerance = 1'000'000 + (after - base.ns) / 10;
  CHECK(between + tolerance >= before);
  CHECK(between <= after + tolerance);
}
