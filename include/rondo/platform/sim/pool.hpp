// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/platform/sim/halt.hpp>
#include <rondo/platform/sim/inline.hpp>
#include <rondo/platform/sim/overlap.hpp>
#include <rondo/platform/sim/replay.hpp>
#include <rondo/platform/sim/schedule.hpp>
#include <rondo/platform/sim/signal.hpp>
#include <rondo/platform/sim/waiting.hpp>
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

/// The way in which Pool learns what its tasks cost.
enum class Scheduling : std::uint8_t {
  learned,  ///< from the clock, over the first rounds, which run on the calling thread alone
  uniform,  ///< not at all: every task counts as 1 µs; the schedule stands before the first round
};

/// Host threads as the chip's blocks: thread i is the cube core and the two vector cores of block i. Thread 0 is the
/// calling one, which takes part while it waits; the others are persistent and sleep when no round comes.
///
/// A graph is replayed by a schedule made once. A learned schedule first times a few rounds on the calling thread; then
/// it spreads the tasks over as many threads as pay, which for a graph of very short tasks is one, at the cost of
/// Inline. The first rounds on several threads are timed as well: if hardly one is faster than one thread was, because
/// the host is busy elsewhere, one thread runs all.
///
/// Errors: load() and, with a learned schedule, the last learning round start threads; if they cannot be started,
/// load() throws out_of_resources, and the learning round goes on with one thread. A kernel that throws ends the round
/// with kernel_failed, a stop request with stopped; the tasks after it are left out. Cost per round: no allocation, no
/// lock, no clock, once learned; a system call only to wake threads that sleep.
class Pool {
 public:
  static constexpr const char* name = "pool";
  static constexpr memory::Concurrency concurrency = memory::Concurrency::parallel;

  /// The number of threads and their schedule.
  struct Options {
    std::uint32_t threads = 0;  ///< the caller counted in; 0: one per core of the host
    Scheduling scheduling = Scheduling::learned;
    std::uint32_t learning_rounds = 6;  ///< the first is thrown away: it meets cold caches
    std::uint32_t trial_rounds = 32;    ///< on several threads, before that is settled
    /// Whether tasks of a round in flight may start while earlier rounds still run. Each slot of a PipelinedSession
    /// then has a workspace of its own.
    bool overlap_rounds = true;
    ReplayCosts costs = {};
    TeamOptions team = {};  ///< where the threads run, but for the calling one, and how they wait
  };

  /// A graph with its threads, and the costs learnt so far.
  class Program {
   public:
    Program(const graph::GraphView& graph, Inline::DynamicProgram calls, const Options& options, std::uint32_t threads,
            Halt& halt, std::atomic<std::uint64_t>& parks)
        : graph_{graph},
          calls_{std::move(calls)},
          costs_(calls_.calls.size()),
          options_{options},
          threads_{threads},
          halt_{halt},
          parks_{parks} {
      if (threads_ == 1 || options_.learning_rounds == 0) is_settled_ = true;
      if (options_.scheduling == Scheduling::uniform) {
        is_settled_ = true;
        for (double& cost : costs_) cost = 1000;
        if (threads_ > 1) spread();
      }
      if (is_settled_) has_learned_.store(true, std::memory_order_relaxed);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    [[gnu::always_inline]] Status launch() noexcept {
      if (replay_ != nullptr) {
        if (trial_left_ != 0) [[unlikely]]
          trial_start_ = now_ns();
        replay_->launch();
        return {};
      }
      if (!is_settled_) [[unlikely]]
        return launch_unsettled();
      return Inline::run(calls_, halt_);
    }
    [[gnu::always_inline]] Status wait() noexcept {
      if (replay_ != nullptr) {
        replay_->wait();
        if (trial_left_ != 0) [[unlikely]]
          note_trial();
      } else if (shared_ != nullptr) {
        shared_->await(slot_);
      }
      return halt_.status();
    }
    void stop() noexcept {
      if (replay_ != nullptr) replay_->wait();
      replay_.reset();
    }
    void keep_awake(bool awake) noexcept {
      if (replay_ != nullptr) replay_->keep_awake(awake);
      if (shared_ != nullptr) shared_->keep_awake(awake);
    }
    [[nodiscard]] std::size_t threads_used() const noexcept {
      return replay_ != nullptr ? replay_->threads() : shared_ != nullptr ? shared_->threads() : 1;
    }

    // Of rounds that are to overlap with those of other programs; see Pool::overlap().

    /// Whether its rounds need no threads of their own. Called before the first round in flight, and while none is.
    void expect_overlap(bool expects) noexcept { expects_overlap_ = expects; }
    /// Whether the costs of its tasks are known. From any thread.
    [[nodiscard]] bool has_learned() const noexcept { return has_learned_.load(std::memory_order_acquire); }

   private:
    friend class Pool;
    /// Learns, or starts threads for what was learned.
    [[gnu::cold, gnu::noinline]] Status launch_unsettled() noexcept {
      if (shared_ != nullptr) {
        shared_->launch(slot_, false);
        return {};
      }
      if (!has_learned()) return learn();
      if (expects_overlap_) return Inline::run(calls_, halt_);
      is_settled_ = true;
      try {
        spread();
        if (replay_ != nullptr) trial_left_ = options_.trial_rounds;
      } catch (...) {  // no thread or no memory to be had: one thread does it all
      }
      return launch();
    }
    [[gnu::cold, gnu::noinline]] Status learn() noexcept {
      // What reading the clock costs is taken off each figure; the least of several readings, like the figures
      // themselves.
      double clock_cost = 1e9;
      for (int i = 0; i < 32; ++i) {
        const double a = now_ns();
        clock_cost = std::min(clock_cost, now_ns() - a);
      }
      std::size_t c = 0;
      try {
        for (; c < calls_.calls.size(); ++c) {
          if (halt_.requested()) return halt_.status();
          const double start = now_ns();
          calls_.calls[c].entry(calls_.calls[c].args);
          const double cost = std::max(0.0, now_ns() - start - clock_cost);
          costs_[c] = rounds_ <= 1 ? cost : std::min(costs_[c], cost);
        }
      } catch (...) {
        halt_.record(calls_.tasks[c]);
        return halt_.status();
      }
      if (++rounds_ >= options_.learning_rounds) has_learned_.store(true, std::memory_order_release);
      return {};
    }
    [[gnu::cold, gnu::noinline]] void note_trial() noexcept {
      if (trial_start_ == 0) return;
      double alone = 0;
      for (const double cost : costs_) alone += cost;
      if (now_ns() - trial_start_ < 0.97 * alone) ++trials_faster_;
      trial_start_ = 0;
      // Few good rounds are enough: what slows a round down comes from outside and goes again.
      if (--trial_left_ == 0 && 8 * trials_faster_ < options_.trial_rounds) replay_.reset();
    }
    void spread() {
      const NodeGraph nodes = fuse_chains(make_node_graph(graph_, costs_));
      const Schedule schedule = best_schedule(nodes, threads_, options_.costs);
      if (schedule.order.size() < 2) return;
      const Inline::DynamicProgram* const program = &calls_;
      replay_ = std::unique_ptr<Replay>(new Replay(nodes, schedule, {&program, 1}, halt_, parks_, options_.team));
    }
    [[nodiscard]] static double now_ns() noexcept { return static_cast<double>(sim::now_ns()); }

    graph::GraphView graph_;
    Inline::DynamicProgram calls_;
    std::vector<double> costs_;  ///< nanoseconds for each call; the least that was seen
    Options options_;
    std::uint32_t threads_;
    Halt& halt_;
    std::atomic<std::uint64_t>& parks_;
    std::atomic<bool> has_learned_{false};
    bool is_settled_ = false;  ///< how its own rounds run stands: by `replay_`, or on one thread
    bool expects_overlap_ = false;
    std::uint32_t rounds_ = 0;
    std::uint32_t trial_left_ = 0;
    std::uint32_t trials_faster_ = 0;
    double trial_start_ = 0;          ///< 0: no round has been launched since the last wait
    std::unique_ptr<Replay> replay_;  ///< none: one thread does it all, or `shared_`
    Replay* shared_ = nullptr;        ///< the one of all rounds in flight, and this program's slot of it
    std::uint32_t slot_ = 0;
  };

  Pool(const Options& options, std::uint32_t most_threads) : options_{options} {
    const std::uint32_t wanted = options.threads != 0 ? options.threads : host_cores();
    threads_ = std::min(wanted, most_threads);
  }

  template <class Graph>
  [[nodiscard]] Program load(const Graph& graph, args::ArgsTable& args) {
    return load(graph.view(), Inline::load_calls(graph.view(), args));
  }
  [[nodiscard]] Program load(const graph::GraphView& graph, Inline::DynamicProgram calls) {
    return Program(graph, std::move(calls), options_, threads_, halt_, parks_);
  }
  [[gnu::always_inline]] Status launch(Program& program) noexcept {
    running_ = &program;
    return program.launch();
  }
  [[gnu::always_inline]] Status wait() noexcept { return running_ == nullptr ? Status{} : running_->wait(); }
  Status unload(Program& program) noexcept {
    const Status status = wait();
    program.stop();
    if (program.shared_ != nullptr) {  // its session closes all of them
      overlapped_.reset();
      running_ = nullptr;
    }
    if (running_ == &program) running_ = nullptr;
    return status;
  }
  /// Whether rounds in flight are to overlap; see overlap().
  [[nodiscard]] bool overlaps_rounds() const noexcept { return options_.overlap_rounds && threads_ > 1; }
  /// Whether rounds in flight overlap now: they do once the costs of the tasks are known, where it is of use.
  [[nodiscard]] bool is_overlapping() const noexcept { return overlapped_ != nullptr; }
  /// From now on rounds of these programs overlap: they are programs of one graph, each over tensors of its own but for
  /// those that rounds share (see TensorRecord::is_shared_by_rounds), and the first one has learned. No round is under
  /// way. Programs are given by slot, and unloaded together. Returns null, and nothing has changed, where that
  /// gains nothing, or no thread is to be had.
  [[nodiscard]] Replay* overlap(std::span<Program* const> programs) noexcept {
    try {
      const Program& first = *programs[0];
      const auto carried = find_carried(first.graph_);
      if (!carried) return nullptr;
      const auto plan = plan_overlap(make_node_graph(first.graph_, first.costs_, *carried), threads_, programs.size(),
                                     options_.costs);
      if (!plan) return nullptr;
      std::vector<const Inline::DynamicProgram*> calls;
      for (const Program* program : programs) calls.push_back(&program->calls_);
      overlapped_ =
          std::unique_ptr<Replay>(new Replay(plan->nodes, plan->schedule, calls, halt_, parks_, options_.team));
    } catch (...) {
      return nullptr;
    }
    for (std::uint32_t slot = 0; slot < programs.size(); ++slot) {
      programs[slot]->stop();
      programs[slot]->is_settled_ = false;
      programs[slot]->shared_ = overlapped_.get();
      programs[slot]->slot_ = slot;
    }
    return overlapped_.get();
  }
  [[nodiscard]] const Error::Text& failure_text() const noexcept { return halt_.text(); }
  void request_stop() noexcept { halt_.request_stop(); }
  void keep_awake(bool awake) noexcept {
    if (running_ != nullptr) running_->keep_awake(awake);
  }
  /// The number of threads of the schedule; 1 while it learns, 0 before the first round.
  [[nodiscard]] std::size_t threads_used() const noexcept { return running_ == nullptr ? 0 : running_->threads_used(); }
  /// The number of times that a thread went to sleep because no round came. From any thread.
  [[nodiscard]] std::uint64_t parks() const noexcept { return parks_.load(std::memory_order_relaxed); }

 private:
  Options options_;
  std::uint32_t threads_ = 1;
  Halt halt_;
  std::atomic<std::uint64_t> parks_{0};
  std::unique_ptr<Replay> overlapped_;
  Program* running_ = nullptr;
};

}  // namespace rondo::platform::sim
