// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/signal.hpp>

#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

using namespace rondo;
using platform::sim::Signal;
using platform::sim::start_thread;

TEST_CASE("a signal wakes the thread that sleeps on it, every time, and hands over what was written before") {
  constexpr std::uint32_t turns = 20'000;
  Signal ping{0}, pong{0};
  std::uint64_t plain = 0;  // what the signals hand over
  std::thread answers = start_thread(
      [&]() noexcept {
        for (std::uint32_t turn = 1; turn <= turns; ++turn) {
          ping.wait(turn - 1, std::memory_order_acquire);
          ++plain;
          pong.store(turn, std::memory_order_release);
          pong.notify_one();
        }
      },
      "the test's thread");
  for (std::uint32_t turn = 1; turn <= turns; ++turn) {
    ++plain;
    ping.store(turn, std::memory_order_release);
    ping.notify_all();
    pong.wait(turn - 1, std::memory_order_acquire);
  }
  answers.join();
  CHECK(plain == 2 * turns);
}

TEST_CASE("a thread that cannot be started is out_of_resources, with advice") {
  pthread_attr_t before, vast;
  REQUIRE(pthread_getattr_default_np(&before) == 0);
  REQUIRE(pthread_attr_init(&vast) == 0);
  REQUIRE(pthread_attr_setstacksize(&vast, std::size_t{1} << 50) == 0);
  REQUIRE(pthread_setattr_default_np(&vast) == 0);
  const test::Raised raised = test::raised([] { start_thread([] {}, "the test's thread", "; ask for less").join(); });
  CHECK(pthread_setattr_default_np(&before) == 0);
  CHECK(raised.code == Errc::out_of_resources);
  const char* const expected =
      "the test's thread could not be started: the system says error 11, no thread is left; ask for less";
  CHECK_MESSAGE(raised.text.find(expected) != std::string::npos, raised.text);
}
