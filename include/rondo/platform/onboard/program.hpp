// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/graph/connect_lanes.hpp>
#include <rondo/graph/lanes.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/onboard/binaries.hpp>
#include <rondo/platform/onboard/lane_script.hpp>
#include <rondo/platform/onboard/stepper.hpp>
#include <rondo/platform/onboard/zero_fill.hpp>
#include <rondo/platform/streams/library_calls.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo::platform::onboard {

/// A graph as the device runs it: its kernels, and one launch for each task in an order that its edges allow. If the
/// runtime can capture, the launches are one captured instance. Tasks that are dealt to lanes are captured on a stream
/// for each lane.
///
/// A task of n blocks is one launch on n blocks. Its args are its n argument blocks, one after the other; a kernel
/// finds its own block by the index that the hardware provides.
///
/// Zeroed workspaces are filled by a call of the runtime (see ZeroFill) before the tasks. The call is not part of the
/// capture, because captured addresses never change.
///
/// Lifetime: immovable; device, args table and graph outlive it. Thread safety: the session's. Errors: the constructor
/// throws; a refused capture is no error. Cost on the hot path: one call, or one for each task.
class Program {
 public:
  /// Calls `begin(*this)` when everything is in place. @throws Error invalid_argument (a kernel is in no binary),
  /// unsupported, what the runtime reports, and what begin() throws
  template <class Begin>
  Program(Device& device, ZeroFill& zeros, const Options& options, const graph::GraphView& view, args::ArgsTable& args,
          Begin begin)
      : Program(device, zeros, options, view) {
    device_.must("aclrtSetDevice", device_.enter());
    place_launches(args);
    if (fill_.bytes != 0) zeros_.prepare(fill_.bytes);
    if (calls().args_of_exception != nullptr) binaries_.on_exception(&note_exception, this);
    if (options_.capture && !options_.wait_after_each_task && calls().captures() && !launches_.empty()) capture();
    begin(*this);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { (void)release(); }

  /// Launches one round on a stream of the device. @returns the runtime's code; `call` is the name of the call
  [[nodiscard]] AclError launch(const char*& call, Stream stream) noexcept {
    if (instance_ == nullptr && launches_.empty()) return code_ok;
    std::uint64_t range = 0;
    if (marks_ranges_) range = profiler_.range_start("rondo round", stream);
    AclError code = code_ok;
    if (instance_ != nullptr) [[likely]] {
      call = "aclmdlRIExecuteAsync";
      code = calls().execute(instance_, stream);
      if (code != code_ok && errc_of(code) == Errc::unsupported) [[unlikely]] {
        code = drop_instance(call, stream);
        if (code == code_ok) code = launch_each(call, stream);
      }
    } else {
      code = launch_uncaptured(call, stream);
    }
    if (marks_ranges_) profiler_.range_end(range);
    return code;
  }

  /// The same on a stream of the caller's; does not wait. `is_captured`: the stream is being captured, so tasks
  /// are launched one by one, and read the args table when the caller's graph is replayed.
  [[nodiscard]] AclError enqueue(const char*& call, Stream stream, bool is_captured) noexcept {
    if (is_captured && calls().launch_device_args == nullptr) return code_unsupported;
    AclError code = code_ok;
    if (fill_.bytes != 0) code = zeros_.fill(fill_.address, fill_.bytes, stream, call);
    RunInstance const graph = instance_ != nullptr ? instance_ : after_fill_;
    if (code == code_ok && graph != nullptr && !is_captured) {
      call = "aclmdlRIExecuteAsync";
      return calls().execute(graph, stream);
    }
    for (const Launch* l = launches_.data(); code == code_ok && l != launches_.data() + launches_.size(); ++l) {
      code = launch_one(*l, call, stream);
      if (code == streams::library_call_failed) under_way_ = l->position;
    }
    return code;
  }

  /// Launches rounds task by task from now on and calls `steps`; null: launches them as before. Call it between rounds.
  /// @throws Error out_of_resources
  void step_through(streams::TaskSteps* steps) {
    const bool was_on = stepper_.is_on();
    stepper_.set(steps);
    if (was_on != stepper_.is_on()) std::swap(instance_, instance_in_steps_);
  }

  /// Moves the memory that is filled with zeros by this difference, modulo 2^64.
  void move_fill(std::uint64_t distance) noexcept { fill_.address += distance; }

  [[nodiscard]] bool is_captured() const noexcept {
    return instance_ != nullptr || after_fill_ != nullptr || instance_in_steps_ != nullptr;
  }
  /// The number of refused captures and replays.
  [[nodiscard]] std::uint32_t refusals() const noexcept { return refusals_; }
  [[nodiscard]] bool empty() const noexcept { return launches_.empty(); }
  /// The number of streams over which the tasks are spread.
  [[nodiscard]] std::uint32_t streams() const noexcept { return is_captured() ? streams_ : 1; }
  /// The number of streams to which the tasks were dealt.
  [[nodiscard]] std::uint32_t wanted_streams() const noexcept { return wanted_streams_; }

  /// Names the task that failed: the task that was waited for; else the task whose args the device reported; else the
  /// only task that runs the kernel that the runtime's message names, if there is one.
  [[nodiscard]] Status blame(Status status) const noexcept {
    const bool is_about_a_task = status.code() == Errc::device_failed || status.code() == Errc::timed_out ||
                                 status.code() == Errc::kernel_failed;
    if (!is_about_a_task) return status;
    if (under_way_ != none) return of_task(status, under_way_);
    const void* const args = failed_args_.load(std::memory_order_acquire);
    for (const Launch& launch : launches_) {
      if (args != nullptr && launch.device_args == args) return of_task(status, launch.position);
    }
    if (device_.failed_kernel().empty()) return status;
    std::uint32_t found = none;
    for (const Launch& launch : launches_) {
      if (device_.failed_kernel() != view_.name(view_.tasks[launch.position].name)) continue;
      if (found != none) return status;
      found = launch.position;
    }
    return found == none ? status : of_task(status, found);
  }

  /// Waits, and unloads the kernels. @returns the first failure
  AclError release() noexcept {
    // Library calls alone need no binary, and may still run, or have been timed.
    if (launches_.empty() && binaries_.empty() && !is_captured() && !stepper_.has_events()) return code_ok;
    AclError first = device_.wait();
    const auto keep = [&](AclError code) {
      if (first == code_ok) first = code;
    };
    keep(device_.enter());
    if (instance_ != nullptr) keep(calls().destroy_instance(instance_));
    if (after_fill_ != nullptr) keep(calls().destroy_instance(after_fill_));
    if (instance_in_steps_ != nullptr) keep(calls().destroy_instance(instance_in_steps_));
    instance_ = after_fill_ = instance_in_steps_ = nullptr;
    keep(stepper_.release());
    keep(binaries_.release());
    launches_ = {};
    return first;
  }

 private:
  static constexpr std::uint32_t none = 0xFFFF'FFFF;
  static constexpr AclError code_out_of_queues = 207008;

  struct Fill {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  ///< 0: there is none
    std::uint32_t position = 0;
    const void* args = nullptr;
    std::uint64_t args_bytes = 0;
  };
  struct Launch {
    FuncHandle function = nullptr;
    const void* device_args = nullptr;
    void* host_args = nullptr;
    std::size_t bytes = 0;
    std::uint32_t blocks = 1;
    std::uint32_t position = 0;
    bool blocks_meet = false;
    std::uint32_t library_call = streams::LibraryCalls::none;
  };

  Program(Device& device, ZeroFill& zeros, const Options& options, const graph::GraphView& view)
      : device_{device}, zeros_{zeros}, options_{options}, view_{view}, binaries_{device, options.kernels} {
    if (options.profiler_ranges) profiler_ = profiler_calls();
    marks_ranges_ = profiler_.range_start != nullptr;
  }

  [[nodiscard]] const Calls& calls() const noexcept { return device_.calls(); }

  void place_launches(args::ArgsTable& args) {
    std::size_t kernels = 0;
    for (const graph::TaskRecord& task : view_.tasks) kernels += task.fills ? 0 : 1;
    launches_ = std::vector<Launch>(kernels);
    if (!launches_.empty() && !calls().launches()) {
      throw Error(Errc::unsupported, Error::Text(device_.identity().platform,
                                                 ": the runtime has neither aclrtLaunchKernelV2 nor "
                                                 "aclrtLaunchKernelWithHostArgs; install a newer one"));
    }
    Launch* launch = launches_.data();
    for (std::uint32_t i = 0; i < view_.tasks.size(); ++i) {
      // The order of the lanes is the one that the plan of the memory allows, on one stream as well.
      const std::uint32_t t = view_.lanes == nullptr ? i : view_.lanes->order[i];
      const graph::TaskRecord& task = view_.tasks[t];
      if (task.block_bytes == 0) {
        throw Error(Errc::unsupported, Error::Text(device_.identity().platform, ": kernel '", view_.name(task.name),
                                                   "' takes no argument, so it could do nothing; leave it out"));
      }
      const ArgWord* const block = args.block(t, 0);
      const auto offset = static_cast<std::size_t>(block - args.words()) * sizeof(ArgWord);
      if (task.fills) {
        ArgWord words[2] = {};  // the image is no array of words everywhere
        __builtin_memcpy(words, args.bytes() + offset, sizeof(words));
        fill_ = {static_cast<std::uint64_t>(words[0]), static_cast<std::uint64_t>(words[1]), t, block,
                 task.block_bytes};
        continue;
      }
      if (const std::uint32_t call = library_calls_.add(view_, t, args); call != streams::LibraryCalls::none) {
        const std::size_t bytes = std::size_t{task.blocks} * task.block_bytes;
        *launch++ = {.device_args = block, .bytes = bytes, .position = t, .library_call = call};
        continue;
      }
      const std::string_view kernel = view_.name(task.name);
      *launch++ = {binaries_.find(kernel, task.core),
                   block,
                   args.bytes() + offset,
                   std::size_t{task.blocks} * task.block_bytes,
                   task.blocks,
                   t,
                   meets(kernel)};
    }
  }

  [[nodiscard]] bool meets(std::string_view kernel) const noexcept {
    for (const char* const name : options_.blocks_meet) {
      if (kernel == name) return true;
    }
    return false;
  }
  /// Of the first that failed.
  static void note_exception(ExceptionInfo* info, void* self) noexcept {
    Program& program = *static_cast<Program*>(self);
    void* args = nullptr;
    std::uint32_t size = 0;
    if (program.calls().args_of_exception(info, &args, &size) != code_ok) return;
    const void* nothing_yet = nullptr;
    (void)program.failed_args_.compare_exchange_strong(nothing_yet, args, std::memory_order_release,
                                                       std::memory_order_relaxed);
  }

  /// Captures on a stream for each lane. If that is refused, tries fewer streams, at last one. If that is refused, too,
  /// there is no capture.
  void capture() {
    if (device_.wait() != code_ok) return;
    capture_lanes();
    if (instance_ == nullptr) capture_in_order();
    if (fill_.bytes != 0) {  // a round then takes the way that looks for a fill
      after_fill_ = instance_;
      instance_ = nullptr;
    }
  }
  void capture_lanes() {
    if (view_.lanes == nullptr) return;
    graph::Lanes lanes = *view_.lanes;
    if (options_.streams != 0) lanes = graph::fold_lanes(view_, lanes, options_.streams);
    wanted_streams_ = lanes.count;
    while (lanes.count > 1) {
      const LaneScript script(lanes);
      AclError code = code_out_of_queues;
      if (script.queues() <= LaneScript::most_queues) {
        code = capture_script(device_, script, instance_, [&](std::uint32_t launch, Stream stream) {
          const char* call = nullptr;
          return launch_one(launches_[launch], call, stream);
        });
      }
      streams_ = instance_ == nullptr ? 1 : lanes.count;
      if (instance_ != nullptr) return;
      lanes = graph::fold_lanes(view_, lanes, errc_of(code) == Errc::out_of_resources ? lanes.count / 2 : 1);
    }
  }
  void capture_in_order() noexcept {
    AclError code = calls().capture_begin(device_.stream(), capture_thread_local);
    if (code == code_ok) {
      const char* call = nullptr;
      code = launch_each(call, device_.stream());
      const AclError ended = calls().capture_end(device_.stream(), &instance_);
      if (code == code_ok) code = ended;
    }
    if (code == code_ok) return;
    const char* call = nullptr;
    under_way_ = none;
    (void)drop_instance(call, device_.stream());
  }
  /// @returns the result of waiting for a replay that still needs the graph
  [[gnu::cold]] AclError drop_instance(const char*& call, Stream stream) noexcept {
    ++refusals_;
    if (instance_ == nullptr) return code_ok;
    call = "aclrtSynchronizeStreamWithTimeout";
    const AclError code = wait_for(stream);
    (void)calls().destroy_instance(instance_);
    instance_ = nullptr;
    return code;
  }

  [[nodiscard, gnu::cold, gnu::noinline]] AclError launch_in_steps(const char*& call, Stream stream) noexcept {
    const auto wait = [&] { return wait_for(stream); };
    return stepper_.round(call, stream, under_way_, wait, [&](auto take) {
      AclError code = code_ok;
      if (fill_.bytes != 0) {
        const auto fill = [&] { return zeros_.fill(fill_.address, fill_.bytes, stream, call); };
        code = take(fill_.position, fill_.args, fill_.args_bytes, fill);
      }
      for (const Launch& l : launches_) {
        if (code != code_ok) break;
        const auto launch = [&] { return launch_one(l, call, stream); };
        code = take(l.position, l.device_args, l.bytes, launch);
      }
      return code;
    });
  }

  /// Out of line, so that the replay saves no registers for it.
  [[nodiscard, gnu::noinline]] AclError launch_uncaptured(const char*& call, Stream stream) noexcept {
    if (stepper_.is_on()) [[unlikely]]
      return launch_in_steps(call, stream);
    if (fill_.bytes == 0) return launch_each(call, stream);
    AclError code = zeros_.fill(fill_.address, fill_.bytes, stream, call);
    if (code != code_ok) return code;
    if (after_fill_ == nullptr) return launch_each(call, stream);
    call = "aclmdlRIExecuteAsync";
    code = calls().execute(after_fill_, stream);
    if (code == code_ok || errc_of(code) != Errc::unsupported) return code;
    instance_ = after_fill_;
    after_fill_ = nullptr;
    code = drop_instance(call, stream);
    return code == code_ok ? launch_each(call, stream) : code;
  }

  [[nodiscard]] AclError launch_each(const char*& call, Stream stream) noexcept {
    for (const Launch& l : launches_) {
      AclError code = launch_one(l, call, stream);
      if (code == streams::library_call_failed) under_way_ = l.position;
      if (code != code_ok) return code;
      if (!options_.wait_after_each_task) continue;
      under_way_ = l.position;
      call = "aclrtSynchronizeStreamWithTimeout";
      if (code = wait_for(stream); code != code_ok) return code;
      under_way_ = none;
    }
    return code_ok;
  }

  [[nodiscard]] AclError launch_one(const Launch& l, const char*& call, Stream stream) noexcept {
    if (l.library_call != streams::LibraryCalls::none) return library_calls_.run(l.library_call, stream, call);
    // The limit first, so that those without the other attribute leave it out.
    LaunchAttr attrs[2];
    LaunchAttr* end = attrs;
    if (const std::uint64_t limit_us = std::uint64_t{options_.task_timeout_ms} * 1000; limit_us != 0) {
      *end++ = {launch_timeout_us, {static_cast<std::int32_t>(limit_us), static_cast<std::int32_t>(limit_us >> 32)}};
    }
    *end = {launch_schedule_mode, {schedule_all_at_once}};
    const LaunchConfig config{attrs, static_cast<std::size_t>(end - attrs) + (l.blocks_meet ? 1 : 0)};
    const LaunchConfig* const how = config.count == 0 ? nullptr : &config;
    if (calls().launch_device_args != nullptr) {
      call = "aclrtLaunchKernelV2";
      return calls().launch_device_args(l.function, l.blocks, l.device_args, l.bytes, how, stream);
    }
    call = "aclrtLaunchKernelWithHostArgs";
    return calls().launch_host_args(l.function, l.blocks, stream, how, l.host_args, l.bytes, nullptr, 0);
  }

  /// Waits for the work on a stream while more follows.
  [[nodiscard]] AclError wait_for(Stream stream) noexcept {
    if (stream != device_.stream()) return device_.synchronize(stream);
    const AclError code = device_.wait();
    if (code == code_ok) device_.work_begins();
    return code;
  }
  [[nodiscard]] Status of_task(Status status, std::uint32_t position) const noexcept {
    const Status named = Status::of_task(status.code(), view_.tasks[position].added_as);
    return status.poisoned() ? named.poisoning() : named;
  }
  Device& device_;
  ZeroFill& zeros_;
  const Options& options_;
  graph::GraphView view_;
  Binaries binaries_;
  std::vector<Launch> launches_;
  streams::LibraryCalls library_calls_;
  RunInstance instance_ = nullptr;
  RunInstance after_fill_ = nullptr;         ///< the instance, if workspaces must be filled first
  RunInstance instance_in_steps_ = nullptr;  ///< the instance while rounds are launched task by task
  Stepper stepper_{device_};
  Fill fill_;
  std::uint32_t refusals_ = 0;
  std::uint32_t streams_ = 1;
  std::uint32_t wanted_streams_ = 1;
  std::uint32_t under_way_ = none;
  std::atomic<const void*> failed_args_{nullptr};
  bool marks_ranges_ = false;
  ProfilerCalls profiler_;
};

}  // namespace rondo::platform::onboard
