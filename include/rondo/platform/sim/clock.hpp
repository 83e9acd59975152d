// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/sim/backoff.hpp>

#include <time.h>

#include <cstdint>

namespace rondo::platform::sim {

/// Nanoseconds on a clock that only goes forward; `<chrono>` would cost every user 230 ms of compile time.
[[nodiscard]] inline std::uint64_t now_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
}

/// Returns at `time`, or a little later: sleeps as long as that is safe, then spins.
inline void wait_until_ns(std::uint64_t time) noexcept {
  constexpr std::uint64_t spun = 150'000;  // a sleep may last so much longer than it was to
  for (std::uint64_t now = now_ns(); now < time; now = now_ns()) {
    if (time - now > 2 * spun) {
      const std::uint64_t left = time - now - spun;
      const timespec nap{static_cast<time_t>(left / 1'000'000'000U), static_cast<long>(left % 1'000'000'000U)};
      (void)nanosleep(&nap, nullptr);
    } else {
      pause();
    }
  }
}

}  // namespace rondo::platform::sim
