// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/arch/arch.hpp>

#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>

#include <doctest/doctest.h>

using namespace rondo;

struct CommonFactsAlone : arch::CommonFacts {};
struct NoName : arch::A5 {
  void name();
};

TEST_CASE_TEMPLATE("Both chips state every fact and share the common ones", Chip, arch::A2A3, arch::A5) {
  CHECK(arch::Arch<Chip>);
  CHECK(Chip::arena_alignment == 1024);
  CHECK(Chip::max_task_tensors == 32);
  CHECK(Chip::max_task_scalars == 16);
  CHECK(Chip::max_graph_tensors == 256);
}

TEST_CASE_TEMPLATE("Alignments are powers of two, the larger a multiple of the smaller", Chip, arch::A2A3, arch::A5) {
  CHECK(align_up(1, Chip::tensor_alignment) == Chip::tensor_alignment);
  CHECK((Chip::arena_alignment & (Chip::arena_alignment - 1)) == 0);
  CHECK((Chip::tensor_alignment & (Chip::tensor_alignment - 1)) == 0);
  CHECK((Chip::block_granule & (Chip::block_granule - 1)) == 0);
  CHECK(Chip::arena_alignment % Chip::tensor_alignment == 0);
}

TEST_CASE("A type that states only some facts is not a chip") {
  CHECK_FALSE(arch::Arch<CommonFactsAlone>);
  CHECK_FALSE(arch::Arch<NoName>);
  CHECK_FALSE(arch::Arch<int>);
}
