// expect: rondo: a kernel sees a tensor in 1 to 5 dimensions
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/kernel.hpp>

#include <string_view>

struct Mine {
  static constexpr std::string_view name = "mine";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float, 6> x) { (void)x.size(); }
};
static_assert(rondo::check_kernel<Mine>());
auto entry = &rondo::detail::kernel_entry<Mine>;
