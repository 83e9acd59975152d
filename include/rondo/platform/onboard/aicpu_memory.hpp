// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rondo::platform::onboard {

/// The accesses of an AICPU program to the device memory that it shares with the cores: loads and stores of words, and
/// the cache operations that make the stores of one side visible to the other.
///
/// Thread safety: any thread. Cost: one instruction each; a store barrier waits until the cleaned lines have reached
/// memory.
struct AicpuMemory {
  [[nodiscard]] static std::uint64_t load(std::uint64_t at) noexcept {
    return *reinterpret_cast<const volatile std::uint64_t*>(at);  // NOLINT: device memory
  }
  static void store(std::uint64_t at, std::uint64_t value) noexcept {
    *reinterpret_cast<volatile std::uint64_t*>(at) = value;  // NOLINT: device memory
  }
  /// Writes a line back.
  static void clean(std::uint64_t at) noexcept {
#if defined(__aarch64__)
    asm volatile("dc cvac, %0" ::"r"(at) : "memory");
#else
    (void)at;
#endif
  }
  /// Discards the cached copy of a line that the AICPU has not written to.
  static void invalidate(std::uint64_t at) noexcept {
#if defined(__aarch64__)
    asm volatile("dc civac, %0\n\tdsb sy" ::"r"(at) : "memory");
#else
    (void)at;
#endif
  }
  /// Orders later loads after earlier ones.
  static void load_barrier() noexcept {
#if defined(__aarch64__)
    asm volatile("dsb ld" ::: "memory");
#else
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
  }
  /// Orders later stores after earlier ones, and after the lines that were written back.
  static void store_barrier() noexcept {
#if defined(__aarch64__)
    asm volatile("dsb sy" ::: "memory");
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
  }
};

}  // namespace rondo::platform::onboard
