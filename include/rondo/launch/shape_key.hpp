// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>
#include <rondo/update/detail/differ.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

/// From this round's shapes to what a launch needs.
namespace rondo::launch {

/// The shapes of a round as 64-bit words: the extents of each symbolically shaped tensor, one tensor after the other,
/// then the recorded scalars. Ranks and order are the graph's, so all keys of one graph have the same number of words,
/// and no word needs to say where a tensor ends.
using KeyView = std::span<const std::uint64_t>;

/// A scalar that a key takes: a number or an enumerator of at most 64 bits.
template <class T>
concept Recordable = (std::is_arithmetic_v<T> || std::is_enum_v<T>)&&sizeof(T) <= sizeof(std::uint64_t);

/// A key under construction, on the caller's stack.
///
/// Lifetime: a value; views of it end with it. Errors: what does not fit makes the key `overflowed`, and its view
/// empty: it then equals no key but that of a graph without symbols. Check the graph's number of
/// words against `capacity` once. Cost: a store for each word; it allocates nothing and starts uninitialised.
template <std::size_t Capacity>
class ShapeKey {
  static_assert(Capacity > 0 && Capacity < UINT32_MAX);

 public:
  static constexpr std::size_t capacity = Capacity;

  ShapeKey() noexcept {}  // NOLINT(modernize-use-equals-default): leaves the words as they are

  /// The next word: an extent.
  void append(std::uint64_t word) noexcept {
    if (overflowed()) [[unlikely]]
      return;
    words_[size_++] = word;
  }

  /// All extents of a tensor; a rank above max_rank, which no graph has, counts as what does not fit.
  [[gnu::always_inline]] void append(const Shape& shape) noexcept {
    if (overflowed() || shape.rank() > max_rank) [[unlikely]] {
      size_ = static_cast<std::uint32_t>(Capacity + 1);
      return;
    }
    // All max_rank words at once, whatever the rank: a copy of fixed size has no loop, and the next call overwrites
    // the surplus. There is room for it after the last word.
    for (std::size_t d = 0; d < max_rank; ++d) words_[size_ + d] = static_cast<std::uint64_t>(shape.extent(d));
    size_ += static_cast<std::uint32_t>(shape.rank());
  }

  /// A scalar that the launch depends on, by its bits: 0.0 and -0.0 are two keys, and a NaN equals itself.
  template <Recordable Scalar>
  void record(Scalar value) noexcept {
    if constexpr (!std::is_floating_point_v<Scalar>) {
      append(static_cast<std::uint64_t>(value));
    } else if constexpr (sizeof(Scalar) == sizeof(std::uint32_t)) {
      append(std::uint64_t{std::bit_cast<std::uint32_t>(value)});
    } else {
      append(std::bit_cast<std::uint64_t>(value));
    }
  }

  void clear() noexcept { size_ = 0; }

  /// Whether there were more words than room. Then the key matches nothing.
  [[nodiscard]] bool overflowed() const noexcept { return size_ > Capacity; }
  [[nodiscard]] KeyView view() const noexcept { return {words_, overflowed() ? 0 : std::size_t{size_}}; }
  operator KeyView() const noexcept { return view(); }  // NOLINT(google-explicit-constructor)

 private:
  // 32 bits wide: compilers take it for no word, and so keep it in a register while words are written.
  std::uint32_t size_ = 0;
  std::uint64_t words_[Capacity + max_rank];
};

/// Whether the `count` words are the same. Compared in vectors; leaves early where the first words differ. A few words
/// whose number the compiler knows were written just now, one by one: they are compared one by one as well, from
/// registers, since a vector read from such stores waits for them.
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
  return !update::detail::differ<4>(last_a, last_b);  // the rest, and some words again: no loop over single words
}

/// The two halves of the 128-bit product, folded into one: every bit of the result depends on all bits below and above
/// it in both factors. The idea is that of Wang Yi's wyhash (2019, public domain).
[[nodiscard]] constexpr std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ typedef unsigned __int128 Wide;  // no alias takes __extension__
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// The hash of a key: one multiplication for each two words, in up to four chains that do not wait for each other;
/// about 4 ns for 4 words and 22 for 64. Chained, so that it matters where a word stands. The constants are the first
/// 64-bit words of the fraction of pi: nothing up the sleeve. No defence against keys chosen to collide: a session
/// chooses its own.
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
