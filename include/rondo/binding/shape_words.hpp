// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/launch/solve.hpp>
#include <rondo/tensor/pair.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// The words that a session of many shapes knows a round's shape by.
namespace rondo::detail {

/// Does the pair say its extents, or just how many elements it has?
template <BoundPair B>
inline constexpr bool has_shape = requires(const B& pair) {
  pair.shape();
};

/// How to hand a pair to a function that is not inlined.
template <BoundPair B>
using InRegisters = std::conditional_t<std::is_trivially_copyable_v<B>, B, const B&>;

/// The number of elements with which tensor it is, so that a shape is known by the order of its pairs as well. No host
/// memory has 2^48 elements.
[[nodiscard]] constexpr std::uint64_t size_word(std::uint64_t elements, std::uint32_t tensor) noexcept {
  return elements ^ std::uint64_t{tensor} << 48;
}

/// That, and where any pair of the round brings its shape the extents, unused ones as -1.
template <bool with_shapes, class Key, BoundPair B>
[[gnu::always_inline]] inline void append_size(Key& key, const B& pair) noexcept {
  key.append(size_word(elements_of(pair), index(pair.handle().key.tensor())));
  if constexpr (with_shapes) {
    for (std::size_t d = 0; d < max_rank; ++d) {
      std::int64_t extent = -1;
      if constexpr (has_shape<B>) extent = d < pair.shape().rank() ? pair.shape().extent(d) : -1;
      key.append(static_cast<std::uint64_t>(extent));
    }
  }
}

/// What a shape that is new is solved from.
template <BoundPair B>
[[nodiscard]] launch::BoundSize size_of(const B& pair) noexcept {
  const Shape* shape = nullptr;
  if constexpr (requires { pair.shape(); }) shape = &pair.shape();
  return {index(pair.handle().key.tensor()), elements_of(pair), shape};
}

}  // namespace rondo::detail
