// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/loops.hpp>
#include <rondo/graph/outline.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/sim/halt.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

/// Loops on the engines of simulated chips and of the host: to an engine, a loop is one call, which runs the calls of
/// its tasks on the thread that makes it.
namespace rondo::platform::sim {

/// A kernel and its arguments.
struct Call {
  KernelEntry entry;
  ArgWord* args;
};

/// Runs one loop. Its address is the argument of its call.
class LoopRunner {
 public:
  LoopRunner(graph::LoopRecord::Kind kind, graph::Decision decision, const Halt& halt)
      : kind_{kind}, decision_{decision}, halt_{&halt} {}

  void add(const Call& call, std::uint32_t task) {
    calls_.push_back(call);
    tasks_.push_back(task);
  }
  [[nodiscard]] Call call() noexcept { return {&LoopRunner::run, reinterpret_cast<ArgWord*>(this)}; }

 private:
  /// @throws LoopFailure a kernel threw; StoppedInLoop
  static void run(ArgWord* self) { reinterpret_cast<LoopRunner*>(self)->run(); }
  void run() {
    if (kind_ == graph::LoopRecord::Kind::when) {
      run_calls(0, 1);  // the decision, so that traces show it
      if (decision_.holds()) run_calls(1, calls_.size());
      return;
    }
    const std::uint64_t most = decision_.most();
    for (std::uint64_t i = 0; i < most; ++i) {
      run_calls(0, calls_.size());
      if (decision_.holds()) return;
      if (halt_->is_stop_requested()) [[unlikely]]
        throw StoppedInLoop{};
    }
  }
  void run_calls(std::size_t from, std::size_t to) {
    std::size_t c = from;
    try {
      for (; c < to; ++c) calls_[c].entry(calls_[c].args);
    } catch (const StoppedInLoop&) {
      throw;
    } catch (const LoopFailure&) {
      throw;
    } catch (...) {
      throw LoopFailure{tasks_[c], current_exception_text()};
    }
  }

  graph::LoopRecord::Kind kind_;
  graph::Decision decision_;
  const Halt* halt_;
  std::vector<Call> calls_;
  std::vector<std::uint32_t> tasks_;  ///< the TaskId of each call
};

/// The loops of a program, and its graph as engines see it.
struct Loops {
  graph::Outline outline;
  std::vector<LoopRunner> runners;  ///< by loop; never grows, since calls hold addresses
};

/// Replaces the calls of a graph with those of its outline. `calls` and `tasks` have one entry for each task and block,
/// in the order of the graph; `decisions` has the argument block of each loop's decision. `halt` must outlive the
/// result.
[[nodiscard]] inline Loops outline_calls(const graph::GraphView& graph, std::vector<Call>& calls,
                                         std::vector<std::uint32_t>& tasks, std::span<const ArgWord* const> decisions,
                                         const Halt& halt) {
  std::vector<std::size_t> first_call(graph.tasks.size() + 1);
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) first_call[t + 1] = first_call[t] + graph.tasks[t].blocks;
  Loops loops{graph::Outline(graph), {}};
  loops.runners.reserve(graph.loops.size());
  const auto visit = [&](const graph::Outline& outline, const auto& add) {
    for (const graph::Outline::Item& item : outline.items()) {
      if (item.loop != graph::TaskRecord::no_loop) {
        add(loops.runners[item.loop].call(), graph.tasks[graph.loops[item.loop].decision].added_as);
        continue;
      }
      for (std::size_t c = first_call[item.first]; c < first_call[item.last]; ++c) add(calls[c], tasks[c]);
    }
  };
  for (const graph::LoopRecord& loop : graph.loops) {
    loops.runners.emplace_back(loop.kind, graph::Decision{decisions[loops.runners.size()]}, halt);
  }
  for (std::uint32_t l = 0; l < graph.loops.size(); ++l) {
    if (!graph.loops[l].has_work()) continue;
    visit(graph::Outline(graph, l), [&](const Call& call, std::uint32_t task) { loops.runners[l].add(call, task); });
  }
  std::vector<Call> outer;
  std::vector<std::uint32_t> outer_tasks;
  visit(loops.outline, [&](const Call& call, std::uint32_t task) {
    outer.push_back(call);
    outer_tasks.push_back(task);
  });
  calls = std::move(outer);
  tasks = std::move(outer_tasks);
  return loops;
}

}  // namespace rondo::platform::sim
