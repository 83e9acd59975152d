// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rondo::launch {

/// Asked of a policy's victim: may this entry go? Pinned entries may not.
struct AnyEvictable {
  template <class Hook>
  [[nodiscard]] bool operator()(const Hook&) const noexcept {
    return true;
  }
};

/// What a policy keeps in each entry, a class to derive from: `struct Hook {...};`, empty if it keeps nothing.
template <class P>
concept HasHook = std::default_initializable<typename P::Hook> && std::is_class_v<typename P::Hook> &&
    !std::is_final_v<typename P::Hook>;

/// The most entries there may be: `std::size_t capacity() const noexcept`; at least 1.
template <class P>
concept HasCapacity = requires(const P& p) {
  { p.capacity() }
  noexcept->std::same_as<std::size_t>;
};

/// What it is told: `inserted(Hook&)`, `used(Hook&)` and `erased(Hook&)`, all noexcept.
template <class P>
concept HasNotices = requires(P& p, typename P::Hook& hook) {
  { p.inserted(hook) }
  noexcept;
  { p.used(hook) }
  noexcept;
  { p.erased(hook) }
  noexcept;
};

/// Who has to go: `template <class Evictable> Hook* victim(Evictable evictable) noexcept`, which names the entry to
/// evict among those whose hook is `evictable(hook)`, or nullptr if there is none.
template <class P>
concept HasVictim = requires(P& p) {
  { p.victim(AnyEvictable{}) }
  noexcept->std::same_as<typename P::Hook*>;
};

/// How many entries a LaunchCache keeps, and which goes when a new one comes. Requires the four parts above, and to be
/// default-constructible.
///
/// What the concept cannot check but the rules demand:
/// 1. capacity() never changes. A policy whose capacity is `no_limit` is never asked for a victim.
/// 2. victim() names a hook that was inserted and not erased since; it is told by erased() before the entry goes.
/// 3. Hooks do not move while they are in: they may be linked to each other.
/// 4. used() comes when a lookup finds an entry that was not the last one found: a use many times in a row is one use.
template <class P>
concept EvictionPolicy = std::default_initializable<P> && HasHook<P> && HasCapacity<P> && HasNotices<P> && HasVictim<P>;

/// Entries are kept as long as the cache.
inline constexpr std::size_t no_limit = SIZE_MAX;

/// Explains, part by part, what P lacks to be an EvictionPolicy.
template <class P>
consteval bool check_eviction_policy() {
  static_assert(std::default_initializable<P>, "rondo: the eviction policy needs a default constructor");
  static_assert(HasHook<P>,
                "rondo: the eviction policy has no hook; write `struct Hook {};`, a class that is not final, with what "
                "it keeps in each entry");
  static_assert(HasCapacity<P>,
                "rondo: the eviction policy has no capacity; write `std::size_t capacity() const noexcept;`");
  if constexpr (HasHook<P>) {
    static_assert(HasNotices<P>,
                  "rondo: the eviction policy takes no notices; write `void inserted(Hook&) noexcept;`, `void "
                  "used(Hook&) noexcept;` and `void erased(Hook&) noexcept;`");
    static_assert(HasVictim<P>,
                  "rondo: the eviction policy names no victim; write `template <class Evictable> Hook* "
                  "victim(Evictable evictable) noexcept;`");
  }
  return EvictionPolicy<P>;
}

/// Keeps everything. Costs nothing in the entries and nothing on a hit.
struct Unbounded {
  struct Hook {};
  /// How many entries are kept.
  [[nodiscard]] constexpr std::size_t capacity() const noexcept { return no_limit; }
  /// Told: an entry is at this place now.
  constexpr void inserted(Hook&) noexcept {}
  /// Told: the entry at this place was asked for.
  constexpr void used(Hook&) noexcept {}
  /// Told: the entry at this place is gone.
  constexpr void erased(Hook&) noexcept {}
  /// The place of the entry that goes first.
  template <class Evictable>
  [[nodiscard]] constexpr Hook* victim(Evictable) noexcept {
    return nullptr;
  }
};

/// Keeps the `Capacity` entries that were used last. Two pointers in each entry; a hit in the table moves the entry to
/// the front of a list.
template <std::size_t Capacity>
class Lru {
  static_assert(Capacity > 0, "rondo: a cache of no entries caches nothing");

 public:
  /// What hangs an entry into the order of use.
  struct Hook {
    /// The place used next after it.
    Hook* newer = nullptr;
    /// The place used last before it.
    Hook* older = nullptr;
  };

  Lru() noexcept = default;
  Lru(const Lru&) = delete;  // the entries point into it
  Lru& operator=(const Lru&) = delete;

  /// How many entries are kept.
  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Capacity; }

  /// Told: an entry is at this place now.
  void inserted(Hook& hook) noexcept {
    hook.newer = &ends_;
    hook.older = ends_.older;
    ends_.older->newer = &hook;
    ends_.older = &hook;
  }
  /// Told: the entry at this place was asked for.
  void used(Hook& hook) noexcept {
    erased(hook);
    inserted(hook);
  }
  /// Told: the entry at this place is gone.
  void erased(Hook& hook) noexcept {
    hook.newer->older = hook.older;
    hook.older->newer = hook.newer;
  }
  /// The place of the entry that goes first.
  template <class Evictable>
  [[nodiscard]] Hook* victim(Evictable evictable) noexcept {
    for (Hook* hook = ends_.newer; hook != &ends_; hook = hook->newer) {
      if (evictable(*hook)) return hook;
    }
    return nullptr;
  }

 private:
  /// Closes the list to a ring: `older` is the newest entry, `newer` the oldest.
  Hook ends_{&ends_, &ends_};
};

}  // namespace rondo::launch
