// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/sim/waiting.hpp>

#include <cstdint>

namespace rondo::platform::onboard {

/// The accesses of an AICPU program to the device memory that it shares with the cores: loads and stores of words, and
/// the cache operations that make the stores of one side visible to the other. Also the clock by which the program
/// limits its waits for the cores.
///
/// Thread safety: any thread. Cost: one instruction each, or one look at the clock; a store barrier waits until the
/// cleaned lines have reached memory.
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
  /// Discards the cached copies of a range that the host, or a copy of the runtime's, may have written to. Lines that
  /// the AICPU itself has written to must have been written back.
  static void discard([[maybe_unused]] std::uint64_t at, [[maybe_unused]] std::uint64_t bytes) noexcept {
#if defined(__aarch64__)
    for (std::uint64_t line = at / 64 * 64; line < at + bytes; line += 64) asm volatile("dc civac, %0" ::"r"(line));
    asm volatile("dsb sy" ::: "memory");
#endif
  }
  /// Writes the lines of a range back, for the host and for copies of the runtime's.
  static void write_back([[maybe_unused]] std::uint64_t at, [[maybe_unused]] std::uint64_t bytes) noexcept {
#if defined(__aarch64__)
    for (std::uint64_t line = at / 64 * 64; line < at + bytes; line += 64) asm volatile("dc cvac, %0" ::"r"(line));
    asm volatile("dsb sy" ::: "memory");
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
  /// Returns the nanoseconds of a clock that only moves forwards.
  [[nodiscard]] static std::uint64_t now_ns() noexcept { return sim::now_ns(); }
};

}  // namespace rondo::platform::onboard
