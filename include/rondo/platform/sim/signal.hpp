// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <thread>

namespace rondo::platform::sim {

/// A number; threads can sleep until it changes. It does not use std::atomic::wait(), since that of g++ 12 spins and
/// yields before it sleeps, which these threads have done already, and its notify is a function call.
///
/// Cost: notify_…() is one instruction on a cache line of this thread, and a system call only if a thread sleeps.
class Signal : public std::atomic<std::uint32_t> {
 public:
  using std::atomic<std::uint32_t>::atomic;

#if defined(__linux__)
  /// Sleeps until the number differs from `seen`.
  void wait(std::uint32_t seen, std::memory_order order = std::memory_order_seq_cst) noexcept {
    if (load(order) != seen) return;                    // model: signal.look
    sleepers_.fetch_add(1, std::memory_order_seq_cst);  // model: signal.count
    // If a thread changed the number earlier, it may have seen no sleeper; the system compares the number again.
    // model: signal.sleep
    while (load(order) == seen) (void)syscall(SYS_futex, this, FUTEX_WAIT_PRIVATE, seen, nullptr);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);  // model: signal.leave
  }
  void notify_one() noexcept { notify(1); }
  void notify_all() noexcept { notify(std::numeric_limits<std::int32_t>::max()); }

 private:
  void notify(std::int32_t count) noexcept {
    // Adding 0 comes after the change of the number, so a thread that falls asleep later sees the change.
    if (sleepers_.fetch_add(0, std::memory_order_seq_cst) != 0) [[unlikely]]  // model: signal.order
      (void)syscall(SYS_futex, this, FUTEX_WAKE_PRIVATE, count);              // model: signal.wake
  }

  std::atomic<std::uint32_t> sleepers_{0};
#endif
};

/// A std::atomic_thread_fence without a warning from g++'s thread sanitizer, which does not support fences.
[[gnu::always_inline]] inline void fence() noexcept {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
  std::atomic_thread_fence(std::memory_order_seq_cst);
#pragma GCC diagnostic pop
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// The number of cores of the host; 1 if unknown.
[[nodiscard]] inline std::uint32_t host_cores() noexcept { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace rondo::platform::sim
