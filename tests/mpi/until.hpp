// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/rondo.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

/// The body of a loop: adds 1 to x, counts, and is done when the count is the wanted one.
struct Until {
  static constexpr std::string_view name = "until";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<std::int32_t> wanted, rondo::InOut<std::int32_t> count, rondo::InOut<float> x,
                  rondo::Out<std::int32_t> done) noexcept {
    done[0] = ++count[0] == wanted[0] ? 1 : 0;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = x[i] + 1;
  }
};
