// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::platform::sim {

/// A bounded first-in, first-out queue of pointers between any threads (Vyukov). push fails when it is full and pop
/// when it is empty. Each cell counts turns, so each side needs one compare-and-swap.
///
/// Thread safety: any number of threads on either side. Cost: one compare-and-swap, no allocation after construction.
template <class T>
class ReadyQueue {
 public:
  explicit ReadyQueue(std::size_t capacity)
      : cells_(std::bit_ceil(capacity < 2 ? std::size_t{2} : capacity)), mask_{cells_.size() - 1} {
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
  }

  [[nodiscard]] bool push(T* value) noexcept {
    std::uint64_t at = tail_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[at & mask_];
      const std::uint64_t turn = cell.turn.load(std::memory_order_acquire);
      if (turn == at) {
        if (tail_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {  // model: stream.push
          cell.value = value;
          cell.turn.store(at + 1, std::memory_order_release);  // model: stream.filled
          return true;
        }
      } else if (turn < at) {
        return false;
      } else {
        at = tail_.load(std::memory_order_relaxed);
      }
    }
  }

  /// @returns null if it is empty
  [[nodiscard]] T* pop() noexcept {
    std::uint64_t at = head_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[at & mask_];
      const std::uint64_t turn = cell.turn.load(std::memory_order_acquire);
      if (turn == at + 1) {
        // model: stream.pop
        if (head_.compare_exchange_weak(at, at + 1, std::memory_order_acq_rel, std::memory_order_relaxed)) {
          T* const value = cell.value;
          cell.turn.store(at + mask_ + 1, std::memory_order_release);  // model: stream.emptied
          return value;
        }
      } else if (turn < at + 1) {
        return nullptr;
      } else {
        at = head_.load(std::memory_order_relaxed);
      }
    }
  }

  /// The number of all pops, and of all pushes. If they are equal, the queue was empty at some moment between the two
  /// reads.
  [[nodiscard]] std::uint64_t popped() const noexcept { return head_.load(std::memory_order_seq_cst); }
  [[nodiscard]] std::uint64_t pushed() const noexcept { return tail_.load(std::memory_order_seq_cst); }

 private:
  struct Cell {
    std::atomic<std::uint64_t> turn{0};
    T* value = nullptr;
  };
  std::vector<Cell> cells_;
  std::size_t mask_;
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  alignas(64) std::atomic<std::uint64_t> head_{0};
};

}  // namespace rondo::platform::sim
