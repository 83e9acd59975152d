// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/atomic.hpp>
#include <rondo/detail/owned_array.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace rondo::platform::sim {

/// Pointers on their way from any thread to any thread, first in first out; never waits: push fails when it is full and
/// pop when it is empty. Each cell counts whose turn it is, so both sides need one compare-and-swap (Vyukov's bounded
/// queue).
///
/// Thread safety: any number of threads on either side. Cost: one compare-and-swap, no allocation after construction.
template <class T>
class ReadyQueue {
 public:
  explicit ReadyQueue(std::size_t capacity)
      : cells_(std::bit_ceil(capacity < 2 ? std::size_t{2} : capacity)), mask_{cells_.size() - 1} {
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i].turn.store(i, detail::Order::relaxed);
  }

  [[nodiscard]] bool push(T* value) noexcept {
    std::uint64_t at = tail_.load(detail::Order::relaxed);
    for (;;) {
      Cell& cell = cells_[at & mask_];
      const std::uint64_t turn = cell.turn.load(detail::Order::acquire);
      if (turn == at) {
        if (tail_.compare_exchange_weak(at, at + 1, detail::Order::relaxed)) {
          cell.value = value;
          cell.turn.store(at + 1, detail::Order::release);
          return true;
        }
      } else if (turn < at) {
        return false;
      } else {
        at = tail_.load(detail::Order::relaxed);
      }
    }
  }

  /// @returns null if it is empty
  [[nodiscard]] T* pop() noexcept {
    std::uint64_t at = head_.load(detail::Order::relaxed);
    for (;;) {
      Cell& cell = cells_[at & mask_];
      const std::uint64_t turn = cell.turn.load(detail::Order::acquire);
      if (turn == at + 1) {
        if (head_.compare_exchange_weak(at, at + 1, detail::Order::acq_rel, detail::Order::relaxed)) {
          T* const value = cell.value;
          cell.turn.store(at + mask_ + 1, detail::Order::release);
          return value;
        }
      } else if (turn < at + 1) {
        return nullptr;
      } else {
        at = head_.load(detail::Order::relaxed);
      }
    }
  }

  /// How many were ever popped and pushed; equal: it was empty at some moment between the two reads.
  [[nodiscard]] std::uint64_t popped() const noexcept { return head_.load(detail::Order::seq_cst); }
  [[nodiscard]] std::uint64_t pushed() const noexcept { return tail_.load(detail::Order::seq_cst); }

 private:
  struct Cell {
    detail::Atomic<std::uint64_t> turn{0};
    T* value = nullptr;
  };
  detail::OwnedArray<Cell> cells_;
  std::size_t mask_;
  alignas(64) detail::Atomic<std::uint64_t> tail_{0};
  alignas(64) detail::Atomic<std::uint64_t> head_{0};
};

}  // namespace rondo::platform::sim
