// expect: rondo: the kernel names no core; write `static constexpr auto core
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/kernel.hpp>

#include <string_view>

struct Mine {
  static constexpr std::string_view name = "mine";
  static void run(rondo::In<float> x, rondo::Out<float> y, int n);
};
static_assert(rondo::check_kernel<Mine>());
