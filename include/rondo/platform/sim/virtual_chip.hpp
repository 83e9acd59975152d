// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/graph/play_lanes.hpp>
#include <rondo/graph/records.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::platform::sim {

/// When a task began and ended, in nanoseconds from the start of the run.
struct TaskTimes {
  double start = 0;  ///< start of its first block
  double end = 0;    ///< end of its last block
};

/// When and where a block ran, in nanoseconds from the start of the run.
struct BlockRun {
  double start = 0;
  double end = 0;
  std::uint32_t core = 0;  ///< cube cores come first, then vector cores
};

/// What happened in a run of a graph on a chip.
struct ChipTimes {
  std::vector<TaskTimes> tasks;              ///< in the graph's order
  std::vector<BlockRun> blocks;              ///< the blocks of the first task, then those of the next
  std::vector<std::uint32_t> critical_path;  ///< positions of tasks
  std::vector<double> busy;                  ///< how long each core ran kernels: cube cores first
  double scheduler_busy = 0;                 ///< the sum over all schedulers
};

/// Simulates a graph on a chip.
///
/// run(): the chip's schedulers control it, event by event. A scheduler takes the task that became ready first,
/// prepares it and starts its first block on a free core of its type; from then on every free scheduler may
/// start its other blocks, before those of later tasks. When a block is done, a scheduler notices it and frees its
/// core; with the last block, also the tasks that wait for it. Noticing finished blocks precedes starting new ones, as
/// in hw-native-sys/simpler. A core is occupied from when a scheduler chooses it until one notices its finished block.
///
/// run_on_lanes(): streams control it, as in a captured graph that is replayed; see graph::play_lanes().
///
/// Deterministic: the same graph and costs give the same times, to the last bit. Cost: run() allocates nothing;
/// O(blocks · (log blocks + cores) + edges).
class VirtualChip {
 public:
  /// `graph` must outlive this object.
  VirtualChip(const graph::GraphView& graph, const arch::Chip& chip)
      : graph_{graph},
        chip_{chip},
        first_block_(graph.tasks.size() + 1),
        waits_for_(graph.tasks.size()),
        blocks_left_(graph.tasks.size()),
        blocks_unseen_(graph.tasks.size()),
        taken_(chip.cube_cores + chip.vector_cores),
        times_{std::vector<TaskTimes>(graph.tasks.size()), {}, {}, std::vector<double>(taken_.size())},
        to_end_(graph.tasks.size()) {
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) first_block_[t + 1] = first_block_[t] + graph.tasks[t].blocks;
    const std::size_t blocks = first_block_[graph.tasks.size()];
    costs_ = std::vector<double>(blocks);
    task_of_ = std::vector<std::uint32_t>(blocks);
    times_.blocks = std::vector<BlockRun>(blocks);
    ready_as_ = std::vector<std::uint64_t>(graph.tasks.size());
    events_.reserve(blocks);
    times_.critical_path.reserve(graph.tasks.size());
    for (Queue& queue : ready_) queue.blocks.reserve(graph.tasks.size());
    for (Queue& queue : begun_) queue.blocks.reserve(blocks);
    done_.blocks.reserve(blocks);
    for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
      for (std::uint32_t b = first_block_[t]; b < first_block_[t + 1]; ++b) task_of_[b] = t;
    }
  }

  /// The cost of each block, in nanoseconds: one per task and block, in the graph's order. The caller fills them in.
  [[nodiscard]] std::vector<double>& costs() noexcept { return costs_; }
  [[nodiscard]] std::size_t first_block(std::size_t task) const noexcept { return first_block_[task]; }

  void run() noexcept {
    reset();
    find_critical_path();
    for (std::uint32_t t = 0; t < graph_.tasks.size(); ++t) {
      if (waits_for_[t] == 0) make_ready(t);
    }
    occupy_schedulers(0);
    while (!events_.empty()) {
      const double now = events_[0].time;
      while (!events_.empty() && events_[0].time == now) {  // all events at this time, before the reaction to them
        std::pop_heap(events_.begin(), events_.end(), later);
        const Event event = events_.back();
        events_.pop_back();
        happen(event);
      }
      makespan_ = now;
      occupy_schedulers(now);
    }
  }

  /// Simulates control by streams. Cost: as play_lanes(). @throws std::bad_alloc
  void run_on_lanes(const graph::Lanes& lanes) {
    reset();
    find_critical_path();
    graph::Lanes one;
    if (lanes.count == 1) {
      for (std::uint32_t t = 0; t < graph_.tasks.size(); ++t) {
        one.order.push_back(t);
        one.lane_of.push_back(graph_.tasks[t].fills ? graph::Lanes::none : 0);
      }
    }
    const graph::Lanes& dealt = lanes.count == 1 ? one : lanes;
    for (std::size_t t = 0; t < graph_.tasks.size(); ++t) {
      if (graph_.tasks[t].fills) times_.tasks[t] = {0, 0};
    }
    std::vector<double> lane_busy(dealt.count, 0.0);
    const auto visit = [&](const graph::LaneRun& run) {
      const std::uint32_t first = first_block_[run.task];
      const std::uint32_t before = first_core(graph_.tasks[run.task].core);
      for (std::uint32_t b = first; b < first_block_[run.task + 1]; ++b) {
        const std::size_t in_turn = (b - first) % run.cores.size();
        const bool is_first = b - first < run.cores.size();
        BlockRun& block = times_.blocks[b];
        block.start = is_first ? run.start : times_.blocks[b - run.cores.size()].end;
        block.end = block.start + costs_[b];
        block.core = before + run.cores[in_turn];
        times_.busy[block.core] += costs_[b];
      }
      times_.tasks[run.task] = {run.start, run.end};
      lane_busy[dealt.lane_of[run.task]] += run.end - run.start;
    };
    makespan_ = graph::play_lanes(graph_, dealt, chip_, task_costs(), visit);
    lane_busy_ = *std::max_element(lane_busy.begin(), lane_busy.end());
  }
  /// The time of each task on as many cores as it can use, in nanoseconds, by position. @throws std::bad_alloc
  [[nodiscard]] std::vector<double> task_costs() const {
    std::vector<double> costs;
    for (std::size_t t = 0; t < graph_.tasks.size(); ++t) {
      const std::uint32_t cores = std::min(graph_.tasks[t].blocks, chip_.cores(graph_.tasks[t].core));
      double longest = 0;
      for (std::uint32_t core = 0; core < cores; ++core) {
        double sum = 0;
        for (std::uint32_t b = first_block_[t] + core; b < first_block_[t + 1]; b += cores) sum += costs_[b];
        longest = std::max(longest, sum);
      }
      costs.push_back(longest);
    }
    return costs;
  }

  [[nodiscard]] const arch::Chip& chip() const noexcept { return chip_; }
  [[nodiscard]] double makespan() const noexcept { return makespan_; }
  /// Those of the last run; its critical path is the longest chain of tasks with unlimited cores and schedulers.
  [[nodiscard]] const ChipTimes& times() const noexcept { return times_; }
  /// The time for which the busiest lane ran tasks; 0 after run().
  [[nodiscard]] double lane_busy() const noexcept { return lane_busy_; }
  [[nodiscard]] double critical_path_ns() const noexcept { return critical_ns_; }

 private:
  enum class Kind : std::uint8_t { dispatched, ended, retired };
  struct Event {
    double time = 0;
    std::uint64_t number = 0;  ///< simultaneous events happen in the order in which they were added
    std::uint32_t block = 0;
    Kind kind = Kind::dispatched;
  };
  struct Queue {
    std::vector<std::uint32_t> blocks;  ///< each block enters at most once
    std::size_t begin = 0;
    [[nodiscard]] bool empty() const noexcept { return begin == blocks.size(); }
    void push(std::uint32_t block) noexcept { blocks.push_back(block); }
    void clear() noexcept {
      blocks.clear();
      begin = 0;
    }
    [[nodiscard]] std::uint32_t front() const noexcept { return blocks[begin]; }
    std::uint32_t pop() noexcept { return blocks[begin++]; }
  };

  [[nodiscard]] static bool later(const Event& a, const Event& b) noexcept {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }
  void set(double time, Kind kind, std::uint32_t block) noexcept {
    events_.push_back({time, event_number_++, block, kind});
    std::push_heap(events_.begin(), events_.end(), later);
  }
  [[nodiscard]] std::size_t type_of(std::size_t task) const noexcept {
    return static_cast<std::size_t>(graph_.tasks[task].core);
  }
  /// Cube cores come first.
  [[nodiscard]] std::uint32_t first_core(CoreType type) const noexcept {
    return type == CoreType::cube ? 0 : chip_.cube_cores;
  }
  void reset() noexcept {
    for (Queue& queue : ready_) queue.clear();
    for (Queue& queue : begun_) queue.clear();
    done_.clear();
    std::fill(taken_.begin(), taken_.end(), false);
    std::fill(times_.busy.begin(), times_.busy.end(), 0);
    for (std::size_t type = 0; type < core_type_count; ++type)
      free_cores_[type] = chip_.cores(static_cast<CoreType>(type));
    free_schedulers_ = chip_.schedulers;
    event_number_ = 0;
    ready_count_ = 0;
    makespan_ = 0;
    times_.scheduler_busy = 0;
    lane_busy_ = 0;
    for (std::size_t t = 0; t < graph_.tasks.size(); ++t) {
      waits_for_[t] = graph_.predecessor_count[t];
      blocks_left_[t] = blocks_unseen_[t] = graph_.tasks[t].blocks;
      times_.tasks[t] = {-1, 0};
    }
  }
  void make_ready(std::uint32_t task) noexcept {
    ready_as_[task] = ready_count_++;
    ready_[type_of(task)].push(first_block_[task]);
  }
  void happen(const Event& event) noexcept {
    const std::uint32_t block = event.block;
    const std::uint32_t task = task_of_[block];
    switch (event.kind) {
      case Kind::dispatched:
        ++free_schedulers_;
        if (times_.tasks[task].start < 0) {
          times_.tasks[task].start = event.time;
          for (std::uint32_t b = block + 1; b < first_block_[task + 1]; ++b) begun_[type_of(task)].push(b);
        }
        times_.blocks[block].start = event.time;
        times_.blocks[block].end = event.time + costs_[block];
        times_.busy[times_.blocks[block].core] += costs_[block];
        set(times_.blocks[block].end, Kind::ended, block);
        break;
      case Kind::ended:
        times_.tasks[task].end = event.time;
        done_.push(block);
        break;
      case Kind::retired:
        ++free_schedulers_;
        taken_[times_.blocks[block].core] = false;
        ++free_cores_[type_of(task)];
        if (--blocks_left_[task] != 0) break;
        for (const std::uint32_t next : graph_.successors_of(task)) {
          if (--waits_for_[next] == 0) make_ready(next);
        }
        break;
    }
  }
  void occupy_schedulers(double now) noexcept {
    const auto queue_of = [this](std::size_t type) -> Queue& {
      return begun_[type].empty() ? ready_[type] : begun_[type];
    };
    const auto may_start = [&](std::size_t type) { return !queue_of(type).empty() && free_cores_[type] != 0; };
    const auto ready_as = [&](std::size_t type) { return ready_as_[task_of_[queue_of(type).front()]]; };
    for (; free_schedulers_ != 0; --free_schedulers_) {
      if (!done_.empty()) {
        const std::uint32_t block = done_.pop();
        const bool is_last = --blocks_unseen_[task_of_[block]] == 0;
        occupy(now, is_last ? chip_.costs.retire_ns : chip_.costs.notice_block_ns, Kind::retired, block);
        continue;
      }
      if (!may_start(0) && !may_start(1)) return;
      const std::size_t type = !may_start(1) || (may_start(0) && ready_as(0) < ready_as(1)) ? 0 : 1;
      const bool is_first = begun_[type].empty();
      const std::uint32_t block = queue_of(type).pop();
      times_.blocks[block].core = take_core(type);
      occupy(now, is_first ? chip_.costs.dispatch_ns : chip_.costs.start_block_ns, Kind::dispatched, block);
    }
  }
  void occupy(double now, double ns, Kind kind, std::uint32_t block) noexcept {
    set(now + ns, kind, block);
    times_.scheduler_busy += ns;
  }
  std::uint32_t take_core(std::size_t type) noexcept {
    std::uint32_t core = first_core(static_cast<CoreType>(type));
    while (taken_[core]) ++core;
    taken_[core] = true;
    --free_cores_[type];
    return core;
  }
  void find_critical_path() noexcept {
    times_.critical_path.clear();
    critical_ns_ = 0;
    std::uint32_t longest = 0;
    for (std::size_t t = graph_.tasks.size(); t-- > 0;) {
      double own = costs_[first_block_[t]];
      for (std::uint32_t b = first_block_[t] + 1; b < first_block_[t + 1]; ++b) {
        own = std::max(own, chip_.costs.start_block_ns + costs_[b]);
      }
      double rest = 0;
      for (const std::uint32_t next : graph_.successors_of(t)) rest = std::max(rest, to_end_[next]);
      to_end_[t] = chip_.costs.dispatch_ns + own + chip_.costs.retire_ns + rest;
      if (to_end_[t] >= critical_ns_) {
        critical_ns_ = to_end_[t];
        longest = static_cast<std::uint32_t>(t);
      }
    }
    if (graph_.tasks.empty()) return;
    for (bool more = true; more;) {
      times_.critical_path.push_back(longest);
      more = false;
      for (const std::uint32_t next : graph_.successors_of(longest)) {
        if (!more || to_end_[next] > to_end_[longest]) longest = next;
        more = true;
      }
    }
  }

  graph::GraphView graph_;
  arch::Chip chip_;
  std::vector<double> costs_;
  std::vector<std::uint32_t> task_of_;        ///< by block
  std::vector<std::uint32_t> first_block_;    ///< by task
  std::vector<std::uint32_t> waits_for_;      ///< by task: the number of unfinished predecessors
  std::vector<std::uint32_t> blocks_left_;    ///< by task: the number of blocks that are not retired
  std::vector<std::uint32_t> blocks_unseen_;  ///< by task: the number of blocks that are not yet noticed as done
  std::vector<std::uint64_t> ready_as_;       ///< by task: its rank in the order of readiness
  std::vector<Event> events_;                 ///< a heap; a block has at most one future event
  Queue ready_[core_type_count];              ///< first blocks of tasks
  Queue begun_[core_type_count];              ///< further blocks of tasks whose first one has started
  Queue done_;
  std::vector<char> taken_;  ///< by core: cube cores first
  std::uint32_t free_cores_[core_type_count] = {};
  std::uint32_t free_schedulers_ = 0;
  std::uint64_t event_number_ = 0;
  std::uint64_t ready_count_ = 0;

  double makespan_ = 0;
  double lane_busy_ = 0;
  ChipTimes times_;
  std::vector<double> to_end_;  ///< by task: the longest path to the end, including the task itself
  double critical_ns_ = 0;
};

}  // namespace rondo::platform::sim
