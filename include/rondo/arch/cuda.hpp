// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>

namespace rondo::arch {

/// A GPU that CUDA drives. Blocks for both types of cores are blocks of one grid. Properties that differ between GPUs,
/// such as the threads of a block, are checked against the device when a session opens.
struct Cuda : CommonFacts {
  static constexpr const char* name = "cuda";

  static constexpr std::uint32_t max_blocks = 0x7FFF'FFFF;  ///< in the first dimension of a grid
  static constexpr std::uint32_t tensor_alignment = 256;    ///< bytes; the alignment of cuMemAlloc
  static constexpr std::uint32_t arena_alignment = 256;     ///< bytes
  static constexpr std::uint32_t block_guard = 0;
  static constexpr bool has_float64 = true;
  // These are the capacities of a session, not limits of a GPU.
  static constexpr std::uint32_t max_task_tensors = 1024;
  static constexpr std::uint32_t max_task_scalars = 1024;
  static constexpr std::uint32_t max_graph_tensors = 1024;

  // Properties of NPUs that a GPU does not have.
  static constexpr std::uint32_t aicpu_schedulers = 0;
  static constexpr bool has_fp8 = true;
};
static_assert(Arch<Cuda>);
static_assert(block_bytes<Cuda>(33) == 64);

}  // namespace rondo::arch
