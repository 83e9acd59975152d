// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/registry.hpp>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <tuple>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#include <unistd.h>
#endif

/// The bodies of Registry. Include registry.hpp instead.
// In programs with AddressSanitizer, which then reports accesses; null in others.
extern "C" [[gnu::weak]] void __asan_poison_memory_region(const volatile void* memory, std::size_t size);
extern "C" [[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* memory, std::size_t size);

namespace rondo::memory {

namespace detail {

/// Removes the pages of a range, or restores them. Pages that the range shares with other memory stay.
inline void set_accessible([[maybe_unused]] std::uint64_t begin, [[maybe_unused]] std::uint64_t end,
                           [[maybe_unused]] bool is_accessible) noexcept {
  if (__asan_poison_memory_region != nullptr && __asan_unpoison_memory_region != nullptr) {
    auto* const change = is_accessible ? __asan_unpoison_memory_region : __asan_poison_memory_region;
    return change(reinterpret_cast<void*>(begin), end - begin);  // NOLINT(performance-no-int-to-ptr): on the host
  }
#if __has_include(<sys/mman.h>)
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  begin = align_up(begin, page);
  end -= end % page;
  if (begin >= end) return;
  void* const pages = reinterpret_cast<void*>(begin);  // NOLINT(performance-no-int-to-ptr): an address on the host
  if (!is_accessible) (void)::madvise(pages, end - begin, MADV_DONTNEED);
  (void)::mprotect(pages, end - begin, is_accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
#endif
}

}  // namespace detail

RONDO_INLINE const char* describe(Staleness staleness) noexcept {
  switch (staleness) {
    case Staleness::none: return "the memory is usable";
    case Staleness::released: return "the memory was released; bind memory that is allocated until the round has ended";
    case Staleness::replaced:
      return "the memory was released and allocated again after the bindings were made; prebind again";
    case Staleness::given_back:
      return "the tensor went back to the library that lent it after the bindings were made; prebind one that is there";
    case Staleness::arena_moved:
      return "the session's arena was at this address and has moved; ask the session for it again";
    case Staleness::of_another_session:
      return "the memory is part of another session's arena, whose rounds write there; bind memory that you allocate";
    case Staleness::prebound_before_move:
      return "the prebinding was made before the session's arena moved; prebind again";
  }
  return "";
}

// Never destroyed, because sessions with static storage duration may be closed later.
RONDO_INLINE Registry& Registry::instance() noexcept {
  alignas(Registry) static std::byte room[sizeof(Registry)];
  static Registry& registry = *new (room) Registry;
  return registry;
}

RONDO_INLINE std::size_t Registry::first_ending_after(Space space, std::uint64_t address) const noexcept {
  const auto found = std::partition_point(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    return std::tie(block.space, block.end) <= std::tie(space, address);
  });
  return static_cast<std::size_t>(found - blocks_.begin());
}

RONDO_INLINE void Registry::add(Space space, std::uint64_t address, Bytes size) {
  const std::lock_guard lock(mutex_);
  enter(space, address, size);
}

RONDO_INLINE void Registry::enter(Space space, std::uint64_t address, Bytes size) {
  const std::uint64_t end = address + std::max<std::uint64_t>(size.value, 1);
  const auto at = blocks_.begin() + static_cast<std::ptrdiff_t>(first_ending_after(space, address));
  auto last = at;
  // The addresses were released, through the registry or without it.
  for (; last != blocks_.end() && last->space == space && last->begin < end; ++last) {
    released_count_ -= last->released != 0 ? 1 : 0;
  }
  const Block block{space, address, end, ++allocations_};
  if (at == last) {
    blocks_.insert(at, block);
  } else {
    *at = block;
    blocks_.erase(at + 1, last);
  }
  std::erase_if(arenas_,
                [&](const ArenaRange& arena) { return !arena.is_current && arena.overlaps(space, address, end); });
}

RONDO_INLINE bool Registry::remove(Space space, std::uint64_t address, void* memory, const void* by) noexcept {
  const std::lock_guard lock(mutex_);
  const std::size_t n = first_ending_after(space, address);
  if (n == blocks_.size() || blocks_[n].space != space || blocks_[n].begin != address || blocks_[n].released != 0) {
    return false;
  }
  Block& block = blocks_[n];
  block.released = ++releases_;
  block.kept = memory;
  block.by = by;
  if (memory != nullptr) detail::set_accessible(block.begin, block.end, false);
  if (++released_count_ > max_released) forget_oldest_released();
  return memory != nullptr;
}

RONDO_INLINE void Registry::note_given_back(Space space, std::uint64_t address, Bytes size) noexcept {
  if (!is_watching() || size.value == 0) return;
  const std::lock_guard lock(mutex_);
  for (std::size_t n = first_ending_after(space, address); n < blocks_.size(); ++n) {
    if (blocks_[n].space != space || blocks_[n].begin >= address + size.value) break;
    if (!blocks_[n].is_lent) return;
  }
  try {
    enter(space, address, size);
  } catch (const std::bad_alloc&) {
    return;  // a prebinding of it is then not refused
  }
  Block& block = blocks_[first_ending_after(space, address)];
  block.released = ++releases_;
  block.is_lent = true;
  if (++released_count_ > max_released) forget_oldest_released();
}

RONDO_INLINE void Registry::forget_oldest_released() noexcept {
  const auto oldest = std::min_element(blocks_.begin(), blocks_.end(), [](const Block& a, const Block& b) {
    return a.released - 1 < b.released - 1;  // allocated blocks last
  });
  if (oldest->kept != nullptr) {
    detail::set_accessible(oldest->begin, oldest->end, true);
    std::free(oldest->kept);
  }
  blocks_.erase(oldest);
  --released_count_;
}

RONDO_INLINE void Registry::forget_released(Space space, std::uint64_t address) noexcept {
  const std::lock_guard lock(mutex_);
  released_count_ -= std::erase_if(blocks_, [&](const Block& block) {
    return block.released != 0 && block.space == space && block.begin == address;
  });
}

RONDO_INLINE void Registry::forget_released_by(const void* by) noexcept {
  const std::lock_guard lock(mutex_);
  released_count_ -= std::erase_if(blocks_, [&](const Block& block) { return block.released != 0 && block.by == by; });
}

RONDO_INLINE bool Registry::enter_arena(Space space, const void* owner, std::uint64_t base, Bytes size,
                                        bool is_allocated) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    arenas_.reserve(arenas_.size() + 1);
  } catch (const std::bad_alloc&) {
    return false;
  }
  // The session uses memory again that one of its earlier arenas occupied.
  std::erase_if(arenas_, [&](const ArenaRange& arena) {
    return arena.owner == owner && !arena.is_allocated && arena.overlaps(space, base, base + size.value);
  });
  for (ArenaRange& arena : arenas_) arena.is_current = arena.is_current && arena.owner != owner;
  arenas_.push_back({space, owner, base, base + size.value, is_allocated, true});
  return true;
}

RONDO_INLINE bool Registry::may_be_arena(Space space, const void* owner, std::uint64_t base, Bytes size) noexcept {
  const std::lock_guard lock(mutex_);
  return std::none_of(arenas_.begin(), arenas_.end(), [&](const ArenaRange& arena) {
    return arena.owner != owner && arena.is_allocated && arena.overlaps(space, base, base + size.value);
  });
}

RONDO_INLINE void Registry::forget_arenas(const void* owner) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(arenas_, [&](const ArenaRange& arena) { return arena.owner == owner; });
}

RONDO_INLINE std::uint64_t Registry::now() noexcept {
  const std::lock_guard lock(mutex_);
  return allocations_;
}

RONDO_INLINE Staleness Registry::check_blocks(Space space, std::uint64_t begin, std::uint64_t end,
                                              std::uint64_t bound_at) const noexcept {
  for (std::size_t n = first_ending_after(space, begin); n < blocks_.size(); ++n) {
    const Block& block = blocks_[n];
    if (block.space != space || block.begin >= end) break;
    if (block.released != 0 && !block.is_lent) return Staleness::released;
    if (block.generation > bound_at) return block.is_lent ? Staleness::given_back : Staleness::replaced;
  }
  return Staleness::none;
}

RONDO_INLINE Staleness Registry::check(Space space, std::uint64_t address, std::uint64_t bytes,
                                       std::uint64_t bound_at) noexcept {
  if (bytes == 0) return Staleness::none;
  const std::lock_guard lock(mutex_);
  return check_blocks(space, address, address + bytes, bound_at);
}

RONDO_INLINE Staleness Registry::check_bound(Space space, std::uint64_t arena, std::uint64_t address,
                                             std::uint64_t bytes, std::uint64_t bound_at) noexcept {
  if (bytes == 0) return Staleness::none;
  const std::uint64_t end = address + bytes;
  const std::lock_guard lock(mutex_);
  if (const Staleness found = check_blocks(space, address, end, bound_at); found != Staleness::none) return found;
  const auto is_home = [&](const ArenaRange& range) {
    return range.is_current && range.overlaps(space, arena, arena + 1);
  };
  Staleness found = Staleness::none;
  for (const ArenaRange& range : arenas_) {
    if (!range.overlaps(space, address, end)) continue;
    if (is_home(range)) return Staleness::none;
    const bool is_own = std::any_of(arenas_.begin(), arenas_.end(), [&](const ArenaRange& other) {
      return other.owner == range.owner && is_home(other);
    });
    if (is_own) {
      found = Staleness::arena_moved;
    } else if (found == Staleness::none && (range.is_current || range.is_allocated)) {
      found = Staleness::of_another_session;
    }
  }
  return found;
}

}  // namespace rondo::memory
