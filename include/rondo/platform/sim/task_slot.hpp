// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/large_memory.hpp>
#include <rondo/graph/words.hpp>
#include <rondo/types.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

/// The tasks of a graph that is built during a round, as the simulated scheduler represents them.
namespace rondo::platform::sim {

struct TaskSlot;

/// One edge: an element in the list of the preceding task that refers to the waiting task. The thread that finishes the
/// preceding task reads `next`, then decrements the waiting task's count, and does not access the edge again; so the
/// edge is free once its owner is done.
struct FanOut {
  FanOut* next = nullptr;
  TaskSlot* consumer = nullptr;
};
/// An edge that does not fit into its task's slot.
struct SpareFanOut {
  FanOut edge;
  SpareFanOut* next_free = nullptr;
};

/// A task from the moment it is added until it is reclaimed. The members are ordered by cache line: first those that
/// threads share and those for running the task, then those that few tasks or only the orchestrating thread use, then
/// the arguments.
///
/// `fan_out` is null or a list while the task is not done, and `sealed()` from then on. So one compare-and-swap both
/// checks whether an edge is needed and adds it.
struct alignas(64) TaskSlot {
  static constexpr std::size_t own_words = 14;
  static constexpr std::uint32_t own_edges = 2;
  /// Added to `waiting` while the orchestrating thread still adds edges, so that the task cannot start.
  static constexpr std::uint32_t guard = 1U << 31;

  std::atomic<FanOut*> fan_out{nullptr};
  std::atomic<std::uint32_t> waiting{0};
  std::uint32_t blocks = 1;
  std::uint32_t words = 0;   ///< the number of words of one block
  std::uint32_t linked = 0;  ///< edges that this task owns
  KernelEntry entry = nullptr;
  ArgWord* args = nullptr;
  TaskSlot* next_ready = nullptr;
  std::uint64_t mark = 0;    ///< the task that was last linked after this one; prevents duplicate edges
  std::uint64_t number = 0;  ///< unique among all tasks of a session, in the order of adding them; from 1

  std::atomic<std::uint32_t> blocks_left{0};
  std::atomic<std::uint32_t> next_block{0};
  SpareFanOut* spare = nullptr;
  FanOut own[own_edges];
  const char* name = nullptr;
  std::uint32_t name_size = 0;
  std::uint32_t words_taken = 0;  ///< words taken from the ring; 0 if the slot's own suffice

  void* uses = nullptr;  ///< the runtime's record of the tensors that it uses
  bool published = false;
  CoreType core = CoreType::vector;
  ArgWord own_words_block[own_words] = {};

  [[nodiscard]] static FanOut* sealed() noexcept { return reinterpret_cast<FanOut*>(std::uintptr_t{1}); }  // NOLINT
  [[nodiscard]] bool done() const noexcept { return fan_out.load(std::memory_order_acquire) == sealed(); }
};
static_assert(sizeof(TaskSlot) == 256);

/// A pool of objects for one thread; the object freed last is taken first, since it is still in the cache. The list of
/// free objects is separate from them, so that taking one does not wait for a load of its contents. Memory is reserved
/// once and touched at its first use, so a large capacity costs nothing by itself.
template <class T>
class Recycler {
 public:
  explicit Recycler(std::size_t capacity)
      : block_{capacity * sizeof(T), alignof(T)},
        memory_{static_cast<T*>(block_.data())},
        free_block_{capacity * sizeof(std::uint32_t), alignof(std::uint32_t)},
        free_{static_cast<std::uint32_t*>(free_block_.data())},
        capacity_{capacity} {}
  Recycler(const Recycler&) = delete;
  Recycler& operator=(const Recycler&) = delete;
  ~Recycler() {
    for (std::size_t i = 0; i < made_; ++i) memory_[i].~T();
  }

  /// @returns null if all are taken
  [[nodiscard]] T* take() noexcept {
    if (const std::size_t left = made_ - taken_; left != 0) {
      if (left > ahead) {
        const auto* const soon = reinterpret_cast<const char*>(memory_ + free_[left - 1 - ahead]);
        constexpr std::size_t fetched = sizeof(T) < 192 ? sizeof(T) : 192;
        for (std::size_t line = 0; line < fetched; line += 64) __builtin_prefetch(soon + line, 1);
      }
      ++taken_;
      return memory_ + free_[left - 1];
    }
    if (made_ == capacity_) return nullptr;
    ++taken_;
    return new (static_cast<void*>(memory_ + made_++)) T();
  }
  void give_back(T& object) noexcept { free_[made_ - taken_--] = static_cast<std::uint32_t>(index_of(object)); }

  [[nodiscard]] T& at(std::size_t index) noexcept { return memory_[index]; }
  [[nodiscard]] std::size_t index_of(const T& object) const noexcept {
    return static_cast<std::size_t>(&object - memory_);
  }

  [[nodiscard]] std::size_t taken() const noexcept { return taken_; }
  [[nodiscard]] std::size_t left() const noexcept { return capacity_ - taken_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  static constexpr std::size_t ahead = 4;

  rondo::detail::LargeMemory block_;
  T* memory_;
  rondo::detail::LargeMemory free_block_;
  std::uint32_t* free_;  ///< objects that were constructed and are not taken
  std::size_t capacity_;
  std::size_t made_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace rondo::platform::sim
