// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/signal.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <thread>

using namespace rondo;
using platform::sim::Signal;

TEST_CASE("a signal wakes the thread that sleeps on it, every time, and hands over what was written before") {
  constexpr std::uint32_t turns = 20'000;
  Signal ping{0}, pong{0};
  std::uint64_t plain = 0;  // what the signals hand over
  std::thread answers([&]() noexcept {
    for (std::uint32_t turn = 1; turn <= turns; ++turn) {
      ping.wait(turn - 1, std::memory_order_acquire);
      ++plain;
      pong.store(turn, std::memory_order_release);
      pong.notify_one();
    }
  });
  for (std::uint32_t turn = 1; turn <= turns; ++turn) {
    ++plain;
    ping.store(turn, std::memory_order_release);
    ping.notify_all();
    pong.wait(turn - 1, std::memory_order_acquire);
  }
  answers.join();
  CHECK(plain == 2 * turns);
}
