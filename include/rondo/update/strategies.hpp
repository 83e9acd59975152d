// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/concepts.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::detail {

/// Two entries in one register of every chip that hosts are made of.
using Entries [[gnu::vector_size(16)]] = std::uint64_t;

[[nodiscard, gnu::always_inline]] inline Entries load(const std::uint64_t* entries) noexcept {
  Entries result;
  __builtin_memcpy(&result, entries, sizeof(result));  // aligned as one entry is
  return result;
}

/// The differences of `Count` pairs of entries, gathered in one. Written in vectors: compilers leave it scalar
/// otherwise.
template <std::size_t Count>
[[nodiscard, gnu::always_inline]] inline Entries difference(const std::uint64_t* a, const std::uint64_t* b) noexcept {
  static_assert(Count % 4 == 0);
  Entries even = load(a) ^ load(b);
  Entries odd = load(a + 2) ^ load(b + 2);
  for (std::size_t i = 4; i < Count; i += 4) {
    even |= load(a + i) ^ load(b + i);
    odd |= load(a + i + 2) ^ load(b + i + 2);
  }
  return even | odd;
}

}  // namespace rondo::detail

/// What a round must refresh of the args table.
namespace rondo::update {

/// The same answer every round, without a look at the bases.
template <UpdateLevel Level>
struct Fixed {
  /// The most that it refreshes.
  static constexpr UpdateLevel highest = Level;
  /// Always so much, whatever changed.
  static constexpr bool fixed = true;
  /// What this round must refresh. O(bases looked at).
  [[nodiscard]] constexpr UpdateLevel decide(const BaseTable&) const noexcept { return Level; }
};

/// Nothing: the table is written when the session is opened, and its addresses never change. Costs nothing; a session
/// with it takes neither device memory nor host inputs, and its arena does not move.
struct NoUpdate : Fixed<UpdateLevel::none> {};
/// The bytes of host inputs, every round; addresses never change.
struct HostInput : Fixed<UpdateLevel::host_input> {};
/// The slots of all inputs and outputs, every round, and host inputs.
struct ModelIo : Fixed<UpdateLevel::model_io> {};
/// Every address, every round, and host inputs.
struct FeatureMapAndModelIo : Fixed<UpdateLevel::feature_map_and_model_io> {};
/// The whole table, every round: never wrong, and so the yardstick for the others and the first thing to try when a
/// stale argument is suspected.
struct InitOnce : Fixed<UpdateLevel::init> {};

/// Do `Count` entries differ anywhere?
template <std::size_t Count>
[[nodiscard, gnu::always_inline]] inline bool differ(const std::uint64_t* a, const std::uint64_t* b) noexcept {
  const rondo::detail::Entries found = rondo::detail::difference<Count>(a, b);
  return (found[0] | found[1]) != 0;
}

/// Do the two differ anywhere in [begin, end)? About 1 ns for each eight entries.
[[nodiscard]] inline bool differ(const std::uint64_t* a, const std::uint64_t* b, BaseTable::Range range) noexcept {
  a += range.begin;
  b += range.begin;
  std::size_t left = range.end - range.begin;
  for (; left >= 32; left -= 32, a += 32, b += 32) {
    if (differ<32>(a, b)) return true;
  }
  for (; left >= 8; left -= 8, a += 8, b += 8) {
    if (differ<8>(a, b)) return true;
  }
  std::uint64_t difference = 0;
  for (; left != 0; --left, ++a, ++b) difference |= *a ^ *b;
  return difference != 0;
}

/// The least that is enough: the maximum over what changed since the table was last refreshed. Costs a compare of each
/// base that a round sets; in a session whose rounds bind host memory only, nothing.
struct Auto {
  /// The most that it refreshes.
  static constexpr UpdateLevel highest = UpdateLevel::init;
  /// Rounds that bind host memory alone need not ask.
  static constexpr bool idle_while_unbound = true;
  /// It answers what follows from the bases, host inputs and constants that changed, so whoever changes them need not
  /// ask.
  static constexpr bool exact = true;
  /// What this round must refresh. O(bases looked at).
  [[nodiscard]] UpdateLevel decide(const BaseTable& bases) const noexcept {
    if (bases.constants) return UpdateLevel::init;
    if (differ(bases.active, bases.last, bases.feature_map)) return UpdateLevel::feature_map_and_model_io;
    if (differ(bases.active, bases.last, bases.model_io)) return UpdateLevel::model_io;
    return bases.host_inputs ? UpdateLevel::host_input : UpdateLevel::none;
  }
};

/// A strategy's optional members.
template <class S>
inline constexpr bool is_fixed = [] {
  if constexpr (requires { S::fixed; }) return bool{S::fixed};
  return false;
}();
/// Rounds that bind host memory alone need not ask.
template <class S>
inline constexpr bool is_idle_while_unbound = [] {
  if constexpr (requires { S::idle_while_unbound; }) return bool{S::idle_while_unbound};
  return S::highest == UpdateLevel::none || S::highest == UpdateLevel::host_input;
}();

/// It answers the maximum over what changed, so whoever makes the changes need not ask.
template <class S>
inline constexpr bool is_exact = [] {
  if constexpr (requires { S::exact; }) return bool{S::exact};
  return false;
}();

}  // namespace rondo::update
