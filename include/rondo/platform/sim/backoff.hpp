// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <time.h>

namespace rondo::platform::sim {

/// Tells the core that this is a loop that waits.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

/// Waiting in three stages, so that a short wait is fast and a long one hurts nobody: looks again at once, then gives
/// the core to whoever wants it, then sleeps. On a machine with more threads than cores the second stage lets the
/// awaited thread run.
class Backoff {
 public:
  static constexpr unsigned eager = 32;     ///< looks without a pause
  static constexpr unsigned spins = 96;     ///< then with one: about 2 to 5 µs in all
  static constexpr unsigned yields = 200;   ///< then this often behind a yield
  static constexpr long sleep_ns = 50'000;  ///< then sleeping so long each time

  /// Waits a little, more each time.
  void wait() noexcept {
    ++count_;
    if (count_ <= eager) return;
    if (count_ <= spins) return pause();
    if (count_ <= spins + yields) {
      (void)sched_yield();
      return;
    }
    const timespec nap{0, sleep_ns};
    (void)nanosleep(&nap, nullptr);
  }
  [[nodiscard]] bool past_spinning() const noexcept { return count_ > spins; }
  void reset() noexcept { count_ = 0; }

 private:
  unsigned count_ = 0;
};

}  // namespace rondo::platform::sim
