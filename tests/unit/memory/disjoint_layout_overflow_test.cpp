// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/memory/disjoint_layout.hpp>

#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>
#include <rondo/graph/freeze.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

using namespace rondo;
using namespace rondo::test;

// The first ends within 64 bytes of 2^63, so that the second starts at 2^63 and its end wraps to 0 in 64 bits.
TEST_CASE_TEMPLATE("Two tensors that just fit by themselves do not fit together", Chip, arch::A2A3, arch::A5) {
  TaskGraph graph;
  (void)graph.input<std::int8_t>("first", {(std::int64_t{1} << 62) - 32 + (std::int64_t{1} << 62) - 32});
  (void)graph.input<std::int8_t>("second", {std::numeric_limits<std::int64_t>::max()});
  const FrozenGraph frozen = freeze(graph);
  std::vector<std::uint64_t> offsets(2);
  std::uint64_t bytes = 0;
  const Raised r = raised([&] { bytes = memory::lay_out_disjoint<Chip>(frozen.view(), offsets); });
  CAPTURE(r.text);
  CAPTURE(bytes);
  CHECK(r.code == Errc::overflow);
  CHECK(says(r.text, "'second'"));
}

TEST_CASE("Two tensors of 2^63-1 bytes do not fit into one arena") {
  TaskGraph graph;
  (void)graph.input<std::int8_t>("first", {std::numeric_limits<std::int64_t>::max()});
  (void)graph.input<std::int8_t>("second", {std::numeric_limits<std::int64_t>::max()});
  const FrozenGraph frozen = freeze(graph);
  std::vector<std::uint64_t> offsets(2);
  std::uint64_t bytes = 1;
  const Raised r = raised([&] { bytes = memory::lay_out_disjoint<arch::A5>(frozen.view(), offsets); });
  CAPTURE(bytes);
  CHECK(r.code == Errc::overflow);
}
