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

/// An engine that runs calls of another engine: `load(graph, calls)` next to `load(graph, args)`.
template <class E>
concept LoadsCalls = requires(E& engine, const graph::GraphView& graph, platform::sim::Inline::DynamicProgram calls) {
  engine.load(graph, std::move(calls));
};

/// An engine that lets `Inner` run the tasks and keeps when each began and ended, on which thread.
///
///     auto session = open<A2A3SimOn<observe::Traced<Pool>>, MyPolicies>(graph);      // MyPolicies::Observe: Trace
///     … rounds …
///     observe::write_trace(file, session);                                           // trace_json.hpp
///
/// Inner is Inline or Pool, or an engine of your own that satisfies LoadsCalls; Checked may stand around it. Results
/// are Inner's. A graph that the compiler knows runs as one that it does not: its kernels are not inlined. Model is not
/// for this: it predicts its tasks' times, and write_trace() draws the prediction.
///
/// Errors: Inner's. Cost: Recorder's for each task and block, two readings of the clock a round; no allocation, no
/// lock.
template <class Inner, class Clock = TickClock>
class Traced {
  static_assert(LoadsCalls<Inner>,
                "rondo: the engine cannot run calls that were wrapped; trace Inline or Pool, or write `Program "
                "load(const graph::GraphView&, platform::sim::Inline::DynamicProgram)`");

 public:
  /// Of the engine, in messages.
  static constexpr const char* name = "traced";
  /// The engine that is traced.
  using Traces = Inner;
  static constexpr memory::Concurrency concurrency = memory::concurrency_of<Inner>();

  /// The options of Inner, and the number of spans that are kept.
  struct Options {
    /// The engine that is traced.
    typename Inner::Options inner{};
    std::uint32_t spans_per_thread = 16384;  ///< 48 bytes each; rounded up to a power of two
    bool record = true;                      ///< from the start; recorder().record() changes it
  };

  /// The traced engine's program, and the words by which its calls find their spans.
  template <class InnerProgram>
  struct Program {
    /// The context by which the wrapped calls find their spans.
    std::vector<ArgWord> words;
    /// The engine that is traced.
    InnerProgram inner;
  };

  Traced(const Options& options, const arch::Chip& chip)
      : inner_{platform::sim::make_engine<Inner>(options.inner, chip)},
        recorder_{most_threads(options.inner, chip.blocks) + 1, options.spans_per_thread} {
    recorder_.record(options.record);
  }

  /// The platform's share of opening a session. @throws Error what the engine throws
  template <class Graph>
  [[nodiscard]] auto load(const Graph& graph, args::ArgsTable& args) {
    const graph::GraphView view = graph.view();
    auto calls = platform::sim::Inline::load_calls(view, args);
    auto words = recorder_.wrap(view, calls);
    using InnerProgram = decltype(inner_.load(view, std::move(calls)));
    return Program<InnerProgram>{std::move(words), inner_.load(view, std::move(calls))};
  }
  /// Starts the loaded graph.
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
  /// Gives the loaded graph back.
  template <class P>
  Status unload(P& program) noexcept {
    return inner_.unload(program.inner);
  }

  [[nodiscard]] const Error::Text& failure_text() const noexcept { return inner_.failure_text(); }
  /// Ends the round under way, or else the next. From any thread.
  void request_stop() noexcept { inner_.request_stop(); }
  /// Whether threads may go to sleep between rounds.
  void keep_awake(bool awake) noexcept { inner_.keep_awake(awake); }
  /// The engine that is traced.
  [[nodiscard]] Inner& inner() noexcept { return inner_; }
  /// The recorded tasks.
  [[nodiscard]] Recorder<Clock>& recorder() noexcept { return recorder_; }

  /// Called after each copy to the device.
  void copied_in(Bytes bytes) noexcept requires platform::sim::HearsOfCopies<Inner> { inner_.copied_in(bytes); }
  /// Called after each copy to the host.
  void copied_out(Bytes bytes) noexcept requires platform::sim::HearsOfCopies<Inner> { inner_.copied_out(bytes); }
  /// Told when all is done that was asked for.
  void idle() noexcept requires platform::sim::HearsOfCopies<Inner> { inner_.idle(); }

 private:
  /// As many as Inner will use at most: one, unless it says how many. There is a ring more than that: with rounds in
  /// flight the session's thread runs some of them, where it would wait for long.
  [[nodiscard]] static std::size_t most_threads(const typename Inner::Options& options, std::uint32_t blocks) noexcept {
    if constexpr (HasThreadsOption<typename Inner::Options>) {
      const std::uint32_t wanted = options.threads != 0 ? options.threads : std::thread::hardware_concurrency();
      return std::clamp(wanted, 1U, std::max(1U, blocks));
    } else {
      return 1;
    }
  }

  Inner inner_;
  Recorder<Clock> recorder_;
};
static_assert(check_platform<platform::Sim<arch::A2A3, Traced<platform::sim::Inline>>>() &&
              check_platform<platform::Sim<arch::A5, Traced<platform::sim::Pool>>>());

}  // namespace rondo::observe
