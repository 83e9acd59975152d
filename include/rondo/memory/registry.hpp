// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/memory/space.hpp>
#include <rondo/types.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace rondo::memory {

/// The reason why a round may not use memory.
enum class Staleness : std::uint8_t {
  none,
  released,            ///< the platform that allocated it has released it
  replaced,            ///< it was released and allocated again after a prebinding was made
  given_back,          ///< it went back to the library that had lent it after a prebinding was made
  arena_moved,         ///< the session's arena was there, and has moved
  of_another_session,  ///< it is part of another session's arena
  prebound_before_move,
};
/// Returns a sentence that names the cause and says what to do about it.
[[nodiscard]] const char* describe(Staleness staleness) noexcept;

/// Records the memory that platforms of this process allocate and release, and the addresses of the sessions' arenas.
/// It starts when the first session that checks memory is opened. Memory that is not recorded counts as usable.
///
/// Released memory is recorded until an allocation takes its addresses, until `max_released` later releases, or until
/// its platform is destroyed. If device memory is host memory, its addresses stay reserved without pages even after
/// that, so that an access faults. Thread safety: any thread. Errors: as stated. Cost: a lock, and the logarithm of the
/// number of blocks.
class Registry {
 public:
  static constexpr std::size_t max_released = 256;
  /// Stands for memory that is bound in the call itself, after all allocations so far.
  static constexpr std::uint64_t bound_now = ~std::uint64_t{0};

  /// The registry of the process.
  [[nodiscard]] static Registry& instance() noexcept;

  /// Starts to record allocations.
  void watch() noexcept {
    static constexpr Recorder all{&Registry::add, &Registry::remove};
    recorder_.store(&all, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_watching() const noexcept { return recorder() != nullptr; }

  // --- for platforms

  /// Records an allocation. @throws std::bad_alloc
  void note_allocated(Space space, std::uint64_t address, Bytes size) {
    if (const Recorder* const r = recorder(); r != nullptr) (this->*r->add)(space, address, size);
  }
  /// Records that `by` is releasing the block at `address`.
  void note_released(Space space, std::uint64_t address, const void* by) noexcept {
    if (const Recorder* const r = recorder(); r != nullptr) (void)(this->*r->remove)(space, address, nullptr, by);
  }
  /// Records that memory of another library goes back to it. Prebindings made before are stale; later ones are not,
  /// since somebody else may have the memory by then. It has no effect on memory that a platform has recorded.
  void note_given_back(Space space, std::uint64_t address, Bytes size) noexcept;
  /// Forgets the released block at `address`. Call it if another allocator has its addresses.
  void forget_released(Space space, std::uint64_t address) noexcept;
  /// Forgets all blocks that `by` has released.
  void forget_released_by(const void* by) noexcept;
  /// The same for memory of the host. Returns whether the registry keeps the memory, and passes `memory` to std::free
  /// later; otherwise the caller frees it.
  [[nodiscard]] bool keep_released(std::uint64_t address, void* memory) noexcept {
    const Recorder* const r = recorder();
    return r != nullptr && (this->*r->remove)(Space::host, address, memory, nullptr);
  }

  // --- for sessions

  /// Records that the arena of a session moved to `base`. `is_allocated`: whether the session has allocated that
  /// memory. Returns false if there was no memory to record it.
  [[nodiscard]] bool enter_arena(Space space, const void* owner, std::uint64_t base, Bytes size,
                                 bool is_allocated) noexcept;
  /// Whether memory may become the arena of a session: no other session has allocated it as its arena.
  [[nodiscard]] bool may_be_arena(Space space, const void* owner, std::uint64_t base, Bytes size) noexcept;
  /// Forgets all arenas of a session.
  void forget_arenas(const void* owner) noexcept;

  /// The number of allocations so far.
  [[nodiscard]] std::uint64_t now() noexcept;
  /// Whether a range may be used that was bound after `bound_at` allocations.
  [[nodiscard]] Staleness check(Space space, std::uint64_t address, std::uint64_t bytes,
                                std::uint64_t bound_at = bound_now) noexcept;
  /// The same for device memory that a round binds in a session whose arena is at `arena`.
  [[nodiscard]] Staleness check_bound(Space space, std::uint64_t arena, std::uint64_t address, std::uint64_t bytes,
                                      std::uint64_t bound_at = bound_now) noexcept;

 private:
  struct Block {
    Space space;
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t generation;    ///< the number of the allocation
    std::uint64_t released = 0;  ///< the number of the release; 0: it is allocated
    void* kept = nullptr;        ///< released memory that is to be freed
    const void* by = nullptr;    ///< the object that released it
    bool is_lent = false;        ///< whether another library allocated it, and has it back
  };
  struct ArenaRange {
    Space space;
    const void* owner;  ///< an address that only this session has
    std::uint64_t begin;
    std::uint64_t end;
    bool is_allocated;  ///< whether the session allocated it
    bool is_current;
    [[nodiscard]] bool overlaps(Space in, std::uint64_t from, std::uint64_t to) const noexcept {
      return space == in && begin < to && from < end;
    }
  };

  /// Reached through pointers that watch() sets, so that programs whose sessions check no memory do not contain it.
  struct Recorder {
    void (Registry::*add)(Space space, std::uint64_t address, Bytes size);
    bool (Registry::*remove)(Space space, std::uint64_t address, void* memory, const void* by) noexcept;
  };
  [[nodiscard]] const Recorder* recorder() const noexcept { return recorder_.load(std::memory_order_relaxed); }
  void add(Space space, std::uint64_t address, Bytes size);
  void enter(Space space, std::uint64_t address, Bytes size);
  bool remove(Space space, std::uint64_t address, void* memory, const void* by) noexcept;
  [[nodiscard]] std::size_t first_ending_after(Space space, std::uint64_t address) const noexcept;
  void forget_oldest_released() noexcept;
  [[nodiscard]] Staleness check_blocks(Space space, std::uint64_t begin, std::uint64_t end,
                                       std::uint64_t bound_at) const noexcept;

  std::atomic<const Recorder*> recorder_{nullptr};
  std::mutex mutex_;
  std::vector<Block> blocks_;  ///< sorted by space and address; they do not overlap
  std::vector<ArenaRange> arenas_;
  std::uint64_t allocations_ = 0;
  std::uint64_t releases_ = 0;
  std::size_t released_count_ = 0;
};

}  // namespace rondo::memory

#if RONDO_HAS_BODIES
#include <rondo/memory/registry_impl.hpp>  // IWYU pragma: export
#endif
