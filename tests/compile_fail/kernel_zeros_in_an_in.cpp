// expect: a kernel's zeros name a parameter of run
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/kernel.hpp>

struct Count {
  static constexpr std::string_view name = "count";
  static constexpr auto core = rondo::CoreType::vector;
  static constexpr rondo::Zeros zeros{.parameter = 0};
  static void run(rondo::In<float>, rondo::Scratch<float>) {}
};
static_assert(rondo::check_kernel<Count>());
