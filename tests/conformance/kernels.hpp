// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/rondo.hpp>

#include <cstdint>
#include <stdexcept>

/// Kernels that the conformance tests share.
namespace kernels {

/// z = x + y
struct Add {
  static constexpr std::string_view name = "add";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::In<float> y, rondo::Out<float> z) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = x[i] + y[i];
  }
};

/// z = a * x, on a cube core
struct Scale {
  static constexpr std::string_view name = "scale";
  static constexpr auto core = rondo::CoreType::cube;
  static void run(rondo::In<float> x, rondo::Out<float> z, float a) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = a * x[i];
  }
};

/// y += x: not idempotent, so the result shows whether it ran twice in a round.
struct Accumulate {
  static constexpr std::string_view name = "accumulate";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
  }
};

/// n[0] += 1: counts how often a task runs.
template <rondo::CoreType Core>
struct Count {
  static constexpr std::string_view name = "count";
  static constexpr auto core = Core;
  static void run(rondo::InOut<std::int32_t> n) noexcept { n[0] += 1; }
};

/// n[block] += 1
struct CountBlocks {
  static constexpr std::string_view name = "count_blocks";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::InOut<std::int32_t> n, rondo::Block block) noexcept {
    n[block.index] += static_cast<std::int32_t>(block.count);
  }
};

/// Throws if x[0] is negative; otherwise y = x.
struct Picky {
  static constexpr std::string_view name = "picky";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) {
    if (x[0] < 0) throw std::runtime_error("x[0] is negative");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};

}  // namespace kernels
