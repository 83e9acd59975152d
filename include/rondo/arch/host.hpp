// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>

namespace rondo::arch {

/// The CPU that runs the program, without the limits of a chip: memory and Rondo's counters alone limit a graph.
struct Host : CommonFacts {
  static constexpr const char* name = "host";

  /// A block needs one core of either type.
  static constexpr std::uint32_t vector_cores_per_block = 1;
  static constexpr std::uint32_t max_blocks = 0xFFFF'FFFF;
  /// Offsets within a task's arguments have 32 bits, and a tensor takes at most seven words.
  static constexpr std::uint32_t max_task_tensors = 1U << 24;
  static constexpr std::uint32_t max_task_scalars = 1U << 24;
  static constexpr std::uint32_t max_graph_tensors = 0xFFFF'FFFE;

  static constexpr std::uint32_t arena_alignment = 64;  ///< bytes; a cache line
  static constexpr std::uint32_t block_granule = 8;     ///< bytes; also the alignment of memory that is bound in place
  static constexpr std::uint32_t block_guard = 0;       ///< bytes after each sub-allocation
  static constexpr bool has_fp8 = true;                 ///< for storage only; a kernel brings its own arithmetic
  static constexpr bool has_float64 = true;

  static constexpr std::uint32_t aicpu_schedulers = 0;
};
static_assert(Arch<Host>);
static_assert(cores<Host>(CoreType::cube) == Host::max_blocks && cores<Host>(CoreType::vector) == Host::max_blocks);
static_assert(block_bytes<Host>(33) == 40);

}  // namespace rondo::arch
