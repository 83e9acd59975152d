// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

namespace rondo::detail {

/// A set of enumerators whose values are below 32.
template <class Enum>
class EnumSet {
 public:
  constexpr EnumSet() noexcept = default;
  constexpr EnumSet(std::initializer_list<Enum> all) noexcept {
    for (const Enum e : all) bits_ |= bit(e);
  }
  [[nodiscard]] constexpr bool has(Enum e) const noexcept { return (bits_ & bit(e)) != 0; }
  [[nodiscard]] friend constexpr EnumSet operator|(EnumSet a, EnumSet b) noexcept {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  static constexpr std::uint32_t bit(Enum e) noexcept { return 1U << static_cast<unsigned>(e); }
  std::uint32_t bits_ = 0;
};

}  // namespace rondo::detail
