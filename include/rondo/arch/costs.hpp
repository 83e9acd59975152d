// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>
#include <rondo/arch/arch.hpp>

#include <cstdint>

namespace rondo::arch {

/// What a round costs on a chip besides its kernels, for predictions. Times are in nanoseconds, bandwidths in GB/s,
/// which are bytes per nanosecond. A negative figure is not given: the chip's takes its place.
struct Costs {
  static constexpr double not_given = -1;

  double launch_ns = not_given;  ///< from the host's launch until the schedulers have the graph
  // Of one AICPU scheduler:
  double dispatch_ns = not_given;      ///< to prepare a task and start its first block on a core
  double retire_ns = not_given;        ///< to notice that a task's last block is done, and free the tasks that wait
  double start_block_ns = not_given;   ///< to start each further block of a task
  double notice_block_ns = not_given;  ///< to notice that a block is done that is not its task's last

  double complete_ns = not_given;  ///< from the last task's end until the host may copy, or knows

  double copy_in_latency_ns = not_given;  ///< of each copy host to device
  double copy_in_gbps = not_given;
  double copy_out_latency_ns = not_given;  ///< of each copy device to host
  double copy_out_gbps = not_given;

  double memory_gbps = not_given;     ///< device memory, whole chip; a core's share is this / cores of its type
  double stream_wait_ns = not_given;  ///< until a stream goes on that waits for an event of another one
  double task_floor_ns = not_given;   ///< a task that states no cost takes this + its bytes / its core's share
  double host_factor = not_given;     ///< a block timed on the host takes this × that time on the chip

  /// Returns these costs; those that are not given are taken from `other`.
  [[nodiscard]] constexpr Costs or_else(const Costs& other) const noexcept {
    constexpr double Costs::*figures[] = {
        &Costs::launch_ns,           &Costs::dispatch_ns,   &Costs::retire_ns,          &Costs::start_block_ns,
        &Costs::notice_block_ns,     &Costs::complete_ns,   &Costs::copy_in_latency_ns, &Costs::copy_in_gbps,
        &Costs::copy_out_latency_ns, &Costs::copy_out_gbps, &Costs::memory_gbps,        &Costs::stream_wait_ns,
        &Costs::task_floor_ns,       &Costs::host_factor};
    Costs result = *this;
    for (const auto figure : figures) {
      if (result.*figure < 0) result.*figure = other.*figure;
    }
    return result;
  }
};

/// A chip's costs. "Reported" is a published measurement, "assumed" is a guess. Rondo's authors measured none of them.
template <class A>
inline constexpr Costs costs_of = Costs{};

template <>
inline constexpr Costs costs_of<A2A3> = {
    // Reported: to enqueue one launch takes 8.6 to 23.7 µs on a 910B2. The low end, since a round is one replay.
    .launch_ns = 8600,
    // Reported by the peer runtime (hw-native-sys/simpler, docs/case1_tail_oh_breakdown.md): 16,704 tasks on 3
    // schedulers took them 4.76 µs each to dispatch, mostly cache flushes, and 2.63 µs each to complete.
    .dispatch_ns = 4760,
    .retire_ns = 2630,
    // Reported by the peer runtime (docs/hardware/mmio-performance.md): a scheduler writes a core's register in 140 ns,
    // and reads one in 95 to 105 ns, one after the other.
    .start_block_ns = 140,
    .notice_block_ns = 100,
    // Assumed: the host thread's wake-up.
    .complete_ns = 5000,
    // Reported: a copy of 4 to 64 bytes device to host takes 9.5 µs. Assumed for the other way.
    .copy_in_latency_ns = 9500,
    // Reported: 4 MiB of pinned memory travel at 23 GB/s host to device. Assumed for the other way.
    .copy_in_gbps = 23,
    .copy_out_latency_ns = 9500,
    .copy_out_gbps = 23,
    // Reported: 1.6 TB/s for each die of a 910B. Other reports say as little as 0.4 TB/s.
    .memory_gbps = 1600,
    // Assumed: the wait is a small program that polls a word of memory. Telling the AICPU something through memory
    // takes 1 µs as reported by the peer runtime; this is that twice, for the record and the wait.
    .stream_wait_ns = 2000,
    // Assumed: between nothing and the 1.78 µs that small kernels took on average in the peer's run above.
    .task_floor_ns = 1000,
    // Assumed: one core of the chip is as fast as one of the host. Wrong in both directions; use it to compare.
    .host_factor = 1,
};

template <>
inline constexpr Costs costs_of<A5> =
    Costs{
        // Announced: 1.6 TB/s for a 950PR. Other reports say 1.4.
        .memory_gbps = 1600,
    }   // The rest is assumed to be as on a2a3, since no source has figures of a5's schedulers, launches or copies. a5
        // invalidates no cache after the host's copies, so its dispatch should be cheaper.
        .or_else(costs_of<A2A3>);

/// The chip that an engine stands for.
struct Chip {
  const char* name = "";
  std::uint32_t blocks = 0;
  std::uint32_t cube_cores = 0;
  std::uint32_t vector_cores = 0;
  std::uint32_t schedulers = 0;
  Costs costs;
};

template <Arch A>
inline constexpr Chip chip_of = {
    A::name, A::max_blocks, cores<A>(CoreType::cube), cores<A>(CoreType::vector), A::aicpu_schedulers, costs_of<A>};

}  // namespace rondo::arch
