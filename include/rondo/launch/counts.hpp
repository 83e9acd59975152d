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
  /// Told: the shapes are those of the round before.
  constexpr void hit_last() noexcept {}
  /// Told: the shapes were found in the table.
  constexpr void hit_table() noexcept {}
  /// Told: the shapes are new.
  constexpr void missed() noexcept {}
  /// Told: an entry made room.
  constexpr void evicted() noexcept {}
};

/// Counts everything: one addition for each lookup.
struct Counts {
  /// Rounds of the same shapes as the one before.
  std::uint64_t hits_on_last = 0;
  /// Rounds whose shapes were found.
  std::uint64_t hits_in_table = 0;
  /// Rounds whose shapes were new.
  std::uint64_t misses = 0;
  /// Entries that made room.
  std::uint64_t evictions = 0;

  /// Told: the shapes are those of the round before.
  constexpr void hit_last() noexcept { ++hits_on_last; }
  /// Told: the shapes were found in the table.
  constexpr void hit_table() noexcept { ++hits_in_table; }
  /// Told: the shapes are new.
  constexpr void missed() noexcept { ++misses; }
  /// Told: an entry made room.
  constexpr void evicted() noexcept { ++evictions; }
};

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
