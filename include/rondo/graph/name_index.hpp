// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo::detail {

/// Makes `more` elements fit, so that adding them cannot fail.
template <class T>
constexpr void make_room(std::vector<T>& list, std::size_t more) {
  const std::size_t wanted = list.size() + more;
  const std::size_t doubled = 2 * list.capacity();
  if (wanted > list.capacity()) list.reserve(wanted > doubled ? wanted : doubled);
}

}  // namespace rondo::detail

namespace rondo::graph {

/// An index that finds the numbers 0, 1, 2, ... by name in constant time. The caller stores the names. Usable in
/// constant expressions.
class NameIndex {
 public:
  /// Returns the number of `wanted`, or `none`. `name_of(number)` returns the name of a number.
  template <class NameOf>
  [[nodiscard]] constexpr std::uint32_t find(std::string_view wanted, NameOf name_of) const noexcept {
    if (slots_.empty()) return none;
    for (std::size_t at = hash(wanted);; ++at) {
      const std::uint32_t number = slots_[at & (slots_.size() - 1)];
      if (number == none || name_of(number) == wanted) return number;
    }
  }

  /// Makes room for one more name. @throws std::bad_alloc; nothing has changed then.
  template <class NameOf>
  constexpr void reserve_one(NameOf name_of) {
    if (slots_.empty()) count_ = 0;  // in case the object was moved from
    if (2 * (count_ + std::size_t{1}) <= slots_.size()) return;
    std::vector<std::uint32_t> grown(slots_.empty() ? 16 : 2 * slots_.size(), none);
    for (std::uint32_t number = 0; number < count_; ++number) put(grown, number, name_of(number));
    slots_ = std::move(grown);
  }

  /// Assigns the next number to `name`. Precondition: `name` is new, and there is room for it.
  constexpr void add(std::string_view name) noexcept { put(slots_, count_++, name); }

  static constexpr std::uint32_t none = 0xFFFF'FFFF;

 private:
  static constexpr void put(std::vector<std::uint32_t>& slots, std::uint32_t number, std::string_view name) noexcept {
    std::size_t at = hash(name);
    while (slots[at & (slots.size() - 1)] != none) ++at;
    slots[at & (slots.size() - 1)] = number;
  }
  /// The FNV-1a hash.
  static constexpr std::size_t hash(std::string_view name) noexcept {
    std::uint64_t value = 0xcbf2'9ce4'8422'2325;
    for (const char c : name) value = (value ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3;
    return static_cast<std::size_t>(value ^ value >> 32);
  }

  std::vector<std::uint32_t> slots_;  ///< a power of two of slots for numbers, at most half of them used
  std::uint32_t count_ = 0;
};

}  // namespace rondo::graph
