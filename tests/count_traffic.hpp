// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/types.hpp>

#include <cstdint>

namespace rondo::test {

/// A Traffic for Sim that counts the bytes that cross the bus.
struct CountTraffic {
  struct Options {};
  CountTraffic(const Options&, const arch::Chip&) noexcept {}

  std::uint64_t copies_in = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t copies_out = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t launches_with_bases = 0;
  std::uint64_t launch_bytes = 0;  ///< the bytes of those launches
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

}  // namespace rondo::test
