// expect: a kernel's Wide is a kernel for the same core whose run takes the same parameters
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/kernel.hpp>

#include <string_view>

struct CopyMany {
  static constexpr std::string_view name = "copy_many";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float>, rondo::Out<float>, int) {}
};
struct Copy {
  static constexpr std::string_view name = "copy";
  static constexpr auto core = rondo::CoreType::vector;
  using Wide = CopyMany;
  static void run(rondo::In<float>, rondo::Out<float>) {}
};
static_assert(rondo::check_kernel<Copy>());
