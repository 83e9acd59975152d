// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/types.hpp>

#include <cstdint>

/// The `Traffic` of a Sim is notified of all transfers between host and device over the bus. It has `Options`, and a
/// constructor from them and the chip.
namespace rondo::platform::sim {

/// A Traffic that states how long copies take; see bus.hpp.
template <class Traffic>
concept TakesTime = requires(const Traffic& traffic, Bytes size) {
  traffic.in_ns(size);
  traffic.out_ns(size);
};

/// Ignores all transfers; takes no space and adds no instruction.
struct NoTraffic {
  struct Options {};
  NoTraffic(const Options&, const arch::Chip&) noexcept {}

  void copied_in(Bytes) noexcept {}
  void copied_out(Bytes) noexcept {}
  void carried(Bytes) noexcept {}
  void computed(std::uint64_t) noexcept {}
};

}  // namespace rondo::platform::sim
