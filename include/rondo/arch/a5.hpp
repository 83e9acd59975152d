// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>

namespace rondo::arch {

/// Ascend 950 (DAV_3510).
struct A5 : CommonFacts {
  static constexpr const char* name = "a5";
  static constexpr std::uint32_t npu_arch = 3510;  ///< the NPU_ARCH that the device reports
  static constexpr const char* soc_prefixes[] = {"Ascend950"};

  static constexpr std::uint32_t max_blocks = 36;
  static constexpr std::uint32_t aicpu_schedulers = 4;
  static constexpr std::uint32_t block_guard = 0;  ///< bytes after each sub-allocation
  static constexpr bool has_fp8 = true;            ///< whether the chip computes with FP8E4M3FN, FP8E8M0 and FP4E2M1
};
static_assert(Arch<A5>);
static_assert(cores<A5>(CoreType::cube) == 36 && cores<A5>(CoreType::vector) == 72);
static_assert(block_bytes<A5>(33) == 64);

}  // namespace rondo::arch
