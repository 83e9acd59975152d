// expect: rondo: the kernel needs exactly one `static void run(...)`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/kernel.hpp>

#include <string_view>

struct Mine {
  static constexpr std::string_view name = "mine";
  static constexpr auto core = rondo::CoreType::vector;
  void run(rondo::In<float> x);
};
static_assert(rondo::check_kernel<Mine>());
