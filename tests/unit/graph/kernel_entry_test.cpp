// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/kernel.hpp>

#include <doctest/doctest.h>

#include <string_view>

using namespace rondo;

namespace {

int runs = 0;

struct NoParameters {
  static constexpr std::string_view name = "none";
  static constexpr auto core = CoreType::vector;
  static void run() noexcept { ++runs; }
};

struct Quiet {
  static constexpr std::string_view name = "quiet";
  static constexpr auto core = CoreType::vector;
  static void run(int) noexcept {}
};

struct Throwing {
  static constexpr std::string_view name = "throwing";
  static constexpr auto core = CoreType::vector;
  static void run(int) {}
};

}  // namespace

TEST_CASE("A kernel without parameters takes no words") {
  CHECK(detail::ParametersOf<NoParameters>::words == 0);
  detail::kernel_entry<NoParameters>(nullptr);
  CHECK(runs == 1);
}

TEST_CASE("An entry is noexcept exactly when the kernel's body is") {
  CHECK(noexcept(detail::kernel_entry<Quiet>(nullptr)));
  CHECK_FALSE(noexcept(detail::kernel_entry<Throwing>(nullptr)));
}
