// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <sched.h>
#endif

/// What the umbrella needs of <atomic>, which would cost everybody who includes it 160 ms of compile time: the same
/// operations by the compiler's own functions.
namespace rondo::detail {

/// As std::memory_order.
enum class Order : int {
  relaxed = __ATOMIC_RELAXED,
  acquire = __ATOMIC_ACQUIRE,
  release = __ATOMIC_RELEASE,
  acq_rel = __ATOMIC_ACQ_REL,
  seq_cst = __ATOMIC_SEQ_CST,
};

/// As std::atomic<T>, for integers, bools, enums, pointers and structs of 1, 2, 4 or 8 bytes. All of it inlines to what
/// std::atomic gives, so the order is to be a constant.
template <class T>
class Atomic {
  static_assert(sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0, "the processor must do it in one piece");

 public:
  constexpr Atomic() noexcept : value_{} {}
  constexpr Atomic(T value) noexcept : value_{value} {}  // NOLINT: as std::atomic
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  [[nodiscard, gnu::always_inline]] T load(Order order = Order::seq_cst) const noexcept {
    T value;
    __atomic_load(&value_, &value, static_cast<int>(order));
    return value;
  }
  [[gnu::always_inline]] void store(T value, Order order = Order::seq_cst) noexcept {
    __atomic_store(&value_, &value, static_cast<int>(order));
  }
  [[gnu::always_inline]] T exchange(T value, Order order = Order::seq_cst) noexcept {
    T before;
    __atomic_exchange(&value_, &value, &before, static_cast<int>(order));
    return before;
  }
  /// After a failure, whose order is relaxed or acquire as `order` is, `expected` holds what was found.
  [[gnu::always_inline]] bool compare_exchange_strong(T& expected, T value, Order order = Order::seq_cst) noexcept {
    return compare_exchange_strong(expected, value, order, on_failure(order));
  }
  [[gnu::always_inline]] bool compare_exchange_strong(T& expected, T value, Order order, Order failure) noexcept {
    return __atomic_compare_exchange(&value_, &expected, &value, false, static_cast<int>(order),
                                     static_cast<int>(failure));
  }
  [[gnu::always_inline]] bool compare_exchange_weak(T& expected, T value, Order order = Order::seq_cst) noexcept {
    return compare_exchange_weak(expected, value, order, on_failure(order));
  }
  [[gnu::always_inline]] bool compare_exchange_weak(T& expected, T value, Order order, Order failure) noexcept {
    return __atomic_compare_exchange(&value_, &expected, &value, true, static_cast<int>(order),
                                     static_cast<int>(failure));
  }
  [[gnu::always_inline]] T fetch_add(T by, Order order = Order::seq_cst) noexcept {
    return __atomic_fetch_add(&value_, by, static_cast<int>(order));
  }
  [[gnu::always_inline]] T fetch_sub(T by, Order order = Order::seq_cst) noexcept {
    return __atomic_fetch_sub(&value_, by, static_cast<int>(order));
  }

 private:
  static constexpr Order on_failure(Order order) noexcept {
    if (order == Order::acq_rel) return Order::acquire;
    return order == Order::release ? Order::relaxed : order;
  }

  alignas(sizeof(T)) T value_;

  friend class Signal;
};

/// As std::atomic_thread_fence, in one order with all that is seq_cst.
[[gnu::always_inline]] inline void fence() noexcept {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"  // g++'s thread sanitizer does not see fences, and says so
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#pragma GCC diagnostic pop
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/// A number that threads sleep on until it changes, as std::atomic<std::uint32_t> with its wait().
///
/// Cost: notify_…() is one instruction on a line of memory that is this thread's already, and a system call only if
/// somebody sleeps.
class Signal : public Atomic<std::uint32_t> {
 public:
  using Atomic<std::uint32_t>::Atomic;

  /// Sleeps until the number is another than `seen`.
  void wait(std::uint32_t seen, Order order = Order::seq_cst) noexcept {
    if (load(order) != seen) return;
    sleepers_.fetch_add(1, Order::seq_cst);
    // Whoever changed the number before this saw no sleeper perhaps; the system looks at the number once more.
    while (load(order) == seen) sleep(seen);
    sleepers_.fetch_sub(1, Order::relaxed);
  }
  void notify_one() noexcept { notify(1); }
  void notify_all() noexcept { notify(0x7FFF'FFFF); }

 private:
  void notify(std::uint32_t count) noexcept {
    // Adding nothing puts this behind the number's change, which the next one to fall asleep will see then.
    if (sleepers_.fetch_add(0, Order::seq_cst) != 0) [[unlikely]]
      wake(count);
  }
#if defined(__linux__)
  void sleep(std::uint32_t seen) noexcept { (void)syscall(SYS_futex, &value_, FUTEX_WAIT_PRIVATE, seen, nullptr); }
  void wake(std::uint32_t count) noexcept { (void)syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, count); }
#else
  void sleep(std::uint32_t) noexcept { (void)sched_yield(); }
  void wake(std::uint32_t) noexcept {}
#endif

  Atomic<std::uint32_t> sleepers_{0};
};

}  // namespace rondo::detail
