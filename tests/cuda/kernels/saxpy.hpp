// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

/// y += a x, in as many blocks as the task has.
struct Saxpy {
  static constexpr std::string_view name = "saxpy";
  static constexpr auto core = rondo::CoreType::vector;
  static constexpr std::uint32_t threads = 128;
  static constexpr std::uint32_t shared_bytes = 0;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a, rondo::Block block) noexcept {
    for (std::size_t i = block.index; i < y.size(); i += block.count) y[i] += a * x[i];
  }
};
