// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/update/mechanism.hpp>

#include <cstdint>

namespace rondo::update {

/// What refreshing costs, in picoseconds. The defaults are orders of magnitude for a card behind PCIe 4.0 ×16, chosen
/// so that the ranking of mechanisms comes out as users of such systems report it; measure your own system and hand the
/// figures to ByCost.
struct RefreshCosts {
  std::uint64_t copy = 2'000'000;       ///< submitting one asynchronous copy: 2 µs
  std::uint64_t copied_byte = 40;       ///< 25 GB/s
  std::uint64_t host_slot = 1'200;      ///< writing one slot of the image
  std::uint64_t device_op = 3'000'000;  ///< launching the small kernel that computes the slots
  std::uint64_t device_slot = 25;       ///< 40 cores, one slot per ns each
  std::uint64_t launched_byte = 1'000;  ///< a write through the BAR: uncached, 64 bytes at a time

  /// What it would take to copy the changed segments, in picoseconds.
  [[nodiscard]] constexpr std::uint64_t of_segment_copy(const RefreshFacts& f) const noexcept {
    return copy * f.segments + copied_byte * f.segment_bytes + host_slot * f.slots;
  }
  /// What it would take to have the device compute, in picoseconds.
  [[nodiscard]] constexpr std::uint64_t of_device_op(const RefreshFacts& f) const noexcept {
    return copy + copied_byte * f.base_bytes + device_op + device_slot * f.lanes;
  }
  /// What it would take inside the launch, in picoseconds.
  [[nodiscard]] constexpr std::uint64_t of_in_launch(const RefreshFacts& f) const noexcept {
    return launched_byte * f.launch_bytes + device_op + device_slot * f.lanes;
  }
  friend constexpr bool operator==(const RefreshCosts&, const RefreshCosts&) noexcept = default;
};

/// The cheapest of what is possible, each round anew:
///
///     segment copy   copies · copy + bytes of the segments · copied_byte + slots written · host_slot
///     device op      copy + bytes of the bases · copied_byte + device_op + slots computed · device_slot
///     in launch      bytes carried · launched_byte + device_op + slots computed · device_slot
///
/// A platform whose kernels read host memory needs none of the three: the slots are written in place.
template <RefreshCosts Costs = RefreshCosts{}>
struct ByCost {
  static constexpr RefreshCosts costs = Costs;
  static constexpr bool allows(Mechanism) noexcept { return true; }
  [[nodiscard]] static constexpr Mechanism choose(const RefreshFacts& f) noexcept {
    Mechanism best = Mechanism::segment_copy;
    std::uint64_t least = Costs.of_segment_copy(f);
    if (f.device_op && Costs.of_device_op(f) < least) {
      best = Mechanism::device_op;
      least = Costs.of_device_op(f);
    }
    if (f.in_launch && Costs.of_in_launch(f) < least) best = Mechanism::in_launch;
    return best;
  }
};

/// The same among those that keep a device copy of the table, for platforms that could do without.
template <RefreshCosts Costs = RefreshCosts{}>
struct ByCostOnDevice : ByCost<Costs> {
  static constexpr bool allows(Mechanism m) noexcept { return m != Mechanism::in_place; }
};

}  // namespace rondo::update
