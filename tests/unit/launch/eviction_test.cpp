// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/launch/eviction.hpp>

#include <doctest/doctest.h>

#include <cstddef>

namespace {

using namespace rondo::launch;

TEST_CASE("Lru names the hook that was used longest ago") {
  Lru<3> lru;
  Lru<3>::Hook a, b, c;
  CHECK(lru.victim(AnyEvictable{}) == nullptr);
  lru.inserted(a);
  lru.inserted(b);
  lru.inserted(c);
  CHECK(lru.victim(AnyEvictable{}) == &a);
  lru.used(a);
  CHECK(lru.victim(AnyEvictable{}) == &b);
  lru.used(b);
  CHECK(lru.victim(AnyEvictable{}) == &c);
  lru.used(b);
  lru.used(b);
  CHECK(lru.victim(AnyEvictable{}) == &c);
  lru.erased(c);
  CHECK(lru.victim(AnyEvictable{}) == &a);
  lru.erased(a);
  lru.erased(b);
  CHECK(lru.victim(AnyEvictable{}) == nullptr);
}

TEST_CASE("Lru passes over what may not go") {
  Lru<3> lru;
  Lru<3>::Hook a, b, c;
  lru.inserted(a);
  lru.inserted(b);
  lru.inserted(c);
  CHECK(lru.victim([&](const auto& hook) { return &hook != &a; }) == &b);
  CHECK(lru.victim([&](const auto& hook) { return &hook == &c; }) == &c);
  CHECK(lru.victim([&](const auto&) { return false; }) == nullptr);
}

// Near misses: each is a policy but for one thing.
struct Complete {
  struct Hook {};
  [[nodiscard]] std::size_t capacity() const noexcept { return 1; }
  void inserted(Hook&) noexcept {}
  void used(Hook&) noexcept {}
  void erased(Hook&) noexcept {}
  template <class Evictable>
  Hook* victim(Evictable) noexcept {
    return nullptr;
  }
};
static_assert(EvictionPolicy<Complete> && check_eviction_policy<Complete>());

struct FinalHook : Complete {
  struct Hook final {};
};
struct HookIsAPointer : Complete {
  using Hook = int*;
};
struct CapacityMayThrow : Complete {
  [[nodiscard]] std::size_t capacity() const { return 1; }
};
struct CapacityIsNarrow : Complete {
  [[nodiscard]] int capacity() const noexcept { return 1; }
};
struct UsedMayThrow : Complete {
  void used(Hook&) {}
};
struct TakesHooksByValueOfAnother : Complete {
  void erased(int) noexcept {}
};
struct VictimIsAReference : Complete {
  template <class Evictable>
  Hook& victim(Evictable) noexcept;
};
struct VictimMayThrow : Complete {
  template <class Evictable>
  Hook* victim(Evictable) {
    return nullptr;
  }
};
struct NeedsASize : Complete {
  explicit NeedsASize(std::size_t) {}
};
static_assert(!HasHook<FinalHook> && !HasHook<HookIsAPointer>);
static_assert(!HasCapacity<CapacityMayThrow> && !HasCapacity<CapacityIsNarrow>);
static_assert(!HasNotices<UsedMayThrow> && !HasNotices<TakesHooksByValueOfAnother>);
static_assert(!HasVictim<VictimIsAReference> && !HasVictim<VictimMayThrow>);
static_assert(HasVictim<NeedsASize> && !EvictionPolicy<NeedsASize>);

}  // namespace
