// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/rondo.hpp>

#include <cstddef>
#include <string_view>

struct Negate {
  static constexpr std::string_view name = "negate";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<int> x, rondo::Out<int> y) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = -x[i];
  }
};

struct Negation {
  rondo::TaskGraph graph;
  rondo::Input<int> x;
  rondo::Output<int> y;
};

Negation make_negation();
