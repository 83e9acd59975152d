// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/platform/sim/waiting.hpp>
#include <rondo/types.hpp>

#include <cstdint>

/// The `Traffic` of a Sim is notified of all transfers between host and device over the bus. It has `Options`, and a
/// constructor from them and the chip.
namespace rondo::platform::sim {

/// A Traffic that states how long copies take; as TimedBus does.
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

/// A Traffic whose copies take as long as they take on the chip, with one copy engine for each direction. A session
/// with one round at a time waits for each copy; rounds in flight wait only for the copies that they need.
///
///     using Platform = rondo::A2A3SimOn<rondo::Inline, rondo::platform::sim::TimedBus>;
///     Platform::Options options{.traffic = {.copy_in_latency_ns = 2000, .copy_in_gbps = 50}};
///
/// If the host's own copying takes longer than the modelled copy, the excess is added. Cost: reads a clock.
class TimedBus {
 public:
  /// The four costs of copies (see arch/costs.hpp, also for errors); a cost that is not given is the chip's.
  using Options = arch::Costs;

  TimedBus(const Options& options, const arch::Chip& chip) : costs_{options.or_else(chip.costs)} {}

  [[nodiscard]] std::uint64_t in_ns(Bytes size) const noexcept {
    return ns(costs_.copy_in_latency_ns, costs_.copy_in_gbps, size);
  }
  [[nodiscard]] std::uint64_t out_ns(Bytes size) const noexcept {
    return ns(costs_.copy_out_latency_ns, costs_.copy_out_gbps, size);
  }

  void copied_in(Bytes size) noexcept { wait_until_ns(now_ns() + in_ns(size)); }
  void copied_out(Bytes size) noexcept { wait_until_ns(now_ns() + out_ns(size)); }
  void carried(Bytes) noexcept {}
  void computed(std::uint64_t) noexcept {}

 private:
  [[nodiscard]] static std::uint64_t ns(double latency, double gbps, Bytes size) noexcept {
    return static_cast<std::uint64_t>(latency + static_cast<double>(size.value) / gbps);
  }

  arch::Costs costs_;
};

}  // namespace rondo::platform::sim
