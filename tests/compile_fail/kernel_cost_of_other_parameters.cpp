// expect: a kernel's cost is a `static double cost(...)` that takes the parameters of run
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/kernel.hpp>

#include <string_view>

struct Relu {
  static constexpr std::string_view name = "relu";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float>, rondo::Out<float>) {}
  static double cost(rondo::In<float> x) { return static_cast<double>(x.size()); }
};
static_assert(rondo::check_kernel<Relu>());
