// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Kernels on integers and on floats; kernels.cu has the same kernels for CUDA devices.
namespace on_gpu {

using Word = std::uint32_t;

/// z = 3 x + y
struct Mix {
  static constexpr std::string_view name = "mix";
  static constexpr auto core = rondo::CoreType::vector;
  static constexpr std::uint32_t threads = 64;
  static void run(rondo::In<Word> x, rondo::In<Word> y, rondo::Out<Word> z, rondo::Block block) noexcept {
    for (std::size_t i = block.index; i < z.size(); i += block.count) z[i] = 3 * x[i] + y[i];
  }
};

/// s = 5 s + x: the result shows whether it ran twice
struct Fold {
  static constexpr std::string_view name = "fold";
  static constexpr auto core = rondo::CoreType::cube;
  static void run(rondo::In<Word> x, rondo::InOut<Word> s) noexcept {
    for (std::size_t i = 0; i < s.size(); ++i) s[i] = 5 * s[i] + x[i];
  }
};

/// y += a x
struct Axpy {
  static constexpr std::string_view name = "axpy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += a * x[i];
  }
};

}  // namespace on_gpu
