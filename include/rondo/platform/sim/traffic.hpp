// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/types.hpp>

#include <cstdint>

/// Counts what would cross the bus between host and device.
namespace rondo::platform::sim {

/// A Traffic that is told something is made from its own Options and the chip.
template <class Traffic>
concept HasTrafficOptions = requires {
  typename Traffic::Options;
};

/// What a Sim is told of its traffic.
template <class Traffic>
struct TrafficOptions {
  struct type {};
};
/// The options of a traffic that has some.
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

/// Is what crosses the bus under way for a while? See bus.hpp.
template <class Traffic>
concept TakesTime = requires(const Traffic& traffic, Bytes size) {
  traffic.in_ns(size);
  traffic.out_ns(size);
};

/// Counts nothing; takes no space and no instruction.
struct NoTraffic {
  void copied_in(Bytes) noexcept {}
  void copied_out(Bytes) noexcept {}
  void carried(Bytes) noexcept {}
  void computed(std::uint64_t) noexcept {}
};

/// Counts what would cross the bus.
struct CountTraffic {
  std::uint64_t copies_in = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t copies_out = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t launches_with_bases = 0;
  std::uint64_t launch_bytes = 0;  ///< of those launches
  std::uint64_t device_refreshes = 0;
  std::uint64_t device_slots = 0;  ///< addresses that the device computed

  void copied_in(Bytes size) noexcept {
    ++copies_in;
    bytes_in += size.value;
  }
  void copied_out(Bytes size) noexcept {
    ++copies_out;
    bytes_out += size.value;
  }
  void carried(Bytes size) noexcept {
    ++launches_with_bases;
    launch_bytes += size.value;
  }
  void computed(std::uint64_t slots) noexcept {
    ++device_refreshes;
    device_slots += slots;
  }
};

}  // namespace rondo::platform::sim
