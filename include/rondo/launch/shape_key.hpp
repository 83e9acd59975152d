// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/update/detail/differ.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rondo::launch {

/// The shapes of a round as 64-bit words: the sizes of its bindings, the extents of those that have a shape, and the
/// symbols that the round states. All keys of a graph whose rounds are bound in one way have the same number of words.
using KeyView = std::span<const std::uint64_t>;

/// Whether the `count` words are equal. Compares with vector instructions, except for a few words whose number is known
/// at compile time: those have just been stored one by one, and a vector load would wait for the stores.
[[nodiscard, gnu::always_inline]] inline bool same_words(const std::uint64_t* a, const std::uint64_t* b,
                                                         std::size_t count) noexcept {
  std::uint64_t difference = 0;
  if (__builtin_constant_p(count) && count <= 20) {
#pragma GCC unroll 20
    for (std::size_t i = 0; i < count; ++i) difference |= a[i] ^ b[i];
    return difference == 0;
  }
  if (count < 4) {
    for (std::size_t i = 0; i < count; ++i) difference |= a[i] ^ b[i];
    return difference == 0;
  }
  const std::uint64_t* const last_a = a + count - 4;
  const std::uint64_t* const last_b = b + count - 4;
  for (; count >= 16; count -= 16, a += 16, b += 16) {
    if (update::detail::differ<16>(a, b)) return false;
  }
  for (; count > 4; count -= 4, a += 4, b += 4) {
    if (update::detail::differ<4>(a, b)) return false;
  }
  return !update::detail::differ<4>(last_a, last_b);  // may repeat words, to avoid a loop over single ones
}

/// Folds the two halves of the 128-bit product into one word, after the idea of Wang Yi's wyhash (2019, public domain).
[[nodiscard]] constexpr std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  // NOLINTNEXTLINE(modernize-use-using): __extension__ is not allowed in an alias declaration
  __extension__ typedef unsigned __int128 Wide;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// The hash of a key: one multiplication per two words, in up to four independent chains; about 4 ns for 4 words and 22
/// ns for 64. The constants are the first 64-bit words of the fraction of pi. The hash does not resist keys chosen to
/// collide, because a session makes its own keys.
[[nodiscard]] constexpr std::uint64_t hash_of(const std::uint64_t* words, std::size_t count) noexcept {
  constexpr std::uint64_t pi[4] = {0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89};
  std::uint64_t a = pi[0] + count, b = pi[1], c = pi[2], d = pi[3];
  for (; count >= 8; count -= 8, words += 8) {
    a = fold(words[0] ^ a, words[1] ^ pi[1]);
    b = fold(words[2] ^ b, words[3] ^ pi[2]);
    c = fold(words[4] ^ c, words[5] ^ pi[3]);
    d = fold(words[6] ^ d, words[7] ^ pi[0]);
  }
  if (count >= 4) {
    a = fold(words[0] ^ a, words[1] ^ pi[1]);
    b = fold(words[2] ^ b, words[3] ^ pi[2]);
    count -= 4, words += 4;
  }
  if (count >= 1) c = fold(words[0] ^ c, (count >= 2 ? words[1] : 0) ^ pi[3]);
  if (count == 3) d = fold(words[2] ^ d, pi[0]);
  return fold(a ^ std::rotl(c, 23), b ^ std::rotl(d, 41));
}

}  // namespace rondo::launch
