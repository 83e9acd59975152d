// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/types.hpp>

#include <cstdint>

/// The `Traffic` of a Sim is notified of all transfers between host and device over the bus.
namespace rondo::platform::sim {

/// A Traffic with Options, constructed from them and the chip.
template <class Traffic>
concept HasTrafficOptions = requires { typename Traffic::Options; };

/// The options of a Traffic; empty if it has none.
template <class Traffic>
struct TrafficOptions {
  struct type {};
};
/// The options of a Traffic that has some.
template <HasTrafficOptions Traffic>
struct TrafficOptions<Traffic> {
  using type = typename Traffic::Options;
};

template <class Traffic>
[[nodiscard]] Traffic make_traffic(const typename TrafficOptions<Traffic>::type& options,
                                   const arch::Chip& chip) noexcept {
  if constexpr (HasTrafficOptions<Traffic>) {
    return Traffic(options, chip);
  } else {
    return Traffic{};
  }
}

/// A Traffic that states how long copies take; see bus.hpp.
template <class Traffic>
concept TakesTime = requires(const Traffic& traffic, Bytes size) {
  traffic.in_ns(size);
  traffic.out_ns(size);
};

/// Ignores all transfers; takes no space and adds no instruction.
struct NoTraffic {
  void copied_in(Bytes) noexcept {}
  void copied_out(Bytes) noexcept {}
  void carried(Bytes) noexcept {}
  void computed(std::uint64_t) noexcept {}
};

}  // namespace rondo::platform::sim
