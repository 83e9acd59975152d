// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/bytes.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/sim/cost_watch.hpp>
#include <rondo/platform/sim/halt.hpp>
#include <rondo/platform/sim/inline.hpp>
#include <rondo/platform/sim/overlap.hpp>
#include <rondo/platform/sim/replay.hpp>
#include <rondo/platform/sim/schedule.hpp>
#include <rondo/platform/sim/waiting.hpp>
#include <rondo/platform/sim/worker_team.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace rondo::platform::sim {

/// How Pool determines the costs of its tasks.
enum class Scheduling : std::uint8_t {
  learned,  ///< by timing the first rounds, which run on the calling thread only
  uniform,  ///< no timing: every task counts as 1 µs; the schedule is made before the first round
};

/// The number of threads and how they are scheduled.
struct PoolOptions {
  std::uint32_t threads = 0;  ///< their number, including the calling thread; 0: one per core of the host
  Scheduling scheduling = Scheduling::learned;  ///< how the costs of tasks are determined
  std::uint32_t learning_rounds = 6;  ///< rounds timed to learn; the first is discarded, since its caches are cold
  std::uint32_t trial_rounds = 32;    ///< rounds on several threads, before these are kept
  std::uint32_t look_rounds = 16;     ///< at most one round in this many is timed; 0: none after learning
  /// Whether tasks of a round in flight may start while earlier rounds still run. Each slot of a PipelinedSession
  /// then has a workspace of its own.
  bool overlap_rounds = true;
  ReplayCosts costs = {};  ///< the overhead of rounds on several threads, by which schedules are chosen
  TeamOptions team = {};   ///< where the other threads run, and how they wait
};

/// The state of a PoolProgram, as bytes; the first three are 0 or 1.
struct KeptFlags {
  std::uint8_t is_settled = 0;
  std::uint8_t is_forced_alone = 0;
  std::uint8_t is_spread = 0;  ///< over several threads, by a PlanChoice that follows
  OverlapPlan overlap = OverlapPlan::unknown;
};

/// A graph with its threads and the costs learned so far.
class PoolProgram {
 public:
  PoolProgram(const graph::GraphView& graph, Inline::DynamicProgram calls, const PoolOptions& options,
              std::uint32_t threads, Halt& halt, TeamSleep& sleep)
      : graph_{graph},
        calls_{std::move(calls)},
        costs_(calls_.calls.size()),
        sample_(calls_.calls.size()),
        watch_(calls_.calls.size()),
        options_{options},
        threads_{threads},
        halt_{halt},
        sleep_{sleep} {
    const bool is_uniform = options_.scheduling == Scheduling::uniform;
    learns_ = !is_uniform && threads_ != 1 && options_.learning_rounds != 0;
    is_settled_ = !learns_;
    if (is_settled_) options_.look_rounds = 0;
    if (is_uniform) {
      options_.trial_rounds = 0;
      for (double& cost : costs_) cost = 1000;
      if (threads_ > 1) plan(costs_);
    }
    if (is_settled_) has_learned_.store(true, std::memory_order_relaxed);
  }
  PoolProgram(const PoolProgram&) = delete;
  PoolProgram& operator=(const PoolProgram&) = delete;

  [[gnu::always_inline]] Status launch() noexcept {
    if (--until_look_ == 0) [[unlikely]]
      return launch_watched();
    if (replay_ != nullptr) {
      replay_->launch();
      return {};
    }
    return Inline::run(calls_, halt_);
  }
  [[gnu::always_inline]] Status wait() noexcept {
    if (replay_ != nullptr) {
      replay_->wait();
      if (watched_ != Watched::nothing) [[unlikely]]
        note_watched();
    } else if (shared_ != nullptr) {
      shared_->await(slot_);
      return shared_->status(slot_);
    }
    return halt_.status_of(0);  // ok if a stop was requested after the round
  }
  void stop() noexcept {
    if (replay_ != nullptr) replay_->wait();
    replay_.reset();
    watched_ = Watched::nothing;
    until_look_ = 1;
  }
  [[nodiscard]] std::size_t threads_used() const noexcept {
    return replay_ != nullptr ? replay_->threads() : shared_ != nullptr ? shared_->threads() : 1;
  }

  // The learned costs and schedule, as bytes for a program of the same graph. Precondition: no round is under way.
  /// Returns the costs of the tasks and the choice of the schedule; nothing if the costs are not known yet or not
  /// learned at all.
  [[nodiscard]] std::vector<std::byte> learned() const {
    rondo::detail::ByteWriter to;
    if (!learns_ || !has_learned()) return {};
    to.put(threads_);
    to.put_all(costs_);
    to.put(KeptFlags{is_settled_, is_forced_alone_, replay_ != nullptr, overlap_});
    if (replay_ != nullptr) to.put(plan_.choice);
    if (overlap_ == OverlapPlan::planned) to.put(overlap_plan_.choice);
    return to.take();
  }
  /// Restores the state of the program that returned these bytes: learns and plans nothing. @throws Error
  /// invalid_argument if they do not fit; out_of_resources. The program is unchanged then.
  void restore(std::span<const std::byte> bytes) {
    if (!learns_ || bytes.empty()) return;
    rondo::detail::ByteReader from(bytes);
    if (const auto threads = from.get<std::uint32_t>(); threads != threads_) {
      throw Error(Errc::invalid_argument,
                  Error::Text{"the schedule was learned for ", threads, " threads, and the session has ", threads_});
    }
    std::vector<double> costs = from.get_all<double>();
    const auto flags = from.get<KeptFlags>();
    const bool has_plan = flags.is_spread != 0;
    const bool has_overlap_plan = flags.overlap == OverlapPlan::planned;
    const PlanChoice choice = has_plan ? from.get<PlanChoice>() : PlanChoice{};
    const PlanChoice overlap_choice = has_overlap_plan ? from.get<PlanChoice>() : PlanChoice{};
    const auto fits = [&](const PlanChoice& c) {
      return c.most_cost >= 0 && c.threads >= 2 && c.threads <= threads_ && !costs.empty();
    };
    if (!from.is_finished() || costs.size() != costs_.size() || flags.overlap > OverlapPlan::declined ||
        !std::all_of(costs.begin(), costs.end(), [](double c) { return c >= 0 && c < 1e18; }) ||
        (has_plan && !fits(choice)) || (has_overlap_plan && !fits(overlap_choice))) {
      throw Error(Errc::invalid_argument, Error::Text("the learned schedule does not belong to this graph"));
    }
    std::optional<Plan> plan;
    std::optional<Plan> overlap_plan;
    if (has_plan) plan = make_plan(make_node_graph(graph_, costs), choice, options_.costs);
    if (has_overlap_plan) {
      overlap_plan = make_plan(make_node_graph(graph_, costs, find_carried(graph_)), overlap_choice, options_.costs);
    }
    if (plan) replay_ = make_replay(*plan);
    measure_clock();
    costs_ = std::move(costs);
    watch_.expect(costs_);
    if (plan) plan_ = std::move(*plan);
    if (overlap_plan) overlap_plan_ = std::move(*overlap_plan);
    overlap_ = flags.overlap;
    is_settled_ = flags.is_settled != 0;
    is_forced_alone_ = flags.is_forced_alone != 0;
    until_retry_ = retry_after_;
    until_look_ = is_settled_ ? options_.look_rounds : 1;
    has_learned_.store(true, std::memory_order_release);
  }
  [[nodiscard]] std::uint32_t learning_rounds() const noexcept { return rounds_; }
  [[nodiscard]] std::uint32_t searches() const noexcept { return searches_; }

  // For rounds that overlap with rounds of other programs; see Pool::overlap().
  /// Announces that rounds will probably overlap soon: the next one starts no threads of its own.
  void expect_overlap() noexcept { expects_overlap_ = true; }
  /// From now on, `shared` runs the program's rounds, which are those of `slot`. Precondition: no round is under way.
  void run_on(Replay& shared, std::uint32_t slot) noexcept {
    stop();
    is_settled_ = false;
    shared_ = &shared;
    slot_ = slot;
  }
  /// Whether the costs of its tasks are known. From any thread.
  [[nodiscard]] bool has_learned() const noexcept { return has_learned_.load(std::memory_order_acquire); }

 private:
  friend class Pool;
  /// How a round on several threads is timed.
  enum class Watched : std::uint8_t { nothing, as_a_whole, each_call };
  /// The number of looks before several threads that were slower than one are tried again.
  static constexpr std::uint32_t least_retry = 2;
  static constexpr std::uint32_t most_retry = 128;
  /// The number of consecutive timed rounds, slower than on one thread, after which one thread runs all tasks.
  static constexpr std::uint32_t most_slow = 8;

  /// Runs a round in flight, or a round to learn, to try several threads or to time the calls.
  [[gnu::cold, gnu::noinline]] Status launch_watched() noexcept {
    until_look_ = 1;
    if (shared_ != nullptr) {
      shared_->launch(slot_, false);
      return {};
    }
    if (!has_learned()) return learn();
    if (std::exchange(expects_overlap_, false)) return Inline::run(calls_, halt_);
    if (!is_settled_) {
      is_settled_ = true;
      try_to_plan(costs_);
    }
    if (trial_left_ == 0 && options_.look_rounds == 0) {
      until_look_ = 0;  // the next look is 2^32 rounds away
      if (replay_ == nullptr) return Inline::run(calls_, halt_);
      replay_->launch();
      return {};
    }
    if (replay_ != nullptr) {
      watched_ = trial_left_ != 0 ? Watched::as_a_whole : Watched::each_call;
      watched_from_ = now_ns();
      watched_ == Watched::each_call ? replay_->launch_timed() : replay_->launch();
      return {};
    }
    const double start = now_ns();
    const Status status = run_timed();
    if (status.ok()) reconsider(now_ns() - start);
    return status;
  }
  /// Runs all calls on this thread and times each; the costs are in `sample_`.
  Status run_timed() noexcept {
    return Inline::run(calls_, halt_, [this, cost = sample_.begin()](const Inline::Call& call) mutable {
      const double start = now_ns();
      call.entry(call.args);
      *cost++ = std::max(0.0, now_ns() - start - clock_cost_);
    });
  }
  /// The cost of reading the clock is subtracted from each time. It is a minimum of several tries, as the times are.
  void measure_clock() noexcept {
    for (int i = 0; i < 32; ++i) {
      const double a = now_ns();
      clock_cost_ = std::min(clock_cost_, now_ns() - a);
    }
  }
  Status learn() noexcept {
    measure_clock();
    if (const Status status = run_timed(); !status) return status;
    for (std::size_t c = 0; c < costs_.size(); ++c) {
      costs_[c] = rounds_ <= 1 ? sample_[c] : std::min(costs_[c], sample_[c]);
    }
    if (++rounds_ >= options_.learning_rounds) has_learned_.store(true, std::memory_order_release);
    return {};
  }

  /// Ends a timed round on several threads.
  [[gnu::cold, gnu::noinline]] void note_watched() noexcept {
    const Watched watched = std::exchange(watched_, Watched::nothing);
    const double took = now_ns() - watched_from_;
    if (watched == Watched::each_call) {
      replay_->read_times(sample_);
      for (double& each : sample_) each = std::max(0.0, each - clock_cost_);
      if (!halt_.requested()) reconsider(took);
      return;
    }
    if (took < 0.97 * sum(costs_)) ++trials_faster_;
    if (--trial_left_ != 0) return;
    // A few fast rounds are enough: slow ones have external causes, which pass.
    if (8 * trials_faster_ < options_.trial_rounds) return run_alone();
    retry_after_ = least_retry;
  }
  /// Evaluates a timed round with the call costs `sample_`, and makes a new plan if that may be better.
  void reconsider(double took) noexcept {
    const double alone = sum(sample_);
    const double timing = 2 * clock_cost_ * static_cast<double>(sample_.size());
    const double rest = std::max({took - timing, took / 4, 1.0});  // roughly the time of a round that is not timed
    // Timing takes 1 % of the time. The distance between looks varies, in case costs vary periodically.
    const double apart = std::max(std::min(timing / (0.01 * rest), 65536.0), static_cast<double>(options_.look_rounds));
    until_look_ = static_cast<std::uint32_t>(apart) + ++looks_ % 3;
    if (replay_ != nullptr) {
      const bool is_slow = took > 0.97 * (alone + timing);
      slow_looks_ = is_slow ? slow_looks_ + 1 : 0;
      if (slow_looks_ == most_slow) return run_alone();
    }
    const bool is_retry_due = is_forced_alone_ && --until_retry_ == 0;
    const bool has_changed = watch_.look(sample_);
    if (is_retry_due) until_retry_ = retry_after_;
    if (!has_changed && !is_retry_due) return;
    if (now_ns() - planned_at_ < 50 * planning_took_) return;
    try_to_plan(has_changed ? watch_.costs() : costs_);
  }
  void try_to_plan(std::span<const double> costs) noexcept {
    planned_at_ = now_ns();
    try {
      plan(costs);
    } catch (...) {  // NOLINT(bugprone-empty-catch): no thread or no memory, so the schedule does not change
    }
    planning_took_ = now_ns() - planned_at_;
  }
  /// Replaces the schedule by the best one for these costs, if that is better by at least a twentieth. @throws Error
  /// out_of_resources
  void plan(std::span<const double> costs) {
    if (costs.data() != costs_.data()) std::copy(costs.begin(), costs.end(), costs_.begin());
    watch_.expect(costs_);
    ++searches_;
    Plan best = plan_round(make_node_graph(graph_, costs_), threads_, options_.costs);
    const double alone = sum(costs_);
    const double now = replay_ == nullptr ? alone : makespan_now();
    if (best.schedule.order.size() < 2) {
      is_forced_alone_ = false;
      if (alone < 0.95 * now) replay_.reset();
    } else if (best.schedule.makespan < 0.95 * now) {
      take(std::move(best));
    }
  }
  /// The expected time of a round with the present schedule, if its calls cost `costs_`.
  [[nodiscard]] double makespan_now() {
    for (NodeGraph::Node& node : plan_.nodes.nodes) {
      node.cost = 0;
      for (std::uint32_t c = 0; c < node.call_count; ++c) node.cost += costs_[plan_.nodes.calls[node.first_call + c]];
    }
    return ends_of(plan_.nodes, plan_.schedule, 1, 1, options_.costs)[0];
  }
  /// Searches for a schedule for rounds that overlap, with this many slots.
  void plan_overlap_of(std::size_t slots) {
    ++searches_;
    std::optional<Plan> plan =
        plan_overlap(make_node_graph(graph_, costs_, find_carried(graph_)), threads_, slots, options_.costs);
    overlap_ = plan ? OverlapPlan::planned : OverlapPlan::declined;
    if (plan) overlap_plan_ = std::move(*plan);
  }
  [[nodiscard]] std::unique_ptr<Replay> make_replay(const Plan& plan) {
    const Inline::DynamicProgram* const program = &calls_;
    return std::unique_ptr<Replay>(new Replay(plan.nodes, plan.schedule, {&program, 1}, halt_, sleep_, options_.team));
  }
  void take(Plan&& plan) {
    const bool was_alone = replay_ == nullptr;
    replay_ = make_replay(plan);
    plan_ = std::move(plan);
    slow_looks_ = 0;
    is_forced_alone_ = false;
    if (!was_alone) return;
    trial_left_ = options_.trial_rounds;
    trials_faster_ = 0;
    if (trial_left_ != 0) until_look_ = 1;
  }
  /// Returns to one thread, if several are hardly faster because the host is busy.
  void run_alone() noexcept {
    replay_.reset();
    slow_looks_ = 0;
    is_forced_alone_ = true;
    until_retry_ = retry_after_;
    retry_after_ = std::min(2 * retry_after_, most_retry);
  }
  [[nodiscard]] static double sum(std::span<const double> costs) noexcept {
    return std::accumulate(costs.begin(), costs.end(), 0.0);
  }
  [[nodiscard]] static double now_ns() noexcept { return static_cast<double>(sim::now_ns()); }

  graph::GraphView graph_;
  Inline::DynamicProgram calls_;
  std::vector<double> costs_;   ///< nanoseconds for each call; the basis of the schedule
  std::vector<double> sample_;  ///< the costs in the last round that was timed
  CostWatch watch_;
  PoolOptions options_;
  std::uint32_t threads_;
  Halt& halt_;
  TeamSleep& sleep_;
  std::atomic<bool> has_learned_{false};
  bool expects_overlap_ = false;
  bool learns_ = true;            ///< whether the costs of its tasks are learned
  bool is_settled_ = false;       ///< whether it is decided how its own rounds run: on `replay_`, or on one thread
  bool is_forced_alone_ = false;  ///< several threads should be faster, but are not
  Watched watched_ = Watched::nothing;
  std::uint32_t until_look_ = 1;  ///< launches until the next one that calls launch_watched()
  std::uint32_t rounds_ = 0;      ///< learning rounds so far
  std::uint32_t searches_ = 0;
  std::uint32_t trial_left_ = 0;
  std::uint32_t trials_faster_ = 0;
  std::uint32_t looks_ = 0;
  std::uint32_t slow_looks_ = 0;
  std::uint32_t until_retry_ = 0;
  std::uint32_t retry_after_ = least_retry;
  double clock_cost_ = 1e9;  ///< the cost of two readings, in nanoseconds
  double watched_from_ = 0;
  double planned_at_ = 0;
  double planning_took_ = 0;
  Plan plan_;          ///< the plan of `replay_`
  Plan overlap_plan_;  ///< the plan of `shared_`, in the program of the first slot
  OverlapPlan overlap_ = OverlapPlan::unknown;
  std::unique_ptr<Replay> replay_;  ///< null: one thread runs all calls, or `shared_` does
  Replay* shared_ = nullptr;        ///< runs all rounds in flight; `slot_` is this program's slot in it
  std::uint32_t slot_ = 0;
};

}  // namespace rondo::platform::sim
