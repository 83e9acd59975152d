// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/arch/a2a3.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace rondo;
using arch::A2A3;

TEST_CASE("a2a3 has 24 blocks of one cube core and two vector cores") {
  CHECK(A2A3::max_blocks == 24);
  CHECK(arch::cores<A2A3>(CoreType::cube) == 24);
  CHECK(arch::cores<A2A3>(CoreType::vector) == 48);
}

TEST_CASE("a2a3 has three schedulers") { CHECK(A2A3::aicpu_schedulers == 3); }

TEST_CASE("a2a3 puts 32 bytes after each block of whole granules") {
  CHECK(arch::block_bytes<A2A3>(0) == 32);
  CHECK(arch::block_bytes<A2A3>(1) == 64);
  CHECK(arch::block_bytes<A2A3>(32) == 64);
  CHECK(arch::block_bytes<A2A3>(33) == 96);
}

TEST_CASE("a2a3 is known to tools and drivers by its own names") {
  CHECK(A2A3::name == std::string{"a2a3"});
  CHECK(A2A3::npu_arch == 2201);
  CHECK(A2A3::soc_prefixes[0] == std::string{"Ascend910B"});
  CHECK(A2A3::soc_prefixes[1] == std::string{"Ascend910_93"});
  CHECK_FALSE(A2A3::has_fp8);
}
