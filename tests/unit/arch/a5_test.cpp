// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/arch/a5.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace rondo;
using arch::A5;

TEST_CASE("a5 has 36 blocks of one cube core and two vector cores") {
  CHECK(A5::max_blocks == 36);
  CHECK(arch::cores<A5>(CoreType::cube) == 36);
  CHECK(arch::cores<A5>(CoreType::vector) == 72);
}

TEST_CASE("a5 has four schedulers") { CHECK(A5::aicpu_schedulers == 4); }

TEST_CASE("a5 puts nothing after a block of whole granules") {
  CHECK(arch::block_bytes<A5>(0) == 0);
  CHECK(arch::block_bytes<A5>(1) == 32);
  CHECK(arch::block_bytes<A5>(32) == 32);
  CHECK(arch::block_bytes<A5>(33) == 64);
}

TEST_CASE("a5 is known to tools and drivers by its own names") {
  CHECK(A5::name == std::string{"a5"});
  CHECK(A5::npu_arch == 3510);
  CHECK(A5::soc_prefixes[0] == std::string{"Ascend950"});
  CHECK(A5::has_fp8);
}
