// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/costs.hpp>
#include <rondo/args/args_table.hpp>
#include <rondo/error.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/observe/concepts.hpp>
#include <rondo/observe/detail/dump_writer.hpp>
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/platform/sim/engine.hpp>
#include <rondo/platform/sim/halt.hpp>
#include <rondo/platform/sim/inline.hpp>
#include <rondo/platform/sim/sim.hpp>
#include <rondo/types.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rondo::observe {

/// An engine for debugging. Rounds run on `Inner`, except selected ones. A selected round runs task by task on the
/// calling thread, and each task's inputs, outputs and arguments are written to a folder: .npy files, and a
/// `manifest.json` that describes them. replay.hpp runs such tasks again.
///
///     auto session = open<A2A3SimOn<observe::Dumping<Pool>>>(graph);
///     session.platform().engine().dump_next("dumps/first");
///     Status status = session.run_round(…);
///
/// A dumped round gives the same results and failures as Inline. If a kernel throws, the dump ends with that task and
/// contains the tensors that it read.
///
/// Thread safety: that of the session. Errors: a dump that cannot be written has no manifest and does not affect the
/// round; dump_failure() returns the reason. Cost: a few instructions for other rounds. For a dumped round: the files,
/// and a copy in host memory of all tensors that it writes.
template <class Inner>
class Dumping : public platform::sim::EngineOver<Inner> {
  using Base = platform::sim::EngineOver<Inner>;
  using Base::inner_;
  using Writer = detail::DumpWriter<detail::HostReader>;

 public:
  static constexpr const char* name = "dumping";
  /// Excludes runtimes that build their graph during the round.
  static constexpr bool looks_at_graphs = true;
  static constexpr memory::Concurrency concurrency = memory::concurrency_of<Inner>();
  /// Whether Inner can restore the inputs of a round.
  static constexpr bool restores = RestoresRounds<Inner>;

  /// The options of Inner, and the rounds to dump.
  struct Options {
    typename Inner::Options inner{};
    /// The rounds to dump into `folder`/roundN; N counts the session's launches from 0.
    std::vector<std::uint64_t> rounds{};
    std::string folder{};
    std::vector<TaskId> tasks{};  ///< the tasks of these rounds to dump; empty: all
    /// The folder for rounds in which Inner, such as Checked, finds an error: the first `most_failures` of them, each
    /// in `failures`/roundN. Empty: none is dumped.
    std::string failures{};
    std::uint32_t most_failures = 1;
  };

  /// A loaded graph.
  template <class InnerProgram>
  struct Program {
    graph::GraphView graph;
    Writer writer;
    InnerProgram inner;
  };

  Dumping(const Options& options, const arch::Chip& chip) : Base{options.inner, chip}, options_{options} {}

  /// Dumps the next round to `folder`, which is created if it does not exist; files of an earlier dump are overwritten.
  /// `tasks`: the tasks to dump; empty: all. @throws Error invalid_argument if the folder cannot be created
  void dump_next(std::string folder, std::vector<TaskId> tasks = {}) {
    detail::make_dump_folder(folder);
    next_folder_ = std::move(folder);
    next_tasks_ = std::move(tasks);
  }
  /// Dumps the next `most` rounds in which Inner finds an error to `folder`/roundN: their tasks run once more from the
  /// round's inputs, one by one. Requires an Inner that can restore the inputs, such as Checked. @throws std::bad_alloc
  void dump_failures(std::string folder, std::uint32_t most = 1)
    requires(restores)
  {
    options_.failures = std::move(folder);
    options_.most_failures = most;
  }
  /// The number of dumps that were written.
  [[nodiscard]] std::uint64_t dumps() const noexcept { return dumps_; }
  /// The reason why the last dump was not written; empty if it was.
  [[nodiscard]] const Error::Text& dump_failure() const noexcept { return dump_failure_; }

  template <class Graph>
  [[nodiscard]] auto load(const Graph& graph, args::ArgsTable& args) {
    using InnerProgram = decltype(inner_.load(graph, args));
    return Program<InnerProgram>{graph.view(), Writer(graph.view(), detail::HostReader(graph.view(), args)),
                                 inner_.load(graph, args)};
  }

  template <class P>
  Status launch(P& program) noexcept {
    const std::uint64_t round = launches_++;
    if constexpr (restores) {
      last_ = &program.writer;
      last_graph_ = program.graph;
    }
    dumped_ = is_chosen(round);
    if (!dumped_) [[likely]]
      return inner_.launch(program.inner);
    return dump(program.graph, program.writer, round);
  }
  Status wait() noexcept {
    if (dumped_) return {};
    const Status status = inner_.wait();
    if constexpr (restores) {
      if (status.code() == Errc::check_failed) [[unlikely]]
        dump_failed_round();
    }
    return status;
  }

  [[nodiscard]] const Error::Text& failure_text() const noexcept {
    return halt_.text().empty() ? inner_.failure_text() : halt_.text();
  }
  void request_stop() noexcept {
    halt_.request_stop();
    Base::request_stop();
  }

 private:
  /// Dumps a round without changing its status, which is Inner's.
  [[gnu::cold, gnu::noinline]] void dump_failed_round() noexcept {
    if (options_.failures.empty() || options_.most_failures == 0 || !inner_.restore_round()) return;
    --options_.most_failures;
    dump_failure_ = {};
    try {
      const std::string folder = fmt::format("{}/round{}", options_.failures, launches_ - 1);
      platform::sim::Halt halt;  // a separate object, since exceptions of kernels here do not concern the session
      (void)run(last_graph_, *last_, halt, folder, launches_ - 1, options_.tasks);
    } catch (...) {
      dump_failure_ = platform::sim::current_exception_text();
    }
    if (dump_failure_.empty()) ++dumps_;
  }
  [[nodiscard]] bool is_chosen(std::uint64_t round) const noexcept {
    return !next_folder_.empty() || std::ranges::find(options_.rounds, round) != options_.rounds.end();
  }

  /// Runs and dumps one round. @returns the status that Inline would return
  Status run(const graph::GraphView& graph, Writer& writer, platform::sim::Halt& halt, const std::string& folder,
             std::uint64_t round, std::vector<TaskId> tasks) noexcept {
    writer.begin(folder, round, std::move(tasks));
    Status status;
    for (std::size_t t = 0; status.ok() && t < graph.tasks.size(); ++t) {
      writer.before(t);
      status = writer.reader().run_task(graph.tasks[t], t, halt);
      if (status.ok()) writer.after(t);
    }
    writer.end();
    dump_failure_ = writer.failure();
    return status;
  }
  [[gnu::cold, gnu::noinline]] Status dump(const graph::GraphView& graph, Writer& writer,
                                           std::uint64_t round) noexcept {
    dump_failure_ = {};
    std::string folder = std::exchange(next_folder_, {});
    std::vector<TaskId> tasks = std::exchange(next_tasks_, {});
    if (folder.empty()) {
      try {
        folder = fmt::format("{}/round{}", options_.folder.empty() ? "." : options_.folder, round);
        tasks = options_.tasks;
      } catch (...) {
        dump_failure_ = platform::sim::current_exception_text();
      }
    }
    const Status status = run(graph, writer, halt_, folder, round, std::move(tasks));
    if (dump_failure_.empty()) ++dumps_;
    return status;
  }

  Options options_;
  platform::sim::Halt halt_;
  std::string next_folder_;
  std::vector<TaskId> next_tasks_;
  Error::Text dump_failure_;
  std::uint64_t launches_ = 0;
  std::uint64_t dumps_ = 0;
  bool dumped_ = false;     ///< whether the last round was dumped
  Writer* last_ = nullptr;  ///< the writer of the last round's program
  graph::GraphView last_graph_;
};
static_assert(check_platform<platform::Sim<arch::A2A3, Dumping<platform::sim::Inline>>>());

}  // namespace rondo::observe
