// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>
#include <rondo/arch/arch.hpp>

#include <cstdint>

namespace rondo::arch {

/// What a round costs on a chip besides its kernels, for predictions. Times in nanoseconds, bandwidths in GB/s, which
/// are bytes per nanosecond. A negative figure is not given: in the costs that a user hands in, it leaves the chip's.
struct Costs {
  static constexpr double not_given = -1;

  double launch_ns = not_given;    ///< from the host's launch until the schedulers have the graph
  double dispatch_ns = not_given;  ///< of one AICPU scheduler, to start one block on its core
  double retire_ns = not_given;    ///< of one AICPU scheduler, to see that a block is done and free what waits for it
  double complete_ns = not_given;  ///< from the last task's end until the host may copy, or knows

  double copy_in_latency_ns = not_given;  ///< of each copy host to device
  double copy_in_gbps = not_given;
  double copy_out_latency_ns = not_given;  ///< of each copy device to host
  double copy_out_gbps = not_given;

  double memory_gbps = not_given;     ///< device memory, whole chip; a core's share is this / cores of its type
  double stream_wait_ns = not_given;  ///< until a stream goes on that waits for an event of another one
  double task_floor_ns = not_given;   ///< a task that states no cost takes this + its bytes / its core's share
  double host_factor = not_given;     ///< a block timed on the host takes this × that time on the chip

  /// These costs where they are given, and else the others.
  [[nodiscard]] constexpr Costs or_else(const Costs& other) const noexcept {
    const auto pick = [](double mine, double theirs) { return mine >= 0 ? mine : theirs; };
    return {.launch_ns = pick(launch_ns, other.launch_ns),
            .dispatch_ns = pick(dispatch_ns, other.dispatch_ns),
            .retire_ns = pick(retire_ns, other.retire_ns),
            .complete_ns = pick(complete_ns, other.complete_ns),
            .copy_in_latency_ns = pick(copy_in_latency_ns, other.copy_in_latency_ns),
            .copy_in_gbps = pick(copy_in_gbps, other.copy_in_gbps),
            .copy_out_latency_ns = pick(copy_out_latency_ns, other.copy_out_latency_ns),
            .copy_out_gbps = pick(copy_out_gbps, other.copy_out_gbps),
            .memory_gbps = pick(memory_gbps, other.memory_gbps),
            .stream_wait_ns = pick(stream_wait_ns, other.stream_wait_ns),
            .task_floor_ns = pick(task_floor_ns, other.task_floor_ns),
            .host_factor = pick(host_factor, other.host_factor)};
  }
};

/// A chip's costs. None was measured by us: "reported" is somebody's measurement, named; "assumed" is a guess that
/// waits for one.
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
    }  // Assumed: as a2a3, for want of any figure. a5 needs no cache invalidation
        // behind the host's copies, so its dispatch should be cheaper.
        .or_else(costs_of<A2A3>);

/// What an engine may need to know of the chip that it stands for.
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
