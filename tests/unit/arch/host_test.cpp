// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/arch/host.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace rondo;
using arch::Host;

TEST_CASE("The host keeps tensors a cache line apart and takes memory in place where its elements may start") {
  CHECK(Host::name == std::string{"host"});
  CHECK(Host::tensor_alignment == 64);
  CHECK(Host::arena_alignment == 64);
  CHECK(Host::block_granule == sizeof(double));
  CHECK(arch::block_bytes<Host>(0) == 0);
  CHECK(arch::block_bytes<Host>(1) == 8);
}

TEST_CASE("The host's limits are those of Rondo's counters") {
  constexpr arch::Limits limits = arch::limits_of<Host>;
  CHECK(limits.max_blocks == ~std::uint32_t{0});
  // One argument block of the most tensors, seven words each, and the most scalars has an offset for its last byte.
  const std::uint64_t most = (std::uint64_t{7} * Host::max_task_tensors + Host::max_task_scalars) * 8;
  CHECK(most <= (std::uint64_t{1} << 32));
  CHECK(limits.has_float64);
}
