// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include "declaration.hpp"
#include "fail.hpp"

#include <rondo/graph/loops.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace rondo::erased {

std::vector<std::string> symbols_of(const TaskGraph& graph) {
  std::vector<std::string> names;
  for (const graph::NameRef ref : graph.symbols()) names.emplace_back(graph.name(ref));
  return names;
}

namespace {

void add_symbols(TaskGraph& graph, const std::vector<std::string>& symbols) {
  for (std::size_t s = graph.symbols().size(); s < symbols.size(); ++s) (void)graph.dim(symbols[s]);
}

constexpr std::string_view what_declares_tensors = "the declaration of tensors";

Direction direction_of(const Declaration& d, std::string_view text) {
  switch (d.role) {
    case Role::in: return Direction::in;
    case Role::out: return Direction::out;
    case Role::inout: return Direction::inout;
    case Role::resident: return Direction::resident;
    case Role::workspace: return Direction::workspace;
    case Role::host_input: return Direction::host_input;
    case Role::scalar:
    case Role::block: break;
  }
  fail_at(
      text, what_declares_tensors, d.at, d.name.size(),
      "only a kernel has scalars and blocks; a graph's tensor is in, out, inout, resident, workspace or host_input");
}

}  // namespace

std::vector<TensorKey> add_tensors(Graph& graph, std::string_view declarations, std::optional<std::size_t> room) {
  const Declarations parsed = parse_declarations(declarations, what_declares_tensors, symbols_of(graph.tasks));
  if (room && *room != parsed.list.size()) {
    fail(Errc::invalid_argument, "the text declares ", parsed.list.size(), " tensors, and there is room for ", *room,
         " handles; pass an array of that many");
  }
  const auto add_to = [&](TaskGraph& tasks) {
    add_symbols(tasks, parsed.symbols);
    std::vector<TensorKey> keys;
    for (const Declaration& d : parsed.list) {
      keys.push_back(tasks.add_tensor(d.name, d.type, direction_of(d, declarations),
                                      SymbolicShape(d.extents.data(), d.extents.size())));
    }
    return keys;
  };
  const bool is_one_step = parsed.list.size() == 1 && parsed.symbols.size() == graph.tasks.symbols().size();
  if (is_one_step) return add_to(graph.tasks);
  TaskGraph changed = graph.tasks;
  std::vector<TensorKey> keys = add_to(changed);
  graph.tasks = std::move(changed);
  return keys;
}

Extent parse_extent(Graph& graph, std::string_view text) {
  // The text is parsed as the extent of a tensor, so that there is one grammar.
  const std::string declaration = "x: in u8[" + std::string(text) + "]";
  Declarations parsed = parse_declarations(declaration, "the extent", symbols_of(graph.tasks));
  if (parsed.list.size() != 1 || parsed.list[0].extents.size() != 1) {
    fail(Errc::invalid_argument, "'", text, "' is not one extent; write a number, a symbol or an expression");
  }
  add_symbols(graph.tasks, parsed.symbols);
  return parsed.list[0].extents[0];
}

const graph::TensorRecord& tensor_of(const Graph& graph, TensorKey key) {
  if (key.graph() != graph.tasks.tag() || index(key.tensor()) >= graph.tasks.tensors().size()) {
    fail(Errc::invalid_argument, "the tensor is of another graph; use the tensors of this one");
  }
  return graph.tasks.tensors()[index(key.tensor())];
}

TaskId add_task(Graph& graph, const KernelRecord& kernel, const Extent& blocks,
                std::span<const KernelArgument> arguments) {
  if (blocks.dim.empty() && !std::in_range<std::uint32_t>(blocks.value)) {
    fail(Errc::invalid_argument, "kernel '", kernel.name, "' is added with ", blocks.value,
         " blocks; choose from 1 to ", UINT32_MAX);
  }
  require_count(kernel, arguments.size());
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    const KernelParameter& parameter = kernel.parameters[n];
    if (!parameter.is_tensor) continue;
    const graph::TensorRecord& tensor = tensor_of(graph, arguments[n].tensor);
    const std::string_view name = graph.tasks.name(tensor.name);
    if (tensor.type != parameter.type) {
      fail(Errc::invalid_argument, "kernel '", kernel.name, "' takes ", to_string(parameter.type), " as argument ", n,
           ", and tensor '", name, "' holds ", to_string(tensor.type));
    }
    if (writes(parameter.access) && !kernels_may_write(tensor.direction)) {
      fail(Errc::invalid_argument, "kernel '", kernel.name, "' writes argument ", n, ", and tensor '", name,
           "' is an input; make it an inout");
    }
  }
  const std::size_t needed = graph.tasks.tasks().size() + 1;
  if (graph.kernels.capacity() < needed) graph.kernels.reserve(2 * needed);
  const Blocks number = blocks.dim.empty() ? Blocks{blocks.value} : Blocks{blocks.dim};
  const TaskId task = kernel.add(kernel, graph.tasks, number, arguments);
  graph.kernels.resize(index(task));  // the decision of a `when` comes before its tasks
  graph.kernels.push_back(&kernel);
  return task;
}

TaskId add_loop(Graph& graph, graph::LoopRecord::Kind kind, TensorKey condition,
                const std::function<Extent(Graph&)>& most, const std::function<void()>& body, double expected) {
  const Input<std::uint8_t> handle{condition};  // the graph looks at the tensor's own element type
  Graph before = graph;
  try {
    const TaskId decision = kind == graph::LoopRecord::Kind::when
                                ? graph.tasks.when(handle, body, expected)
                                : graph.tasks.repeat_until(handle, most(graph), body, expected);
    graph.kernels.resize(graph.tasks.tasks().size());
    return decision;
  } catch (...) {
    graph = std::move(before);
    throw;
  }
}

void zero(Graph& graph, TensorKey workspace, Zeroed when) {
  const graph::TensorRecord& tensor = tensor_of(graph, workspace);
  if (tensor.direction != Direction::workspace) {
    fail(Errc::invalid_argument, "zero: tensor '", graph.tasks.name(tensor.name), "' is no workspace");
  }
  graph.tasks.zero(Workspace<float>{workspace}, when);
}

void in_memory(Graph& graph, TensorKey tensor, std::string_view kind) {
  const graph::TensorRecord& record = tensor_of(graph, tensor);
  if (is_carried_in_args(record.direction)) {
    fail(Errc::invalid_argument, "in_memory: tensor '", graph.tasks.name(record.name),
         "' is a host input, which travels in the args table; choose a tensor of another kind");
  }
  std::string words(kind);
  std::replace(words.begin(), words.end(), '_', ' ');
  for (auto k = MemoryKind::device; k <= MemoryKind::host; k = static_cast<MemoryKind>(static_cast<int>(k) + 1)) {
    if (words == to_string(k)) return graph.tasks.in_memory(Input<float>{tensor}, k);
  }
  fail(Errc::invalid_argument, "in_memory: there is no memory of the kind '", kind,
       "'; choose device, huge_pages, normal_pages, task_scheduler, peer or mapped_host");
}

void alias(Graph& graph, TensorKey output, TensorKey input) {
  if (tensor_of(graph, output).direction != Direction::out || tensor_of(graph, input).direction != Direction::in) {
    fail(Errc::invalid_argument, "alias takes an output and the input whose memory it reuses");
  }
  graph.tasks.alias(Output<float>{output}, Input<float>{input});
}

const KernelParameter& scalar_of(std::span<const KernelRecord* const> kernels, TaskId task, std::size_t n) {
  if (index(task) >= kernels.size()) {
    fail(Errc::invalid_argument, "there is no task ", index(task), "; the graph has ", kernels.size());
  }
  if (kernels[index(task)] == nullptr) {
    fail(Errc::invalid_argument, "task ", index(task), " is the decision of a loop, and has no scalars");
  }
  const KernelRecord& kernel = *kernels[index(task)];
  std::size_t scalar = 0;
  for (const KernelParameter& parameter : kernel.parameters) {
    if (!parameter.is_tensor && scalar++ == n) return parameter;
  }
  fail(Errc::invalid_argument, "kernel '", kernel.name, "' has ", scalar, " scalars, and no scalar ", n);
}

}  // namespace rondo::erased
