// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/kernel.hpp>

#include <string_view>

struct Mine {
  static constexpr std::string_view name = "mine";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y, int n);
};
static_assert(rondo::check_kernel<Mine>());

struct InPlace {
  static constexpr std::string_view name = "in_place";
  static constexpr auto core = rondo::CoreType::vector;
  static constexpr rondo::InPlace in_place{.out = 2, .in = 1};
  static void run(float a, rondo::In<float> x, rondo::Out<float> y);
};
static_assert(rondo::check_kernel<InPlace>());
