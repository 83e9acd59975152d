// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/keyed.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/definitions.hpp>
#include <rondo/graph/loop_order.hpp>
#include <rondo/graph/rare_code.hpp>
#include <rondo/graph/task_graph.hpp>
#include <rondo/graph/zeroed.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// Finds an order in which the tasks of a graph can run; usable in constant expressions. Vectors are constructed with
/// an explicit fill value, because clang rejects libstdc++'s other constructor in constant expressions.
namespace rondo::graph {

/// A graph's tasks, each after all of its predecessors, and the edges between them.
struct Analysis {
  std::vector<std::uint32_t> order;            ///< position -> index in TaskGraph::tasks()
  std::vector<std::uint32_t> successor_begin;  ///< tasks + 1 entries
  std::vector<std::uint32_t> successors;       ///< positions, ascending for each task
  std::vector<std::uint32_t> predecessor_count;
};

/// The last writer of each memory, and the tasks that have read it since. The readers of all memories share one list,
/// because a vector for each memory would cost an allocation for each.
class LastUses {
 public:
  static constexpr std::uint32_t nobody = 0xFFFF'FFFF;

  constexpr explicit LastUses(std::size_t memories) : memories_(memories, Memory{}) { readers_.reserve(memories); }

  [[nodiscard]] constexpr std::uint32_t writer(std::size_t memory) const noexcept { return memories_[memory].writer; }
  /// Calls visit(task) for each reader, in the order of their reads.
  template <class Visit>
  constexpr void for_each_reader(std::size_t memory, const Visit& visit) const {
    for (std::uint32_t r = memories_[memory].first; r != nobody; r = readers_[r].next) visit(readers_[r].task);
  }
  constexpr void note_writer(std::size_t memory, std::uint32_t task) noexcept { memories_[memory] = {task}; }
  constexpr void note_reader(std::size_t memory, std::uint32_t task) {
    const auto number = static_cast<std::uint32_t>(readers_.size());
    readers_.push_back({task});
    Memory& of = memories_[memory];
    (of.first == nobody ? of.first : readers_[of.last].next) = number;
    of.last = number;
  }

 private:
  struct Memory {
    std::uint32_t writer = nobody;
    std::uint32_t first = nobody;  ///< index of its first reader
    std::uint32_t last = nobody;   ///< index of its last reader
  };
  struct Reader {
    std::uint32_t task;
    std::uint32_t next = nobody;  ///< index of the next reader of the same memory
  };
  std::vector<Memory> memories_;
  std::vector<Reader> readers_;
};

/// Orders the fill, which has the highest number, before all tasks that access the memory it zeroes.
constexpr void add_fill_edges(const TaskGraph& graph, EdgeList& edges) {
  if (graph.tasks().empty() || !graph.tasks().back().fills) return;
  const auto fill = static_cast<std::uint32_t>(graph.tasks().size() - 1);
  for (std::uint32_t task = 0; task < fill; ++task) {
    bool is_touched = false;
    for (const ArgRecord& arg : graph.args_of(graph.tasks()[task])) {
      is_touched = is_touched || (arg.is_address() && is_filled(graph.tensors()[root_of(graph.tensors(), arg.tensor)]));
    }
    if (is_touched) edges.push_back({fill, task});
  }
}

/// Returns the explicit edges and, unless the graph has only those, the edges derived from reads and writes in the
/// order of add(): read after write, write after read, write after write. O(args + edges log edges).
[[nodiscard]] constexpr EdgeList collect_edges(const TaskGraph& graph) {
  EdgeList edges;
  edges.reserve(graph.explicit_edges().size() + graph.args().size());
  for (const TaskGraph::Edge& edge : graph.explicit_edges()) edges.push_back({edge.before, edge.after});
  if (graph.edges() == Edges::derived) {
    LastUses uses(graph.tensors().size());
    for (std::uint32_t task = 0; task < graph.tasks().size(); ++task) {
      const TaskRecord& record = graph.tasks()[task];
      if (record.fills) continue;
      const auto add = [&](std::uint32_t before) {
        if (before != LastUses::nobody && before != task) edges.push_back({before, task});
      };
      for (const ArgRecord& arg : graph.args_of(record)) {
        if (!arg.is_address()) continue;
        const std::uint32_t memory = home_of(graph.tensors(), arg.tensor);
        add(uses.writer(memory));
        if (writes(arg.access)) {
          uses.for_each_reader(memory, add);
          uses.note_writer(memory, task);
        } else {
          uses.note_reader(memory, task);
        }
      }
    }
  }
  add_fill_edges(graph, edges);
  sort_once_each(edges);
  return edges;
}

namespace detail {

[[nodiscard]] inline Error::Text task_text(const TaskGraph& graph, std::uint32_t task) {
  return Error::Text{"task ", task, " '", graph.name(graph.tasks()[task].name), "'"};
}

/// Throws an error that names a cycle among the tasks that still wait for a predecessor.
[[noreturn]] inline void fail_cycle(const TaskGraph& graph, const EdgeList& edges,
                                    const std::vector<std::uint32_t>& waiting) {
  const auto is_waiting = [&](std::uint32_t task) { return waiting[task] != 0; };
  std::uint32_t task = 0;
  while (!is_waiting(task)) ++task;
  std::vector<std::uint32_t> path;  // in reverse: each task is a predecessor of the one before it
  std::vector<char> seen(waiting.size(), 0);
  while (seen[task] == 0) {
    seen[task] = 1;
    path.push_back(task);
    std::size_t e = 0;
    while (task_after(edges[e]) != task || !is_waiting(task_before(edges[e]))) ++e;
    task = task_before(edges[e]);
  }
  Error::Text text{"the edges form a cycle: ", task_text(graph, task)};
  for (std::size_t i = path.size(); i-- > 0;) {
    text.append(" -> ");
    text.append(task_text(graph, path[i]));
    if (path[i] == task) break;
  }
  text.append("; remove the edge that points back");
  throw Error(Errc::cycle, text);
}

/// Whether there is a path between two positions. Follows successors from `from`, up to `to`.
[[nodiscard]] constexpr bool has_path(const Analysis& a, std::uint32_t from, std::uint32_t to) {
  std::vector<char> seen(to + 1 - from, 0);
  std::vector<std::uint32_t> open{from};
  while (!open.empty()) {
    const std::uint32_t task = open.back();
    open.pop_back();
    for (std::uint32_t s = a.successor_begin[task]; s < a.successor_begin[task + 1]; ++s) {
      const std::uint32_t next = a.successors[s];
      if (next == to) return true;
      if (next > to || seen[next - from] != 0) continue;
      seen[next - from] = 1;
      open.push_back(next);
    }
  }
  return false;
}

}  // namespace detail

/// Arranges the tasks in this order, with edges between positions.
[[nodiscard]] constexpr Analysis arrange(std::vector<std::uint32_t> order, EdgeList edges) {
  sort_once_each(edges);
  Analysis result;
  result.successor_begin = std::vector<std::uint32_t>(order.size() + 1, 0U);
  result.predecessor_count = std::vector<std::uint32_t>(order.size(), 0U);
  result.successors.reserve(edges.size());
  for (const auto& edge : edges) {
    ++result.successor_begin[task_before(edge) + 1];
    ++result.predecessor_count[task_after(edge)];
    result.successors.push_back(task_after(edge));
  }
  for (std::size_t p = 0; p < order.size(); ++p) result.successor_begin[p + 1] += result.successor_begin[p];
  result.order = std::move(order);
  return result;
}

/// Orders the tasks: among those that may run next, the fill comes first, then the one added first, and last, in a
/// graph without loops, those that wait for other processes. @throws Error cycle, which names one
[[nodiscard]] constexpr Analysis sort_tasks(const TaskGraph& graph, EdgeList edges) {
  const std::size_t tasks = graph.tasks().size();
  std::vector<std::uint32_t> waiting(tasks, 0U);
  std::vector<std::uint32_t> edge_begin(tasks + 1, 0U);
  for (const auto& e : edges) {
    ++waiting[task_after(e)];
    ++edge_begin[task_before(e) + 1];
  }
  for (std::size_t t = 0; t < tasks; ++t) edge_begin[t + 1] += edge_begin[t];

  std::vector<std::uint32_t> order;
  order.reserve(tasks);
  std::vector<std::uint32_t> position(tasks, LastUses::nobody);
  const auto run = [&](std::size_t task) {
    position[task] = static_cast<std::uint32_t>(order.size());
    order.push_back(static_cast<std::uint32_t>(task));
    std::size_t first_ready = tasks;
    for (std::uint32_t e = edge_begin[task]; e < edge_begin[task + 1]; ++e) {
      const std::uint32_t after = task_after(edges[e]);
      if (--waiting[after] == 0 && after < first_ready) first_ready = after;
    }
    return first_ready;
  };
  if (tasks != 0 && graph.tasks().back().fills) (void)run(tasks - 1);
  std::vector<std::uint32_t> late;  // in the order of add()
  for (std::uint32_t task = 0; task < tasks && graph.loops().empty(); ++task) {
    if (graph.tasks()[task].waits) late.push_back(task);
  }
  // No task before `next` is ready. Most edges point forward, so this is usually a single pass over the tasks.
  for (std::size_t next = 0;;) {
    const bool is_late = next >= tasks;
    for (std::size_t i = 0; next >= tasks && i < late.size(); ++i) {
      if (waiting[late[i]] == 0 && position[late[i]] == LastUses::nobody) next = late[i];
    }
    if (next >= tasks) break;
    const bool is_kept_back = !is_late && !late.empty() && graph.tasks()[next].waits;
    if (is_kept_back || waiting[next] != 0 || position[next] != LastUses::nobody) {
      ++next;
      continue;
    }
    const std::size_t first_ready = run(next);
    next = is_late || first_ready < next ? first_ready : next + 1;
  }
  if (order.size() != tasks) detail::fail_cycle(graph, edges, waiting);
  for (auto& e : edges) e = {position[task_before(e)], position[task_after(e)]};
  return arrange(std::move(order), std::move(edges));
}

/// Checks each tensor's uses against the order. @throws Error race: two tasks conflict and no path orders them;
/// uninitialized_read: a task reads a tensor that no task has written; invalid_argument: an output that no task writes
constexpr void check_uses(const TaskGraph& graph, const Analysis& analysis) {
  constexpr std::uint32_t nobody = LastUses::nobody;
  LastUses uses(graph.tensors().size());
  Definitions definitions(graph.loops(), graph.tasks(), graph.tensors().size());

  const auto require_path = [&](std::uint32_t before, std::uint32_t after, const TensorRecord& tensor) {
    if (before != nobody && before != after && !detail::has_path(analysis, before, after)) {
      throw Error(Errc::race, Error::Text{detail::task_text(graph, analysis.order[before]), " and ",
                                          detail::task_text(graph, analysis.order[after]), " both touch tensor '",
                                          graph.name(tensor.name),
                                          "', at least one writes it, and no path orders them; add an edge"});
    }
  };

  for (std::uint32_t position = 0; position < analysis.order.size(); ++position) {
    const std::uint32_t task = analysis.order[position];
    const TaskRecord& record = graph.tasks()[task];
    for (const ArgRecord& arg : graph.args_of(record)) {
      if (!arg.is_address()) continue;
      const TensorRecord& tensor = graph.tensors()[arg.tensor];
      if (record.blocks == 0 && tensor.count != 0) continue;  // no block accesses it
      const std::uint32_t memory = home_of(graph.tensors(), arg.tensor);
      const bool is_written = uses.writer(memory) != nobody;
      if (reads(arg.access) && !(is_written && definitions.holds(memory, task)) &&
          !graph.tensors()[root_of(graph.tensors(), arg.tensor)].is_defined_at_start()) {
        throw Error(Errc::uninitialized_read,
                    Error::Text{detail::task_text(graph, task), " reads tensor '", graph.name(tensor.name),
                                is_written ? "', which only tasks of a 'when' write; write it before, too"
                                           : "' before any task writes it; add the writer first or make it an input"});
      }
      // Derived edges order all conflicts by construction; explicit edges come from the user, so they are checked.
      const bool check = graph.edges() == Edges::explicit_;
      if (check) require_path(uses.writer(memory), position, tensor);
      if (writes(arg.access)) {
        if (check) uses.for_each_reader(memory, [&](std::uint32_t reader) { require_path(reader, position, tensor); });
        uses.note_writer(memory, position);
        definitions.note(memory, task);
      } else if (check) {
        uses.note_reader(memory, position);
      }
    }
  }
  for (std::uint32_t t = 0; t < graph.tensors().size(); ++t) {
    const TensorRecord& tensor = graph.tensors()[t];
    const bool is_defined = graph.tensors()[root_of(graph.tensors(), t)].is_defined_at_start();
    if (tensor.direction != Direction::out || is_defined) continue;
    const std::uint32_t memory = home_of(graph.tensors(), t);
    const bool is_written = uses.writer(memory) != nobody;
    if (is_written && definitions.holds_at_end(memory)) continue;
    throw Error(Errc::invalid_argument,
                Error::Text{"tensor '", graph.name(tensor.name),
                            is_written ? "' is an output that only tasks of a 'when' write; write it before, too"
                                       : "' is an output, but no task writes it; add the task or remove it"});
  }
}

/// A view shows the contents that its source had when the view was made, so no later task may write either. @throws
/// Error invalid_argument, which names the view, the source and the task
constexpr void check_views(const TaskGraph& graph) {
  std::vector<std::uint32_t> views;
  for (std::uint32_t t = 0; t < graph.tensors().size(); ++t) {
    if (graph.tensors()[t].is_view()) views.push_back(t);
  }
  if (views.empty()) return;
  for (std::uint32_t task = 0; task < graph.tasks().size(); ++task) {
    const TaskRecord& record = graph.tasks()[task];
    for (const ArgRecord& arg : graph.args_of(record)) {
      if (!arg.is_address() || !writes(arg.access) || record.fills) continue;
      for (const std::uint32_t v : views) {
        const TensorRecord& view = graph.tensors()[v];
        if (arg.tensor != v &&
            (task < view.viewed_at || home_of(graph.tensors(), arg.tensor) != home_of(graph.tensors(), v)))
          continue;
        throw Error(Errc::invalid_argument, Error::Text{"tensor '", graph.name(view.name), "' is a view of '",
                                                        graph.name(graph.tensors()[view.view_of].name), "', but ",
                                                        detail::task_text(graph, task), " writes ",
                                                        arg.tensor == v ? "it; write what it shows" : "that later",
                                                        "; make the view after that task, or let a kernel copy"});
      }
    }
  }
}

/// Removes idle tasks: their successors wait for their predecessors instead.
[[nodiscard]] constexpr Analysis leave_out_idle(const TaskGraph& graph, const Analysis& whole) {
  std::vector<std::uint32_t> order;
  EdgeList edges;
  std::vector<EdgeList> before(whole.order.size(), EdgeList{});  // by old position: the tasks to wait for, by new ones
  for (std::uint32_t p = 0; p < whole.order.size(); ++p) {
    sort_once_each(before[p]);
    if (!graph.tasks()[whole.order[p]].idle) {
      const std::uint64_t position = order.size();
      order.push_back(whole.order[p]);
      for (const auto& b : before[p]) edges.push_back({b.key, position});
      before[p] = EdgeList{{static_cast<std::int64_t>(position), 0}};
    }
    for (std::uint32_t s = whole.successor_begin[p]; s < whole.successor_begin[p + 1]; ++s) {
      for (const auto& b : before[p]) before[whole.successors[s]].push_back(b);
    }
  }
  return arrange(std::move(order), std::move(edges));
}

/// Checks and orders a graph. @throws Error cycle, race, uninitialized_read, invalid_argument: also for a symbol
/// without a value
[[nodiscard]] constexpr Analysis analyze(const TaskGraph& graph) {
  if (graph.is_symbolic()) {
    throw Error(Errc::invalid_argument, Error::Text{"symbol '", graph.name(graph.symbols()[0]),
                                                    "' has no value; open the graph with open_shaped(), or "
                                                    "instantiate() it"});
  }
  check_views(graph);
  for (const LoopRecord& loop : graph.loops()) refuse_open_loop(loop);
  EdgeList edges = collect_edges(graph);
  if (!graph.loops().empty()) graph.loops().front().code->order(graph, edges);
  Analysis analysis = sort_tasks(graph, std::move(edges));
  check_uses(graph, analysis);
  for (const TaskRecord& task : graph.tasks()) {
    if (!task.idle) continue;
    if (std::is_constant_evaluated()) return leave_out_idle(graph, analysis);
    return graph.rare_code().leave_out_idle(graph, analysis);
  }
  return analysis;
}

}  // namespace rondo::graph
