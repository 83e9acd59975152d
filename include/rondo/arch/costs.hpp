// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>
#include <rondo/arch/arch.hpp>
#include <rondo/error.hpp>

#include <cstdint>

namespace rondo::arch {

/// The costs of a round on a chip other than its kernels, for predictions. Times are in nanoseconds, bandwidths in GB/s
/// (bytes per nanosecond). A negative figure is not given; the chip's own figure replaces it.
struct Costs {
  static constexpr double not_given = -1;

  double launch_ns = not_given;  ///< from the host's launch until the schedulers have the graph
  // Of one AICPU scheduler:
  double dispatch_ns = not_given;      ///< to prepare a task and start its first block on a core
  double retire_ns = not_given;        ///< to detect the end of a task's last block, and release the task's successors
  double start_block_ns = not_given;   ///< to start each further block of a task
  double notice_block_ns = not_given;  ///< to detect the end of a block that is not its task's last

  double complete_ns = not_given;  ///< from the end of the last task until the host may copy or is notified

  double copy_in_latency_ns = not_given;  ///< of each copy from host to device
  double copy_in_gbps = not_given;
  double copy_out_latency_ns = not_given;  ///< of each copy from device to host
  double copy_out_gbps = not_given;

  double memory_gbps = not_given;  ///< device memory, whole chip; the share of a core is this / the cores of its type
  double stream_wait_ns = not_given;  ///< from an event until another stream that waits for it continues
  double task_floor_ns = not_given;   ///< a task without a stated cost takes this + its bytes / its core's share
  double host_factor = not_given;     ///< time of a block on the chip / its time on the host

  /// Returns these costs, with each figure that is not given taken from `other`. @throws Error invalid_argument if a
  /// bandwidth is 1e-6 GB/s or less, another figure 1e18 or more, or any NaN
  [[nodiscard]] constexpr Costs or_else(const Costs& other) const {
    constexpr double Costs::* figures[] = {
        &Costs::copy_in_gbps,    &Costs::copy_out_gbps, &Costs::memory_gbps,  // the bandwidths
        &Costs::launch_ns,       &Costs::dispatch_ns,   &Costs::retire_ns,          &Costs::start_block_ns,
        &Costs::notice_block_ns, &Costs::complete_ns,   &Costs::copy_in_latency_ns, &Costs::copy_out_latency_ns,
        &Costs::stream_wait_ns,  &Costs::task_floor_ns, &Costs::host_factor};
    Costs result = *this;
    for (const auto& figure : figures) {
      double& value = result.*figure;
      if (value < 0) value = other.*figure;
      if (value < 0 || (&figure < figures + 3 ? value > 1e-6 : value < 1e18)) continue;
      throw Error(Errc::invalid_argument, Error::Text("costs: a bandwidth is not above 1e-6 GB/s, or another figure is "
                                                      "infinite or no number; correct it, or leave it out"));
    }
    return result;
  }
};

/// The costs of a chip. "Reported" marks a published measurement, "assumed" a guess. Rondo's authors measured none.
template <class A>
inline constexpr Costs costs_of = Costs{};

template <>
inline constexpr Costs costs_of<A2A3> = {
    // Reported: enqueueing one launch takes 8.6 to 23.7 µs on a 910B2. The lower end, because a round is one replay.
    .launch_ns = 8600,
    // Reported by simpler (hw-native-sys/simpler, docs/case1_tail_oh_breakdown.md): with 16,704 tasks on 3
    // schedulers, a task took 4.76 µs to dispatch, mostly for cache flushes, and 2.63 µs to complete.
    .dispatch_ns = 4760,
    .retire_ns = 2630,
    // Reported by simpler (docs/hardware/mmio-performance.md): a scheduler takes 140 ns to write a core's
    // register, and 95 to 105 ns to read one; accesses do not overlap.
    .start_block_ns = 140,
    .notice_block_ns = 100,
    // Assumed: the time to wake the host thread.
    .complete_ns = 5000,
    // Reported: a copy of 4 to 64 bytes from device to host takes 9.5 µs. Assumed for host to device.
    .copy_in_latency_ns = 9500,
    // Reported: 4 MiB of pinned memory are copied at 23 GB/s from host to device. Assumed for device to host.
    .copy_in_gbps = 23,
    .copy_out_latency_ns = 9500,
    .copy_out_gbps = 23,
    // Reported: 1.6 TB/s for each die of a 910B. Other reports say as little as 0.4 TB/s.
    .memory_gbps = 1600,
    // Assumed: the wait is a small program that polls a word of memory. simpler reports 1 µs to signal the
    // AICPU through memory; this is twice that, for the record and the wait.
    .stream_wait_ns = 2000,
    // Assumed: between zero and the 1.78 µs that small kernels took on average in simpler's measurement above.
    .task_floor_ns = 1000,
    // Assumed: one core of the chip is as fast as one of the host. Inexact in both directions; use it to compare.
    .host_factor = 1,
};

// Figures other than the bandwidth are assumed to be as on a2a3, because no source has figures of a5's schedulers,
// launches or copies. a5 invalidates no cache after the host's copies, so its dispatch should be faster.
template <>
inline constexpr Costs costs_of<A5> =
    Costs{
        // Announced: 1.6 TB/s for a 950PR. Other reports say 1.4.
        .memory_gbps = 1600,
    }
        .or_else(costs_of<A2A3>);

/// The costs of a chip whose tasks are handed out through mailboxes in device memory, by one thread of the AICPU, as
/// the onboard platforms do it for graphs that the device builds. A mailbox takes the place of a core's register.
template <class A>
inline constexpr Costs mailbox_costs = [] {
  Costs costs = costs_of<A>;
  // Reported by simpler (docs/investigations/2026-06-cond-vs-gm-notification.md): it takes 1040 ns on average
  // until the AICPU notices what a core wrote to memory. Assumed for the reverse.
  constexpr double event_ns = 1040;
  costs.dispatch_ns += event_ns - costs.start_block_ns;
  costs.retire_ns += event_ns - costs.notice_block_ns;
  costs.start_block_ns = event_ns;
  costs.notice_block_ns = event_ns;
  return costs;
}();

/// The chip that an engine simulates.
struct Chip {
  const char* name = "";
  std::uint32_t blocks = 0;
  std::uint32_t cube_cores = 0;
  std::uint32_t vector_cores = 0;
  std::uint32_t schedulers = 0;
  Costs costs;

  [[nodiscard]] constexpr std::uint32_t cores(CoreType type) const noexcept {
    return type == CoreType::cube ? cube_cores : vector_cores;
  }
};

template <Arch A>
inline constexpr Chip chip_of = {
    A::name, A::max_blocks, cores<A>(CoreType::cube), cores<A>(CoreType::vector), A::aicpu_schedulers, costs_of<A>};

}  // namespace rondo::arch
