// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/lifetimes.hpp>
#include <rondo/observe/recorder.hpp>
#include <rondo/observe/trace_events.hpp>
#include <rondo/platform/sim/prediction.hpp>

#include <fmt/format.h>
#include <range/v3/view/chunk_by.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// The records of an engine's Recorder, or the prediction of a model, as events on tracks. For set-up only.
namespace rondo::observe {

/// One call of a kernel, with its thread.
struct TracedCall {
  /// The number of the launch, from 1.
  std::uint64_t launch = 0;
  /// When it started, in nanoseconds.
  std::uint64_t start = 0;
  /// When it ended, in nanoseconds.
  std::uint64_t end = 0;
  std::uint32_t task = 0;  ///< position in the graph
  /// The number of the block.
  std::uint32_t block = 0;
  /// The thread that ran it, as numbered by the recorder, or the core of the chip.
  std::uint32_t thread = 0;
};

/// The time of a task, from its first block's start to its last block's end, and the threads of those two.
struct TracedTask {
  /// When its first block started, in nanoseconds.
  std::uint64_t start = 0;
  /// When its last block ended, in nanoseconds.
  std::uint64_t end = 0;
  /// The thread of the block that started first.
  std::uint32_t first_thread = 0;
  /// The thread of the block that ended last.
  std::uint32_t last_thread = 0;
  std::uint32_t blocks = 0;  ///< recorded blocks; fewer than the task's if some were dropped
};

/// All recorded calls, by launch, and within each launch by start.
template <class Clock>
[[nodiscard]] std::vector<TracedCall> traced_calls(const Recorder<Clock>& recorder) {
  const Timebase base = timebase_of<Clock>();
  std::vector<TracedCall> calls;
  for (std::uint32_t thread = 0; thread < recorder.threads(); ++thread) {
    const SpanRing& spans = recorder.spans(thread);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const Span& s = spans[i];
      calls.push_back({s.round, base.to_ns(s.start), base.to_ns(s.end), s.what, s.detail, thread});
    }
  }
  std::ranges::sort(calls, [](const TracedCall& a, const TracedCall& b) {
    return std::pair(a.launch, a.start) < std::pair(b.launch, b.start);
  });
  return calls;
}

/// Divides the calls into one span for each launch.
[[nodiscard]] inline auto by_launch(const std::vector<TracedCall>& calls) {
  return calls |
         ::ranges::views::chunk_by([](const TracedCall& a, const TracedCall& b) { return a.launch == b.launch; }) |
         ::ranges::views::transform([](auto one) { return std::span<const TracedCall>{one.begin(), one.end()}; });
}

/// The tasks of one launch, by position in the graph; of a loop, those of its first repetition.
[[nodiscard]] inline std::vector<TracedTask> traced_tasks(const graph::GraphView& graph,
                                                          std::span<const TracedCall> calls) {
  std::vector<TracedTask> tasks(graph.tasks.size());
  for (const TracedCall& call : calls) {
    TracedTask& task = tasks[call.task];
    if (task.blocks == graph.tasks[call.task].blocks) continue;
    if (task.blocks == 0 || call.start < task.start) {
      task.start = call.start;
      task.first_thread = call.thread;
    }
    if (task.blocks == 0 || call.end > task.end) {
      task.end = call.end;
      task.last_thread = call.thread;
    }
    ++task.blocks;
  }
  return tasks;
}

/// Whether every block of every task was recorded; a `when` may skip its tasks.
[[nodiscard]] inline bool is_whole(const graph::GraphView& graph, std::span<const TracedTask> tasks) {
  return std::ranges::equal(tasks, graph.tasks, [](const TracedTask& traced, const graph::TaskRecord& task) {
    return traced.blocks == task.blocks || (traced.blocks == 0 && task.loop != graph::TaskRecord::no_loop);
  });
}

namespace detail {

/// Counters of one complete launch: the number of blocks that could run but wait for a thread, the number that run, and
/// the bytes of the buffers whose contents are needed.
class LaunchCounters {
 public:
  LaunchCounters(const graph::GraphView& graph, const memory::Lifetimes& lives) : graph_{graph}, lives_{lives} {}

  void add(TraceEvents& to, std::uint32_t process, std::uint64_t from, std::uint64_t until,
           std::span<const TracedTask> tasks, std::span<const TracedCall> calls) {
    changes_.clear();
    std::vector<std::uint64_t> ready(tasks.size(), from);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      for (const std::uint32_t s : graph_.successors_of(t)) ready[s] = std::max(ready[s], tasks[t].end);
    }
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].blocks != 0) changes_[std::min(ready[t], tasks[t].start)].ready += graph_.tasks[t].blocks;
    }
    std::vector<std::uint32_t> counted(tasks.size());
    for (const TracedCall& call : calls) {
      const bool is_repeated = counted[call.task]++ >= graph_.tasks[call.task].blocks;
      changes_[call.start].ready -= is_repeated ? 0 : 1;
      changes_[call.start].running += 1;
      changes_[call.end].running -= 1;
    }
    add_memory(from, until, tasks);
    Change now;
    for (const auto& [ns, change] : changes_) {
      now.ready += change.ready;
      now.running += change.running;
      now.bytes += change.bytes;
      if (change.ready != 0 || change.running != 0) {
        to.counter(process, ns, "tasks", {{"ready", number(now.ready)}, {"running", number(now.running)}});
      }
      if (change.bytes != 0) to.counter(process, ns, "arena in use", {{"bytes", number(now.bytes)}});
    }
  }

 private:
  struct Change {
    std::int64_t ready = 0;
    std::int64_t running = 0;
    std::int64_t bytes = 0;
  };
  [[nodiscard]] static std::uint64_t number(std::int64_t n) noexcept {
    return n < 0 ? 0 : static_cast<std::uint64_t>(n);
  }

  /// Memory that is read counts from launch to last use, memory that is written until the end; residents always.
  void add_memory(std::uint64_t from, std::uint64_t until, std::span<const TracedTask> tasks) {
    struct Life {
      std::uint64_t from = ~std::uint64_t{0};
      std::uint64_t until = 0;
    };
    std::vector<Life> lives(lives_.problem.size());
    const auto extend = [&](std::uint32_t tensor, std::uint64_t a, std::uint64_t b) {
      const std::uint32_t buffer = lives_.buffer_of[tensor];
      if (buffer == memory::Lifetimes::no_buffer) return;
      lives[buffer].from = std::min(lives[buffer].from, a);
      lives[buffer].until = std::max(lives[buffer].until, b);
    };
    for (std::uint32_t t = 0; t < graph_.tensors.size(); ++t) {
      const Direction d = graph_.tensors[t].direction;
      const bool stays = d == Direction::resident;
      if (copies_in(d) || stays) extend(t, from, from);
      if (copies_out(d) || stays) extend(t, until, until);
    }
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].blocks == 0) continue;
      for (const graph::ArgRecord& arg : graph_.args_of(graph_.tasks[t])) {
        if (arg.kind == graph::ArgRecord::Kind::address) extend(arg.tensor, tasks[t].start, tasks[t].end);
      }
    }
    for (std::size_t b = 0; b < lives.size(); ++b) {
      if (lives[b].from > lives[b].until) continue;
      changes_[lives[b].from].bytes += lives_.problem.buffers[b].size;
      changes_[lives[b].until].bytes -= lives_.problem.buffers[b].size;
    }
  }

  graph::GraphView graph_;
  const memory::Lifetimes& lives_;
  std::map<std::uint64_t, Change> changes_{};
};

/// Adds an arrow for each edge whose tasks were both recorded; `track` returns the track of a thread.
template <class Track>
void add_flows(TraceEvents& to, std::uint32_t process, const graph::GraphView& graph, std::span<const TracedTask> tasks,
               const Track& track) {
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    for (const std::uint32_t s : graph.successors_of(t)) {
      if (tasks[t].blocks == 0 || tasks[s].blocks == 0) continue;
      // It must be within the span, whose end may be the start of the next one.
      const std::uint64_t from = std::max(tasks[t].start, tasks[t].end - (tasks[t].end != 0 ? 1 : 0));
      to.flow(process, track(tasks[t].last_thread), from, track(tasks[s].first_thread), tasks[s].start, "edge");
    }
  }
}

/// Adds a span for each loop that is not part of another one, around its tasks on the thread that ran them.
template <class Track>
void add_loops(TraceEvents& to, std::uint32_t process, const graph::GraphView& graph, std::span<const TracedCall> calls,
               const Track& track) {
  for (const graph::LoopRecord& loop : graph.loops) {
    if (loop.parent != graph::TaskRecord::no_loop || !loop.has_work()) continue;
    const TracedCall* first = nullptr;
    std::uint64_t end = 0;
    std::uint64_t decisions = 0;
    for (const TracedCall& call : calls) {
      if (call.task < loop.first || call.task >= loop.last) continue;
      if (first == nullptr) first = &call;
      end = std::max(end, call.end);
      decisions += call.task == loop.decision ? 1 : 0;
    }
    if (first == nullptr) continue;
    const graph::TaskRecord& decision = graph.tasks[loop.decision];
    to.span(process, track(first->thread), first->start, end, "loop " + std::string{graph.name(decision.name)},
            {{"task", decision.added_as}, {"launch", first->launch}, {"decisions", decisions}});
  }
}

/// Adds the recorder's launches, and names its tracks. Returns the launches by number, with times in nanoseconds.
template <class Clock>
std::map<std::uint64_t, Span> add_launches(TraceEvents& to, std::uint32_t process, const Recorder<Clock>& recorder) {
  const Timebase base = timebase_of<Clock>();
  to.dropped += recorder.dropped();
  std::map<std::uint64_t, Span> launches;
  for (std::size_t i = 0; i < recorder.launch_spans().size(); ++i) {
    Span launch = recorder.launch_spans()[i];
    launch.start = base.to_ns(launch.start);
    launch.end = base.to_ns(launch.end);
    launches[launch.round] = launch;
    to.span(process, TraceEvents::launches_track, launch.start, launch.end, fmt::format("launch {}", launch.round),
            {{"launch", launch.round}});
  }
  if (!launches.empty()) to.label_track(process, TraceEvents::launches_track, "launches");
  for (std::uint32_t thread = 0; thread < recorder.threads(); ++thread) {
    to.label_track(process, TraceEvents::thread_track + thread, fmt::format("tasks, thread {}", thread));
  }
  return launches;
}

}  // namespace detail

/// Adds the tasks that an engine's recorder kept: a track for each thread, arrows along the graph's edges, and for
/// complete launches counters of tasks and of the arena.
template <arch::Arch A, class Clock>
void add_tasks(TraceEvents& to, std::uint32_t process, const Recorder<Clock>& recorder, memory::Concurrency order) {
  const graph::GraphView& graph = recorder.graph();
  const std::map<std::uint64_t, Span> launches = detail::add_launches(to, process, recorder);
  const auto track = [](std::uint32_t thread) { return TraceEvents::thread_track + thread; };
  const memory::Lifetimes lives = memory::find_lifetimes<A>(graph, order);
  detail::LaunchCounters counters(graph, lives);
  const std::vector<TracedCall> calls = traced_calls(recorder);
  for (const std::span<const TracedCall> one : by_launch(calls)) {
    for (const TracedCall& call : one) {
      const graph::TaskRecord& task = graph.tasks[call.task];
      std::vector<std::pair<std::string, std::uint64_t>> numbers{{"task", task.added_as}, {"launch", call.launch}};
      if (task.blocks != 1) numbers.emplace_back("block", call.block);
      to.span(process, track(call.thread), call.start, call.end, std::string{graph.name(task.name)},
              std::move(numbers));
    }
    detail::add_loops(to, process, graph, one, track);
    const std::vector<TracedTask> tasks = traced_tasks(graph, one);
    detail::add_flows(to, process, graph, tasks, track);
    const auto launch = launches.find(one.front().launch);
    if (launch != launches.end() && is_whole(graph, tasks)) {
      counters.add(to, process, launch->second.start, launch->second.end, tasks, one);
    }
  }
}

/// Adds the tasks of a runtime that builds its graph during the round: a track for each thread, and the number of
/// running tasks. Their edges are no longer known.
template <class Clock>
void add_orchestrated(TraceEvents& to, std::uint32_t process, const Recorder<Clock>& recorder) {
  const Timebase base = timebase_of<Clock>();
  (void)detail::add_launches(to, process, recorder);
  std::map<std::uint64_t, std::int64_t> changes;
  for (std::uint32_t thread = 0; thread < recorder.threads(); ++thread) {
    for (std::size_t i = 0; i < recorder.spans(thread).size(); ++i) {
      const Span& s = recorder.spans(thread)[i];
      const std::uint64_t from = base.to_ns(s.start), until = base.to_ns(s.end);
      to.span(process, TraceEvents::thread_track + thread, from, until, recorder.names(thread)[s.bytes],
              {{"task", s.what}, {"block", s.detail}, {"launch", s.round}});
      ++changes[from];
      --changes[until];
    }
  }
  std::int64_t running = 0;
  for (const auto& [ns, change] : changes) {
    running += change;
    if (change != 0) to.counter(process, ns, "tasks", {{"running", static_cast<std::uint64_t>(running)}});
  }
}

/// Adds the round that a model predicts, as if it had started at `ns`: its phases, a track with blocks for each core
/// that was used, arrows along the graph's edges, and counters of blocks and of the arena.
template <arch::Arch A>
void add_prediction(TraceEvents& to, std::uint32_t process, std::uint64_t ns,
                    const platform::sim::Prediction& prediction, memory::Concurrency order) {
  const graph::GraphView& graph = prediction.graph;
  const auto at = [&](double t) { return ns + static_cast<std::uint64_t>(t); };
  to.label_process(process, fmt::format("{}, predicted", prediction.chip));
  to.label_track(process, TraceEvents::rounds_track, "round");
  double t = 0;
  for (const auto& [name, took] :
       {std::pair{"copy in", prediction.copy_in_ns}, std::pair{"launch", prediction.launch_ns},
        std::pair{"run", prediction.run_ns}, std::pair{"complete", prediction.complete_ns},
        std::pair{"copy out", prediction.copy_out_ns}}) {
    to.span(process, TraceEvents::rounds_track, at(t), at(t + took), name);
    t += took;
  }
  const double run = prediction.copy_in_ns + prediction.launch_ns;
  std::vector<std::uint8_t> critical(prediction.tasks.size());
  for (const std::uint32_t task : prediction.critical_path) critical[task] = 1;
  const auto track = [](std::uint32_t core) { return TraceEvents::thread_track + core; };
  const auto cubes = static_cast<std::uint32_t>(prediction.cube_busy_ns.size());
  std::vector<std::uint8_t> used(cubes + prediction.vector_busy_ns.size());
  std::vector<TracedCall> calls;
  for (std::uint32_t task = 0; task < prediction.tasks.size(); ++task) {
    const graph::TaskRecord& record = graph.tasks[task];
    for (std::uint32_t block = 0; block < record.blocks; ++block) {
      const platform::sim::BlockRun& ran = prediction.blocks[calls.size()];
      calls.push_back({1, at(run + ran.start), at(run + ran.end), task, block, ran.core});
      used[ran.core] = 1;
      std::vector<std::pair<std::string, std::uint64_t>> numbers{{"task", record.added_as},
                                                                 {"critical", critical[task]}};
      if (record.blocks != 1) numbers.emplace_back("block", block);
      to.span(process, track(ran.core), calls.back().start, calls.back().end, std::string{graph.name(record.name)},
              std::move(numbers));
    }
  }
  for (std::uint32_t core = 0; core < used.size(); ++core) {
    if (used[core] == 0) continue;
    to.label_track(process, track(core),
                   core < cubes ? fmt::format("cube core {}", core) : fmt::format("vector core {}", core - cubes));
  }
  const std::vector<TracedTask> tasks = traced_tasks(graph, calls);
  detail::add_flows(to, process, graph, tasks, track);
  if (calls.empty()) return;
  const memory::Lifetimes lives = memory::find_lifetimes<A>(graph, order);
  detail::LaunchCounters(graph, lives).add(to, process, at(run), at(run + prediction.run_ns), tasks, calls);
}

}  // namespace rondo::observe
