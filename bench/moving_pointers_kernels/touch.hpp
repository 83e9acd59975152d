// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

/// y += x; small, so that a round is what it costs to start it.
struct Touch {
  static constexpr std::string_view name = "touch";
  static constexpr auto core = rondo::CoreType::vector;
  static constexpr std::uint32_t threads = 32;
  static constexpr std::size_t words = 4;  ///< of an argument block: x, y and their sizes
  static void run(rondo::In<float> x, rondo::InOut<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
  }
};
