// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/cuda.hpp>
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/platform/cuda/decide_kernel.hpp>
#include <rondo/platform/cuda/memory.hpp>
#include <rondo/platform/cuda/program.hpp>
#include <rondo/platform/cuda/refresh_kernel.hpp>
#include <rondo/platform/streams/callers_stream.hpp>
#include <rondo/platform/streams/device_queue.hpp>
#include <rondo/platform/streams/refresh_costs.hpp>
#include <rondo/platform/streams/round_events.hpp>
#include <rondo/platform/streams/transfers.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rondo::platform {

/// A GPU through the CUDA driver, whose library is opened at run time. The session's work runs in order on one stream,
/// and its tasks are one CUDA graph, in which independent tasks may run at the same time.
///
/// Kernels are found by name in Options::kernels and in the modules embedded in the program. Ordinary host memory is
/// copied through pinned staging: inputs may be changed once the copy in has returned, and outputs are complete once
/// wait() has returned. Pinned memory (allocate_pinned) is copied directly. Each call makes the device's primary
/// context current and leaves it so.
///
/// Lifetime: immovable. close() or the destructor releases the device, after the last block of memory.
/// Thread safety: one thread at a time, not always the same; different sessions are independent.
/// Errors: set-up throws. A call that the driver refuses fails with nothing left in flight. A device that failed or
/// timed out poisons the session; the driver then refuses every call of this process for that device.
/// Options::wait_after_each_task finds the task. Cost on the hot path: no allocation; one copy for each run of tensors
/// that lie together, one launch of the graph, and queries until the stream is idle.
///
/// `RoundEvents`: streams::NoRoundEvents, or streams::RoundEvents, which measures how long rounds take; see Timed.
template <class RoundEvents = streams::NoRoundEvents>
class Cuda {
  static constexpr bool is_timed = std::is_same_v<RoundEvents, streams::RoundEvents>;
  using Transfers = streams::Transfers<arch::Cuda, cuda::Device>;
  struct Parts {
    using Device = cuda::Device;
    using RefreshKernel = cuda::RefreshKernel;
    using Program = cuda::Program;
  };

 public:
  using Arch = arch::Cuda;
  /// The platform of sessions whose policies have `using Time = DeviceTime`.
  using Timed = Cuda<streams::RoundEvents>;
  using Options = cuda::Options;
  using Program = cuda::Program;
  static constexpr const char* name = "cuda";
  static constexpr memory::Concurrency concurrency = memory::Concurrency::parallel;

  static constexpr Capabilities capabilities =
      Capabilities{Capability::close,           Capability::queue,          Capability::snapshot_copy,
                   Capability::pinned_memory,   Capability::zero_fill,      Capability::arena_move,
                   Capability::failure_text,    Capability::remarks,        Capability::holdings,
                   Capability::device_refresh,  Capability::launch_refresh, Capability::callers_stream,
                   Capability::memory_registry, Capability::loops,          Capability::stopping,
                   Capability::memory_kinds,    Capability::device_copy} |
      (is_timed ? Capabilities{Capability::round_time} : Capabilities{});
  static constexpr std::uint32_t max_launch_bytes = cuda::RefreshKernel::most_bytes;

  /// @throws Error no_such_device (no driver, no such device), unsupported (an old driver), and errors of the driver
  explicit Cuda(const Options& options)
      : options_{options},
        device_{name, options},
        memory_{device_, options},
        transfers_{device_},
        refresh_{device_},
        refresh_costs_{options_, name, device_, refresh_} {}
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;
  ~Cuda() { (void)close(true); }

  // --- memory

  /// Allocates device memory. @throws Error out_of_memory
  [[nodiscard]] DevicePtr<std::byte> allocate(Bytes size, Bytes alignment) {
    return DevicePtr<std::byte>{memory_.allocate(size, alignment)};
  }
  /// `peer` is ordinary device memory: other devices access all memory of a context that enables them to.
  static constexpr MemoryKinds memory_kinds{MemoryKind::peer, MemoryKind::mapped_host};
  /// Allocates memory of one kind. @throws Error out_of_memory
  [[nodiscard]] DevicePtr<std::byte> allocate(MemoryKind kind, Bytes size, Bytes alignment) {
    return DevicePtr<std::byte>{memory_.allocate(size, alignment, kind)};
  }
  /// Returns the host address of mapped host memory; null for any other memory.
  [[nodiscard]] void* host_address(DevicePtr<std::byte> p) const noexcept { return memory_.host_address(p.address()); }
  /// Gives a block back. Waits for the device first if it may still use the block.
  Status release(DevicePtr<std::byte> block) noexcept {
    (void)callers_.wait();
    const Status waited = transfers_.wait();
    const cuda::Result code = memory_.release(block.address());
    return code == cuda::success ? waited : noted("cuMemFree", code);
  }
  /// Allocates host memory that the device accesses directly. @throws Error out_of_memory
  [[nodiscard]] void* allocate_pinned(Bytes size) { return transfers_.pin(size); }
  void release_pinned(void* memory) noexcept { transfers_.unpin(memory); }
  [[nodiscard]] rondo::memory::Space memory_space() const noexcept { return memory_.space(); }

  // --- a round

  [[gnu::always_inline]] Status copy_in(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    return transfers_.copy_in(to, from, size.value);
  }
  /// Copies to the device; reads the host's bytes before it returns.
  Status copy_in_snapshot(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    return transfers_.copy_in_snapshot(to, from, size.value);
  }
  [[gnu::always_inline]] Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    return transfers_.copy_out(to, from, size.value);
  }
  /// Makes one copy of rows, or one copy for each piece if a stride is too short, too long or negative.
  Status copy_on_device(const DeviceCopy& copy) noexcept { return transfers_.copy_on_device(copy); }
  /// Waits for the device. Makes no call if there is nothing to wait for.
  Status wait() noexcept {
    const Status status = transfers_.wait();
    if (!status.ok()) [[unlikely]]
      return named(status);
    events_.read(device_, round_ns_);
    return status;
  }

  /// Loads a graph. @throws Error as the constructor of cuda::Program does
  template <class Graph>
  [[nodiscard]] Program load(const Graph& graph, args::ArgsTable& args) {
    prepare(graph.view());
    return Program(device_, options_, graph.view(), args, host_, decide_, [this](const Program& program) {
      if (!program.host_decides()) return;
      why_host_decides_ = program.why_host_decides();
      callers_.host_decides_loops();
    });
  }
  /// Sets device memory to zero between rounds, and waits.
  Status fill_zeros(DevicePtr<std::byte> to, Bytes size) noexcept {
    cuda::Result code = device_.enter();
    device_.work_begins();
    if (code == cuda::success) code = device_.driver().set(to.address(), 0, size.value, device_.stream());
    return code == cuda::success ? wait() : noted("cuMemsetD8Async", code);
  }
  /// Tells a program that the arena has moved, with the memory that each round sets to zero and conditions of loops.
  void move_arena(Program& program, DevicePtr<std::byte> from, DevicePtr<std::byte> to) noexcept {
    program.move_arena(to.address() - from.address());
  }
  Status launch(Program& program) noexcept {
    if (const cuda::Result code = transfers_.begin_launch(); code != cuda::success) [[unlikely]]
      return named(transfers_.refused(code));
    last_ = &program;
    const char* call = nullptr;
    const auto launch = [&]() __attribute__((always_inline)) { return program.launch(call, device_.stream()); };
    const cuda::Result code = events_.around(device_, call, device_.stream(), launch);
    if (code != cuda::success) [[unlikely]]
      return named(transfers_.refused(code, call));
    return {};
  }
  /// Ends the current round, or else a later one, at the next decision that the host makes about a loop, with
  /// `stopped`, which poisons the session. Other rounds do not end. Thread safety: any thread.
  void request_stop() noexcept { host_.stop.make(); }
  /// Why the host decides about loops, as a clause; empty if the device decides about those of all loaded graphs.
  [[nodiscard]] const char* why_host_decides_loops() const noexcept { return why_host_decides_; }
  /// Waits, then unloads graph and kernels. Memory stays allocated.
  Status unload(Program& program) noexcept {
    (void)callers_.wait();
    const cuda::Result code = program.release();
    if (last_ == &program) last_ = nullptr;
    return code == cuda::success ? Status{} : noted("unloading", code);
  }

  /// The caller's stream, for rounds that Rondo does not wait for.
  [[nodiscard]] streams::CallersStream<cuda::Device>& callers_stream() noexcept { return callers_; }

  // --- args that the device computes

  [[nodiscard]] bool can_refresh_args() const noexcept { return refresh_.is_usable(); }
  /// Returns the host and the device, as cost files name them.
  [[nodiscard]] auto machine() const { return device_.machine(); }
  /// Returns the costs of refreshing if they were given, in a file or measured; otherwise null.
  [[nodiscard]] const args::RefreshCosts* refresh_costs() const noexcept { return refresh_costs_.get(); }
  Status refresh_args(const args::RefreshOp& op) noexcept {
    return transfers_.launch_refresh([&](cuda::Stream stream) { return refresh_.launch(op, nullptr, stream); });
  }
  /// Refreshes the args with bases that the launch carries; nothing is copied.
  Status refresh_in_launch(const args::RefreshOp& op, const args::LaunchPayload& payload) noexcept {
    if (payload.bytes() > max_launch_bytes) return Status{Errc::limit_exceeded};
    return transfers_.launch_refresh([&](cuda::Stream stream) { return refresh_.launch(op, &payload, stream); });
  }

  /// Makes a queue for rounds in flight. Each slot has its own stream, so copies of one round overlap with tasks of
  /// others.
  /// @throws Error out_of_memory, out_of_resources
  [[nodiscard]] streams::DeviceQueue<arch::Cuda, Parts, RoundEvents> open_queue(std::size_t slots, std::size_t outputs,
                                                                                Bytes bytes) {
    return {device_, refresh_, slots, outputs, bytes, options_.staging, round_ns_, queue_staging_};
  }

  /// Releases the device. If blocks or pinned memory of this platform are still held, the destructor does.
  Status close() noexcept { return close(false); }

  // --- reports

  /// The driver's description of the last failure.
  [[nodiscard]] const Error::Text& failure_text() const noexcept { return device_.failure_text(); }
  template <class Sink>
  void remarks(Moment when, Sink&& sink) const noexcept {
    if (when == Moment::closing && last_ != nullptr && !last_->refusal().empty()) {
      sink(Error::Text{last_->refusal().c_str(), " while it was captured; tasks were launched one by one"}.c_str());
    }
    if (when != Moment::opening) return;
    if (!can_refresh_args()) sink(refresh_.remark());
    refresh_costs_.remark(sink);
    if (options_.graph && !device_.driver().has_graphs()) {
      sink("the driver has no CUDA graphs; tasks are launched one by one");
    }
  }
  /// The duration of the last round that was waited for or delivered.
  [[nodiscard]] double last_round_ns() const noexcept
    requires is_timed
  {
    return round_ns_;
  }
  template <class Sink>
  void holdings(Sink&& sink) const noexcept {
    memory_.holdings(sink);
    transfers_.holdings(sink, queue_staging_, host_.pinned);
    sink("snapshots", Bytes{cuda::Device::snapshot_bytes}, MemoryKind::pinned_host);
    sink("repetitions of loops", host_.on_device, MemoryKind::device);
  }
  /// Whether the program that was launched last is one CUDA graph.
  [[nodiscard]] bool is_captured() const noexcept { return last_ != nullptr && last_->is_graph(); }

 private:
  /// Adds the name of the task to a failure, if it is known.
  [[gnu::cold, gnu::noinline]] Status named(Status status) const noexcept {
    return last_ == nullptr ? status : last_->blame(status);
  }
  [[gnu::cold]] Status noted(const char* call, cuda::Result code) noexcept {
    device_.note(call, code);
    return Status{cuda::errc_of(code)};
  }

  /// Resizes the staging to hold the copies of a round, within the limit.
  void prepare(const graph::GraphView& view) {
    device_.must(cuda::Api::enter, device_.enter());
    events_.open(device_);
    callers_.open(view);
    const auto needs = streams::staging_needs<arch::Cuda>(view, Transfers::longest_run, options_.staging);
    if (const Status status = transfers_.wait(); !status) {
      throw Error(status.code(), Error::Text{name, ": waiting for what was copied: ", failure_text()});
    }
    device_.must("cuMemHostAlloc", transfers_.resize(needs.bytes, needs.remembered, needs.inputs, needs.outputs));
  }

  Status close(bool at_the_end) noexcept {
    if (is_closed_) return {};
    const Status waited = transfers_.wait();
    cuda::Result first = device_.stop();
    const auto keep = [&](cuda::Result code) {
      if (first == cuda::success) first = code;
    };
    keep(events_.close(device_));
    keep(callers_.close());
    keep(refresh_.release());
    keep(decide_.release());
    if (at_the_end) keep(transfers_.staging().release_all());
    if (at_the_end) keep(memory_.release_all());
    transfers_.forget_plan();
    keep(transfers_.staging().release_unused());
    if (memory_.empty() && !transfers_.staging().has_pinned()) {
      keep(device_.close());
      is_closed_ = true;
    }
    return first == cuda::success ? waited : noted("closing", first);
  }

  const Options options_;
  cuda::Device device_;
  cuda::DeviceMemory memory_;
  Transfers transfers_;
  streams::CallersStream<cuda::Device> callers_{device_};
  [[no_unique_address]] RoundEvents events_;
  double round_ns_ = 0;
  cuda::RefreshKernel refresh_;
  cuda::DecideKernel decide_{device_};
  const char* why_host_decides_ = "";
  streams::ConfiguredCosts refresh_costs_;
  Program* last_ = nullptr;
  std::uint64_t queue_staging_ = 0;
  streams::LoopHost host_{memory_};
  bool is_closed_ = false;
};
static_assert(check_platform<Cuda<>>() && check_platform<Cuda<>::Timed>());

}  // namespace rondo::platform
