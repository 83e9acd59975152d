// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::detail {

/// An item and its sort key. Set-up sorts only this type, so std::sort is instantiated once.
struct Keyed {
  std::int64_t key = 0;
  std::uint64_t item = 0;  ///< breaks ties

  friend constexpr bool operator==(const Keyed&, const Keyed&) noexcept = default;
  friend constexpr bool operator<(const Keyed& a, const Keyed& b) noexcept {
    return a.key != b.key ? a.key < b.key : a.item < b.item;
  }
};

/// Sorts by key, then by item. Many lists are in order already, or almost.
[[gnu::noinline]] constexpr void sort_keyed(std::vector<Keyed>& list) {
  if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
}

/// Sorts and removes duplicates.
[[gnu::noinline]] constexpr void sort_once_each(std::vector<Keyed>& list) {
  sort_keyed(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace rondo::detail
