// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/args/refresh_op.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// What an onboard session may be told.
namespace rondo {

/// The number by which a runtime finds a kernel that it does not find by name.
struct KernelNumber {
  const char* kernel = nullptr;  ///< its name in the graph
  std::uint64_t number = 0;      ///< what the compiler gave it
};

/// Kernels as the vendor's compiler wrote them: a file, or its bytes in memory. A kernel's name in the graph is its
/// name in the binary. An old runtime that finds no kernel by its name is asked by number: the one that the compiler
/// wrote into the binary, which you give in `numbers`, or else the digits after the last _ of the name (kernel_7: 7).
struct KernelBinary {
  /// The file it was read from, for messages.
  const char* file = nullptr;
  /// The compiled kernel, as the vendor's compiler wrote it.
  std::span<const std::byte> data{};
  /// Numbers of kernels, for runtimes that find none by name.
  std::span<const KernelNumber> numbers{};

  /// Read when a session opens. The path is kept, not copied.
  [[nodiscard]] static KernelBinary from_file(const char* path) noexcept { return {path}; }
  /// Bytes that outlive the session's opening.
  [[nodiscard]] static KernelBinary from_memory(std::span<const std::byte> bytes) noexcept { return {nullptr, bytes}; }
  /// The same, with numbers that outlive the opening.
  [[nodiscard]] KernelBinary with_numbers(std::span<const KernelNumber> list) const noexcept {
    return {file, data, list};
  }
};

/// A program for the device's AICPU that builds each round's graph there: a shared library, and the name of its entry.
/// See docs/onboard.md for what it is launched with.
struct OrchestratorBinary {
  /// The shared library, or its bytes.
  KernelBinary binary{};
  /// The function that is launched.
  const char* entry = "rondo_orchestrate";
  /// What the runtime calls the operator.
  const char* kernel = "RondoOrchestrator";
  /// Handed to the program as it is.
  std::uint64_t user = 0;
};

/// Kinds of memory that a program may ask an NPU for by itself, to bind it to rounds.
enum class MemoryKind : std::uint8_t {
  huge_pages,      ///< device memory in huge pages
  normal_pages,    ///< device memory in normal pages
  task_scheduler,  ///< device memory that the task scheduler can read
  mapped_host,     ///< host memory that kernels use in place, over the bus; good for a few bytes that need no copy then
};

namespace platform::onboard {

/// How a round's end is waited for.
enum class Completion : std::uint8_t {
  stream,     ///< one blocking call
  event,      ///< an event after the round is asked again and again, with sleeps of 50 µs in between
  host_func,  ///< the device calls the host; likewise. Where the runtime cannot, `stream`
};

/// How a session opens a device: which one, with which kernels, and how it waits.
struct Options {
  /// Which of the machine's devices.
  std::uint32_t device = 0;
  /// Where the graph's kernels are; looked at while the session opens, in this order.
  std::span<const KernelBinary> kernels{};
  /// The program that builds the graph on the device, for runtimes that have it built there.
  OrchestratorBinary orchestrator{};
  /// An aclrtStream of the caller's on which rounds run in place of a stream of the session's own; see
  /// docs/callers_stream.md. It belongs to the device and outlives the session, which never destroys or aborts it, and
  /// waits for it only where a call says that it waits. Rounds in flight have streams of their own all the same.
  void* stream = nullptr;
  /// What the session may take of the device's memory at most.
  Bytes device_memory{std::uint64_t{1} << 62};
  /// How long the end of a round is waited for, in milliseconds, more than 0; -1: for ever. Beyond it the round fails
  /// with timed_out and the session is poisoned.
  std::int32_t timeout_ms = 50'000;
  /// How long a single task may run on the device, in milliseconds; 0: as long as the device allows by itself, which is
  /// some 18 minutes. The device ends what takes longer, and the round fails with timed_out and names the task.
  std::uint32_t task_timeout_ms = 0;
  /// Kernels whose blocks wait for each other, by name: all blocks of one begin at the same time, or none does.
  std::span<const char* const> blocks_meet{};
  /// Reset the device by force while closing, where it failed, or ended a task that took too long, or does not come to
  /// an end: it may be of no use to anybody until then. That ends everything that this process has on the device, all
  /// of its other sessions, too.
  bool reset_failed_device = false;
  /// Pinned memory through which ordinary host memory travels, at most; the slots of rounds in flight together have as
  /// much again. A round that needs more waits for the device in between.
  Bytes staging{std::uint64_t{256} << 20};
  /// Capture the graph once and replay it with one call. Where the runtime cannot, or refuses, tasks are launched one
  /// by one, with the same results.
  bool capture = true;
  /// Over how many streams of the captured graph independent tasks are spread: 0 leaves that to their costs, 1 keeps
  /// them on one, more asks for so many. Fewer are used where the runtime has fewer left. Graphs that the compiler
  /// knows run on one.
  std::uint32_t streams = 0;
  /// What each task takes on the device, in nanoseconds, by TaskId, where it was measured; looked at when a graph, or a
  /// new shape of it, is opened. Where a figure is missing or not positive, what the kernel states counts, or else an
  /// estimate from the bytes that the task touches.
  std::span<const double> task_ns{};
  /// By these costs tasks are spread; those given replace the chip's.
  arch::Costs costs{};
  /// Run the graph once while opening, over memory that is all zero, so that no round pays for what the runtime does at
  /// its first: loading kernels, allocating. Kernels must stand it; leave it out if they do not.
  bool warm_up = true;
  /// Take device memory by address and by page, where the runtime can.
  bool virtual_memory = true;
  /// For finding a fault: launch tasks one by one and wait after each, so that a failure names its task for certain.
  bool wait_after_each_task = false;
  /// What refreshing addresses costs on this machine, from which update::ByCost chooses how it is done: see
  /// read_refresh_costs(). Where it is not given it can be measured while the session opens, which takes some
  /// milliseconds; otherwise the constants of RefreshCosts hold.
  std::optional<args::RefreshCosts> refresh_costs{};
  bool measure_refresh_costs = false;
  /// Mark rounds for the vendor's profiler, where it is there.
  bool profiler_ranges = false;
  Completion completion = Completion::stream;
};

}  // namespace platform::onboard

}  // namespace rondo
