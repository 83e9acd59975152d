// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/args/args_table.hpp>
#include <rondo/graph/rare_code.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/platform/sim/halt.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace rondo::platform::sim {

/// Runs all tasks on the calling thread, in the graph's order: deterministic, with no overhead but one indirect call
/// per task and block. For a static graph the calls are direct and small kernels are inlined.
///
/// Thread safety: that of the session. Errors: a kernel that throws ends the round with kernel_failed, a stop request
/// ends it with stopped; later tasks do not run. Rounds over a static graph ignore stop requests, since checking for
/// them would cost more than such a round.
class Inline {
 public:
  static constexpr const char* name = "inline";
  static constexpr memory::Concurrency concurrency = memory::Concurrency::sequential;
  static constexpr bool runs_loops = true;
  struct Options {};
  Inline(const Options&, const arch::Chip&) noexcept {}

  using Call = graph::HostCall;
  /// A graph as a list of calls in order.
  struct DynamicProgram {
    std::vector<Call> calls;
    std::vector<std::uint32_t> tasks;                   ///< the TaskId of each call; used only after a failure
    std::vector<const ArgWord*> decisions{};            ///< by loop: the argument block of its decision
    std::shared_ptr<const graph::GraphView> outline{};  ///< null: without loops, or `calls` are those of all tasks

    /// The graph whose tasks `calls` run: an outline of `whole` if that has loops.
    [[nodiscard]] graph::GraphView graph(const graph::GraphView& whole) const noexcept {
      return outline == nullptr ? whole : *outline;
    }
  };
  /// A static graph: its calls are code; this holds the address of their arguments.
  template <class Graph>
  struct StaticProgram {
    ArgWord* args;
  };

  template <class Graph>
  [[nodiscard]] auto load(const Graph& graph, args::ArgsTable& args) {
    if constexpr (Graph::is_static) {
      return StaticProgram<Graph>{args.words()};
    } else {
      return load(graph.view(), load_calls(graph.view(), args));
    }
  }

  [[nodiscard]] DynamicProgram load(const graph::GraphView& graph, DynamicProgram calls) {
    return with_loops(graph, std::move(calls), halt_);
  }

  [[gnu::always_inline]] Status launch(DynamicProgram& program) noexcept { return run(program, halt_); }

  [[gnu::always_inline]] static Status run(const DynamicProgram& program, Halt& halt) noexcept {
    return run(program, halt, [](const Call& call) { call.entry(call.args); });
  }
  /// Runs the calls by `run_call(call)`, up to the first that throws.
  template <class RunCall>
  [[gnu::always_inline]] static Status run(const DynamicProgram& program, Halt& halt, RunCall run_call) noexcept {
    auto call = program.calls.begin();
    try {
      for (const auto end = program.calls.end(); call != end; ++call) {
        if (halt.requested()) [[unlikely]]
          return halt.status();
        run_call(*call);
      }
    } catch (...) {
      halt.record(program.tasks[static_cast<std::size_t>(call - program.calls.begin())]);
      return halt.status();
    }
    return {};
  }

  template <class Graph>
  [[gnu::always_inline]] Status launch(StaticProgram<Graph>& program) noexcept {
    return [&]<std::size_t... P>(std::index_sequence<P...>) {
      Status status;
      (void)((status = run_static<Graph, P>(program.args), status.ok()) && ...);
      return status;
    }(std::make_index_sequence<Graph::view().tasks.size()>{});
  }

  [[gnu::always_inline]] Status wait() noexcept { return {}; }

  template <class Program>
  Status unload(Program&) noexcept {
    return {};
  }

  [[nodiscard]] const Error::Text& failure_text() const noexcept { return halt_.text(); }
  /// Ends the current round, or otherwise the next. Thread safety: any thread.
  void request_stop() noexcept { halt_.request_stop(); }
  [[nodiscard]] const Halt& halt() const noexcept { return halt_; }
  void keep_awake(bool) noexcept {}

  /// Turns the calls of all tasks into a program that runs its loops. `halt` must outlive it.
  [[nodiscard]] static DynamicProgram with_loops(const graph::GraphView& graph, DynamicProgram calls,
                                                 const Halt& halt) {
    if (graph.loops.empty()) return calls;
    const auto is_stopped = [](const void* of) noexcept { return static_cast<const Halt*>(of)->is_stop_requested(); };
    calls.outline =
        graph.loops.front().code->outline_calls(graph, calls.calls, calls.tasks, calls.decisions, {&halt, is_stopped});
    return calls;
  }
  /// The calls of all tasks, those of loops once.
  [[nodiscard]] static DynamicProgram load_calls(const graph::GraphView& graph, const args::ArgsTable& args) {
    std::size_t count = 0;
    for (const graph::TaskRecord& task : graph.tasks) count += task.blocks;
    DynamicProgram program{std::vector<Call>(count), std::vector<std::uint32_t>(count)};
    std::size_t i = 0;
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
      const graph::TaskRecord& task = graph.tasks[t];
      for (std::uint32_t block = 0; block < task.blocks; ++block, ++i) {
        program.calls[i] = {task.entry, args.block(t, block)};
        program.tasks[i] = task.added_as;
      }
    }
    for (const graph::LoopRecord& loop : graph.loops) {
      program.decisions.push_back(loop.has_work() ? args.block(loop.decision, 0) : nullptr);
    }
    return program;
  }

 private:
  template <class Graph, std::size_t Position>
  [[gnu::always_inline]] Status run_static(ArgWord* args) noexcept {
    constexpr graph::TaskRecord task = Graph::view().tasks[Position];
    constexpr std::size_t first = args::words_before(Graph::view(), Position);
    constexpr std::size_t words = task.block_bytes / sizeof(ArgWord);
    try {
      for (std::uint32_t block = 0; block < task.blocks; ++block) task.entry(args + first + block * words);
    } catch (...) {
      halt_.record(task.added_as);
      return halt_.status();
    }
    return {};
  }

  Halt halt_;
};

}  // namespace rondo::platform::sim
