// expect: constraint failure || constraints not satisfied
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/kernel.hpp>

#include <string_view>

struct Mine {
  static constexpr std::string_view name = "mine";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<long double> x);
};
static_assert(rondo::check_kernel<Mine>());
