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
#include <random>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Laid {
  std::vector<std::uint64_t> offsets;
  std::uint64_t bytes = 0;
};

template <class Chip>
Laid lay_out(const FrozenGraph& graph) {
  Laid laid{std::vector<std::uint64_t>(graph.view().tensors.size()), 0};
  laid.bytes = memory::lay_out_disjoint<Chip>(graph.view(), laid.offsets);
  return laid;
}

}  // namespace

TEST_CASE_TEMPLATE("Tensors lie aligned, apart, with the chip's granule and guard, inside the arena", Chip, arch::A2A3,
                   arch::A5) {
  std::mt19937 random{5};
  for (int round = 0; round < 200; ++round) {
    TaskGraph graph;
    const std::size_t tensors = random() % 20;
    for (std::size_t t = 0; t < tensors; ++t) {
      const std::string name = "t" + std::to_string(t);
      const std::int64_t extent = 1 + static_cast<std::int64_t>(random() % (random() % 8 == 0 ? 100'000 : 130));
      switch (random() % 4) {
        case 0: (void)graph.input<std::int8_t>(name, {extent}); break;
        case 1: (void)graph.resident<float>(name, {extent}); break;
        case 2: (void)graph.workspace<std::uint64_t>(name, {extent, 3}); break;
        default: (void)graph.inout<std::int16_t>(name, {extent}); break;
      }
    }
    const FrozenGraph frozen = freeze(graph);
    const Laid laid = lay_out<Chip>(frozen);
    std::uint64_t end = 0;
    for (std::size_t t = 0; t < tensors; ++t) {
      const std::uint64_t bytes = frozen.view().tensors[t].bytes;
      REQUIRE(laid.offsets[t] % 64 == 0);
      REQUIRE(laid.offsets[t] >= end);      // behind the one before, its guard included
      REQUIRE(laid.offsets[t] < end + 64);  // and no further than alignment asks
      end = laid.offsets[t] + (bytes + 31) / 32 * 32 + Chip::block_guard;
    }
    REQUIRE(laid.bytes == end);
  }
}

TEST_CASE("The guard of a2a3 may push the next tensor on, a5 packs tighter") {
  TaskGraph graph;
  (void)graph.input<std::int8_t>("a", {64});
  (void)graph.input<std::int8_t>("b", {1});
  const FrozenGraph frozen = freeze(graph);
  CHECK(lay_out<arch::A2A3>(frozen).offsets == std::vector<std::uint64_t>{0, 128});
  CHECK(lay_out<arch::A2A3>(frozen).bytes == 192);
  CHECK(lay_out<arch::A5>(frozen).offsets == std::vector<std::uint64_t>{0, 64});
  CHECK(lay_out<arch::A5>(frozen).bytes == 96);
}

TEST_CASE_TEMPLATE("A graph whose tensors pass 2^63 bytes together is refused at the tensor that does it", Chip,
                   arch::A2A3, arch::A5) {
  TaskGraph graph;
  (void)graph.input<std::int8_t>("half", {std::int64_t{1} << 62});
  (void)graph.input<std::int8_t>("more", {std::int64_t{1} << 61});
  (void)graph.input<std::int8_t>("straw", {std::int64_t{1} << 62});
  (void)graph.input<std::int8_t>("behind", {1});
  const Raised r = raised([&] { (void)lay_out<Chip>(freeze(graph)); });
  CAPTURE(r.text);
  CHECK(r.code == Errc::overflow);
  CHECK(says(r.text, "'straw'", "2^63", "smaller tensors"));
}

TEST_CASE("A graph without tensors takes no memory") { CHECK(lay_out<arch::A2A3>(freeze(TaskGraph{})).bytes == 0); }
