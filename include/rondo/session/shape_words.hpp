// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/launch/solve.hpp>
#include <rondo/list.hpp>
#include <rondo/session/bindings.hpp>
#include <rondo/tensor/shaped.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

/// The words that a session of many shapes knows a round's shape by.
namespace rondo::detail {

/// Does the pair say its extents, or just how many elements it has?
template <BoundPair B>
inline constexpr bool has_shape = requires(const B& pair) {
  pair.shape();
};

/// The number of elements, and where any pair of the round brings its shape the extents, unused ones as -1.
template <bool with_shapes, class Key, BoundPair B>
[[gnu::always_inline]] inline void append_size(Key& key, const B& pair) noexcept {
  key.append(elements_of(pair));
  if constexpr (with_shapes) {
    for (std::size_t d = 0; d < max_rank; ++d) {
      std::int64_t extent = -1;
      if constexpr (has_shape<B>) extent = d < pair.shape().rank() ? pair.shape().extent(d) : -1;
      key.append(static_cast<std::uint64_t>(extent));
    }
  }
}

/// Words that the order of so many tensors takes: four to a word.
[[nodiscard]] constexpr std::size_t order_words(std::size_t ports) noexcept { return (ports + 3) / 4; }
[[gnu::always_inline]] inline void append_packed(const std::uint32_t* tensors, std::size_t count, auto put) {
  for (std::size_t i = 0; i < count; i += 4) {
    std::uint64_t word = 0;
    for (std::size_t k = i; k < count && k < i + 4; ++k) word = word << 16 | (tensors[k] & 0xFFFF);
    put(word);
  }
}
/// Which tensors were bound.
[[gnu::always_inline]] inline void append_order(auto& key, std::initializer_list<std::uint32_t> tensors) noexcept {
  append_packed(tensors.begin(), tensors.size(), [&](std::uint64_t word) { key.append(word); });
}
inline void append_order(List<std::uint64_t>& key, const List<std::uint32_t>& tensors) {
  append_packed(tensors.data(), tensors.size(), [&](std::uint64_t word) { key.push_back(word); });
}

/// What a shape that is new is solved from.
template <BoundPair B>
[[nodiscard]] launch::BoundSize size_of(const B& pair) noexcept {
  const Shape* shape = nullptr;
  if constexpr (requires { pair.shape(); }) shape = &pair.shape();
  return {index(pair.handle().key.tensor()), elements_of(pair), shape};
}

}  // namespace rondo::detail
