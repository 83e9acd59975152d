// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/update/mechanism.hpp>

#include <cstdint>

namespace rondo::update {

/// The cost of a refresh by a mechanism, in picoseconds:
///
///     segment copy   copies · copy + bytes of the segments · copied_byte + slots written · host_slot
///                    + slots that the device computed before · host_slot / refreshes in a row that changed fewer
///     device op      copy + bytes of the bases · copied_byte + device_op + slots computed · device_slot
///     in launch      bytes carried · launched_byte + device_op + slots computed · device_slot
///
/// The host's image lacks the slots that the device computed, and the next segment copy must write them. The model
/// divides that cost by the number of refreshes that changed few slots since. So if many addresses move every few
/// rounds, the device continues to compute them; if they moved once, copies soon take over.
[[nodiscard]] constexpr std::uint64_t cost_of(Mechanism m, const RefreshCosts& c, const RefreshFacts& f) noexcept {
  if (m == Mechanism::segment_copy) {
    const std::uint64_t late = f.late_slots == 0 ? 0 : f.late_slots / f.quiet;
    return c.copy * f.segments + c.copied_byte * f.segment_bytes + c.host_slot * (f.slots + late);
  }
  const std::uint64_t moved =
      m == Mechanism::device_op ? c.copy + c.copied_byte * f.base_bytes : c.launched_byte * f.launch_bytes;
  return moved + c.device_op + c.device_slot * f.relocations;
}

/// Chooses the cheapest possible mechanism in each round, by the costs that the platform reports, or else by `Costs`.
/// On a platform whose kernels read host memory, none of the three is needed: the slots are written in place.
template <RefreshCosts Costs = RefreshCosts{}>
struct ByCost {
  static constexpr RefreshCosts costs = Costs;
  static constexpr bool allows(Mechanism) noexcept { return true; }
  [[nodiscard]] static constexpr Mechanism choose(const RefreshFacts& f) noexcept {
    const RefreshCosts& c = f.costs != nullptr ? *f.costs : costs;
    Mechanism best = Mechanism::segment_copy;
    std::uint64_t least = cost_of(best, c, f);
    const auto weigh = [&](bool is_possible, Mechanism m) {
      if (!is_possible || cost_of(m, c, f) >= least) return;
      best = m;
      least = cost_of(m, c, f);
    };
    weigh(f.device_op, Mechanism::device_op);
    weigh(f.in_launch, Mechanism::in_launch);
    return best;
  }
};

}  // namespace rondo::update
