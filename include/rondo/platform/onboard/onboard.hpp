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
#include <rondo/platform/streams/device_platform.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace rondo::platform {

namespace onboard {
/// See streams::DevicePlatform.
template <arch::Arch A>
struct Parts {
  static constexpr detail::FixedText<32> name_text{A::name, "_onboard"};
  static constexpr const char* name = name_text.c_str();
  static constexpr Identity identity{name, A::name, A::soc_prefixes, A::npu_arch};
  using Options = onboard::Options;
  using Device = onboard::Device;
  using Memory = DeviceMemory;
  using RefreshKernel = onboard::RefreshKernel;
  using DecideKernel = onboard::DecideKernel;
  using Program = onboard::Program;
};

}  // namespace onboard

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
class Onboard : public streams::DevicePlatform<A, onboard::Parts<A>, RoundEvents> {
  using Base = streams::DevicePlatform<A, onboard::Parts<A>, RoundEvents>;
  using Base::callers_, Base::decide_, Base::device_, Base::host_, Base::last_, Base::memory_, Base::options_,
      Base::round_ns_, Base::transfers_;

 public:
  /// The platform of sessions whose policies have `using Time = DeviceTime`.
  using Timed = Onboard<A, streams::RoundEvents>;
  using Options = onboard::Options;
  using Program = onboard::Program;
  using Base::name;
  static constexpr memory::Concurrency concurrency = memory::Concurrency::in_lanes;
  static constexpr Capabilities capabilities = Base::shared_capabilities | Capabilities{Capability::orchestration};

  /// @throws Error no_such_device, unsupported (another chip, too old a runtime), and errors of the runtime
  explicit Onboard(const Options& options) : Base{options}, zeros_{device_} {}
  ~Onboard() { (void)close(true); }

  /// Deals the tasks of a graph to the streams on which it is captured. A graph that is dealt already, or has loops, is
  /// returned as it is. @throws Error invalid_argument if a kernel or the options state an invalid cost
  [[nodiscard]] static FrozenGraph deal(FrozenGraph graph, const Options& options) {
    const graph::GraphView view = graph.view();
    if (!options.capture || options.wait_after_each_task || view.lanes != nullptr) return graph;
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
    if (options_.warm_up && !is_used() && size.value != 0 && kind != MemoryKind::mapped_host) {
      const OnOwnStream own(device_, true);
      try {
        device_.create_stream();  // unloading the last program has destroyed it
        clear(block.address(), size.value);
        // The memory may next be used on another stream.
        device_.must("aclrtSynchronizeStreamWithTimeout", device_.wait());
      } catch (...) {
        (void)this->release(block);
        throw;
      }
    }
    return block;
  }
  /// Loads a graph. @throws Error as the constructor of onboard::Program does
  template <class Graph>
  [[nodiscard]] Program load(const Graph& graph, args::ArgsTable& args) {
    const OnOwnStream own(device_);
    device_.create_stream();
    this->prepare(graph.view());
    return Program(device_, zeros_, options_, graph.view(), args, host_, decide_,
                   [&](Program& program) { begin(program, graph.view(), args); });
  }
  /// Sets device memory to zero, and waits. Call it between rounds.
  Status fill_zeros(DevicePtr<std::byte> to, Bytes size) noexcept {
    const OnOwnStream own(device_);
    const char* call = onboard::Api::enter;
    onboard::AclError code = device_.enter();
    if (code == onboard::code_ok) device_.work_begins();
    if (code == onboard::code_ok) code = zeros_.fill(to.address(), size.value, device_.stream(), call);
    return code == onboard::code_ok ? this->wait() : this->noted(call, code);
  }
  /// Why the host decides about loops, as a clause; empty if the device decides about those of all loaded graphs.
  [[nodiscard]] const char* why_host_decides_loops() const noexcept {
    if (!options_.capture || options_.wait_after_each_task) return "tasks are launched one by one";
    for (const Program* const program : loaded_) {
      if (program->host_decides() && decide_.is_usable()) return "the runtime refused to capture them";
    }
    return decide_.why_not();
  }
  /// Launches rounds task by task from now on, and calls `steps`; null: no longer. @throws Error out_of_resources, and
  /// changes nothing
  void step_through(streams::TaskSteps* steps) {
    if (steps != nullptr) device_.must("aclrtSetDevice", device_.enter());
    try {
      for (Program* const program : loaded_) program->step_through(steps);
    } catch (...) {
      for (Program* const program : loaded_) program->step_through(steps_);
      throw;
    }
    steps_ = steps;
  }
  /// Waits; then destroys graph, kernels, stream and event. Memory stays.
  Status unload(Program& program) noexcept {
    (void)callers_.wait();
    std::erase(loaded_, &program);
    const onboard::AclError code = program.release();
    if (last_ != nullptr) device_.note_contents();
    if (last_ == &program) last_ = nullptr;
    return unloaded(code);
  }

  // --- rounds whose graph a program on the device builds
  template <class Runtime, class Graph>
  using Orchestration = onboard::Orchestration<Onboard, Runtime, Graph>;
  /// While it lives, work goes to the session's own stream.
  using OnOwnStream = streams::OnOwnStream<onboard::Device>;
  [[nodiscard]] const Options& options() const noexcept { return options_; }

  /// Loads the program that builds the graph. @throws Error as the constructor of onboard::Orchestrator does
  template <class Graph>
  [[nodiscard]] onboard::Orchestrator load_orchestrator(const Graph& graph, const OrchestratorBinary& binary) {
    const OnOwnStream own(device_);
    device_.create_stream();
    this->prepare(graph.view());
    return onboard::Orchestrator(device_, binary, [this] { ++programs_; });
  }
  /// The transfers of a round that launches an orchestrator.
  [[nodiscard]] auto& transfers_of_a_launch() noexcept { return device_.note_contents(), transfers_; }
  Status unload(onboard::Orchestrator& orchestrator) noexcept { return unloaded(orchestrator.release()); }

  /// Returns where the tasks of graphs that the device builds run, and why.
  [[nodiscard]] const Dispatch& dispatch() const noexcept { return dispatch_; }
  [[nodiscard]] onboard::Device& device() noexcept { return device_; }
  void note_dispatch(const Dispatch& dispatch) noexcept { dispatch_ = dispatch; }

  /// Gives the device back. If blocks or pinned memory of this platform are still held, the destructor does it instead.
  Status close() noexcept { return close(false); }

  // --- reports
  template <class Sink>
  void remarks(Moment when, Sink&& sink) const noexcept {
    for (const Program* const program : loaded_) {
      if (when == Moment::closing && program->remarks(sink)) break;  // the others would say the same
    }
    if (when != Moment::opening) return;
    if (!has_virtual_memory()) sink("no virtual memory; blocks are allocated one by one");
    if (!this->can_refresh_args()) sink(this->refresh_.remark());
    if (!dispatch_.reason.empty() && dispatch_.is_asked_for) sink(dispatch_.reason.c_str());
    this->refresh_costs_.remark(sink);
  }
  template <class Sink>
  void holdings(Sink&& sink) const {
    this->shared_holdings(sink);
    sink("zeros", Bytes{zeros_.held()}, MemoryKind::device);
  }
  [[nodiscard]] bool has_virtual_memory() const noexcept { return memory_.is_virtual(); }
  /// Whether the program that was launched last is replayed with one call.
  [[nodiscard]] bool is_captured() const noexcept { return last_ != nullptr && last_->is_captured(); }
  [[nodiscard]] std::uint32_t refused_captures() const noexcept { return last_ == nullptr ? 0 : last_->refusals(); }
  /// Returns the number of streams over which the tasks of the program that was launched last are spread.
  [[nodiscard]] std::uint32_t streams() const noexcept { return last_ == nullptr ? 0 : last_->streams(); }

 private:
  /// Whether the device's memory may hold something that another run would change.
  [[nodiscard]] bool is_used() const noexcept { return last_ != nullptr || device_.has_contents(); }
  /// Destroys the stream with the last program. `first`: the failure so far
  Status unloaded(onboard::AclError first) noexcept {
    if (programs_ != 0 && --programs_ == 0) {
      onboard::keep_first(first, device_.destroy_stream());
      transfers_.forget_plan();
      transfers_.staging().reset();
    }
    return first == onboard::code_ok ? Status{} : this->noted("unloading", first);
  }
  /// Puts the zeroing of memory on the stream. Memory that the host maps is zero on return.
  void clear(std::uint64_t address, std::uint64_t size) {
    if (void* const host = memory_.host_address(address); host != nullptr) {
      std::memset(host, 0, size);
      return;
    }
    device_.work_begins();
    void* const at = reinterpret_cast<void*>(address);  // NOLINT: an address for the runtime
    device_.must("aclrtMemsetAsync", device_.calls().set_async(at, size, 0, size, device_.stream()));
  }
  /// Zeroes the tensors that a program reads before it writes them: an earlier program may have left results there.
  void clear_inputs(const graph::GraphView& view, args::ArgsTable& args) {
    std::vector<bool> is_cleared(view.tensors.size());
    for (std::uint32_t t = 0; t < view.tasks.size(); ++t) {
      const std::byte* const block = args.bytes() + (args.block(t, 0) - args.words()) * std::ptrdiff_t{sizeof(ArgWord)};
      for (const graph::ArgRecord& arg : view.args_of(view.tasks[t])) {
        if (!arg.is_address() || arg.width != sizeof(std::uint64_t)) continue;
        const std::uint64_t size = view.tensors[arg.tensor].bytes;
        const graph::TensorRecord& root = view.tensors[graph::root_of(view.tensors, arg.tensor)];
        const bool is_read = root.is_defined_at_start() && !is_carried_in_args(root.direction);
        if (!is_read || size == 0 || is_cleared[arg.tensor]) continue;
        is_cleared[arg.tensor] = true;
        std::uint64_t address = 0;
        std::memcpy(&address, block + arg.offset, sizeof(address));
        clear(address, size);
      }
    }
  }
  /// Runs a program once, so that no round pays for its first run. Does not run a program that is loaded later, over
  /// memory in use, nor one with collectives: where some ranks use their memory already, only the others would run it.
  void begin(Program& program, const graph::GraphView& view, args::ArgsTable& args) {
    loaded_.reserve(loaded_.size() + 1);
    if (program.host_decides()) callers_.host_decides_loops();
    if (options_.warm_up && !program.empty() && !program.is_shared() && !is_used()) {
      if (std::exchange(has_run_, true)) clear_inputs(view, args);
      program.run_loops_once(true);
      Status status = this->launch(program);
      if (status.ok()) status = this->wait();
      program.run_loops_once(false);
      last_ = nullptr;
      round_ns_ = 0;  // a warm-up is no round
      if (!status) {
        Error::Text text{name, ": the first run, over memory that is all zero, failed: ", status.message(),
                         ". If a kernel cannot stand zeros, set Options::warm_up = false; the platform reports: "};
        text.append(this->failure_text());
        throw Error(status.code(), text);
      }
    }
    if (steps_ != nullptr) program.step_through(steps_);
    loaded_.push_back(&program);
    ++programs_;
  }

  Status close(bool at_the_end) noexcept {
    return Base::close(at_the_end, [this] { return zeros_.release(); });
  }

  onboard::ZeroFill zeros_;
  std::vector<Program*> loaded_;
  streams::TaskSteps* steps_ = nullptr;
  std::uint32_t programs_ = 0;
  bool has_run_ = false;  ///< whether a program was run when it was loaded
  Dispatch dispatch_;
};

}  // namespace rondo::platform

namespace rondo {
using platform::onboard::Completion;
}
