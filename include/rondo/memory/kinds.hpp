// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>

#include <cstdint>

/// Where memory can be.
namespace rondo::memory {

/// Source of the values of device memories: the type bits that the Graph Engine asks the runtime for.
enum class MemoryKind : std::uint16_t {
  host = 0,               ///< pageable
  pinned_host = 1,        ///< the device reaches it; copies from it need no staging
  hbm = 0x2,              ///< the device's main memory: arenas, args tables
  p2p_ddr = 0x11,         ///< reached by other devices
  task_scheduler = 0x40,  ///< "TS": small, near the device's scheduler
  host_svm = 0x90,        ///< host memory at the same address on both sides
};

[[nodiscard]] constexpr const char* to_string(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::host: return "host";
    case MemoryKind::pinned_host: return "pinned host";
    case MemoryKind::hbm: return "HBM";
    case MemoryKind::p2p_ddr: return "P2P DDR";
    case MemoryKind::task_scheduler: return "TS";
    case MemoryKind::host_svm: return "host SVM";
  }
  return "?";
}

/// How a block for the task scheduler is to be asked for.
struct SchedulerMemory {
  MemoryKind kind = MemoryKind::hbm;
  bool huge_pages_only = false;
};

/// The rule by which the Graph Engine places what the task scheduler reads: where the device has no memory of its own
/// for that, in HBM; else up to 4096 bytes in HBM as well, and above in TS memory, with huge pages only.
[[nodiscard]] constexpr SchedulerMemory scheduler_memory(bool has_ts_memory, Bytes size) noexcept {
  constexpr Bytes most_in_hbm{4096};
  if (!has_ts_memory || !(size > most_in_hbm)) return {};
  return {MemoryKind::task_scheduler, true};
}

}  // namespace rondo::memory
