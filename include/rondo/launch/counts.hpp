// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

namespace rondo::launch {

/// Is told what lookups come to: `hit_last()`, `hit_table()`, `missed()` and `evicted()`, all noexcept.
template <class C>
concept LookupCounts = std::default_initializable<C> && requires(C& c) {
  { c.hit_last() }
  noexcept;
  { c.hit_table() }
  noexcept;
  { c.missed() }
  noexcept;
  { c.evicted() }
  noexcept;
};

/// Counts nothing and takes no room.
struct NoCounts {
  constexpr void hit_last() noexcept {}
  constexpr void hit_table() noexcept {}
  constexpr void missed() noexcept {}
  constexpr void evicted() noexcept {}
};

/// Counts everything: one addition for each lookup.
struct Counts {
  std::uint64_t hits_on_last = 0;
  std::uint64_t hits_in_table = 0;
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;

  constexpr void hit_last() noexcept { ++hits_on_last; }
  constexpr void hit_table() noexcept { ++hits_in_table; }
  constexpr void missed() noexcept { ++misses; }
  constexpr void evicted() noexcept { ++evictions; }
};

static_assert(LookupCounts<NoCounts> && LookupCounts<Counts>);

}  // namespace rondo::launch

namespace rondo::detail {

/// What counts how a session of many shapes finds them: nothing, unless its policies say.
template <class Policies>
struct LookupsOf {
  using type = launch::NoCounts;
};
template <class Policies>
requires requires { typename Policies::Lookups; }
struct LookupsOf<Policies> {
  using type = typename Policies::Lookups;
};

}  // namespace rondo::detail
