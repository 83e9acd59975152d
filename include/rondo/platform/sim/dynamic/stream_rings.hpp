// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/sim/dynamic/region_map.hpp>
#include <rondo/platform/sim/task_slot.hpp>
#include <rondo/types.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

/// The rings of the scopes of one depth. Positions increase throughout a round, so comparisons need not consider
/// wrapping.
namespace rondo::platform::sim::dynamic {

/// A queue of fixed capacity.
template <class T>
class Fifo {
 public:
  explicit Fifo(std::size_t capacity) : cells_(capacity_for(capacity)), mask_{cells_.size() - 1} {}

  /// The capacity of a queue for which this one was asked.
  [[nodiscard]] static std::size_t capacity_for(std::size_t asked) noexcept {
    return std::bit_ceil(asked < 2 ? std::size_t{2} : asked);
  }

  [[nodiscard]] std::uint64_t head() const noexcept { return head_; }
  [[nodiscard]] std::uint64_t tail() const noexcept { return tail_; }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(head_ - tail_); }
  [[nodiscard]] std::size_t capacity() const noexcept { return cells_.size(); }
  [[nodiscard]] bool full() const noexcept { return size() == mask_ + 1; }
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }

  void push(T* value) noexcept { cells_[head_++ & mask_] = value; }
  [[nodiscard]] T& at(std::uint64_t position) const noexcept { return *cells_[position & mask_]; }
  [[nodiscard]] T& oldest() const noexcept { return at(tail_); }
  void pop() noexcept { ++tail_; }

 private:
  std::vector<T*> cells_;
  std::uint64_t mask_ = 0;  ///< the capacity, a power of two, less 1
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
};

/// A ring of bytes (or words): each allocation is contiguous and starts at the front; memory is freed at the back.
class HeapRing {
 public:
  explicit HeapRing(std::uint64_t size) : size_{size} {}

  /// The position at which an allocation of `length` would start; offset() turns it into an offset.
  [[nodiscard]] std::uint64_t place(std::uint64_t length, std::uint64_t alignment) const noexcept {
    const std::uint64_t start = align_up(head_, alignment);
    const std::uint64_t offset = start % size_;
    return offset + length <= size_ ? start : start + (size_ - offset);
  }
  /// The room that is missing for an allocation; 0 if it fits. One larger than the ring never fits.
  [[nodiscard]] std::uint64_t missing(std::uint64_t length, std::uint64_t alignment) const noexcept {
    if (length > size_) return length - size_;
    const std::uint64_t end = place(length, alignment) + length;
    return end - tail_ <= size_ ? 0 : end - tail_ - size_;
  }
  void take_until(std::uint64_t end) noexcept { head_ = end; }
  void free_until(std::uint64_t end) noexcept {
    tail_ = end;
    if (tail_ == head_) reset();
  }
  /// Empties the ring and returns to its start, which is more likely in the cache.
  void reset() noexcept { head_ = tail_ = 0; }

  [[nodiscard]] std::uint64_t offset(std::uint64_t position) const noexcept { return position % size_; }
  [[nodiscard]] std::uint64_t head() const noexcept { return head_; }
  [[nodiscard]] std::uint64_t used() const noexcept { return head_ - tail_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  std::uint64_t size_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
};

/// The unfinished tasks of the scopes of one depth, the arguments of tasks with many arguments, and the intermediates.
struct ScopeRing {
  ScopeRing(std::size_t window, std::size_t tensor_capacity, std::uint64_t heap_bytes)
      : tasks{window}, tensors{tensor_capacity}, heap{heap_bytes}, words(word_count), word_ring{word_count} {}

  static constexpr std::size_t word_count = std::size_t{1} << 15;

  Fifo<TaskSlot> tasks;
  Fifo<TensorState> tensors;
  HeapRing heap;
  std::uint64_t heap_base = 0;  ///< device address
  std::vector<ArgWord> words;
  HeapRing word_ring;
};

}  // namespace rondo::platform::sim::dynamic
