// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>

/// Requests from the host to a device that refreshes its args table itself.
namespace rondo::args {

/// The place of one address in the table, and its value: `base` + `addend`, as in the relocations of object files.
struct Relocation {
  std::uint64_t addend = 0;
  std::uint32_t at = 0;          ///< bytes from the start of the table
  std::uint32_t base : 31 = 0;   ///< see BaseLayout
  std::uint32_t narrow : 1 = 0;  ///< whether only the low four bytes are written
};
static_assert(sizeof(Relocation) == 16);

/// For each of `count` relocations: args[relocation.at] = bases[relocation.base] + relocation.addend.
struct RefreshOp {
  DevicePtr<std::byte> args;
  DevicePtr<const Relocation> relocations;
  std::uint64_t count = 0;
  DevicePtr<const std::uint64_t> bases;
  std::uint64_t base_count = 0;
};

/// Does the same with bases and host inputs that the launch itself carries. Host memory, valid during the call.
struct LaunchPayload {
  const std::uint64_t* bases = nullptr;
  std::uint32_t base_count = 0;
  const std::byte* host_inputs = nullptr;
  std::uint32_t host_input_bytes = 0;
  DevicePtr<std::byte> host_inputs_to;

  /// The size of the launch's own arguments, in bytes.
  static constexpr std::uint32_t launch_bytes = 80;
  [[nodiscard]] static constexpr std::uint64_t bytes(std::uint64_t base_count,
                                                     std::uint64_t host_input_bytes) noexcept {
    return launch_bytes + align_up(8 * base_count, 32) + host_input_bytes;
  }
  [[nodiscard]] constexpr std::uint64_t bytes() const noexcept { return bytes(base_count, host_input_bytes); }
};

/// The costs of refreshing, in picoseconds. The defaults are orders of magnitude for a card on PCIe 4.0 ×16, chosen so
/// that mechanisms rank as users of such systems report.
struct RefreshCosts {
  std::uint64_t copy = 2'000'000;       ///< submitting one asynchronous copy: 2 µs
  std::uint64_t copied_byte = 40;       ///< 25 GB/s
  std::uint64_t host_slot = 1'200;      ///< writing one slot of the image
  std::uint64_t device_op = 3'000'000;  ///< launching the small kernel that computes the slots
  std::uint64_t device_slot = 25;       ///< 40 cores, one slot per ns each
  std::uint64_t launched_byte = 1'000;  ///< a write through the BAR: uncached, 64 bytes at a time

  friend constexpr bool operator==(const RefreshCosts&, const RefreshCosts&) noexcept = default;
};

/// Writes one address, with a built-in, since `<cstring>` has 500 lines. `at` need not be aligned.
inline void store_address(std::byte* at, std::uint64_t address, bool narrow) noexcept {
  if (narrow) [[unlikely]] {
    const auto low = static_cast<std::uint32_t>(address);
    __builtin_memcpy(at, &low, sizeof(low));
  } else {
    __builtin_memcpy(at, &address, sizeof(address));
  }
}

/// The meaning of a RefreshOp as plain code; simulations run it.
inline void run_refresh(std::byte* args, const Relocation* relocations, std::uint64_t count,
                        const std::uint64_t* bases) noexcept {
  for (const Relocation* const end = relocations + count; relocations != end; ++relocations) {
    store_address(args + relocations->at, bases[relocations->base] + relocations->addend, relocations->narrow != 0);
  }
}

}  // namespace rondo::args
