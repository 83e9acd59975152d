// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo::update::detail {

/// Two words in a vector register, which every host CPU has.
using WordPair [[gnu::vector_size(16)]] = std::uint64_t;

[[nodiscard, gnu::always_inline]] inline WordPair load(const std::uint64_t* words) noexcept {
  WordPair result;
  __builtin_memcpy(&result, words, sizeof(result));  // the alignment is only that of a word
  return result;
}

/// Whether any of `Count` words differ. Uses vectors explicitly, since compilers do not vectorise std::equal.
template <std::size_t Count>
[[nodiscard, gnu::always_inline]] inline bool differ(const std::uint64_t* a, const std::uint64_t* b) noexcept {
  static_assert(Count % 4 == 0);
  WordPair even = load(a) ^ load(b);
  WordPair odd = load(a + 2) ^ load(b + 2);
  for (std::size_t i = 4; i < Count; i += 4) {
    even |= load(a + i) ^ load(b + i);
    odd |= load(a + i + 2) ^ load(b + i + 2);
  }
  const WordPair found = even | odd;
  return (found[0] | found[1]) != 0;
}

}  // namespace rondo::update::detail
