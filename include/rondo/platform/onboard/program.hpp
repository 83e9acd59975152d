// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/graph/call_sessions.hpp>
#include <rondo/graph/connect_lanes.hpp>
#include <rondo/graph/lanes.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/onboard/lane_script.hpp>
#include <rondo/platform/onboard/launches.hpp>
#include <rondo/platform/onboard/loop_capture.hpp>
#include <rondo/platform/onboard/stepper.hpp>
#include <rondo/platform/onboard/zero_fill.hpp>
#include <rondo/platform/streams/host_loops.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rondo::platform::onboard {

/// A graph as the device runs it: its kernels, and one launch for each task in an order that its edges allow. If the
/// runtime can capture, the launches are one captured instance. Tasks that are dealt to lanes are captured on a stream
/// for each lane. A graph with loops is one instance, too, if the device can decide about them; see LoopCapture.
/// Otherwise it is one instance for each of its sections, and the host decides between them; see streams::HostLoops.
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
  /// unsupported, errors of the runtime, and what begin() throws
  template <class Begin>
  Program(Device& device, ZeroFill& zeros, const Options& options, const graph::GraphView& view, args::ArgsTable& args,
          streams::LoopHost& host, DecideKernel& decide, Begin begin)
      : Program(device, zeros, options, view, host) {
    device_.must("aclrtSetDevice", device_.enter());
    launches_.place(args, fill_);
    if (fill_.bytes != 0) zeros_.prepare(fill_.bytes);
    loops_.cut(view_, args, all());
    if (options_.capture && !options_.wait_after_each_task && calls().captures() && !launches_.empty()) capture(decide);
    compare_captures();
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
      if (code != code_ok && may_fall_back(code)) [[unlikely]] {
        code = drop_instance(instance_, call, stream);
        if (code == code_ok) code = run_all(call, stream);
      }
    } else {
      code = launch_uncaptured(call, stream);
    }
    if (marks_ranges_) profiler_.range_end(range);
    return code;
  }

  /// Launches one round on the caller's stream; does not wait, so the host must have no loop to decide about.
  /// `is_captured`: the stream is being captured, so tasks are launched one by one, and read the args table when the
  /// caller's graph runs. The graph must then have no loops.
  [[nodiscard]] AclError enqueue(const char*& call, Stream stream, bool is_captured) noexcept {
    call = "aclrtLaunchKernelV2";
    if (is_captured && calls().launch_device_args == nullptr) return code_unsupported;
    if (host_decides()) return code_unsupported;
    AclError code = code_ok;
    if (fill_.bytes != 0) code = zeros_.fill(fill_.address, fill_.bytes, stream, call);
    RunInstance graph = instance_ != nullptr ? instance_ : after_fill_;
    if (graph == nullptr) graph = set_aside_;  // only rounds that wait are launched task by task meanwhile
    if (code == code_ok && graph != nullptr && !is_captured) {
      call = "aclmdlRIExecuteAsync";
      code = calls().execute(graph, stream);
      if (code == code_ok || !may_fall_back(code) || !loops_.empty()) return code;
      code = code_ok;  // task by task instead
    }
    for (const Launch* l = all().data(); code == code_ok && l != all().data() + all().size(); ++l) {
      code = launches_.submit(*l, call, stream);
      if (code == streams::library_call_failed) under_way_ = l->position;
    }
    return code;
  }

  /// Launches rounds task by task from now on and calls `steps`; null: launches them as before. Call it between rounds.
  /// @throws Error out_of_resources
  void step_through(streams::TaskSteps* steps) {
    const bool was_on = stepper_.is_on();
    stepper_.set(steps);
    if (was_on != stepper_.is_on()) std::swap(instance_, set_aside_);
  }

  /// Makes the next rounds of a graph with loops run each of their tasks once, and decide nothing, until it is called
  /// with false.
  void run_loops_once(bool is_wanted) noexcept {
    loops_.run_each_section_once(is_wanted);
    if (!device_decides_) return;
    std::swap(fill_.bytes == 0 ? instance_ : after_fill_, set_aside_);
  }

  /// Whether the graph has loops about which the host decides.
  [[nodiscard]] bool host_decides() const noexcept { return !loops_.empty() && !device_decides_; }

  /// Called when the arena has moved by this distance, modulo 2^64.
  void move_arena(std::uint64_t distance) noexcept {
    fill_.address += distance;
    loops_.move_arena(distance);
  }

  [[nodiscard]] bool is_captured() const noexcept {
    if (!sections_.empty()) return std::find(sections_.begin(), sections_.end(), nullptr) == sections_.end();
    return instance_ != nullptr || after_fill_ != nullptr || set_aside_ != nullptr;
  }
  /// What the runtime refused, for the session's log. @returns whether there was something
  template <class Sink>
  bool remarks(Sink&& sink) const noexcept {
    const Error::Text refused{"the runtime refused ", refusals_, " captures; tasks were launched one by one"};
    if (refusals_ != 0) sink(refused.c_str());
    if (capture_.is_unlike_other)
      sink("a rank did not capture the graph as the others did; tasks were launched one by one");
    const Error::Text fewer{"the runtime had ", streams(), " of the ", wanted_streams_,
                            " streams over which the graph's tasks were to be spread"};
    if (streams() < wanted_streams_) sink(fewer.c_str());
    return refusals_ != 0 || capture_.is_unlike_other || streams() < wanted_streams_;
  }
  /// The number of refused captures and replays.
  [[nodiscard]] std::uint32_t refusals() const noexcept { return refusals_; }
  [[nodiscard]] bool empty() const noexcept { return launches_.empty(); }
  /// Whether other processes run the graph at the same time, since it has collectives.
  [[nodiscard]] bool is_shared() const noexcept { return capture_.is_shared; }
  /// The number of streams over which the tasks are spread.
  [[nodiscard]] std::uint32_t streams() const noexcept { return is_captured() ? streams_ : 1; }

  /// Names the task that failed, if it is known: the task that was waited for; else see Launches::failed().
  [[nodiscard]] Status blame(Status status) const noexcept {
    const bool is_about_a_task = status.code() == Errc::device_failed || status.code() == Errc::timed_out ||
                                 status.code() == Errc::kernel_failed;
    if (!is_about_a_task) return status;
    const std::uint32_t position = under_way_ != none ? under_way_ : launches_.failed();
    if (position == none) {
      device_.begin_failure(launches_.library_calls().list());
      return status;
    }
    const Status named = Status::of_task(status.code(), view_.tasks[position].added_as);
    return status.poisoned() ? named.poisoning() : named;
  }

  /// Waits, and unloads the kernels. @returns the first failure
  AclError release() noexcept {
    // Even without kernels, library calls may still run, and their events may have to be released.
    if (launches_.has_nothing() && !is_captured() && !stepper_.has_events() && loops_.empty()) return code_ok;
    AclError first = device_.wait();
    keep_first(first, device_.enter_to_release());
    keep_first(first, destroy_instances());
    keep_first(first, stepper_.release());
    keep_first(first, loops_.release());
    keep_first(first, launches_.release());
    return first;
  }

 private:
  using Launch = Launches::Launch;
  static constexpr std::uint32_t none = Launches::none;
  static constexpr AclError code_out_of_queues = 207008;

  Program(Device& device, ZeroFill& zeros, const Options& options, const graph::GraphView& view,
          streams::LoopHost& host)
      : device_{device},
        zeros_{zeros},
        options_{options},
        view_{view},
        launches_{device, options, view},
        loops_{device, host},
        stepper_{device, host} {
    if (options.profiler_ranges) profiler_ = profiler_calls();
    marks_ranges_ = profiler_.range_start != nullptr;
  }

  [[nodiscard]] const Calls& calls() const noexcept { return device_.calls(); }

  [[nodiscard]] const std::vector<Launch>& all() const noexcept { return launches_.all(); }
  [[nodiscard]] std::span<const Launch> section(std::uint32_t number) const noexcept {
    const auto [first, last] = loops_.sections()[number];
    return std::span(all()).subspan(first, last - first);
  }

  /// Captures on a stream for each lane. If that is refused, tries fewer streams, at last one. If that is refused, too,
  /// there is no capture.
  void capture(DecideKernel& decide) {
    if (!loops_.empty()) {
      capture_loops(decide);
      if (!device_decides_) return;
    } else {
      capture_lanes();
      if (instance_ == nullptr) capture_in_order(all(), instance_);
    }
    if (fill_.bytes != 0) {  // a launch then takes the path that checks for a fill
      after_fill_ = instance_;
      instance_ = nullptr;
    }
  }
  void capture_loops(DecideKernel& decide) {
    decide.prepare();
    if (decide.is_usable()) {
      const AclError code = LoopCapture(device_, decide, loops_).run(instance_, [&](std::uint32_t s, Stream stream) {
        const char* call = nullptr;
        return launch_each(section(s), call, stream);
      });
      under_way_ = none;
      device_decides_ = code == code_ok;
      if (device_decides_) return;
    }
    sections_.resize(loops_.sections().size(), nullptr);
    for (std::uint32_t s = 0; s < sections_.size(); ++s) capture_in_order(section(s), sections_[s]);
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
          return launches_.submit(all()[launch], call, stream);
        });
      }
      streams_ = instance_ == nullptr ? 1 : lanes.count;
      if (instance_ != nullptr) return;
      lanes = graph::fold_lanes(view_, lanes, errc_of(code) == Errc::out_of_resources ? lanes.count / 2 : 1);
    }
  }
  void capture_in_order(std::span<const Launch> launches, RunInstance& instance) noexcept {
    AclError code = calls().capture_begin(device_.stream(), capture_thread_local);
    if (code == code_ok) {
      const char* call = nullptr;
      code = launch_each(launches, call, device_.stream());
      const AclError ended = calls().capture_end(device_.stream(), &instance);
      if (code == code_ok) code = ended;
    }
    if (code == code_ok) return;
    const char* call = nullptr;
    under_way_ = none;
    (void)drop_instance(instance, call, device_.stream());
  }
  /// Notifies the library calls of the capture, and gives it up if a call requires that.
  void compare_captures() {
    const bool is_all = is_captured();
    capture_.way = is_all && device_decides_ ? 2U : is_all ? 1U : 0U;
    graph::tell_of_capture(view_, {device_.identity().platform, false, device_.number()}, capture_);
    if (!capture_.is_shared || (capture_.way != 0 && !capture_.is_unlike_other)) return;
    device_decides_ = false;
    (void)destroy_instances();
  }
  AclError destroy_instances() noexcept {
    AclError first = code_ok;
    const auto destroy = [&](RunInstance& instance) {
      if (instance != nullptr) keep_first(first, calls().destroy_instance(std::exchange(instance, nullptr)));
    };
    for (RunInstance* const instance : {&instance_, &after_fill_, &set_aside_}) destroy(*instance);
    for (RunInstance& instance : sections_) destroy(instance);
    return first;
  }
  /// Whether the tasks may be launched one by one after the runtime refused a replay.
  [[nodiscard]] bool may_fall_back(AclError code) const noexcept {
    return errc_of(code) == Errc::unsupported && !capture_.is_shared;
  }
  /// Gives up a captured graph. @returns the result of waiting for a replay that still needs it
  [[gnu::cold]] AclError drop_instance(RunInstance& instance, const char*& call, Stream stream) noexcept {
    ++refusals_;
    device_decides_ = false;
    if (instance == nullptr) return code_ok;
    call = "aclrtSynchronizeStreamWithTimeout";
    const AclError code = wait_for(stream);
    (void)calls().destroy_instance(std::exchange(instance, nullptr));
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
      const auto each = [&](std::span<const Launch> launches) {
        for (const Launch& l : launches) {
          if (code != code_ok) break;
          const auto launch = [&] { return launches_.submit(l, call, stream); };
          code = take(l.position, l.device_args, l.bytes, launch);
        }
        return code;
      };
      if (code != code_ok || loops_.empty()) return each(all());
      return loops_.run(call, stream, [&](std::uint32_t s) { return each(section(s)); }, wait);
    });
  }

  /// Runs all tasks, after the fill, without an instance for the whole graph.
  [[nodiscard, gnu::noinline]] AclError run_all(const char*& call, Stream stream) noexcept {
    if (loops_.empty()) return launch_each(all(), call, stream);
    const auto submit = [&](std::uint32_t s) {
      if (sections_.empty() || sections_[s] == nullptr) return launch_each(section(s), call, stream);
      call = "aclmdlRIExecuteAsync";
      AclError code = calls().execute(sections_[s], stream);
      if (code == code_ok || !may_fall_back(code)) return code;
      code = drop_instance(sections_[s], call, stream);
      return code == code_ok ? launch_each(section(s), call, stream) : code;
    };
    return loops_.run(call, stream, submit, [&] { return wait_for(stream); });
  }

  /// Out of line, so that the replay saves no registers for it.
  [[nodiscard, gnu::noinline]] AclError launch_uncaptured(const char*& call, Stream stream) noexcept {
    if (stepper_.is_on()) [[unlikely]]
      return launch_in_steps(call, stream);
    if (fill_.bytes == 0) return run_all(call, stream);
    AclError code = zeros_.fill(fill_.address, fill_.bytes, stream, call);
    if (code != code_ok) return code;
    if (after_fill_ == nullptr) return run_all(call, stream);
    call = "aclmdlRIExecuteAsync";
    code = calls().execute(after_fill_, stream);
    if (code == code_ok || !may_fall_back(code)) return code;
    instance_ = after_fill_;
    after_fill_ = nullptr;
    code = drop_instance(instance_, call, stream);
    return code == code_ok ? run_all(call, stream) : code;
  }

  [[nodiscard]] AclError launch_each(std::span<const Launch> launches, const char*& call, Stream stream) noexcept {
    for (const Launch& l : launches) {
      AclError code = launches_.submit(l, call, stream);
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

  /// Waits for the work on a stream while more follows.
  [[nodiscard]] AclError wait_for(Stream stream) noexcept {
    if (stream != device_.stream()) return device_.synchronize(stream);
    const AclError code = device_.wait();
    if (code == code_ok) device_.work_begins();
    return code;
  }

  Device& device_;
  ZeroFill& zeros_;
  const Options& options_;
  graph::GraphView view_;
  Launches launches_;
  streams::HostLoops<Device> loops_;
  std::vector<RunInstance> sections_;  ///< of a graph with loops; null: tasks are launched one by one
  RunInstance instance_ = nullptr;
  RunInstance after_fill_ = nullptr;  ///< the instance, if workspaces must be filled first
  RunInstance set_aside_ = nullptr;   ///< the instance while rounds are launched in another way
  Stepper stepper_;
  bool device_decides_ = false;  ///< whether the instance contains the graph's loops
  CallCapture capture_;          ///< what library calls were notified of, and answered
  Launches::Fill fill_;
  std::uint32_t refusals_ = 0;
  std::uint32_t streams_ = 1;
  std::uint32_t wanted_streams_ = 1;  ///< the number of streams to which the tasks were dealt
  std::uint32_t under_way_ = none;
  bool marks_ranges_ = false;
  ProfilerCalls profiler_;
};

}  // namespace rondo::platform::onboard
