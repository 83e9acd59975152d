// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/args/args_table.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/platform/host/cores.hpp>
#include <rondo/platform/sim/halt.hpp>
#include <rondo/platform/sim/inline.hpp>
#include <rondo/platform/sim/overlap.hpp>
#include <rondo/platform/sim/pool_program.hpp>
#include <rondo/platform/sim/replay.hpp>
#include <rondo/platform/sim/schedule.hpp>
#include <rondo/platform/sim/worker_team.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rondo::platform::sim {

/// Host threads as the chip's blocks: thread i is the cube core and the two vector cores of block i. Thread 0 is the
/// calling thread, which takes part while it waits; the others persist and sleep when there is no round.
///
/// A graph is replayed according to a schedule. With a learned schedule, the pool first times a few rounds on the
/// calling thread; then it uses as many threads as make rounds faster. For very short tasks that is one thread, at the
/// cost of Inline. The first rounds on several threads are timed as well: if too few of them are faster than on one
/// thread, because the host is busy, one thread runs all tasks, and several are tried again later.
///
/// Learning continues: in one round in 16, or fewer if tasks are short, tasks are timed where they run. If costs have
/// changed, and another schedule is better by at least a twentieth for the new costs, the pool adopts it between two
/// rounds. Timing and planning take at most some 3 % of all time.
///
/// A loop is one task of the schedule: its tasks run on one thread, next to independent tasks on others.
///
/// Thread safety: that of the session; do not read the counters below while rounds are in flight, except those whose
/// comments allow it. Errors: load() and, with a learned schedule, the last learning round start threads; if they
/// cannot be started, load() throws out_of_resources, and the learning round continues with one thread. A kernel that
/// throws ends the round with kernel_failed, a stop request ends it with stopped; later tasks are skipped. Cost per
/// round: no allocation, no lock, no clock, except in rounds that are timed; a system call only to wake sleeping
/// threads.
class Pool {
 public:
  static constexpr const char* name = "pool";
  static constexpr memory::Concurrency concurrency = memory::Concurrency::parallel;
  static constexpr bool runs_loops = true;

  using Options = PoolOptions;
  using Program = PoolProgram;

  /// Takes at most as many threads as the chip has blocks. @throws Error invalid_argument if a core cannot be used;
  /// out_of_resources
  Pool(const Options& options, const arch::Chip& chip) : options_{options} {
    const std::uint32_t wanted = options.threads != 0 ? options.threads : host_cores();
    threads_ = std::min(wanted, chip.blocks);
    host::check_cores(std::span(options.team.cores).first(std::min<std::size_t>(threads_, options.team.cores.size())));
  }

  template <class Graph>
  [[nodiscard]] Program load(const Graph& graph, args::ArgsTable& args) {
    return load(graph.view(), Inline::load_calls(graph.view(), args));
  }
  [[nodiscard]] Program load(const graph::GraphView& graph, Inline::DynamicProgram calls) {
    Inline::DynamicProgram program = Inline::with_loops(graph, std::move(calls), halt_);
    const graph::GraphView outline = program.graph(graph);
    return Program(outline, std::move(program), options_, threads_, halt_, sleep_);
  }
  [[gnu::always_inline]] Status launch(Program& program) noexcept {
    running_ = &program;
    return program.launch();
  }
  [[gnu::always_inline]] Status wait() noexcept { return running_ == nullptr ? Status{} : running_->wait(); }
  Status unload(Program& program) noexcept {
    const Status status = wait();
    program.stop();
    const bool is_shared = program.shared_ != nullptr;  // its session unloads all of its programs
    if (is_shared) overlapped_.reset();
    if (is_shared || running_ == &program) running_ = nullptr;
    return status;
  }
  /// Whether rounds in flight should overlap; see overlap().
  [[nodiscard]] bool overlaps_rounds() const noexcept { return options_.overlap_rounds && threads_ > 1; }
  /// Whether rounds in flight overlap now: they do once the costs of the tasks are known, if that is faster.
  [[nodiscard]] bool is_overlapping() const noexcept { return overlapped_ != nullptr; }
  /// Lets rounds of these programs overlap from now on. They are programs of one graph, one per slot, each with its own
  /// tensors except those that rounds share (see TensorRecord::is_shared_by_rounds). Preconditions: the first one has
  /// learned, and they are unloaded together. Their earlier rounds may still run; each program starts to use the Replay
  /// by run_on(). Returns null and changes nothing if overlapping gains nothing or a thread cannot be started.
  [[nodiscard]] Replay* overlap(std::span<Program* const> programs) noexcept try {
    Program& first = *programs[0];
    if (first.overlap_ == OverlapPlan::unknown) first.plan_overlap_of(programs.size());
    if (first.overlap_ == OverlapPlan::declined) return nullptr;
    const Plan& plan = first.overlap_plan_;
    std::vector<const Inline::DynamicProgram*> calls;
    for (const Program* program : programs) calls.push_back(&program->calls_);
    overlapped_ = std::unique_ptr<Replay>(new Replay(plan.nodes, plan.schedule, calls, halt_, sleep_, options_.team));
    return overlapped_.get();
  } catch (...) {
    return nullptr;
  }
  /// See Capability::learning.
  [[nodiscard]] static std::vector<std::byte> learned(const Program& program) { return program.learned(); }
  static void restore(Program& program, std::span<const std::byte> bytes) { program.restore(bytes); }
  [[nodiscard]] const Error::Text& failure_text() const noexcept { return halt_.text(); }
  void request_stop() noexcept { halt_.request_stop(); }
  [[nodiscard]] const Halt& halt() const noexcept { return halt_; }
  void keep_awake(bool awake) noexcept { sleep_.is_kept_awake.store(awake, std::memory_order_relaxed); }
  /// The number of threads of the schedule; 1 while it learns, 0 before the first round.
  [[nodiscard]] std::size_t threads_used() const noexcept { return running_ == nullptr ? 0 : running_->threads_used(); }
  /// The number of rounds that the program that ran last timed before its first schedule, and the number of times that
  /// it searched for a schedule. A program that was restored from a file starts with neither.
  [[nodiscard]] std::uint32_t learning_rounds() const noexcept {
    return running_ == nullptr ? 0 : running_->learning_rounds();
  }
  [[nodiscard]] std::uint32_t searches() const noexcept { return running_ == nullptr ? 0 : running_->searches(); }
  /// The number of times that a thread went to sleep for lack of a round. Thread safety: any thread.
  [[nodiscard]] std::uint64_t parks() const noexcept { return sleep_.parks.load(std::memory_order_relaxed); }

 private:
  Options options_;
  std::uint32_t threads_ = 1;
  Halt halt_;
  TeamSleep sleep_;
  std::unique_ptr<Replay> overlapped_;
  Program* running_ = nullptr;
};

}  // namespace rondo::platform::sim
