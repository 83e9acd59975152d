// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/sim/cost_watch.hpp>
#include <rondo/platform/sim/halt.hpp>
#include <rondo/platform/sim/inline.hpp>
#include <rondo/platform/sim/schedule.hpp>
#include <rondo/platform/sim/signal.hpp>
#include <rondo/platform/sim/waiting.hpp>
#include <rondo/platform/sim/worker_team.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace rondo::platform::sim {

/// Runs a scheduled graph on several threads, round after round; with several slots, several rounds at a time.
///
/// Each thread has its nodes in the order of the schedule, in batches. For each batch it waits until the predecessors
/// on other threads are done, claims the batch, runs its nodes, and marks each as done. A claim is a compare-and-swap
/// on a word that usually only its owner accesses; a done flag is a plain store. Both hold the number of the round, so
/// nothing is ever reset. A claim changes the last round's number to this one's and succeeds once: a thread that is
/// still in an old round finds all batches of that round claimed. A thread that would wait for long, or has run all its
/// batches, runs ready batches of the others, so a thread that lost its core delays only its current batch.
///
/// A node joins the previous batch if everything it needs from other threads is expected to be done when the batch
/// starts. So no two batches wait for each other.
///
/// Where rounds overlap, a thread continues from its nodes of one round with those of the next. A node comes after
/// itself in the previous round, and after the nodes of that round that `carried` lists; so when a round has ended, all
/// nodes of earlier rounds are done, though a thread may not yet have reported some of them. The calling thread is one
/// of the threads while it waits; otherwise the other threads run its part, and if that becomes too much, they wake the
/// stand-in thread.
///
/// Lifetime: immovable. Thread safety: all public members from one thread. Cost per round: no allocation and no lock; a
/// system call if a thread sleeps; per node about 15 ns.
class Replay {
 public:
  /// `programs`: the calls of each slot, in the order of the graph. The calling thread is one of the threads during
  /// wait() and await(). With several slots, no round begins before open().
  /// @throws Error out_of_resources if a thread cannot be started; errors of WorkerTeam
  Replay(const NodeGraph& graph, const Schedule& schedule, std::span<const Inline::DynamicProgram* const> programs,
         Halt& halt, TeamSleep& sleep, const TeamOptions& team);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay() {
    if (!stand_in_.joinable()) return;
    is_closing_.store(true, std::memory_order_seq_cst);  // model: overlap.close
    wake_stand_in();
    stand_in_.join();  // model: overlap.join
  }

  /// Starts the next round of the only slot.
  void launch() noexcept { team_.start(++epoch_); }  // model: replay.launch
  /// Does the same as launch(), and times each call; see read_times().
  void launch_timed() noexcept {
    rounds_[0].first_call = call_count_;
    launch();
  }
  /// After wait(): reads the costs of the calls of a timed round, in ns, in the graph's order; 0 for skipped calls.
  void read_times(std::span<double> costs) noexcept {
    rounds_[0].first_call = 0;
    for (std::uint32_t c = 0; c < call_count_; ++c) costs[originals_[c]] = std::exchange(timed_[c].ns, 0);
  }
  /// Lets the rounds of several slots begin. From any thread, once.
  void open() noexcept { rounds_[0].finished.store(0, std::memory_order_release); }  // model: switch.opened
  /// Starts the next round in a free slot. `alone`: whether the round must not overlap with any other.
  void launch(std::uint32_t slot, bool alone) noexcept {
    Round& next = round(++epoch_);
    next.first_call = slot * call_count_;
    next.waits.store(alone || last_was_alone_, std::memory_order_relaxed);  // model: overlap.waits
    last_was_alone_ = alone;
    epochs_[slot] = epoch_;
    team_.start(epoch_);  // model: overlap.launch
  }
  /// Runs the caller's share, helps the others, and returns when all nodes are done.
  void wait() noexcept {
    if (has_ended(epoch_)) return;
    work(0, epoch_);
    for (Backoff backoff; !has_ended(epoch_);) {  // model: replay.wait
      if (help(0, epoch_)) backoff.reset();
      backoff.wait(spins_);
    }
  }

  /// Whether the round launched last in a slot has ended. If not, makes sure that a thread serves the first lane, since
  /// a caller that only polls does not.
  [[nodiscard]] bool has_slot_ended(std::uint32_t slot) noexcept {
    if (has_ended(epochs_[slot])) return true;                              // model: overlap.has_ended
    if (!first_lane_is_taken_.exchange(true, std::memory_order_acquire)) {  // model: overlap.ask_for_lane
      const bool has_work = positions_[0].epoch != epoch_ + 1;              // model: overlap.has_work
      first_lane_is_taken_.store(false, std::memory_order_release);         // model: overlap.give_lane
      if (has_work) wake_stand_in();                                        // model: overlap.ask_wakes
    }
    return false;
  }
  /// Runs batches until the round launched last in a slot has ended; sleeps while there is none to run.
  void await(std::uint32_t slot) noexcept {
    const std::uint32_t epoch = epochs_[slot];
    if (has_ended(epoch)) return;
    caller_waits_.store(true, std::memory_order_relaxed);  // model: overlap.caller_waits
    bool has_worked = false;  // the stand-in thread may release the first lane to this one at any time
    Backoff backoff;
    while (!has_ended(epoch)) {
      if (!first_lane_is_taken_.exchange(true, std::memory_order_acquire)) {  // model: overlap.take
        work_until(0, epoch_, [&] { return has_ended(epoch); });              // model: overlap.work
        first_lane_is_taken_.store(false, std::memory_order_release);         // model: overlap.release_lane
        has_worked = true;
      }
      Signal& finished = round(epoch).finished;
      const std::uint32_t seen = finished.load(std::memory_order_acquire);
      if (seen == epoch) break;
      if (has_worked && backoff.has_spun(spins_)) {
        finished.wait(seen);  // model: overlap.sleep
      } else {
        backoff.wait(spins_);
      }
    }
    caller_waits_.store(false, std::memory_order_relaxed);  // model: overlap.waits_no_more
  }
  [[nodiscard]] Status status(std::uint32_t slot) noexcept { return halt_.status_of(epochs_[slot]); }
  [[nodiscard]] std::size_t threads() const noexcept { return threads_; }

 private:
  friend class WorkerTeam<Replay>;
  static constexpr std::uint32_t cache_line = 64, per_line = cache_line / sizeof(std::uint32_t);
  static constexpr std::uint32_t reach = 32;  ///< the number of unclaimed batches in another lane that a helper checks

  struct Batch {
    std::uint32_t first_node = 0;
    std::uint32_t node_end = 0;
    std::uint32_t first_need = 0;
    std::uint32_t across_end = 0;  ///< needs on other threads come first
    std::uint32_t need_end = 0;
    std::uint32_t carried_end = 0;  ///< followed by those in the previous round
  };
  struct Calls {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  struct alignas(cache_line) Line {
    std::atomic<std::uint32_t> words[per_line];
  };
  struct alignas(cache_line) Lane {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    /// The epoch, and a batch below which all are claimed: a hint for helpers. It says nothing about another epoch.
    std::atomic<std::uint64_t> cursor{0};
  };
  /// The progress of a lane's thread; the next thread that serves the lane continues from there.
  struct alignas(cache_line) Position {
    std::uint32_t epoch = 0;
    std::uint32_t batch = 0;
    bool in_order = true;  ///< whether no other thread has run a batch of the lane in this round
  };
  /// A round under way. The number of entries is a power of two, at least that of slots, so epochs may wrap around.
  struct alignas(cache_line) Round {
    std::atomic<std::uint32_t> executed{0};  ///< the number of batches run
    Signal finished{0};                      ///< the last finished epoch that used this entry
    std::uint32_t first_call = 0;            ///< the first call of its slot
    std::atomic<bool> waits{false};          ///< whether it starts only after the previous round is over
  };

  [[nodiscard]] static std::atomic<std::uint32_t>& word(std::vector<Line>& lines, std::uint32_t i) noexcept {
    return lines[i / per_line].words[i % per_line];
  }
  [[nodiscard]] Round& round(std::uint32_t epoch) noexcept { return rounds_[epoch & round_mask_]; }
  [[nodiscard]] bool has_ended(std::uint32_t epoch) noexcept {
    return static_cast<std::int32_t>(round(epoch).finished.load(std::memory_order_acquire) - epoch) >= 0;
  }
  /// Whether a round must not run any batch yet.
  [[nodiscard]] bool is_held_up(std::uint32_t epoch) noexcept {
    return round(epoch).waits.load(std::memory_order_relaxed) && !has_ended(epoch - 1);
  }

  /// Whether these nodes are done in this round or in a later one.
  [[nodiscard]] bool are_done(std::uint32_t first, std::uint32_t end, std::uint32_t epoch) noexcept {
    for (std::uint32_t n = first; n < end; ++n) {
      if (!is_done(needs_[n], epoch)) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_done(std::uint32_t node, std::uint32_t epoch) noexcept {
    return static_cast<std::int32_t>(word(done_, node).load(std::memory_order_acquire) - epoch) >= 0;
  }
  /// Whether a batch can run. `need_end`: the end of the needs that are not known to be done.
  [[nodiscard]] bool is_ready(const Batch& b, std::uint32_t need_end, std::uint32_t epoch) noexcept {
    if (!are_done(b.first_need, need_end, epoch)) return false;
    return !overlaps_ || (is_done(b.node_end - 1, epoch - 1) && are_done(b.need_end, b.carried_end, epoch - 1));
  }
  [[nodiscard]] bool claimable(std::uint32_t batch, std::uint32_t epoch) noexcept {
    return word(claims_, batch).load(std::memory_order_relaxed) == epoch - 1;
  }
  /// Relaxed: a claim carries no data; the done flags of predecessors do.
  [[nodiscard]] bool claim(std::uint32_t batch, std::uint32_t epoch) noexcept {
    std::uint32_t before = epoch - 1;
    // model: replay.claim
    return word(claims_, batch).compare_exchange_strong(before, epoch, std::memory_order_relaxed);
  }

  /// The number of a round for `halt_`. Each Replay counts its own epochs, so rounds that do not overlap all have 0,
  /// which is before every round that overlaps.
  [[nodiscard]] std::uint32_t number_of(std::uint32_t epoch) const noexcept { return overlaps_ ? epoch : 0; }
  void run(const Batch& batch, std::uint32_t epoch) noexcept {
    const std::uint32_t first_call = round(epoch).first_call;
    for (std::uint32_t node = batch.first_node; node != batch.node_end; ++node) {
      if (!halt_.requested() || !halt_.skips(number_of(epoch))) [[likely]]
        run_calls(node_calls_[node], first_call, epoch);
      word(done_, node).store(epoch, std::memory_order_release);  // model: replay.done
    }
  }
  void run_calls(Calls range, std::uint32_t first_call, std::uint32_t epoch) noexcept {
    std::uint32_t call = range.begin;
    const Inline::Call* const calls = calls_.data() + first_call;
    try {
      for (; call != range.end; ++call) calls[call].entry(calls[call].args);
    } catch (...) {
      halt_.record(tasks_[call], number_of(epoch));
    }
  }

  void report(std::uint32_t epoch, std::uint32_t executed) noexcept {
    if (executed == 0) return;
    Round& r = round(epoch);
    if (r.executed.fetch_add(executed, std::memory_order_acq_rel) + executed == batch_count_) {  // model: replay.count
      // model: replay.reset
      r.executed.store(0, std::memory_order_relaxed);      // published by the store to `finished`
      r.finished.store(epoch, std::memory_order_release);  // model: replay.finished
      if (overlaps_) r.finished.notify_one();              // model: overlap.notify
    }
  }

  [[nodiscard]] static constexpr std::uint64_t cursor_at(std::uint32_t epoch, std::uint32_t batch) noexcept {
    return std::uint64_t{epoch} << 32 | batch;
  }

  /// Runs one ready unclaimed batch near the other threads' positions. Returns whether it found one.
  bool help(std::size_t worker, std::uint32_t epoch) noexcept {
    for (std::size_t i = 1; i <= threads_; ++i) {
      Lane& lane = lanes_[(worker + i) % threads_];
      const std::uint64_t cursor = lane.cursor.load(std::memory_order_relaxed);
      const bool current = static_cast<std::uint32_t>(cursor >> 32) == epoch;
      const std::uint32_t from = current ? static_cast<std::uint32_t>(cursor) : lane.begin;
      std::uint32_t batch = from;
      while (batch < lane.end && !claimable(batch, epoch)) ++batch;
      // Lets the next helper skip these claimed batches.
      if (batch != from) lane.cursor.store(cursor_at(epoch, batch), std::memory_order_relaxed);
      for (std::uint32_t waiting = 0; batch < lane.end && waiting < reach; ++batch) {
        if (!claimable(batch, epoch)) continue;
        ++waiting;
        const Batch& b = batches_[batch];
        if (!is_ready(b, b.need_end, epoch) || !claim(batch, epoch)) continue;  // model: replay.help
        run(b, epoch);
        report(epoch, 1);
        if (&lane == lanes_.data()) note_stray_help();
        return true;
      }
    }
    return false;
  }
  /// Notes that another thread ran a batch of the first lane. If this is frequent while no thread serves it, wakes one.
  void note_stray_help() noexcept {
    if (!overlaps_ || first_lane_is_taken_.load(std::memory_order_relaxed)) return;  // model: overlap.lane_is_free
    if (stray_helps_.fetch_add(1, std::memory_order_relaxed) + 1 != 4) return;       // model: overlap.stray
    wake_stand_in();
  }
  void wake_stand_in() noexcept {
    is_needed_.store(1, std::memory_order_seq_cst);  // model: overlap.need
    is_needed_.notify_one();                         // model: overlap.wake
  }
  /// The loop of the stand-in thread.
  void stand_by() noexcept {
    for (;;) {
      is_needed_.wait(0);                                       // model: overlap.stand_by
      (void)is_needed_.exchange(0, std::memory_order_seq_cst);  // model: overlap.needed
      // The exchange reads the last store of any thread. All are seq_cst, so this load sees earlier stores.
      if (is_closing_.load(std::memory_order_seq_cst)) return;  // model: overlap.leave_team
      const auto caller_waits = [this] { return caller_waits_.load(std::memory_order_relaxed); };
      // model: overlap.take_lane
      if (!caller_waits() && !first_lane_is_taken_.exchange(true, std::memory_order_acquire)) {
        work_until(0, team_.epoch(), caller_waits);                    // model: overlap.stand_in_works
        first_lane_is_taken_.store(false, std::memory_order_release);  // model: overlap.leave_lane
      }
      stray_helps_.store(0, std::memory_order_relaxed);  // model: overlap.forget
    }
  }
  /// Does the same as help() for all rounds under way, the oldest first.
  bool help_any(std::size_t worker, std::uint32_t epoch) noexcept {
    if (!overlaps_) return help(worker, epoch);
    const std::uint32_t last = team_.epoch();
    for (std::uint32_t e = last - round_mask_; e != last + 1; ++e) {
      if (!has_ended(e) && !is_held_up(e) && help(worker, e)) return true;  // model: overlap.help_any
    }
    return false;
  }

  enum class Turn : std::uint8_t { run, lost, left };
  /// Waits for a batch of a worker's own lane and runs it, unless another worker has claimed it. `in_order`: whether
  /// all earlier batches in the lane count as done. Returns early when `is_enough()`.
  template <class IsEnough>
  Turn run_own(std::size_t own, std::uint32_t batch, bool in_order, std::uint32_t epoch, IsEnough is_enough) noexcept {
    const Batch& b = batches_[batch];
    Backoff backoff;
    while (claimable(batch, epoch)) {
      if (is_ready(b, in_order ? b.across_end : b.need_end, epoch)) {
        if (!claim(batch, epoch)) return Turn::lost;  // model: replay.claim_own
        run(b, epoch);
        return Turn::run;
      }
      if (is_enough()) return Turn::left;  // model: overlap.leave
      if (backoff.out_of_patience(spins_)) {
        lanes_[own].cursor.store(cursor_at(epoch, batch), std::memory_order_relaxed);
        if (help_any(own, epoch)) backoff.reset();  // model: replay.help_others
      }
      backoff.wait(spins_);
    }
    return Turn::lost;
  }

  /// Runs a worker's own share of a round, from `at` on. Returns false if it stopped before the end.
  template <class IsEnough>
  bool run_lane(std::size_t own, Position& at, IsEnough is_enough) noexcept {
    if (overlaps_) {
      for (Backoff backoff; is_held_up(at.epoch);) {
        if (is_enough()) return false;  // model: overlap.leave_held_up
        if (help_any(own, at.epoch)) backoff.reset();
        backoff.wait(spins_);
      }
    }
    std::uint32_t executed = 0;
    const std::uint32_t end = lanes_[own].end;
    bool is_over = true;
    for (; at.batch != end; ++at.batch) {
      const Turn turn = is_enough() ? Turn::left : run_own(own, at.batch, at.in_order, at.epoch, is_enough);
      is_over = turn != Turn::left;
      if (!is_over) break;
      executed += turn == Turn::run ? 1 : 0;
      at.in_order = turn == Turn::run && at.in_order;  // model: replay.in_order
    }
    report(at.epoch, executed);  // model: replay.report
    return is_over;
  }
  /// Runs a worker's own share of all rounds up to `last`, then helps the others. Returns early when `is_enough()`.
  template <class IsEnough>
  void work_until(std::size_t own, std::uint32_t last, IsEnough is_enough) noexcept {
    Position& at = positions_[own];
    Position now = at;
    const std::uint32_t oldest = last - round_mask_;  // all earlier rounds are over
    // model: overlap.oldest
    if (static_cast<std::int32_t>(now.epoch - oldest) < 0) now = {oldest, lanes_[own].begin, true};
    bool is_over = true;
    while (is_over && now.epoch != last + 1) {  // model: overlap.rounds
      is_over = run_lane(own, now, is_enough);
      if (is_over) now = {now.epoch + 1, lanes_[own].begin, true};
    }
    at = now;                                                 // model: overlap.position
    while (is_over && !is_enough() && help_any(own, last)) {  // model: overlap.help_on
    }
  }
  void work(std::size_t worker, std::uint32_t epoch) noexcept {
    work_until(worker, epoch, [] { return false; });
  }

  std::vector<Inline::Call> calls_;       ///< slot by slot, in the order of nodes; with one slot, then the timed ones
  std::vector<std::uint32_t> tasks_;      ///< the TaskId of each call of a slot
  std::vector<TimedCall> timed_;          ///< the calls of one slot
  std::vector<std::uint32_t> originals_;  ///< the position of each call in the order of the graph
  std::vector<Calls> node_calls_;         ///< lane by lane, in the order of the flags below
  std::vector<Batch> batches_;            ///< lane by lane; each lane's words start on a new cache line
  std::vector<std::uint32_t> needs_;      ///< positions of nodes
  std::vector<Line> claims_;
  std::vector<Line> done_;
  std::vector<Lane> lanes_;
  std::vector<Position> positions_;  ///< by lane
  std::vector<Round> rounds_;
  std::vector<std::uint32_t> epochs_;  ///< by slot: the epoch of its last round
  std::size_t threads_;
  bool overlaps_;
  bool last_was_alone_ = true;  ///< so the first round waits for the end of epoch 0, which open() declares
  std::uint32_t round_mask_;
  std::uint32_t call_count_;  ///< the number of calls of a slot
  std::uint32_t batch_count_ = 0;
  std::uint32_t epoch_ = 0;
  Halt& halt_;
  unsigned spins_;  ///< the number of pauses before a thread that waits within a round sleeps
  // Used for the first lane if rounds overlap.
  alignas(cache_line) std::atomic<bool> first_lane_is_taken_{false};
  std::atomic<bool> caller_waits_{false};
  std::atomic<std::uint32_t> stray_helps_{0};
  std::atomic<bool> is_closing_{false};
  Signal is_needed_{0};
  WorkerTeam<Replay> team_;  ///< declared after everything that its threads use
  std::thread stand_in_;
};

}  // namespace rondo::platform::sim

#include <rondo/platform/sim/replay_impl.hpp>  // IWYU pragma: export
