// expect: rondo: the kernel has no name; write `static constexpr std::string_view name
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/kernel.hpp>

#include <string_view>

struct Mine {
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y, int n);
};
static_assert(rondo::check_kernel<Mine>());
