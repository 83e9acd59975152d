// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel.hpp"

#include <rondo/graph/task_graph.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo::erased {

/// A TaskGraph, and the kernel of each of its tasks.
struct Graph {
  explicit Graph(Edges edges) : tasks{edges} {}

  TaskGraph tasks;
  std::vector<const KernelRecord*> kernels;  ///< by TaskId; null: the decision of a loop
};

/// Adds the tensors that a text declares: "x: in f32[n, 64], y: out f32[n, 64]". Symbols are added where they are first
/// used. Adds all of them or none. `room`: the number of keys that the caller has room for. @returns their keys, in the
/// order of the text @throws Error what TaskGraph throws; invalid_argument, with a caret under the place, if the text
/// does not parse, or if `room` is not their number
std::vector<TensorKey> add_tensors(Graph& graph, std::string_view declarations,
                                   std::optional<std::size_t> room = std::nullopt);

/// Calls f with the graph, and returns what it returns; the graph is as it was if f throws. Where f may add symbols,
/// that takes a copy of the graph.
template <class F>
auto change(Graph& graph, bool may_add_symbols, const F& f) {
  if (!may_add_symbols) return f(graph);
  Graph changed = graph;
  const auto result = f(changed);
  graph = std::move(changed);
  return result;
}

/// The names of the symbols, by number.
[[nodiscard]] std::vector<std::string> symbols_of(const TaskGraph& graph);

/// An extent or a number of blocks as text: "n", "ceil_div(n, 128)"; symbols are added where they are first used.
/// @throws Error invalid_argument
[[nodiscard]] Extent parse_extent(Graph& graph, std::string_view text);

/// Adds a task that runs a kernel, after the checks that C++ makes when it compiles: the number of arguments, element
/// types, directions. `blocks`: their number. @throws Error invalid_argument, wrong_size, limit_exceeded
TaskId add_task(Graph& graph, const KernelRecord& kernel, const Extent& blocks,
                std::span<const KernelArgument> arguments);

/// As TaskGraph::repeat_until and TaskGraph::when, for which the result of `most` is not used. `most` may add symbols
/// to the graph, and `body` adds tasks. If the loop is refused, the graph is as before: tensors that the body added are
/// gone. @throws Error as they do; what `most` and `body` throw
TaskId add_loop(Graph& graph, graph::LoopRecord::Kind kind, TensorKey condition,
                const std::function<Extent(Graph&)>& most, const std::function<void()>& body, double expected);

/// The tensor of that key. @throws Error invalid_argument: it is of another graph
[[nodiscard]] const graph::TensorRecord& tensor_of(const Graph& graph, TensorKey key);

/// Do what TaskGraph::zero and TaskGraph::alias do, after a check of the directions. @throws Error invalid_argument
void zero(Graph& graph, TensorKey workspace, Zeroed when);
void alias(Graph& graph, TensorKey output, TensorKey input);
/// `kind`: the name of a MemoryKind, with underscores. @throws Error invalid_argument: no such kind; a host input; a
/// tensor of another graph
void in_memory(Graph& graph, TensorKey tensor, std::string_view kind);

/// The n-th scalar parameter of a task, counted from 0, for set_scalar. @throws Error invalid_argument
[[nodiscard]] const KernelParameter& scalar_of(std::span<const KernelRecord* const> kernels, TaskId task,
                                               std::size_t n);

}  // namespace rondo::erased
