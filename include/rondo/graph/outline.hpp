// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/keyed.hpp>
#include <rondo/graph/analysis.hpp>
#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rondo::graph {

/// A frozen graph with loops, or the body of one loop, as a graph without loops: each loop directly inside is one task,
/// which has the name and the number of its decision and accesses all tensors that its tasks access. For engines that
/// run a loop as one task. Refers to the text and the tensors of the graph, which must outlive it.
class Outline {
 public:
  /// A task of the outline: a task of the graph, or all tasks of a loop.
  struct Item {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t loop = TaskRecord::no_loop;  ///< no_loop: the task at `first`
  };

  /// `scope`: the loop whose tasks are outlined; no_loop: the whole graph.
  explicit Outline(const GraphView& graph, std::uint32_t scope = TaskRecord::no_loop) : graph_{graph} {
    const bool is_whole = scope == TaskRecord::no_loop;
    const std::uint32_t first = is_whole ? 0 : graph.loops[scope].first;
    const std::uint32_t last = is_whole ? static_cast<std::uint32_t>(graph.tasks.size()) : graph.loops[scope].last;
    for (std::uint32_t p = first; p < last; p = items_.back().last) {
      std::uint32_t loop = graph.tasks[p].loop;
      if (loop == scope) {
        items_.push_back({p, p + 1});
        TaskRecord& task = tasks_.emplace_back(graph.tasks[p]);
        task.first_arg = static_cast<std::uint32_t>(args_.size());
        for (const ArgRecord& arg : graph.args_of(graph.tasks[p])) args_.push_back(arg);
        continue;
      }
      while (graph.loops[loop].parent != scope) loop = graph.loops[loop].parent;
      items_.push_back({graph.loops[loop].first, graph.loops[loop].last, loop});
      tasks_.push_back(as_task(graph.loops[loop]));
    }
    connect(first, last);
  }

  /// The outline as a graph; valid during its lifetime.
  [[nodiscard]] GraphView view() const noexcept {
    GraphView view = graph_;
    view.tasks = span_of(tasks_);
    view.args = span_of(args_);
    view.successor_begin = span_of(edges_.successor_begin);
    view.successors = span_of(edges_.successors);
    view.predecessor_count = span_of(edges_.predecessor_count);
    view.lanes = nullptr;
    view.loops = {};
    return view;
  }
  /// The task or the loop that each task of the outline represents.
  [[nodiscard]] const std::vector<Item>& items() const noexcept { return items_; }

 private:
  [[nodiscard]] TaskRecord as_task(const LoopRecord& loop) {
    const TaskRecord& decision = graph_.tasks[loop.decision];
    TaskRecord task = decision;
    task.first_arg = static_cast<std::uint32_t>(args_.size());
    std::vector<rondo::detail::Keyed> accesses;
    for (std::uint32_t p = loop.first; p < loop.last; ++p) {
      for (const ArgRecord& arg : graph_.args_of(graph_.tasks[p])) {
        if (arg.is_address()) accesses.push_back({arg.tensor, static_cast<std::uint64_t>(arg.access)});
      }
    }
    sort_once_each(accesses);
    for (const rondo::detail::Keyed& access : accesses) {
      const auto tensor = static_cast<std::uint32_t>(access.key);
      if (args_.size() != task.first_arg && args_.back().tensor == tensor) {
        args_.back().access = Access::read_write;
      } else {
        args_.push_back({ArgRecord::Kind::address, static_cast<Access>(access.item), tensor});
      }
    }
    task.arg_count = static_cast<std::uint32_t>(args_.size()) - task.first_arg;
    return task;
  }

  void connect(std::uint32_t first, std::uint32_t last) {
    std::vector<std::uint32_t> item_of(last - first);
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      for (std::uint32_t p = items_[i].first; p < items_[i].last; ++p) item_of[p - first] = i;
    }
    EdgeList edges;
    for (std::uint32_t p = first; p < last; ++p) {
      for (const std::uint32_t s : graph_.successors_of(p)) {
        if (s < last && item_of[p - first] != item_of[s - first])
          edges.push_back({item_of[p - first], item_of[s - first]});
      }
    }
    std::vector<std::uint32_t> order(items_.size());
    for (std::size_t i = 0; i < items_.size(); ++i) order[i] = items_[i].first;
    edges_ = arrange(std::move(order), std::move(edges));
  }

  GraphView graph_;
  std::vector<TaskRecord> tasks_;
  std::vector<ArgRecord> args_;
  std::vector<Item> items_;
  Analysis edges_;
};

}  // namespace rondo::graph
