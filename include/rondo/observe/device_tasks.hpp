// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/observe/clocks.hpp>
#include <rondo/observe/span_ring.hpp>
#include <rondo/observe/task_events.hpp>
#include <rondo/observe/trace_events.hpp>
#include <rondo/platform/streams/task_steps.hpp>
#include <rondo/types.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rondo::observe {

/// A platform whose rounds can be launched task by task, such as those of real NPUs.
template <class P>
concept StepsThroughTasks =
    requires(P& platform, platform::streams::TaskSteps* steps) { platform.step_through(steps); };

/// Measures how long each task of a session takes by the device's own clock. While it records, rounds are launched task
/// by task: each task runs alone on the device, between two events. So rounds take longer, and the time of each task is
/// the time that it takes alone.
///
///     observe::DeviceTasks tasks(session);
///     … rounds …
///     observe::write_trace(file, session, tasks);     // trace_json.hpp
///     options.task_ns = tasks.task_ns();              // for sessions over this graph that are opened later
///
/// Lifetime: within the session's; one at a time, and not together with DeviceDumping. Thread safety: the session's.
/// Errors: the constructor throws Error out_of_resources. Cost: a ring of spans of 48 bytes; in a round, two events, a
/// launch and a wait for each task. After its destruction, or after record(false), rounds are as fast as before.
template <class Session, class Clock = TickClock>
class DeviceTasks final : private platform::streams::TaskSteps {
  using P = std::remove_cvref_t<decltype(std::declval<Session&>().platform())>;
  static_assert(StepsThroughTasks<P>,
                "rondo: the platform does not launch its rounds task by task; trace simulated chips with Traced");

 public:
  explicit DeviceTasks(Session& session, std::size_t spans = 16384)
      : session_{session}, spans_(spans), runs_(session.graph().view().tasks.size()) {
    anchor<Clock>();
    record(true);
  }
  DeviceTasks(const DeviceTasks&) = delete;
  DeviceTasks& operator=(const DeviceTasks&) = delete;
  ~DeviceTasks() { record(false); }

  /// Starts or stops recording, from the next round on. @throws Error out_of_resources
  void record(bool on) {
    if (on != is_on_) session_.platform().step_through(on ? this : nullptr);
    is_on_ = on;
  }
  /// One span for each task that ran: `what` is its position in the graph, `round` counts launches from 1, `bytes` is
  /// its time on the device in ns, and `start` and `end` are readings of the host's clock around it.
  [[nodiscard]] const SpanRing& spans() const noexcept { return spans_; }
  [[nodiscard]] Session& session() noexcept { return session_; }

  /// The mean time of each task over all launches, in nanoseconds, by TaskId; 0 for one that has not run.
  [[nodiscard]] std::vector<double> task_ns() const {
    const graph::GraphView graph = session_.graph().view();
    std::vector<double> mean(graph.tasks.size());
    for (std::size_t t = 0; t < mean.size(); ++t) {
      mean[graph.tasks[t].added_as] = runs_[t].ns / std::max(1.0, runs_[t].count);
    }
    return mean;
  }

 private:
  /// All runs of a task, also those whose spans were replaced.
  struct Runs {
    double ns = 0;
    double count = 0;
  };

  void round_begins() noexcept override { ++launches_; }
  void task_begins(const platform::streams::TaskStep&) noexcept override { began_ = Clock::now(); }
  void task_ends(const platform::streams::TaskStep& step, double ns) noexcept override {
    spans_.add({began_, Clock::now(), launches_, step.position, 0, static_cast<std::uint64_t>(ns)});
    runs_[step.position].ns += ns;
    runs_[step.position].count += 1;
  }
  void round_ends(bool) noexcept override {}

  Session& session_;
  SpanRing spans_;
  std::vector<Runs> runs_;  ///< by position in the graph
  std::uint64_t launches_ = 0;
  std::uint64_t began_ = 0;
  bool is_on_ = false;
};

/// Adds the tasks as process `process`: a track for each stream on which tasks are captured, with arrows along the
/// edges, and a track for each core that runs blocks. The device's clock has another origin, so a task's span ends when
/// the host learned of its end. No device tells which of its cores runs which block; blocks are drawn on the cores of
/// their type in turn, since a task alone on the device finds all cores idle.
template <class Session, class Clock>
void add_session(TraceEvents& to, std::uint32_t process, DeviceTasks<Session, Clock>& tasks) {
  using P = std::remove_cvref_t<decltype(tasks.session().platform())>;
  const graph::GraphView graph = tasks.session().graph().view();
  const Timebase base = timebase_of<Clock>();
  const auto lane_of = [&](std::uint32_t task) {
    const bool is_dealt = graph.lanes != nullptr && graph.lanes->count > 1;
    return is_dealt && graph.lanes->lane_of[task] != graph::Lanes::none ? graph.lanes->lane_of[task] : 0U;
  };
  const auto track = [](std::uint32_t lane) { return TraceEvents::thread_track + lane; };
  to.label_process(process, fmt::format("{}, task by task", P::name));
  to.dropped += tasks.spans().dropped();
  std::vector<TracedCall> calls;
  std::uint32_t lanes = 0;
  for (std::size_t i = 0; i < tasks.spans().size(); ++i) {
    const Span& s = tasks.spans()[i];
    const std::uint64_t end = base.to_ns(s.end);
    const std::uint64_t start = std::max(base.to_ns(s.start), end - std::min(end, s.bytes));
    calls.push_back({s.round, start, end, s.what, 0, lane_of(s.what)});
    lanes = std::max(lanes, calls.back().thread + 1);
    const graph::TaskRecord& task = graph.tasks[s.what];
    to.span(process, track(calls.back().thread), start, end, std::string{graph.name(task.name)},
            {{"task", task.added_as}, {"launch", s.round}, {"device ns", s.bytes}, {"blocks", task.blocks}});
  }
  for (std::uint32_t lane = 0; lane < lanes; ++lane)
    to.label_track(process, track(lane), fmt::format("stream {}", lane));
  for (const CoreType type : {CoreType::cube, CoreType::vector}) {
    const std::uint32_t cores = arch::cores<typename P::Arch>(type);
    std::uint32_t used = 0;
    for (const TracedCall& call : calls) {
      const graph::TaskRecord& task = graph.tasks[call.task];
      if (task.core != type) continue;
      for (std::uint32_t block = 0; block < task.blocks; ++block) {
        to.span(process, TraceEvents::core_track(type, block % cores), call.start, call.end,
                std::string{graph.name(task.name)}, {{"task", task.added_as}, {"block", block}});
      }
      used = std::max(used, std::min(task.blocks, cores));
    }
    for (std::uint32_t core = 0; core < used; ++core) {
      to.label_track(process, TraceEvents::core_track(type, core), fmt::format("{} core {}", to_string(type), core));
    }
  }
  for (const auto one : by_launch(calls)) detail::add_flows(to, process, graph, traced_tasks(graph, one), track);
}

}  // namespace rondo::observe
