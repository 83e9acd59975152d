// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/args/refresh_op.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/saved_file.hpp>
#include <rondo/platform/streams/cost_file.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// The options of onboard sessions.
namespace rondo {

/// The number of a kernel, for runtimes that cannot find kernels by name.
struct KernelNumber {
  const char* kernel = nullptr;  ///< its name in the graph
  std::uint64_t number = 0;      ///< the number that the compiler assigned
};

/// Kernels as the vendor's compiler wrote them: a file, or its bytes in memory. A kernel has the same name in the graph
/// and in the binary. If an old runtime cannot find kernels by name, Rondo asks it by number: the number that the
/// compiler wrote into the binary, which you give in `numbers`, or else the digits after the last _ of the name
/// (kernel_7: 7). The path, the bytes and the numbers are not copied. They must live until the session is open; for a
/// session of many shapes, which loads the binaries anew for a new shape, until it is closed.
struct KernelBinary {
  /// The path of the file; null if the binary is in memory.
  const char* file = nullptr;
  /// The bytes, if the binary is in memory.
  std::span<const std::byte> data{};
  /// The numbers of kernels, for runtimes that cannot find kernels by name.
  std::span<const KernelNumber> numbers{};

  /// A file, which is read when a session opens, or prepares a new shape.
  [[nodiscard]] static KernelBinary from_file(const char* path) noexcept { return {path}; }
  /// A binary in memory.
  [[nodiscard]] static KernelBinary from_memory(std::span<const std::byte> bytes) noexcept { return {nullptr, bytes}; }
  /// Returns this binary with numbers.
  [[nodiscard]] KernelBinary with_numbers(std::span<const KernelNumber> list) const noexcept {
    return {file, data, list};
  }
};

/// A program for the device's AICPU that builds the graph of each round on the device: a shared library, and the name
/// of its entry. docs/onboard.md describes the arguments of a launch.
struct OrchestratorBinary {
  /// The shared library, or its bytes.
  KernelBinary binary{};
  /// The name of the function that is launched.
  const char* entry = "rondo_orchestrate";
  /// The name of the operator as which the program is registered.
  const char* kernel = "RondoOrchestrator";
  /// A value that the program receives unchanged.
  std::uint64_t user = 0;
  /// The binary with the kernel rondo_dispatch, which runs the tasks on cube and vector cores; see docs/onboard.md. By
  /// default there is none, and tasks run on the AICPU, as functions of the program.
  KernelBinary cores{};
  /// The number of blocks of that kernel, each a cube core and two vector cores; 0: all of the chip. Other kernels get
  /// the cores that are left.
  std::uint32_t blocks = 0;
};

/// The place where tasks of graphs that the device builds run.
struct Dispatch {
  bool is_asked_for = false;       ///< whether Options::orchestrator names a kernel for the cores
  bool is_on_cores = false;        ///< on cube and vector cores; otherwise on the AICPU
  std::uint32_t cube_cores = 0;    ///< the number of cube cores that run tasks
  std::uint32_t vector_cores = 0;  ///< the number of vector cores that run tasks
  Error::Text reason;              ///< the reason why tasks run on the AICPU
};

namespace platform::onboard {

/// How the host waits for the end of a round.
enum class Completion : std::uint8_t {
  stream,     ///< one blocking call
  event,      ///< queries an event after the round repeatedly, and sleeps for 50 µs in between
  host_func,  ///< sleeps likewise until the device has called a host function; `stream` if the runtime cannot
};

/// How a session opens a device: which one, with which kernels, and how it waits.
struct Options {
  /// The number of the device.
  std::uint32_t device = 0;
  /// The binaries that contain the graph's kernels. They are searched in this order when the session opens. The list,
  /// like the binaries, must live until then; for a session of many shapes, until it is closed.
  std::span<const KernelBinary> kernels{};
  /// The program that builds the graph, for runtimes that build it on the device.
  OrchestratorBinary orchestrator{};
  /// An aclrtStream of the caller's, on which rounds run instead of on a stream of the session's own; see
  /// docs/callers_stream.md. It must belong to the device and outlive the session. The session never destroys or aborts
  /// it, and waits for it only in calls that are documented to wait. Rounds in flight use streams of their own anyway.
  void* stream = nullptr;
  /// The most device memory that the session may allocate.
  Bytes device_memory{std::uint64_t{1} << 62};
  /// The time limit for the end of a round, in milliseconds: more than 0, or -1 for no limit. A round that exceeds it
  /// fails with timed_out and poisons the session.
  std::int32_t timeout_ms = 50'000;
  /// The time limit for a single task on the device, in milliseconds; 0: the device's own limit, about 18 minutes. The
  /// device ends a task that exceeds it; the round then fails with timed_out and names the task.
  std::uint32_t task_timeout_ms = 0;
  /// The names of kernels whose blocks wait for each other. All blocks of such a kernel begin at the same time.
  std::span<const char* const> cooperative_kernels{};
  /// Whether closing the session may reset the device by force if the device failed, ended a task that took too long,
  /// or hangs. Without a reset the device may stay unusable. A reset ends all work that this process has on the device,
  /// including that of its other sessions.
  bool reset_failed_device = false;
  /// The most pinned memory through which ordinary host memory is copied. The slots of rounds in flight together may
  /// use as much again. A round that needs more waits for the device in between.
  Bytes staging{std::uint64_t{256} << 20};
  /// Whether to capture the graph once and replay it with one call. If the runtime cannot capture, or refuses, tasks
  /// are launched one by one, with the same results.
  bool capture = true;
  /// The number of streams over which the tasks of the captured graph are spread; 0: as many as their costs suggest. If
  /// the runtime has fewer streams left, fewer are used. A static graph runs on one stream.
  std::uint32_t streams = 0;
  /// The measured time of each task on the device, in nanoseconds, by TaskId. It is used when a graph, or a new shape
  /// of it, is opened. If a time is missing or not positive, the cost that the kernel states is used, or else an
  /// estimate from the bytes that the task touches.
  std::span<const double> task_ns{};
  /// The costs by which tasks are spread over streams; costs that are given replace the chip's.
  arch::Costs costs{};
  /// Whether to run the graph once when the session opens, over memory that is all zero, so that no round pays for what
  /// the runtime does at its first launch, such as loading kernels. Set it to false if a kernel cannot handle zeros. A
  /// graph with collectives is not run.
  bool warm_up = true;
  /// Whether to reserve addresses and map pages to them, if the runtime has virtual memory.
  bool virtual_memory = true;
  /// For debugging: launches tasks one by one and waits after each, so that a failure always names its task.
  bool wait_after_each_task = false;
  /// The costs of refreshing addresses on this machine, by which update::ByCost chooses the mechanism. If they are not
  /// given, those of `cost_file` are used; if there is no such file, `measure_refresh_costs` has them measured when the
  /// session opens, which takes some milliseconds; otherwise the constants of RefreshCosts are used.
  std::optional<args::RefreshCosts> refresh_costs{};
  /// Whether to measure these costs if they are neither given nor in a file.
  bool measure_refresh_costs = false;
  /// A file of tools/calibrate. One of another machine is refused, or ignored and mentioned in the log.
  CostFile cost_file{};
  /// The file of session.save() from which the session takes its plan, and the costs of refreshing.
  SavedFile saved{};
  /// Whether to mark rounds as ranges for the vendor's profiler, if it is installed.
  bool profiler_ranges = false;
  /// How the host waits for the end of a round.
  Completion completion = Completion::stream;
};

}  // namespace platform::onboard

}  // namespace rondo
