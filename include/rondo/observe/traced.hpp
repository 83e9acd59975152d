// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/observe/concepts.hpp>
#include <rondo/observe/recorder.hpp>
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/sim/engine.hpp>
#include <rondo/platform/sim/inline.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/platform/sim/sim.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace rondo::observe {

/// An engine that can run calls of another engine: it has `load(graph, calls)` as well as `load(graph, args)`.
template <class E>
concept LoadsCalls = requires(E& engine, const graph::GraphView& graph, platform::sim::Inline::DynamicProgram calls) {
  engine.load(graph, std::move(calls));
};

/// An engine that runs tasks on `Inner` and records when and on which thread each began and ended.
///
///     auto session = open<A2A3SimOn<observe::Traced<Pool>>, MyPolicies>(graph);      // MyPolicies::Observe: Trace
///     … rounds …
///     observe::write_trace(file, session);                                           // trace_json.hpp
///
/// Inner is Inline or Pool, or an engine of your own that satisfies LoadsCalls; Checked may wrap it. The results are
/// those of Inner. A static graph runs like a dynamic one: its kernels are not inlined. Model cannot be traced: it
/// predicts the times of tasks, and write_trace() draws the prediction.
///
/// Thread safety and errors: those of Inner. Cost: that of Recorder for each task and block, and two readings of the
/// clock per round; no allocation, no lock.
template <class Inner, class Clock = TickClock>
class Traced : public platform::sim::EngineOver<Inner> {
  using Base = platform::sim::EngineOver<Inner>;
  using Base::inner_;
  static_assert(LoadsCalls<Inner>,
                "rondo: the engine cannot run calls that were wrapped; trace Inline or Pool, or write `Program "
                "load(const graph::GraphView&, platform::sim::Inline::DynamicProgram)`");

 public:
  /// The name of the engine in messages.
  static constexpr const char* name = "traced";
  static constexpr memory::Concurrency concurrency = memory::concurrency_of<Inner>();
  /// Whether the traced engine runs loops.
  static constexpr bool runs_loops = platform::sim::RunsLoops<Inner>;

  /// The options of Inner, and the number of spans to keep.
  struct Options {
    /// The options of the traced engine.
    typename Inner::Options inner{};
    std::uint32_t spans_per_thread = 16384;  ///< 48 bytes each; rounded up to a power of two
    bool record = true;                      ///< from the start; recorder().record() changes it later
  };

  /// The program of the traced engine, and the words of its wrapped calls.
  template <class InnerProgram>
  struct Program {
    /// The arguments of the wrapped calls, which refer to the calls and the recorder.
    std::vector<ArgWord> words;
    /// The program of the traced engine.
    InnerProgram inner;
  };

  Traced(const Options& options, const arch::Chip& chip)
      : Base{options.inner, chip}, recorder_{most_threads(options.inner, chip.blocks) + 1, options.spans_per_thread} {
    recorder_.record(options.record);
  }

  /// Loads a graph, when a session is opened. @throws Error on errors of the engine
  template <class Graph>
  [[nodiscard]] auto load(const Graph& graph, args::ArgsTable& args) {
    const graph::GraphView view = graph.view();
    auto calls = platform::sim::Inline::load_calls(view, args);
    auto words = recorder_.wrap(view, calls);
    using InnerProgram = decltype(inner_.load(view, std::move(calls)));
    return Program<InnerProgram>{std::move(words), inner_.load(view, std::move(calls))};
  }
  template <class P>
  Status launch(P& program) noexcept {
    recorder_.launches();
    return inner_.launch(program.inner);
  }
  Status wait() noexcept {
    const Status status = inner_.wait();
    recorder_.done();
    return status;
  }
  /// The recorder of the tasks.
  [[nodiscard]] Recorder<Clock>& recorder() noexcept { return recorder_; }

 private:
  /// The most threads that Inner uses: one, unless its options have a number of threads. There is one more ring: with
  /// rounds in flight, the session's thread runs some of them if it would otherwise wait for long.
  [[nodiscard]] static std::size_t most_threads(const typename Inner::Options& options, std::uint32_t blocks) noexcept {
    if constexpr (HasThreadsOption<typename Inner::Options>) {
      const std::uint32_t wanted = options.threads != 0 ? options.threads : std::thread::hardware_concurrency();
      return std::clamp(wanted, 1U, std::max(1U, blocks));
    } else {
      return 1;
    }
  }

  Recorder<Clock> recorder_;
};
static_assert(check_platform<platform::Sim<arch::A2A3, Traced<platform::sim::Inline>>>() &&
              check_platform<platform::Sim<arch::A5, Traced<platform::sim::Pool>>>());

}  // namespace rondo::observe
