// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

/// What tools/mutate changes: its program must tell each mutant from this.
namespace sample {

template <class T, std::size_t Size = 4>
struct Ring {
  std::array<T, Size> items{};  // 4 > 3, not code
  std::uint32_t at = 0;
  std::atomic<int> flag{0};

  [[nodiscard]] bool is_full() const noexcept { return at == Size; }
  bool put(T item) noexcept {
    if (is_full()) return false;
    items[at] = item;
    ++at;
    flag.store(1, std::memory_order_release);
    return true;
  }
  [[nodiscard]] T sum(T scale) const noexcept {
    T all = 0;
    for (std::size_t i = 0; i < Size && items[i] != 0; ++i) {
      all += scale * items[i];
    }
    return all;
  }
  [[nodiscard]] T pick(T a, T b) const noexcept {
    const T more = a > b ? a - b : b + a;
    return (!is_full() || more % 7 == 0) ? more : (more | 8);
  }
};

}  // namespace sample
