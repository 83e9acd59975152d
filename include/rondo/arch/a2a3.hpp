// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>

namespace rondo::arch {

/// Ascend 910B and 910_93 (DAV_2201).
struct A2A3 : CommonFacts {
  static constexpr const char* name = "a2a3";
  static constexpr std::uint32_t npu_arch = 2201;  ///< the NPU_ARCH that the device reports
  static constexpr const char* soc_prefixes[] = {"Ascend910B", "Ascend910_93"};

  static constexpr std::uint32_t max_blocks = 24;
  static constexpr std::uint32_t aicpu_schedulers = 3;
  static constexpr std::uint32_t block_guard = 32;  ///< bytes after each sub-allocation
  static constexpr bool has_fp8 = false;            ///< whether the chip computes with FP8E4M3FN, FP8E8M0 and FP4E2M1
};
static_assert(Arch<A2A3>);
static_assert(cores<A2A3>(CoreType::cube) == 24 && cores<A2A3>(CoreType::vector) == 48);
static_assert(block_bytes<A2A3>(33) == 96);

}  // namespace rondo::arch
