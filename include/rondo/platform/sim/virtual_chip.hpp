// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/records.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::platform::sim {

/// When a task began and ended, in nanoseconds from the start of the run.
struct TaskTimes {
  double start = 0;  ///< its first block's
  double end = 0;    ///< its last block's
};

/// When and where a block ran, in nanoseconds from the start of the run.
struct BlockRun {
  double start = 0;
  double end = 0;
  std::uint32_t core = 0;  ///< cube cores come first, then the vector cores
};

/// Simulates a graph on a chip, event by event. Schedulers start blocks on free cores of their type, in the order in
/// which they became ready; when a block is done, a scheduler sees it and frees its core and its successors. Seeing
/// what is done precedes starting, as in the peer runtime. A core is taken from the moment a scheduler turns to it
/// until one has seen that its block is done.
///
/// Deterministic: the same graph and costs give the same times, to the last bit. Cost: run() allocates nothing;
/// O(blocks · (log blocks + cores) + edges).
class VirtualChip {
 public:
  /// The parts of the chip, and the costs of scheduling.
  struct Parts {
    std::uint32_t cores[core_type_count] = {1, 1};  ///< by CoreType
    std::uint32_t schedulers = 1;
    double dispatch_ns = 0;
    double retire_ns = 0;
  };

  /// `graph` outlives this.
  VirtualChip(const graph::GraphView& graph, const Parts& parts)
      : graph_{graph},
        parts_{parts},
        first_block_(graph.tasks.size() + 1),
        waits_for_(graph.tasks.size()),
        blocks_left_(graph.tasks.size()),
        taken_(parts.cores[0] + parts.cores[1]),
        times_(graph.tasks.size()),
        busy_(parts.cores[0] + parts.cores[1]),
        to_end_(graph.tasks.size()),
        critical_(graph.tasks.size()) {
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) first_block_[t + 1] = first_block_[t] + graph.tasks[t].blocks;
    const std::size_t blocks = first_block_[graph.tasks.size()];
    costs_ = std::vector<double>(blocks);
    task_of_ = std::vector<std::uint32_t>(blocks);
    runs_ = std::vector<BlockRun>(blocks);
    ready_as_ = std::vector<std::uint64_t>(blocks);
    events_ = std::vector<Event>(blocks);
    for (Queue& queue : ready_) queue.blocks = std::vector<std::uint32_t>(blocks);
    done_.blocks = std::vector<std::uint32_t>(blocks);
    for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
      for (std::uint32_t b = first_block_[t]; b < first_block_[t + 1]; ++b) task_of_[b] = t;
    }
  }

  /// The cost of each block, in nanoseconds: one figure per task and block, in the graph's order. To be filled in.
  [[nodiscard]] std::vector<double>& costs() noexcept { return costs_; }
  [[nodiscard]] std::size_t first_block(std::size_t task) const noexcept { return first_block_[task]; }

  void run() noexcept {
    reset();
    find_critical_path();
    for (std::uint32_t t = 0; t < graph_.tasks.size(); ++t) {
      if (waits_for_[t] == 0) make_ready(t);
    }
    occupy_schedulers(0);
    while (event_count_ != 0) {
      const double now = events_[0].time;
      while (event_count_ != 0 && events_[0].time == now) {  // all that happens at once, before anybody reacts
        std::pop_heap(events_.data(), events_.data() + static_cast<std::size_t>(event_count_), later);
        const Event event = events_[static_cast<std::size_t>(--event_count_)];
        happen(event);
      }
      makespan_ = now;
      occupy_schedulers(now);
    }
  }

  [[nodiscard]] const Parts& parts() const noexcept { return parts_; }
  [[nodiscard]] double makespan() const noexcept { return makespan_; }
  [[nodiscard]] std::span<const TaskTimes> times() const noexcept { return times_; }
  [[nodiscard]] std::span<const BlockRun> runs() const noexcept { return runs_; }
  /// The time for which each core of a type ran kernels.
  [[nodiscard]] std::span<const double> busy(CoreType core) const noexcept {
    const std::span<const double> all = busy_;
    return core == CoreType::cube ? all.first(parts_.cores[0]) : all.subspan(parts_.cores[0]);
  }
  [[nodiscard]] double scheduler_busy() const noexcept { return scheduler_busy_; }
  /// The chain of tasks that takes longest with unlimited cores and schedulers; positions in the graph.
  [[nodiscard]] std::span<const std::uint32_t> critical_path() const noexcept {
    return {critical_.data(), critical_size_};
  }
  [[nodiscard]] double critical_path_ns() const noexcept { return critical_ns_; }

 private:
  enum class Kind : std::uint8_t { dispatched, ended, retired };
  struct Event {
    double time = 0;
    std::uint64_t number = 0;  ///< events at one time happen in the order in which they were set
    std::uint32_t block = 0;
    Kind kind = Kind::dispatched;
  };
  struct Queue {
    std::vector<std::uint32_t> blocks;  ///< each enters once, so nothing wraps
    std::size_t begin = 0;
    std::size_t end = 0;
    [[nodiscard]] bool empty() const noexcept { return begin == end; }
    void push(std::uint32_t block) noexcept { blocks[end++] = block; }
    std::uint32_t pop() noexcept { return blocks[begin++]; }
  };

  [[nodiscard]] static bool later(const Event& a, const Event& b) noexcept {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }
  void set(double time, Kind kind, std::uint32_t block) noexcept {
    events_[static_cast<std::size_t>(event_count_++)] = {time, event_number_++, block, kind};
    std::push_heap(events_.data(), events_.data() + static_cast<std::size_t>(event_count_), later);
  }
  [[nodiscard]] std::size_t type_of(std::uint32_t block) const noexcept {
    return static_cast<std::size_t>(graph_.tasks[task_of_[block]].core);
  }
  void reset() noexcept {
    for (Queue& queue : ready_) queue.begin = queue.end = 0;
    done_.begin = done_.end = 0;
    std::fill(taken_.begin(), taken_.end(), false);
    std::fill(busy_.begin(), busy_.end(), 0);
    for (std::size_t type = 0; type < core_type_count; ++type) free_cores_[type] = parts_.cores[type];
    free_schedulers_ = parts_.schedulers;
    event_count_ = 0;
    event_number_ = 0;
    ready_count_ = 0;
    makespan_ = 0;
    scheduler_busy_ = 0;
    for (std::size_t t = 0; t < graph_.tasks.size(); ++t) {
      waits_for_[t] = graph_.predecessor_count[t];
      blocks_left_[t] = graph_.tasks[t].blocks;
      times_[t] = {-1, 0};
    }
  }
  void make_ready(std::uint32_t task) noexcept {
    for (std::uint32_t b = first_block_[task]; b < first_block_[task + 1]; ++b) {
      ready_as_[b] = ready_count_++;
      ready_[type_of(b)].push(b);
    }
  }
  void happen(const Event& event) noexcept {
    const std::uint32_t block = event.block;
    const std::uint32_t task = task_of_[block];
    switch (event.kind) {
      case Kind::dispatched:
        ++free_schedulers_;
        if (times_[task].start < 0) times_[task].start = event.time;
        runs_[block].start = event.time;
        runs_[block].end = event.time + costs_[block];
        busy_[runs_[block].core] += costs_[block];
        set(runs_[block].end, Kind::ended, block);
        break;
      case Kind::ended:
        times_[task].end = event.time;
        done_.push(block);
        break;
      case Kind::retired:
        ++free_schedulers_;
        taken_[runs_[block].core] = false;
        ++free_cores_[type_of(block)];
        if (--blocks_left_[task] != 0) break;
        for (const std::uint32_t next : graph_.successors_of(task)) {
          if (--waits_for_[next] == 0) make_ready(next);
        }
        break;
    }
  }
  void occupy_schedulers(double now) noexcept {
    const auto may_start = [this](std::size_t type) { return !ready_[type].empty() && free_cores_[type] != 0; };
    const auto ready_as = [this](std::size_t type) { return ready_as_[ready_[type].blocks[ready_[type].begin]]; };
    for (; free_schedulers_ != 0; --free_schedulers_) {
      if (!done_.empty()) {
        set(now + parts_.retire_ns, Kind::retired, done_.pop());
        scheduler_busy_ += parts_.retire_ns;
        continue;
      }
      if (!may_start(0) && !may_start(1)) return;
      const std::size_t type = !may_start(1) || (may_start(0) && ready_as(0) < ready_as(1)) ? 0 : 1;
      const std::uint32_t block = ready_[type].pop();
      runs_[block].core = take_core(type);
      set(now + parts_.dispatch_ns, Kind::dispatched, block);
      scheduler_busy_ += parts_.dispatch_ns;
    }
  }
  std::uint32_t take_core(std::size_t type) noexcept {
    std::uint32_t core = type == 0 ? 0 : parts_.cores[0];
    while (taken_[core]) ++core;
    taken_[core] = true;
    --free_cores_[type];
    return core;
  }
  void find_critical_path() noexcept {
    critical_size_ = 0;
    critical_ns_ = 0;
    std::uint32_t longest = 0;
    for (std::size_t t = graph_.tasks.size(); t-- > 0;) {
      double own = 0;
      for (std::uint32_t b = first_block_[t]; b < first_block_[t + 1]; ++b) own = std::max(own, costs_[b]);
      double rest = 0;
      for (const std::uint32_t next : graph_.successors_of(t)) rest = std::max(rest, to_end_[next]);
      to_end_[t] = parts_.dispatch_ns + own + parts_.retire_ns + rest;
      if (to_end_[t] >= critical_ns_) {
        critical_ns_ = to_end_[t];
        longest = static_cast<std::uint32_t>(t);
      }
    }
    if (graph_.tasks.empty()) return;
    for (bool more = true; more;) {
      critical_[critical_size_++] = longest;
      more = false;
      for (const std::uint32_t next : graph_.successors_of(longest)) {
        if (!more || to_end_[next] > to_end_[longest]) longest = next;
        more = true;
      }
    }
  }

  graph::GraphView graph_;
  Parts parts_;
  std::vector<double> costs_;
  std::vector<std::uint32_t> task_of_;      ///< by block
  std::vector<std::uint32_t> first_block_;  ///< by task
  std::vector<BlockRun> runs_;              ///< by block
  std::vector<std::uint32_t> waits_for_;    ///< by task: predecessors that are not done
  std::vector<std::uint32_t> blocks_left_;  ///< by task
  std::vector<std::uint64_t> ready_as_;     ///< by block: its rank in the order of readiness
  std::vector<Event> events_;               ///< a heap; a block has at most one event ahead
  Queue ready_[core_type_count];
  Queue done_;
  std::vector<char> taken_;  ///< by core: cube cores first
  std::uint32_t free_cores_[core_type_count] = {};
  std::uint32_t free_schedulers_ = 0;
  std::ptrdiff_t event_count_ = 0;
  std::uint64_t event_number_ = 0;
  std::uint64_t ready_count_ = 0;

  double makespan_ = 0;
  double scheduler_busy_ = 0;
  std::vector<TaskTimes> times_;
  std::vector<double> busy_;
  std::vector<double> to_end_;  ///< by task: the longest way to the end, itself counted in
  std::vector<std::uint32_t> critical_;
  std::size_t critical_size_ = 0;
  double critical_ns_ = 0;
};

}  // namespace rondo::platform::sim
