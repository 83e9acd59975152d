// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/algorithm.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/task_graph.hpp>
#include <rondo/graph/zeroed.hpp>
#include <rondo/list.hpp>

#include <cstdint>

/// Set-up only, and usable in constant expressions: from what was added to what can run. Vectors are sized with an
/// explicit fill value: clang refuses libstdc++'s value-initialising constructor in constant expressions.
namespace rondo::graph {

/// A graph's tasks in an order in which each stands behind all it depends on, and the edges between them.
struct Analysis {
  List<std::uint32_t> order;            ///< position -> index in TaskGraph::tasks()
  List<std::uint32_t> successor_begin;  ///< tasks + 1
  List<std::uint32_t> successors;       ///< positions, ascending for each task
  List<std::uint32_t> predecessor_count;
};

/// Sorted, each once, between indices in TaskGraph::tasks().
using EdgeList = List<TaskGraph::Edge>;

/// What orders the tasks that touch a tensor: the tensor, or what it is a view of, or the input whose memory it reuses.
[[nodiscard]] constexpr std::size_t memory_of(const TaskGraph& graph, std::uint32_t tensor) noexcept {
  tensor = root_of(graph.tensors(), tensor);
  const std::uint32_t alias = graph.tensors()[tensor].alias_of;
  return alias == TensorRecord::no_alias ? tensor : alias;
}

/// The fill, which is the last by number, comes before all that touch what it zeroes.
constexpr void add_fill_edges(const TaskGraph& graph, EdgeList& edges) {
  if (graph.tasks().empty() || !graph.tasks().back().fills) return;
  const auto fill = static_cast<std::uint32_t>(graph.tasks().size() - 1);
  for (std::uint32_t task = 0; task < fill; ++task) {
    const TaskRecord& record = graph.tasks()[task];
    for (std::uint32_t a = record.first_arg; a < record.first_arg + record.arg_count; ++a) {
      const ArgRecord& arg = graph.args()[a];
      if (arg.kind == ArgRecord::Kind::address && is_filled(graph.tensors()[arg.tensor])) {
        edges.push_back({fill, task});
        break;
      }
    }
  }
}

/// The explicit edges, and unless the graph says otherwise those that follow from reads and writes in the order of
/// add(): read after write, write after read, write after write. O(args + edges log edges).
[[nodiscard]] constexpr EdgeList collect_edges(const TaskGraph& graph) {
  EdgeList edges = graph.explicit_edges();
  if (graph.edges() == Edges::derived) {
    constexpr std::uint32_t nobody = 0xFFFF'FFFF;
    struct LastUse {
      std::uint32_t writer = nobody;
      List<std::uint32_t> readers;  // since that write
    };
    List<LastUse> uses(graph.tensors().size());
    for (std::uint32_t task = 0; task < graph.tasks().size(); ++task) {
      const TaskRecord& record = graph.tasks()[task];
      if (record.fills) continue;
      for (std::uint32_t a = record.first_arg; a < record.first_arg + record.arg_count; ++a) {
        const ArgRecord& arg = graph.args()[a];
        if (arg.kind != ArgRecord::Kind::address) continue;
        LastUse& use = uses[memory_of(graph, arg.tensor)];
        if (use.writer != nobody && use.writer != task) edges.push_back({use.writer, task});
        if (writes(arg.access)) {
          for (const std::uint32_t reader : use.readers) {
            if (reader != task) edges.push_back({reader, task});
          }
          use.writer = task;
          use.readers.clear();
        } else {
          use.readers.push_back(task);
        }
      }
    }
  }
  add_fill_edges(graph, edges);
  rondo::detail::sort(edges);
  rondo::detail::keep_unique(edges);
  return edges;
}

namespace detail {

/// "task 3 'relu'"
[[nodiscard]] inline Error::Text task_text(const TaskGraph& graph, std::uint32_t task) {
  return Error::Text("task ", task, " '", graph.name(graph.tasks()[task].name), "'");
}

/// Names one cycle among the tasks that still wait for a predecessor.
[[noreturn]] inline void fail_cycle(const TaskGraph& graph, const EdgeList& edges, const List<std::uint32_t>& waiting) {
  const auto is_waiting = [&](std::uint32_t task) { return waiting[task] != 0; };
  std::uint32_t task = 0;
  while (!is_waiting(task)) ++task;
  List<std::uint32_t> path;  // backwards, each a predecessor of the one before
  List<bool> seen(waiting.size(), false);
  while (!seen[task]) {
    seen[task] = true;
    path.push_back(task);
    std::size_t e = 0;
    while (edges[e].after != task || !is_waiting(edges[e].before)) ++e;
    task = edges[e].before;
  }
  Error::Text text("the edges form a cycle: ", task_text(graph, task));
  for (std::size_t i = path.size(); i-- > 0;) {
    text.append(" -> ");
    text.append(task_text(graph, path[i]));
    if (path[i] == task) break;
  }
  text.append("; remove the edge that points back");
  throw Error(Errc::cycle, text);
}

/// Is there a path between two positions? Walks forward from `from`, no further than `to`.
[[nodiscard]] constexpr bool has_path(const Analysis& a, std::uint32_t from, std::uint32_t to) {
  List<char> seen(to + 1 - from, 0);
  List<std::uint32_t> open{from};
  while (!open.empty()) {
    const std::uint32_t task = open.back();
    open.pop_back();
    for (std::uint32_t s = a.successor_begin[task]; s < a.successor_begin[task + 1]; ++s) {
      const std::uint32_t next = a.successors[s];
      if (next == to) return true;
      if (next > to || seen[next - from]) continue;
      seen[next - from] = 1;
      open.push_back(next);
    }
  }
  return false;
}

}  // namespace detail

/// Orders the tasks: among those that may run next, the fill, then the one added first. @throws Error cycle, naming one
[[nodiscard]] constexpr Analysis sort_tasks(const TaskGraph& graph, const EdgeList& edges) {
  const std::size_t tasks = graph.tasks().size();
  List<std::uint32_t> waiting(tasks, 0U);
  List<std::uint32_t> edge_begin(tasks + 1, 0U);
  for (const auto& e : edges) {
    ++waiting[e.after];
    ++edge_begin[e.before + 1];
  }
  for (std::size_t t = 0; t < tasks; ++t) edge_begin[t + 1] += edge_begin[t];

  Analysis result;
  result.order.reserve(tasks);
  List<std::uint32_t> ready;  // a heap, the smallest index on top
  for (std::uint32_t t = 0; t < tasks; ++t) {
    if (waiting[t] == 0) ready.push_back(t);
  }
  const auto rank = [&](std::uint32_t task) { return graph.tasks()[task].fills ? 0 : task + 1; };
  const auto first_on_top = [&](std::uint32_t a, std::uint32_t b) { return rank(a) > rank(b); };
  rondo::detail::make_heap(ready.data(), ready.size(), first_on_top);
  List<std::uint32_t> position(tasks, 0U);
  while (!ready.empty()) {
    rondo::detail::pop_heap(ready.data(), ready.size(), first_on_top);
    const std::uint32_t task = ready.back();
    ready.pop_back();
    position[task] = static_cast<std::uint32_t>(result.order.size());
    result.order.push_back(task);
    for (std::uint32_t e = edge_begin[task]; e < edge_begin[task + 1]; ++e) {
      if (--waiting[edges[e].after] == 0) {
        ready.push_back(edges[e].after);
        rondo::detail::push_heap(ready.data(), ready.size(), first_on_top);
      }
    }
  }
  if (result.order.size() != tasks) detail::fail_cycle(graph, edges, waiting);

  result.successor_begin.push_back(0);
  result.predecessor_count.assign(tasks, 0U);
  for (const std::uint32_t task : result.order) {
    for (std::uint32_t e = edge_begin[task]; e < edge_begin[task + 1]; ++e) {
      result.successors.push_back(position[edges[e].after]);
      ++result.predecessor_count[position[edges[e].after]];
    }
    rondo::detail::sort(result.successors.data() + result.successor_begin.back(),
                        result.successors.size() - result.successor_begin.back());
    result.successor_begin.push_back(static_cast<std::uint32_t>(result.successors.size()));
  }
  return result;
}

/// Checks each tensor's uses against the order. @throws Error race: two tasks conflict and no path orders them;
/// uninitialized_read: a task reads what nobody has written; invalid_argument: an output that nobody writes
constexpr void check_uses(const TaskGraph& graph, const Analysis& analysis) {
  constexpr std::uint32_t nobody = 0xFFFF'FFFF;
  struct Use {
    std::uint32_t writer = nobody;  // position of the last one
    List<std::uint32_t> readers;    // positions, since that write
  };
  List<Use> uses(graph.tensors().size());

  const auto require_path = [&](std::uint32_t before, std::uint32_t after, const TensorRecord& tensor) {
    if (before != nobody && before != after && !detail::has_path(analysis, before, after)) {
      throw Error(Errc::race, Error::Text(detail::task_text(graph, analysis.order[before]), " and ",
                                          detail::task_text(graph, analysis.order[after]), " both touch tensor '",
                                          graph.name(tensor.name),
                                          "', at least one writes it, and no path orders them; add an edge"));
    }
  };

  for (std::uint32_t position = 0; position < analysis.order.size(); ++position) {
    const std::uint32_t task = analysis.order[position];
    const TaskRecord& record = graph.tasks()[task];
    for (std::uint32_t a = record.first_arg; a < record.first_arg + record.arg_count; ++a) {
      const ArgRecord& arg = graph.args()[a];
      if (arg.kind != ArgRecord::Kind::address) continue;
      const TensorRecord& tensor = graph.tensors()[arg.tensor];
      Use& use = uses[memory_of(graph, arg.tensor)];
      if (reads(arg.access) && use.writer == nobody &&
          !graph.tensors()[root_of(graph.tensors(), arg.tensor)].is_defined_at_start()) {
        throw Error(Errc::uninitialized_read,
                    Error::Text(detail::task_text(graph, task), " reads tensor '", graph.name(tensor.name),
                                "' before any task writes it; add the writer first or make it an input"));
      }
      // Derived edges order all conflicts by construction; explicit ones are the user's word, so they are checked.
      const bool check = graph.edges() == Edges::explicit_;
      if (check) require_path(use.writer, position, tensor);
      if (writes(arg.access)) {
        if (check) {
          for (const std::uint32_t reader : use.readers) require_path(reader, position, tensor);
        }
        use.writer = position;
        use.readers.clear();
      } else if (check) {
        use.readers.push_back(position);
      }
    }
  }
  for (std::uint32_t t = 0; t < uses.size(); ++t) {
    const TensorRecord& tensor = graph.tensors()[t];
    const TensorRecord& root = graph.tensors()[root_of(graph.tensors(), t)];
    if (tensor.is_view() && root.is_defined_at_start()) continue;
    if (tensor.direction == Direction::out && uses[memory_of(graph, t)].writer == nobody) {
      throw Error(Errc::invalid_argument,
                  Error::Text("tensor '", graph.name(tensor.name),
                              "' is an output, but no task writes it; add the task or remove it"));
    }
  }
}

/// A view shows what its source holds where it was declared, so nobody may write either behind that.
/// @throws Error invalid_argument, naming view, source and task
constexpr void check_views(const TaskGraph& graph) {
  List<std::uint32_t> views;
  for (std::uint32_t t = 0; t < graph.tensors().size(); ++t) {
    if (graph.tensors()[t].is_view()) views.push_back(t);
  }
  if (views.empty()) return;
  for (std::uint32_t task = 0; task < graph.tasks().size(); ++task) {
    const TaskRecord& record = graph.tasks()[task];
    for (std::uint32_t a = record.first_arg; a < record.first_arg + record.arg_count; ++a) {
      const ArgRecord& arg = graph.args()[a];
      if (arg.kind != ArgRecord::Kind::address || !writes(arg.access) || record.fills) continue;
      for (const std::uint32_t v : views) {
        const TensorRecord& view = graph.tensors()[v];
        if (arg.tensor != v && (task < view.viewed_at || memory_of(graph, arg.tensor) != memory_of(graph, v))) continue;
        throw Error(Errc::invalid_argument, Error::Text("tensor '", graph.name(view.name), "' is a view of '",
                                                        graph.name(graph.tensors()[view.view_of].name), "', but ",
                                                        detail::task_text(graph, task), " writes ",
                                                        arg.tensor == v ? "it; write what it shows" : "that later",
                                                        "; declare the view behind that task, or let a kernel copy"));
      }
    }
  }
}

/// The same without the tasks that have nothing to do: what waited for one of them waits for all that this waited for.
[[nodiscard]] constexpr Analysis leave_out_idle(const TaskGraph& graph, const Analysis& whole) {
  const auto is_idle = [&](std::size_t position) { return graph.tasks()[whole.order[position]].idle; };
  Analysis result;
  List<List<std::uint32_t>> waits(whole.order.size());  // by old position: new positions
  List<List<std::uint32_t>> successors;                 // by new position
  for (std::size_t p = 0; p < whole.order.size(); ++p) {
    List<std::uint32_t> passed_on;
    rondo::detail::sort(waits[p]);
    rondo::detail::keep_unique(waits[p]);
    if (is_idle(p)) {
      passed_on = waits[p];
    } else {
      const auto position = static_cast<std::uint32_t>(result.order.size());
      passed_on.push_back(position);
      result.order.push_back(whole.order[p]);
      result.predecessor_count.push_back(static_cast<std::uint32_t>(waits[p].size()));
      successors.emplace_back();
      for (const std::uint32_t before : waits[p]) successors[before].push_back(position);
    }
    for (std::uint32_t s = whole.successor_begin[p]; s < whole.successor_begin[p + 1]; ++s) {
      List<std::uint32_t>& to = waits[whole.successors[s]];
      to.append(passed_on.data(), passed_on.size());
    }
  }
  result.successor_begin.push_back(0);
  for (const List<std::uint32_t>& after : successors) {
    result.successors.append(after.data(), after.size());
    result.successor_begin.push_back(static_cast<std::uint32_t>(result.successors.size()));
  }
  return result;
}

/// All of the above. @throws Error cycle, race, uninitialized_read, invalid_argument: also a symbol without a value
[[nodiscard]] constexpr Analysis analyze(const TaskGraph& graph) {
  if (graph.is_symbolic()) {
    throw Error(Errc::invalid_argument, Error::Text("symbol '", graph.name(graph.symbols()[0]),
                                                    "' has no value; open the graph with open_shaped(), or "
                                                    "instantiate() it"));
  }
  check_views(graph);
  Analysis analysis = sort_tasks(graph, collect_edges(graph));
  check_uses(graph, analysis);
  for (const TaskRecord& task : graph.tasks()) {
    if (task.idle) return leave_out_idle(graph, analysis);
  }
  return analysis;
}

}  // namespace rondo::graph
