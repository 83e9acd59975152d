// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <bit>
#include <cstdint>

namespace rondo::platform::sim {

/// Hints to the core that this is a waiting loop.
[[gnu::always_inline]] inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

/// How long threads spin, in pauses, before they sleep.
struct SpinLimits {
  unsigned between_rounds = 1500;  ///< for the next round; 30 to 80 µs
  unsigned within_rounds = 3000;   ///< for another thread's tasks; 60 to 180 µs
};

/// Waiting in stages: checks again at once, then with pauses, then sleeps briefly. It sleeps rather than yields, since
/// on a host with more threads than cores a yield gives the core away for a whole time slice. And it spins for longer
/// than waits usually take, since on such a host even a short sleep may last milliseconds.
class Backoff {
 public:
  static constexpr unsigned eager = 32;      ///< checks without a pause
  static constexpr unsigned patience = 256;  ///< checks after which other work is worthwhile: 3 to 13 µs
  static constexpr long sleep_ns = 50'000;

  /// Waits briefly, longer each time; sleeps after `spins` checks.
  void wait(unsigned spins) noexcept {
    ++count_;
    if (count_ <= eager) return;
    if (count_ <= spins) return pause();
    const timespec nap{0, sleep_ns};
    (void)nanosleep(&nap, nullptr);
  }
  /// Whether to look for other work now: after `patience` checks, and each time that their number has doubled, since a
  /// look delays the next check and moves cache lines that others write. After `spins` checks, when it sleeps: always.
  [[nodiscard]] bool out_of_patience(unsigned spins) const noexcept {
    return count_ > spins || (count_ >= patience && std::has_single_bit(count_));
  }
  [[nodiscard]] bool has_spun(unsigned spins) const noexcept { return count_ > spins; }
  /// After other work was found: there may be more of it, so looks again at once.
  void reset() noexcept { count_ = patience; }

 private:
  unsigned count_ = 0;
};

/// Nanoseconds of a monotonic clock; including `<chrono>` would cost every user 230 ms of compile time.
[[nodiscard]] inline std::uint64_t now_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
}

/// Returns at `time` or slightly later: sleeps as long as that is safe, then spins.
inline void wait_until_ns(std::uint64_t time) noexcept {
  constexpr std::uint64_t spun = 150'000;  // a sleep may overrun by this much
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
