// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/connect_lanes.hpp>
#include <rondo/graph/deal.hpp>
#include <rondo/graph/play_lanes.hpp>
#include <rondo/graph/words.hpp>
#include <rondo/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#if RONDO_HAS_BODIES
/// The bodies of the functions that deal tasks to lanes.
namespace rondo::graph {

namespace detail {

/// The argument words of the task's first block, with shapes and scalars; no tensor has an address yet.
[[nodiscard]] inline std::vector<ArgWord> known_words(const GraphView& graph, const TaskRecord& task) {
  std::vector<ArgWord> words(task.block_bytes / sizeof(ArgWord) + 1, ArgWord{0});
  for (const ArgRecord& arg : graph.args_of(task)) {
    const bool is_known = arg.kind == ArgRecord::Kind::scalar || arg.kind == ArgRecord::Kind::extent ||
                          arg.kind == ArgRecord::Kind::constant;
    ArgWord bits = is_known ? arg.bits : ArgWord{0};
    if (arg.kind == ArgRecord::Kind::block) bits = rondo::detail::to_word(Block{0, task.blocks});
    __builtin_memcpy(reinterpret_cast<std::byte*>(words.data()) + arg.offset, &bits, arg.width);
  }
  return words;
}

/// Distributes one graph over different numbers of lanes.
class Dealer {
 public:
  Dealer(const GraphView& graph, const LaneRules& rules)
      : graph_{graph},
        chip_{rules.chip},
        wait_ns_{std::max(0.0, rules.chip.costs.stream_wait_ns)},
        predecessors_{predecessors_in(graph)},
        costs_{task_costs(graph, rules)} {
    bool uses[core_type_count] = {};
    std::vector<double> to_end(costs_.size(), 0.0);
    for (std::size_t t = costs_.size(); t-- > 0;) {
      for (const std::uint32_t s : graph.successors_of(t)) to_end[t] = std::max(to_end[t], to_end[s]);
      to_end[t] += costs_[t];
      all_ns_ += costs_[t];
      longest_ns_ = std::max(longest_ns_, to_end[t]);
      cores_ += uses[static_cast<std::size_t>(graph.tasks[t].core)] ? 0 : cores_of(chip_, graph.tasks[t].core);
      uses[static_cast<std::size_t>(graph.tasks[t].core)] = true;
    }
    for (std::uint32_t t = 0; t < costs_.size(); ++t) in_order_.push_back(t);
    by_way_to_end_ = in_order_;
    std::sort(by_way_to_end_.begin(), by_way_to_end_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return to_end[a] != to_end[b] ? to_end[a] > to_end[b] : a < b; });
  }

  [[nodiscard]] double all_ns() const noexcept { return all_ns_; }
  /// The time of the longest path through the graph.
  [[nodiscard]] double longest_ns() const noexcept { return longest_ns_; }
  /// The number of cores of the types that the graph uses.
  [[nodiscard]] std::uint32_t cores() const noexcept { return cores_; }

  /// Tries the graph's own order first, which takes less memory: it finishes work before it starts more.
  [[nodiscard]] Lanes deal(std::uint32_t count) {
    constexpr double price_of_memory = 1.02;
    Lanes own = deal(count, in_order_);
    Lanes urgent = deal(count, by_way_to_end_);
    return own.predicted_ns <= price_of_memory * urgent.predicted_ns ? own : urgent;
  }

 private:
  [[nodiscard]] Lanes deal(std::uint32_t count, const std::vector<std::uint32_t>& by_urgency) {
    task_at_ = by_urgency;
    rank_.resize(task_at_.size());
    for (std::uint32_t r = 0; r < task_at_.size(); ++r) rank_[task_at_[r]] = r;
    begin(count);
    while (lanes_.order.size() < graph_.tasks.size()) {
      choose();
      give_lanes();
      pass_time();
    }
    Lanes lanes = std::exchange(lanes_, {});
    lanes.count = 0;  // lanes are used in order, but not always all of them
    while (lanes.count < count && last_[lanes.count] != Lanes::none) ++lanes.count;
    connect(lanes, graph_, predecessors_);
    lanes.predicted_ns = play_lanes(graph_, lanes, chip_, costs_, [](const LaneRun&) {});
    return lanes;
  }

  [[nodiscard]] std::uint32_t needed_cores(std::uint32_t task) const noexcept {
    return detail::needed_cores(graph_, chip_, task);
  }
  [[nodiscard]] std::size_t type_of(std::uint32_t task) const noexcept {
    return static_cast<std::size_t>(graph_.tasks[task].core);
  }

  void begin(std::uint32_t count) {
    lanes_ = {};
    lanes_.count = count;
    lanes_.lane_of = std::vector<std::uint32_t>(graph_.tasks.size(), Lanes::none);
    waiting_.assign(graph_.predecessor_count.begin(), graph_.predecessor_count.end());
    ended_ = std::vector<double>(graph_.tasks.size(), 0.0);
    last_ = std::vector<std::uint32_t>(count, Lanes::none);
    is_idle_ = std::vector<char>(count, '\1');
    idle_ = count;
    running_.clear();
    now_ = 0;
    for (std::size_t type = 0; type < core_type_count; ++type) {
      ready_[type].clear();
      free_cores_[type] = cores_of(chip_, static_cast<CoreType>(type));
    }
    for (std::uint32_t t = 0; t < graph_.tasks.size(); ++t) {
      if (graph_.predecessor_count[t] != 0) continue;
      if (graph_.tasks[t].fills) {
        lanes_.order.push_back(t);
        free_successors(t);
      } else {
        make_ready(t);
      }
    }
  }
  void make_ready(std::uint32_t task) {
    std::vector<std::uint32_t>& heap = ready_[type_of(task)];
    heap.push_back(rank_[task]);
    std::push_heap(heap.begin(), heap.end(), std::greater<>{});
  }
  void free_successors(std::uint32_t task) {
    for (const std::uint32_t s : graph_.successors_of(task)) {
      if (--waiting_[s] == 0) make_ready(s);
    }
  }
  /// Chooses the tasks that start now, most urgent first. A task that lacks cores blocks the tasks of its core type.
  void choose() {
    starting_.clear();
    while (starting_.size() < idle_) {
      std::size_t best = core_type_count;
      for (std::size_t type = 0; type < core_type_count; ++type) {
        if (ready_[type].empty() || needed_cores(task_at_[ready_[type][0]]) > free_cores_[type]) continue;
        if (best == core_type_count || ready_[type][0] < ready_[best][0]) best = type;
      }
      if (best == core_type_count) return;
      std::vector<std::uint32_t>& heap = ready_[best];
      starting_.push_back(task_at_[heap[0]]);
      std::pop_heap(heap.begin(), heap.end(), std::greater<>{});
      heap.pop_back();
      free_cores_[best] -= needed_cores(starting_.back());
    }
  }
  /// Gives lanes first to tasks whose predecessor is the last task of a lane, then to tasks with any predecessor in a
  /// lane, then to the rest, which saves waits.
  void give_lanes() {
    give_lanes_after([&](std::uint32_t p) { return last_[lanes_.lane_of[p]] == p; });
    give_lanes_after([](std::uint32_t) { return true; });
    std::uint32_t lane = 0;
    for (const std::uint32_t task : starting_) {
      while (is_idle_[lane] == 0) ++lane;
      place(task, lane);
    }
  }
  /// Gives tasks the idle lane of such a predecessor; if there are several, of the one that ended last.
  template <class IsWanted>
  void give_lanes_after(const IsWanted& is_wanted) {
    std::size_t left = 0;
    for (const std::uint32_t task : starting_) {
      std::uint32_t best = Lanes::none;
      for (const std::uint32_t p : predecessors_[task]) {
        if (lanes_.lane_of[p] == Lanes::none || is_idle_[lanes_.lane_of[p]] == 0 || !is_wanted(p)) continue;
        if (best == Lanes::none || ended_[p] > ended_[best]) best = p;
      }
      if (best != Lanes::none) {
        place(task, lanes_.lane_of[best]);
      } else {
        starting_[left++] = task;
      }
    }
    starting_.resize(left);
  }
  void place(std::uint32_t task, std::uint32_t lane) {
    bool waits = last_[lane] == Lanes::none && lane != 0;
    for (const std::uint32_t p : predecessors_[task]) {
      waits = waits || (lanes_.lane_of[p] != Lanes::none && lanes_.lane_of[p] != lane);
    }
    lanes_.lane_of[task] = lane;
    lanes_.order.push_back(task);
    last_[lane] = task;
    is_idle_[lane] = 0;
    --idle_;
    ended_[task] = now_ + (waits ? wait_ns_ : 0) + costs_[task];
    running_.emplace_back(ended_[task], task);
    std::push_heap(running_.begin(), running_.end(), std::greater<>{});
  }
  void pass_time() {
    if (running_.empty()) return;
    now_ = running_[0].first;
    while (!running_.empty() && running_[0].first <= now_) {
      const std::uint32_t task = running_[0].second;
      std::pop_heap(running_.begin(), running_.end(), std::greater<>{});
      running_.pop_back();
      is_idle_[lanes_.lane_of[task]] = 1;
      ++idle_;
      free_cores_[type_of(task)] += needed_cores(task);
      free_successors(task);
    }
  }

  GraphView graph_;
  const arch::Chip& chip_;
  double wait_ns_;
  Predecessors predecessors_;
  std::vector<double> costs_;
  std::vector<std::uint32_t> in_order_;
  std::vector<std::uint32_t> by_way_to_end_;  ///< sorted by the length of the path to the end, longest first
  double all_ns_ = 0;
  double longest_ns_ = 0;
  std::uint32_t cores_ = 0;

  // State while tasks are dealt.
  std::vector<std::uint32_t> task_at_;  ///< by rank, most urgent first
  std::vector<std::uint32_t> rank_;     ///< by task
  Lanes lanes_;
  double now_ = 0;
  std::vector<std::uint32_t> waiting_;                 ///< by task: the number of predecessors that have not ended
  std::vector<double> ended_;                          ///< by task: the time of its end
  std::vector<std::uint32_t> last_;                    ///< by lane: its last task so far
  std::vector<char> is_idle_;                          ///< by lane
  std::size_t idle_ = 0;                               ///< the number of idle lanes
  std::vector<std::uint32_t> ready_[core_type_count];  ///< heaps with the ranks of ready tasks
  std::uint32_t free_cores_[core_type_count] = {};
  std::vector<std::uint32_t> starting_;
  std::vector<std::pair<double, std::uint32_t>> running_;  ///< a heap of tasks that run, by the times of their ends
};

}  // namespace detail

RONDO_INLINE std::vector<double> task_costs(const GraphView& graph, const LaneRules& rules) {
  std::vector<double> costs;
  for (const TaskRecord& task : graph.tasks) {
    if (task.fills) {
      costs.push_back(0);
      continue;
    }
    if (task.added_as < rules.task_ns.size() && rules.task_ns[task.added_as] > 0) {
      costs.push_back(rules.task_ns[task.added_as]);
      continue;
    }
    const std::uint32_t cores = detail::cores_of(rules.chip, task.core);
    const std::uint32_t turns = (task.blocks + cores - 1) / cores;
    const std::vector<ArgWord> words = task.cost != nullptr ? detail::known_words(graph, task) : std::vector<ArgWord>{};
    costs.push_back(turns * block_cost(graph, task, rules.chip, words.data()));
  }
  return costs;
}

RONDO_INLINE Lanes deal_lanes(const GraphView& graph, const LaneRules& rules) {
  std::size_t tasks = graph.tasks.size();
  if (tasks != 0 && graph.tasks[0].fills) --tasks;
  const bool has_lanes = rules.lanes != 1 && rules.most_lanes > 1 && graph.loops.empty();
  if (!has_lanes || tasks < 2 || tasks > most_dealt_tasks) return {};
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(rules.most_lanes, tasks));
  detail::Dealer dealer(graph, rules);
  if (rules.lanes != 0) {
    Lanes lanes = dealer.deal(std::min(rules.lanes, most));
    return lanes.count > 1 ? std::move(lanes) : Lanes{};
  }
  constexpr double least_gain = 0.9;
  constexpr double least_step = 0.98;
  if (dealer.longest_ns() > least_gain * dealer.all_ns()) return {};
  Lanes best;
  best.predicted_ns = dealer.all_ns();
  const std::uint32_t end = std::min(most, dealer.cores());
  for (std::uint32_t count = 2; count <= end; count = count < end ? std::min(2 * count, end) : end + 1) {
    Lanes lanes = dealer.deal(count);
    if (lanes.predicted_ns < least_step * best.predicted_ns) best = std::move(lanes);
  }
  return best.predicted_ns < least_gain * dealer.all_ns() ? std::move(best) : Lanes{};
}

}  // namespace rondo::graph

namespace rondo {

RONDO_INLINE FrozenGraph deal(FrozenGraph graph, const graph::LaneRules& rules) {
  graph::Lanes lanes = graph::deal_lanes(graph.view(), rules);
  graph.lanes_ = lanes.count > 1 ? std::make_unique<const graph::Lanes>(std::move(lanes)) : nullptr;
  return graph;
}

}  // namespace rondo
#endif
