// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace rondo::c {

/// The kinds of objects that have handles.
enum class Kind : std::uint8_t { kernel = 1, graph, session, bindings, round };

/// Handles of objects: numbers that are never reused, so that the handle of an object that is gone is recognised. A
/// handle is an index into a table, a kind, and a generation.
///
/// Thread safety: any thread may add, find and remove; removing an object that another thread uses is the caller's
/// mistake. Cost: find() makes three loads and takes no lock.
class Handles {
 public:
  static Handles& instance() {
    static Handles& handles = *new Handles;  // never destroyed: programs may close sessions after main
    return handles;
  }

  /// Adds an object, and returns its handle. @throws std::bad_alloc
  [[nodiscard]] std::uint64_t add(Kind kind, void* object) {
    const std::lock_guard lock{mutex_};
    if (free_.empty()) grow();
    const std::uint32_t place = free_.back();
    free_.pop_back();
    Slot& slot = chunks_[place / chunk_size].load(std::memory_order_relaxed)[place % chunk_size];
    const std::uint64_t id = ++generation_ << 28 | std::uint64_t{static_cast<std::uint8_t>(kind)} << 24 | place;
    slot.object = object;
    slot.id.store(id, std::memory_order_release);
    return id;
  }
  /// Returns the object; null if the handle is of no object of that kind.
  [[nodiscard]] void* find(Kind kind, std::uint64_t id) const noexcept {
    if ((id >> 24 & 0xF) != static_cast<std::uint8_t>(kind)) return nullptr;
    const std::uint32_t place = id & 0xFF'FFFF;
    if (place / chunk_size >= chunks_.size()) return nullptr;
    const Slot* const chunk = chunks_[place / chunk_size].load(std::memory_order_acquire);
    if (chunk == nullptr) return nullptr;
    const Slot& slot = chunk[place % chunk_size];
    return slot.id.load(std::memory_order_acquire) == id ? slot.object : nullptr;
  }
  /// Removes the handle of an object, which stays the caller's. Precondition: find() knows the handle.
  void remove(std::uint64_t id) noexcept {
    const std::lock_guard lock{mutex_};
    const std::uint32_t place = id & 0xFF'FFFF;
    Slot& slot = chunks_[place / chunk_size].load(std::memory_order_relaxed)[place % chunk_size];
    slot.id.store(0, std::memory_order_release);
    free_.push_back(place);  // has room: grow() reserved it
  }

 private:
  struct Slot {
    std::atomic<std::uint64_t> id{0};
    void* object = nullptr;
  };
  static constexpr std::uint32_t chunk_size = 256;

  void grow() {
    for (std::uint32_t c = 0; c < chunks_.size(); ++c) {
      if (chunks_[c].load(std::memory_order_relaxed) != nullptr) continue;
      free_.reserve(std::size_t{c + 1} * chunk_size);
      auto chunk = std::make_unique<Slot[]>(chunk_size);
      for (std::uint32_t i = chunk_size; i-- > 0;) free_.push_back(c * chunk_size + i);
      chunks_[c].store(chunk.release(), std::memory_order_release);
      return;
    }
    throw std::bad_alloc();  // there are a million objects
  }

  std::mutex mutex_;
  std::array<std::atomic<Slot*>, 4096> chunks_{};
  std::vector<std::uint32_t> free_;
  std::uint64_t generation_ = 0;
};

}  // namespace rondo::c
