// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/observe/concepts.hpp>

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rondo::observe {

/// The linear map from readings of a clock to nanoseconds.
struct Timebase {
  std::uint64_t tick = 0;  ///< a reading
  /// The time of that reading, in nanoseconds.
  std::uint64_t ns = 0;
  /// The length of a tick, in nanoseconds.
  double ns_per_tick = 1;

  /// Converts a reading to nanoseconds.
  [[nodiscard]] std::uint64_t to_ns(std::uint64_t reading) const noexcept {
    const double since = reading >= tick ? static_cast<double>(reading - tick) : -static_cast<double>(tick - reading);
    const double shift = since * ns_per_tick;
    return shift < 0 ? ns - static_cast<std::uint64_t>(-shift) : ns + static_cast<std::uint64_t>(shift);
  }
};

/// Nanoseconds on a monotonic clock.
struct SteadyClock {
  /// A reading, in nanoseconds.
  [[nodiscard]] static std::uint64_t now() noexcept {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
  }
};

/// The processor's own counter. Reading it takes less than half the time of SteadyClock (10 and 21 ns on a Xeon of
/// 2023). The length of a tick is measured against SteadyClock when readings are converted.
///
/// On processors other than x86-64 and ARM64, it is SteadyClock. On x86-64 before 2008, the counter's rate changes with
/// the core's frequency; is_steady() reports this, and SteadyClock should be used there.
struct TickClock {
  /// A reading; in nanoseconds unless the clock has a timebase().
  [[nodiscard]] static std::uint64_t now() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return SteadyClock::now();
#endif
  }

  /// Whether the counter has a constant rate at every frequency of the cores.
  [[nodiscard]] static bool is_steady() noexcept {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x8000'0007U, &a, &b, &c, &d) != 0 && (d & 1U << 8) != 0;
#else
    return true;
#endif
  }

  /// A reading and its time, taken once for the whole process. Callers of timebase() call it early, since the rate is
  /// more accurate the longer ago that was.
  static const Timebase& anchor() noexcept {
    static const Timebase first = read_both();
    return first;
  }

  /// The timebase of readings since anchor(), in nanoseconds of SteadyClock. Waits until 2 ms after anchor().
  [[nodiscard]] static Timebase timebase() noexcept {
    Timebase base = anchor();
    Timebase now = read_both();
    while (now.ns - base.ns < 2'000'000 || now.tick == base.tick) now = read_both();
    base.ns_per_tick = static_cast<double>(now.ns - base.ns) / static_cast<double>(now.tick - base.tick);
    return base;
  }

 private:
  /// Reads both clocks at nearly the same moment: the best of several tries.
  [[nodiscard]] static Timebase read_both() noexcept {
    Timebase best;
    std::uint64_t least = ~std::uint64_t{0};
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t before = now();
      const std::uint64_t ns = SteadyClock::now();
      const std::uint64_t after = now();
      if (after - before >= least) continue;
      least = after - before;
      best = {before + least / 2, ns, 1};
    }
    return best;
  }
};

/// The timebase of `Clock`; without one, readings are nanoseconds.
template <class Clock>
[[nodiscard]] Timebase timebase_of() noexcept {
  if constexpr (HasTimebase<Clock>) {
    return Clock::timebase();
  } else {
    return {};
  }
}

/// Anchors the timebase of `Clock`; call it at the start of anything that is timed with it.
template <class Clock>
void anchor() noexcept {
  if constexpr (HasAnchor<Clock>) (void)Clock::anchor();
}

}  // namespace rondo::observe
