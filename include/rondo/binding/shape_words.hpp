// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/launch/solve.hpp>
#include <rondo/tensor/pair.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>

/// The words by which a session with many shapes identifies a round's shape.
namespace rondo::detail {

/// Whether the pair has a shape, not just a number of elements.
template <BoundPair B>
inline constexpr bool has_shape = requires(const B& pair) { pair.shape(); };

/// Combines the number of elements with the number of the tensor, so that the order of the pairs is part of the key. No
/// host memory has 2^44 elements, and two tensors of a round are less than 2^20 apart.
[[nodiscard]] constexpr std::uint64_t size_word(std::uint64_t elements, std::uint32_t tensor) noexcept {
  return elements ^ std::uint64_t{tensor} << 44;
}

/// Writes the size word of each pair; if any pair of the round has a shape, after each also its extents, with -1 for
/// unused ones. @returns the end of the words
template <bool with_shapes, BoundPair... Pairs>
[[gnu::always_inline]] inline std::uint64_t* write_sizes(std::uint64_t* end, const Pairs&... pairs) noexcept {
  const auto write = [&end]<BoundPair B>(const B& pair) __attribute__((always_inline)) {
    *end++ = size_word(elements_of(pair), index(pair.handle().key.tensor()));
    if constexpr (with_shapes) {
      for (std::size_t d = 0; d < max_rank; ++d) {
        std::int64_t extent = -1;
        if constexpr (has_shape<B>) extent = d < pair.shape().rank() ? pair.shape().extent(d) : -1;
        *end++ = static_cast<std::uint64_t>(extent);
      }
    }
  };
  (write(pairs), ...);
  return end;
}

/// The size of a bound tensor, from which solve() derives a new shape.
template <BoundPair B>
[[nodiscard]] launch::BoundSize size_of(const B& pair) noexcept {
  const Shape* shape = nullptr;
  if constexpr (requires { pair.shape(); }) shape = &pair.shape();
  return {index(pair.handle().key.tensor()), elements_of(pair), shape};
}

}  // namespace rondo::detail
