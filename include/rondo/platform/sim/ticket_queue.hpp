// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/owned_array.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace rondo::platform::sim {

/// A queue that is never emptied and never reset: the n-th pop waits for the n-th push, round after round.
///
/// Each side takes a ticket with one fetch_add and goes to the slot of that number. So there is no failed pop, no
/// compare-and-swap loop, and nothing to restore between rounds. A slot holds the value and the parity of its lap,
/// which tells a new value from the one a lap before.
///
/// Why no slot is overwritten early: at most `capacity` pushes lie between a push and the moment its value is read,
/// since a round pushes each item once and ends only when all of them have run.
///
/// Thread safety: any number of threads may push and pop. Cost: a push is two atomic operations, and one system call if
/// the popper sleeps; a pop that finds its slot filled is one.
class TicketQueue {
 public:
  /// Values are below 2^31 - 1.
  explicit TicketQueue(std::size_t capacity)
      : slots_(std::bit_ceil(capacity < 2 ? std::size_t{2} : capacity)),
        mask_{slots_.size() - 1},
        shift_{static_cast<unsigned>(std::countr_zero(slots_.size()))} {}

  void push(std::uint32_t value) noexcept {
    const std::uint64_t ticket = tail_.fetch_add(1, std::memory_order_relaxed);
    Slot& slot = slots_[ticket & mask_];
    slot.store((value + 1) << 1 | lap(ticket), std::memory_order_release);
    slot.notify_one();
  }

  /// Waits for its value: spins briefly, then sleeps. Two threads waiting for one slot cannot happen: tickets differ.
  [[nodiscard]] std::uint32_t pop() noexcept {
    const std::uint64_t ticket = head_.fetch_add(1, std::memory_order_relaxed);
    Slot& slot = slots_[ticket & mask_];
    for (;;) {
      const std::uint32_t seen = slot.load(std::memory_order_acquire);
      if (seen != 0 && (seen & 1U) == lap(ticket)) return (seen >> 1) - 1;
      slot.wait(seen, std::memory_order_acquire);
    }
  }

 private:
  using Slot = std::atomic<std::uint32_t>;
  static constexpr std::size_t cache_line = 64;

  /// Laps alternate between 1 and 0; a slot starts as 0, which no value is.
  [[nodiscard]] std::uint32_t lap(std::uint64_t ticket) const noexcept {
    return static_cast<std::uint32_t>(ticket >> shift_ & 1U) ^ 1U;
  }

  detail::OwnedArray<Slot> slots_;
  std::size_t mask_;
  unsigned shift_;
  alignas(cache_line) std::atomic<std::uint64_t> tail_{0};
  alignas(cache_line) std::atomic<std::uint64_t> head_{0};
};

}  // namespace rondo::platform::sim
