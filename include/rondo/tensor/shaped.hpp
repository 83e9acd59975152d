// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/tensor/pair.hpp>

#include <cstddef>
#include <utility>

namespace rondo {

/// A bound pair that brings the shape of its memory, for rounds whose shapes differ. Made by bind(x, host, shape).
template <BoundPair B>
class Shaped : public B {
 public:
  constexpr Shaped(const B& pair, const Shape& shape) noexcept : B{pair}, shape_{shape} {}
  /// The shape that the round says.
  [[nodiscard]] constexpr const Shape& shape() const noexcept { return shape_; }

 private:
  Shape shape_;
};

/// bind() with the shape that the memory has this round. Needed where the number of elements does not tell the symbols:
/// a tensor of n × m elements.
template <Element T, Direction D, class Host>
[[nodiscard]] constexpr auto bind(TensorHandle<T, D> tensor, Host&& host, const Shape& shape) noexcept {
  return Shaped{bind(tensor, std::forward<Host>(host)), shape};
}

}  // namespace rondo
