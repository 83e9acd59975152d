// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>
#include <rondo/detail/fixed_text.hpp>
#include <rondo/graph/deal.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/platform/onboard/memory.hpp>
#include <rondo/platform/onboard/orchestration.hpp>
#include <rondo/platform/onboard/program.hpp>
#include <rondo/platform/onboard/refresh_kernel.hpp>
#include <rondo/platform/onboard/zero_fill.hpp>
#include <rondo/platform/streams/callers_stream.hpp>
#include <rondo/platform/streams/device_queue.hpp>
#include <rondo/platform/streams/refresh_costs.hpp>
#include <rondo/platform/streams/round_events.hpp>
#include <rondo/platform/streams/transfers.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace rondo::platform {

/// A real NPU through the ACL runtime. It has device memory, pinned staging and a stream; the graph is
/// captured once and replayed, and within a replay independent tasks run on streams of their own.
///
/// Kernels come from Options::kernels. Ordinary host memory is copied through pinned staging: inputs may be changed
/// after the copy in has returned; outputs are complete after wait(). Pinned memory (allocate_pinned) needs no staging.
///
/// Lifetime: immovable. close() or the destructor gives the device back, after the last block of memory.
/// Thread safety: one thread at a time, not always the same; different sessions are independent.
/// Errors: set-up throws. A call that the runtime refuses fails and leaves nothing in flight. A device that failed or
/// timed out poisons the session; the task is named if the runtime reports its arguments, or names a kernel that only
/// one task runs.
/// Cost on the hot path: no allocation; at most one call of the runtime for each copy, one to launch, one to wait.
///
/// `RoundEvents`: streams::NoRoundEvents, or streams::RoundEvents, which measure how long rounds take; see Timed.
template <arch::Arch A, class RoundEvents = streams::NoRoundEvents>
class Onboard {
  static constexpr bool is_timed = std::is_same_v<RoundEvents, streams::RoundEvents>;
  using Transfers = streams::Transfers<A, onboard::Device>;
  using OnOwnStream = onboard::OnOwnStream;
  struct Parts {
    using Device = onboard::Device;
    using RefreshKernel = onboard::RefreshKernel;
    using Program = onboard::Program;
  };

 public:
  using Arch = A;
  /// The platform of sessions whose policies have `using Time = DeviceTime`.
  using Timed = Onboard<A, streams::RoundEvents>;
  using Options = onboard::Options;
  using Program = onboard::Program;
  static constexpr detail::FixedText<32> name_text{A::name, "_onboard"};
  static constexpr const char* name = name_text.c_str();
  static constexpr memory::Concurrency concurrency = memory::Concurrency::in_lanes;

  static constexpr Capabilities capabilities =
      Capabilities{Capability::close,          Capability::queue,           Capability::snapshot_copy,
                   Capability::pinned_memory,  Capability::zero_fill,       Capability::arena_move,
                   Capability::failure_text,   Capability::orchestration,   Capability::remarks,
                   Capability::holdings,       Capability::device_refresh,  Capability::launch_refresh,
                   Capability::callers_stream, Capability::memory_registry, Capability::loops,
                   Capability::stopping,       Capability::memory_kinds,    Capability::device_copy} |
      (is_timed ? Capabilities{Capability::round_time} : Capabilities{});
  static constexpr std::uint32_t max_launch_bytes = onboard::RefreshKernel::most_bytes;

  /// @throws Error no_such_device, unsupported (another chip, too old a runtime), and errors of the runtime
  explicit Onboard(const Options& options)
      : options_{options},
        device_{{name, A::name, A::soc_prefixes, A::npu_arch}, options},
        memory_{device_, options},
        zeros_{device_},
        transfers_{device_},
        refresh_{device_, options_.kernels},
        decide_{device_, options_.kernels},
        refresh_costs_{options_, name, device_, refresh_} {}
  Onboard(const Onboard&) = delete;
  Onboard& operator=(const Onboard&) = delete;
  ~Onboard() { (void)close(true); }

  /// Deals the tasks of a graph to the streams on which it is captured. A graph that is dealt already, or has loops, is
  /// returned as it is. @throws Error invalid_argument if a kernel states an invalid cost
  [[nodiscard]] static FrozenGraph deal(FrozenGraph graph, const Options& options) {
    const graph::GraphView view = graph.view();
    if (!options.capture || options.wait_after_each_task || view.lanes != nullptr || !view.loops.empty()) return graph;
    graph::LaneRules rules{arch::chip_of<A>, options.streams};
    rules.chip.costs = options.costs.or_else(rules.chip.costs);
    rules.task_ns = options.task_ns;
    return rondo::deal(std::move(graph), rules);
  }

  static constexpr MemoryKinds memory_kinds{MemoryKind::huge_pages, MemoryKind::normal_pages,
                                            MemoryKind::task_scheduler, MemoryKind::peer, MemoryKind::mapped_host};
  /// Allocates device memory. @throws Error out_of_memory
  [[nodiscard]] DevicePtr<std::byte> allocate(Bytes size, Bytes alignment) {
    return allocate(MemoryKind::device, size, alignment);
  }
  /// Allocates memory of one kind, and zeroes it if the warm-up runs over it. @throws Error out_of_memory, unsupported
  [[nodiscard]] DevicePtr<std::byte> allocate(MemoryKind kind, Bytes size, Bytes alignment = Bytes{64}) {
    const DevicePtr<std::byte> block{memory_.allocate(kind, size, alignment)};
    if (options_.warm_up && programs_ == 0 && !is_used() && size.value != 0 && host_address(block) == nullptr) {
      try {
        device_.create_stream();  // unloading the last program has destroyed it
        device_.work_begins();
        void* const at = reinterpret_cast<void*>(block.address());  // NOLINT: an address for the runtime
        device_.must("aclrtMemsetAsync", device_.calls().set_async(at, size.value, 0, size.value, device_.stream()));
        // The memory may next be used on another stream.
        device_.must("aclrtSynchronizeStreamWithTimeout", device_.wait());
      } catch (...) {
        (void)release(block);
        throw;
      }
    }
    return block;
  }
  /// Returns the host address of mapped host memory; null for any other memory.
  [[nodiscard]] void* host_address(DevicePtr<std::byte> p) const noexcept { return memory_.host_address(p.address()); }
  /// Gives a block back. Waits for the device first if it may still use the block.
  Status release(DevicePtr<std::byte> block) noexcept {
    (void)callers_.wait();
    const Status waited = transfers_.wait();
    const onboard::AclError code = memory_.release(block.address());
    return code == onboard::code_ok ? waited : noted("aclrtFree", code);
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
  /// Makes one copy for each piece.
  Status copy_on_device(const DeviceCopy& copy) noexcept { return transfers_.copy_on_device(copy); }
  /// Waits for the device. Makes no call if there is nothing to wait for.
  Status wait() noexcept {
    const Status status = transfers_.wait();
    if (!status.ok()) [[unlikely]]
      return named(status);
    events_.read(device_, round_ns_);
    return status;
  }

  /// Loads a graph. @throws Error as the constructor of onboard::Program does
  template <class Graph>
  [[nodiscard]] Program load(const Graph& graph, args::ArgsTable& args) {
    const OnOwnStream own(device_);
    prepare(graph.view());
    return Program(device_, zeros_, options_, graph.view(), args, host_, decide_,
                   [this](Program& program) { begin(program); });
  }
  /// Sets device memory to zero, and waits. Call it between rounds.
  Status fill_zeros(DevicePtr<std::byte> to, Bytes size) noexcept {
    const OnOwnStream own(device_);
    device_.work_begins();
    const char* call = nullptr;
    const onboard::AclError code = zeros_.fill(to.address(), size.value, device_.stream(), call);
    return code == onboard::code_ok ? wait() : noted(call, code);
  }
  /// Tells a program that the arena has moved, with the memory that each round sets to zero and conditions of loops.
  void move_arena(Program& program, DevicePtr<std::byte> from, DevicePtr<std::byte> to) noexcept {
    program.move_arena(to.address() - from.address());
  }
  Status launch(Program& program) noexcept {
    if (const onboard::AclError code = transfers_.begin_launch(); code != onboard::code_ok) [[unlikely]]
      return named(transfers_.refused(code));
    last_ = &program;
    const char* call = nullptr;
    const auto launch = [&]() __attribute__((always_inline)) { return program.launch(call, device_.stream()); };
    const onboard::AclError code = events_.around(device_, call, device_.stream(), launch);
    if (code != onboard::code_ok) [[unlikely]]
      return named(transfers_.refused(code, call));
    return {};
  }
  /// Ends the current round, or else a later one, at the next decision that the host makes about a loop, with
  /// `stopped`, which poisons the session. Other rounds do not end. Thread safety: any thread.
  void request_stop() noexcept { host_.stop.make(); }
  /// Why the host decides about loops, as a clause; empty if the device decides about those of all loaded graphs.
  [[nodiscard]] const char* why_host_decides_loops() const noexcept {
    return onboard::why_host_decides(options_, decide_, loaded_);
  }
  /// Launches rounds task by task from now on, and calls `steps`; null: no longer. @throws Error out_of_resources
  void step_through(streams::TaskSteps* steps) {
    if (steps != nullptr) device_.must("aclrtSetDevice", device_.enter());
    for (Program* const program : loaded_) program->step_through(steps);
    steps_ = steps;
  }
  /// Waits; then destroys graph, kernels, stream and event. Memory stays.
  Status unload(Program& program) noexcept {
    (void)callers_.wait();
    std::erase(loaded_, &program);
    const onboard::AclError code = program.release();
    was_launched_ = was_launched_ || last_ != nullptr;
    if (last_ == &program) last_ = nullptr;
    return unloaded(code);
  }

  /// The caller's stream, for rounds that are not waited for.
  [[nodiscard]] streams::CallersStream<onboard::Device>& callers_stream() noexcept { return callers_; }

  // --- args that the device computes
  /// Whether Rondo's refresh kernel is among the kernels and computes the right addresses.
  [[nodiscard]] bool can_refresh_args() const noexcept { return refresh_.is_usable(); }
  /// Returns the host and the device, as cost files name them.
  [[nodiscard]] auto machine() const { return device_.machine(); }
  /// Returns the costs of refreshing if they were given, in a file or measured; otherwise null.
  [[nodiscard]] const args::RefreshCosts* refresh_costs() const noexcept { return refresh_costs_.get(); }
  Status refresh_args(const args::RefreshOp& op) noexcept {
    return transfers_.launch_refresh([&](onboard::Stream stream) { return refresh_.launch(op, nullptr, stream); });
  }
  /// Refreshes the args with bases that the launch carries; nothing is copied.
  Status refresh_in_launch(const args::RefreshOp& op, const args::LaunchPayload& payload) noexcept {
    if (payload.bytes() > max_launch_bytes) return Status{Errc::limit_exceeded};
    return transfers_.launch_refresh([&](onboard::Stream stream) { return refresh_.launch(op, &payload, stream); });
  }

  // --- rounds whose graph a program on the device builds
  template <class Runtime, class Graph>
  using Orchestration = onboard::Orchestration<Onboard, Runtime, Graph>;
  [[nodiscard]] const Options& options() const noexcept { return options_; }

  /// Loads the program that builds the graph. @throws Error as the constructor of onboard::Orchestrator does
  template <class Graph>
  [[nodiscard]] onboard::Orchestrator load_orchestrator(const Graph& graph, const OrchestratorBinary& binary) {
    const OnOwnStream own(device_);
    prepare(graph.view());
    return onboard::Orchestrator(device_, binary, [this] { ++programs_; });
  }
  /// The transfers of a round that launches an orchestrator.
  [[nodiscard]] Transfers& transfers_of_a_launch() noexcept { return was_launched_ = true, transfers_; }
  Status unload(onboard::Orchestrator& orchestrator) noexcept { return unloaded(orchestrator.release()); }

  /// Returns where the tasks of graphs that the device builds run, and why.
  [[nodiscard]] const Dispatch& dispatch() const noexcept { return dispatch_; }
  [[nodiscard]] onboard::Device& device() noexcept { return device_; }
  void note_dispatch(const Dispatch& dispatch) noexcept { dispatch_ = dispatch; }

  /// Opens a queue for rounds in flight, on streams of their own. @throws Error out_of_memory, out_of_resources
  [[nodiscard]] streams::DeviceQueue<A, Parts, RoundEvents> open_queue(std::size_t slots, std::size_t outputs,
                                                                       Bytes bytes) {
    return {device_, refresh_, slots, outputs, bytes, options_.staging, round_ns_, queue_staging_};
  }

  /// Gives the device back. If blocks or pinned memory of this platform are still held, the destructor does it instead.
  Status close() noexcept { return close(false); }

  // --- reports
  /// Returns the runtime's message about the last failure.
  [[nodiscard]] const Error::Text& failure_text() const noexcept { return device_.failure_text(); }
  template <class Sink>
  void remarks(Moment when, Sink&& sink) const noexcept {
    if (when == Moment::closing && last_ != nullptr) last_->remarks(sink);
    if (when != Moment::opening) return;
    if (!has_virtual_memory()) sink("no virtual memory; blocks are allocated one by one");
    if (!can_refresh_args()) sink(refresh_.remark());
    if (!dispatch_.reason.empty() && dispatch_.is_asked_for) sink(dispatch_.reason.c_str());
    refresh_costs_.remark(sink);
  }
  /// Returns the time of the last round that was waited for or delivered.
  [[nodiscard]] double last_round_ns() const noexcept
    requires is_timed
  {
    return round_ns_;
  }
  template <class Sink>
  void holdings(Sink&& sink) const noexcept {
    memory_.holdings(sink);
    transfers_.holdings(sink, queue_staging_, host_.pinned);
    sink("zeros", Bytes{zeros_.held()}, MemoryKind::device);
  }
  [[nodiscard]] bool has_virtual_memory() const noexcept { return memory_.is_virtual(); }
  /// Whether the program that was launched last is replayed with one call.
  [[nodiscard]] bool is_captured() const noexcept { return last_ != nullptr && last_->is_captured(); }
  [[nodiscard]] std::uint32_t refused_captures() const noexcept { return last_ == nullptr ? 0 : last_->refusals(); }
  /// Returns the number of streams over which the tasks of the program that was launched last are spread.
  [[nodiscard]] std::uint32_t streams() const noexcept { return last_ == nullptr ? 0 : last_->streams(); }

 private:
  [[nodiscard]] auto& staging() noexcept { return transfers_.staging(); }
  /// Adds the name of the task to a failure, if the runtime's message names it.
  [[gnu::cold, gnu::noinline]] Status named(Status status) const noexcept {
    return last_ == nullptr ? status : last_->blame(status);
  }
  [[gnu::cold]] Status noted(const char* call, onboard::AclError code) noexcept {
    device_.note(call, code);
    return Status{onboard::errc_of(code)};
  }

  /// Allocates staging for the bytes that a round copies, within the limit.
  void prepare(const graph::GraphView& view) {
    device_.create_stream();
    events_.open(device_);
    callers_.open(view);
    const auto needs = streams::staging_needs<A>(view, Transfers::longest_run, options_.staging);
    if (const Status status = transfers_.wait(); !status) {
      throw Error(status.code(), Error::Text{name, ": waiting for what was copied: ", failure_text()});
    }
    device_.must("aclrtMallocHost", transfers_.resize(needs.bytes, needs.remembered, needs.inputs, needs.outputs));
  }
  /// Whether the device's memory may hold something that another run would change.
  [[nodiscard]] bool is_used() const noexcept {
    return was_launched_ || last_ != nullptr || transfers_.has_copied_in();
  }
  /// Destroys the stream with the last program. `first`: the failure so far
  Status unloaded(onboard::AclError first) noexcept {
    if (programs_ != 0 && --programs_ == 0) {
      if (const onboard::AclError code = device_.destroy_stream(); first == onboard::code_ok) first = code;
      transfers_.forget_plan();
      staging().reset();
    }
    return first == onboard::code_ok ? Status{} : noted("unloading", first);
  }
  /// Runs a program once, so that no round pays for its first run. A program that is loaded later, over memory in use,
  /// is not run.
  void begin(Program& program) {
    loaded_.reserve(loaded_.size() + 1);
    if (program.host_decides()) callers_.host_decides_loops();
    if (options_.warm_up && !program.empty() && !is_used()) {
      program.run_loops_once(true);
      Status status = launch(program);
      if (status.ok()) status = wait();
      program.run_loops_once(false);
      last_ = nullptr;
      round_ns_ = 0;  // a warm-up is no round
      if (!status) {
        Error::Text text{name, ": the first run, over memory that is all zero, failed: ", status.message(),
                         ". If a kernel cannot stand zeros, set Options::warm_up = false; the platform reports: "};
        text.append(failure_text());
        throw Error(status.code(), text);
      }
    }
    if (steps_ != nullptr) program.step_through(steps_);
    loaded_.push_back(&program);
    ++programs_;
  }

  Status close(bool at_the_end) noexcept {
    if (is_closed_) return {};
    const Status waited = transfers_.wait();
    onboard::AclError first = device_.stop();
    const auto keep = [&](onboard::AclError code) {
      if (first == onboard::code_ok) first = code;
    };
    keep(events_.close(device_));
    keep(callers_.close());
    keep(zeros_.release());
    keep(refresh_.release());
    keep(decide_.release());
    if (at_the_end) keep(staging().release_all()), keep(memory_.release_all());
    transfers_.forget_plan();
    keep(staging().release_unused());
    if (memory_.empty() && !staging().has_pinned()) {
      keep(device_.close());
      is_closed_ = true;
    }
    return first == onboard::code_ok ? waited : noted("closing", first);
  }

  const Options options_;
  onboard::Device device_;
  onboard::DeviceMemory memory_;
  onboard::ZeroFill zeros_;
  Transfers transfers_;
  streams::CallersStream<onboard::Device> callers_{device_};
  [[no_unique_address]] RoundEvents events_;
  double round_ns_ = 0;
  onboard::RefreshKernel refresh_;
  onboard::DecideKernel decide_;
  streams::ConfiguredCosts refresh_costs_;
  Program* last_ = nullptr;
  std::vector<Program*> loaded_;
  streams::TaskSteps* steps_ = nullptr;
  bool was_launched_ = false;  ///< whether a round launched a program that has been unloaded
  std::uint32_t programs_ = 0;
  streams::LoopHost host_{memory_};
  Dispatch dispatch_;
  std::uint64_t queue_staging_ = 0;
  bool is_closed_ = false;
};

}  // namespace rondo::platform

namespace rondo {
using platform::onboard::Completion;
}
