// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/sim/halt.hpp>
#include <rondo/platform/sim/inline.hpp>
#include <rondo/platform/sim/schedule.hpp>
#include <rondo/platform/sim/waiting.hpp>
#include <rondo/platform/sim/worker_team.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::platform::sim {

/// Runs a scheduled graph on several threads, round after round.
///
/// Each thread has its nodes in the order of the schedule, in batches. For each batch it waits until the predecessors
/// on other threads are done, claims the batch, runs its nodes, and marks each as done. A claim is a compare-and-swap
/// on a word that only its owner touches as a rule; a done flag is a plain store. Both hold the number of the round, so
/// nothing is ever reset, and a claim that goes from the last round's number to this one's succeeds once: a thread that
/// is still at an old round finds all claims of that round taken. A thread that would wait for long, or has come to its
/// end, runs ready batches of the others, so a thread that lost its core delays only the batch that it is in.
///
/// A node joins the batch before it if all it needs from other threads is expected to be done when the batch starts. So
/// no two batches wait for each other.
///
/// Lifetime: immovable. Thread safety: launch() and wait() from one thread. Cost per round: no allocation and no lock;
/// a system call if a thread sleeps; per node about 15 ns.
class Replay {
 public:
  /// `calls`: all calls of the graph, in its order. `tasks`: the TaskId of each. `parks`: counts how often a thread
  /// goes to sleep. @throws Error out_of_resources if a thread cannot be started; what WorkerTeam throws
  Replay(const NodeGraph& graph, const Schedule& schedule, const std::vector<Inline::Call>& calls,
         std::span<const std::uint32_t> tasks, Halt& halt, std::atomic<std::uint64_t>& parks, const TeamOptions& team);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  void launch() noexcept {
    const std::uint32_t epoch = epoch_ + 1;
    epoch_ = epoch;
    team_.start(epoch);
  }

  /// Does the caller's share and helps the others, and returns when all nodes are done.
  void wait() noexcept {
    if (finished_.load(std::memory_order_acquire) == epoch_) return;
    work(0, epoch_);
    Backoff backoff;
    while (finished_.load(std::memory_order_acquire) != epoch_) {
      if (std::uint32_t executed = 0; help(0, epoch_, executed)) {
        report(epoch_, executed);
        backoff.reset();
      } else {
        backoff.wait(spins_);
      }
    }
  }

  void keep_awake(bool awake) noexcept { team_.keep_awake(awake); }
  [[nodiscard]] std::size_t threads() const noexcept { return threads_; }

 private:
  friend class WorkerTeam<Replay>;
  static constexpr std::size_t cache_line = 64;
  static constexpr std::uint32_t per_line = cache_line / sizeof(std::uint32_t);
  static constexpr std::uint32_t reach = 32;  ///< the batches of another lane that a helper looks at

  struct Batch {
    std::uint32_t first_node = 0;
    std::uint32_t node_end = 0;
    std::uint32_t first_need = 0;
    std::uint32_t across_end = 0;  ///< needs from other threads come first
    std::uint32_t need_end = 0;
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
    /// Epoch and batch below which all is claimed, a hint for helpers; of an older epoch it says nothing.
    std::atomic<std::uint64_t> cursor{0};
  };

  [[nodiscard]] static std::atomic<std::uint32_t>& word(std::vector<Line>& lines, std::uint32_t i) noexcept {
    return lines[i / per_line].words[i % per_line];
  }

  [[nodiscard]] bool ready(std::uint32_t first, std::uint32_t end, std::uint32_t epoch) noexcept {
    for (std::uint32_t n = first; n < end; ++n) {
      if (word(done_, needs_[n]).load(std::memory_order_acquire) != epoch) return false;
    }
    return true;
  }
  [[nodiscard]] bool claimable(std::uint32_t batch, std::uint32_t epoch) noexcept {
    return word(claims_, batch).load(std::memory_order_relaxed) == epoch - 1;
  }
  /// Relaxed: a claim carries no data; the done flags of predecessors do.
  [[nodiscard]] bool claim(std::uint32_t batch, std::uint32_t epoch) noexcept {
    std::uint32_t before = epoch - 1;
    return word(claims_, batch).compare_exchange_strong(before, epoch, std::memory_order_relaxed);
  }

  void run(const Batch& batch, std::uint32_t epoch) noexcept {
    for (std::uint32_t node = batch.first_node; node != batch.node_end; ++node) {
      if (!halt_.requested()) [[likely]]
        run_calls(node_calls_[node]);
      word(done_, node).store(epoch, std::memory_order_release);
    }
  }
  void run_calls(Calls range) noexcept {
    std::uint32_t call = range.begin;
    try {
      for (; call != range.end; ++call) calls_[call].entry(calls_[call].args);
    } catch (...) {
      halt_.record(tasks_[call]);
    }
  }

  void report(std::uint32_t epoch, std::uint32_t executed) noexcept {
    if (executed == 0) return;
    if (executed_.fetch_add(executed, std::memory_order_acq_rel) + executed == batch_count_) {
      executed_.store(0, std::memory_order_relaxed);  // published with finished_
      finished_.store(epoch, std::memory_order_release);
    }
  }

  [[nodiscard]] static constexpr std::uint64_t cursor_at(std::uint32_t epoch, std::uint32_t batch) noexcept {
    return std::uint64_t{epoch} << 32 | batch;
  }

  /// Runs one ready unclaimed batch near the other threads' positions. Returns whether it found one.
  bool help(std::size_t worker, std::uint32_t epoch, std::uint32_t& executed) noexcept {
    for (std::size_t i = 1; i <= threads_; ++i) {
      Lane& lane = lanes_[(worker + i) % threads_];
      const std::uint64_t cursor = lane.cursor.load(std::memory_order_relaxed);
      const bool current = static_cast<std::uint32_t>(cursor >> 32) == epoch;
      const std::uint32_t from = current ? static_cast<std::uint32_t>(cursor) : lane.begin;
      std::uint32_t batch = from;
      while (batch < lane.end && !claimable(batch, epoch)) ++batch;
      // The next helper need not look at these claims again.
      if (batch != from) lane.cursor.store(cursor_at(epoch, batch), std::memory_order_relaxed);
      for (std::uint32_t waiting = 0; batch < lane.end && waiting < reach; ++batch) {
        if (!claimable(batch, epoch)) continue;
        ++waiting;
        const Batch& b = batches_[batch];
        if (!ready(b.first_need, b.need_end, epoch) || !claim(batch, epoch)) continue;
        run(b, epoch);
        ++executed;
        return true;
      }
    }
    return false;
  }

  /// Waits for a batch of the worker's own lane and runs it. `in_order`: whether all batches before it in the lane
  /// count as done. Returns false if another worker has claimed it.
  bool run_own(std::size_t worker, std::uint32_t batch, bool in_order, std::uint32_t epoch,
               std::uint32_t& executed) noexcept {
    const Batch& b = batches_[batch];
    Backoff backoff;
    while (claimable(batch, epoch)) {
      if (ready(b.first_need, in_order ? b.across_end : b.need_end, epoch)) {
        if (!claim(batch, epoch)) return false;
        run(b, epoch);
        ++executed;
        return true;
      }
      if (backoff.out_of_patience()) {
        lanes_[worker].cursor.store(cursor_at(epoch, batch), std::memory_order_relaxed);
        if (help(worker, epoch, executed)) backoff.reset();
      }
      backoff.wait(spins_);
    }
    return false;
  }

  /// One worker's share of a round.
  void work(std::size_t worker, std::uint32_t epoch) noexcept {
    std::uint32_t executed = 0;
    bool in_order = true;  // until another worker runs a batch of this lane
    for (std::uint32_t batch = lanes_[worker].begin; batch != lanes_[worker].end; ++batch) {
      in_order = run_own(worker, batch, in_order, epoch, executed) && in_order;
    }
    while (help(worker, epoch, executed)) {
    }
    report(epoch, executed);
  }

  std::vector<Inline::Call> calls_;   ///< in the order of nodes
  std::vector<std::uint32_t> tasks_;  ///< for each call its TaskId
  std::vector<Calls> node_calls_;     ///< lane by lane, like the flags below
  std::vector<Batch> batches_;        ///< lane by lane; a lane's words start on a cache line of their own
  std::vector<std::uint32_t> needs_;  ///< nodes
  std::vector<Line> claims_;
  std::vector<Line> done_;
  std::vector<Lane> lanes_;
  std::size_t threads_;
  std::uint32_t batch_count_ = 0;
  std::uint32_t epoch_ = 0;
  Halt& halt_;
  unsigned spins_;  ///< before a thread that waits within a round sleeps
  alignas(cache_line) std::atomic<std::uint32_t> executed_{0};
  alignas(cache_line) std::atomic<std::uint32_t> finished_{0};
  WorkerTeam<Replay> team_;  ///< last: its threads end before what they use
};

inline Replay::Replay(const NodeGraph& graph, const Schedule& schedule, const std::vector<Inline::Call>& calls,
                      std::span<const std::uint32_t> tasks, Halt& halt, std::atomic<std::uint64_t>& parks,
                      const TeamOptions& team)
    : calls_(calls.size()),
      tasks_(calls.size()),
      lanes_(schedule.order.size()),
      threads_{schedule.order.size()},
      halt_{halt},
      spins_{team.spins.within_rounds},
      team_(schedule.order.size() - 1, *this, parks, team) {
  const auto next_line = [](std::uint32_t i) { return (i + per_line - 1) / per_line * per_line; };
  const double batch_cost = std::max(2000.0, schedule.makespan / 64);

  std::vector<std::uint32_t> place(graph.nodes.size());
  std::vector<std::uint32_t> thread(graph.nodes.size());
  std::uint32_t nodes = 0;
  for (std::size_t t = 0; t < threads_; ++t) {
    for (const std::uint32_t node : schedule.order[t]) {
      place[node] = nodes++;
      thread[node] = static_cast<std::uint32_t>(t);
    }
    nodes = next_line(nodes);
  }

  node_calls_ = std::vector<Calls>(nodes);
  std::vector<Batch> batches;
  std::vector<std::uint32_t> needs;
  std::uint32_t call = 0;
  for (std::size_t t = 0; t < threads_; ++t) {
    lanes_[t].begin = static_cast<std::uint32_t>(batches.size());
    const std::vector<std::uint32_t>& order = schedule.order[t];
    for (std::size_t i = 0; i < order.size();) {
      const double start = schedule.start[order[i]];
      const auto joins = [&](std::uint32_t node) {
        return schedule.end[node] - start <= batch_cost &&
               std::none_of(graph.predecessors[node].begin(), graph.predecessors[node].end(),
                            [&](std::uint32_t p) { return thread[p] != t && schedule.end[p] >= start; });
      };
      std::size_t end = i + 1;
      while (end < order.size() && joins(order[end])) ++end;

      Batch batch{place[order[i]], place[order[i]] + static_cast<std::uint32_t>(end - i),
                  static_cast<std::uint32_t>(needs.size()), 0, 0};
      for (const bool across : {true, false}) {
        for (std::size_t j = i; j < end; ++j) {
          for (const std::uint32_t p : graph.predecessors[order[j]]) {
            const bool inside = place[p] >= batch.first_node && place[p] < batch.node_end;
            if ((thread[p] != t) == across && !inside) needs.push_back(place[p]);
          }
        }
        (across ? batch.across_end : batch.need_end) = static_cast<std::uint32_t>(needs.size());
      }
      for (std::size_t j = i; j < end; ++j) {
        const NodeGraph::Node& node = graph.nodes[order[j]];
        Calls& range = node_calls_[place[order[j]]];
        range.begin = call;
        for (std::uint32_t c = 0; c < node.call_count; ++c, ++call) {
          const std::uint32_t original = graph.calls[node.first_call + c];
          calls_[call] = calls[original];
          tasks_[call] = tasks[original];
        }
        range.end = call;
      }
      batches.push_back(batch);
      ++batch_count_;
      i = end;
    }
    lanes_[t].end = static_cast<std::uint32_t>(batches.size());
    batches.resize(next_line(static_cast<std::uint32_t>(batches.size())));
  }
  batches_ = std::vector<Batch>(batches.begin(), batches.end());
  needs_ = std::vector<std::uint32_t>(needs.begin(), needs.end());
  claims_ = std::vector<Line>(batches.size() / per_line);
  done_ = std::vector<Line>(nodes / per_line);
}

}  // namespace rondo::platform::sim
