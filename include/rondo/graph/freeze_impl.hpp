// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/analysis.hpp>
#include <rondo/graph/freeze.hpp>

#include <utility>
#include <vector>

#if RONDO_HAS_BODIES
/// The bodies of FrozenGraph and of the functions that create one.
namespace rondo {

RONDO_INLINE FrozenGraph::FrozenGraph(FrozenGraph&& other) noexcept = default;
RONDO_INLINE FrozenGraph& FrozenGraph::operator=(FrozenGraph&& other) noexcept = default;
RONDO_INLINE FrozenGraph::~FrozenGraph() = default;

/// Leaves the graph empty, once nothing can fail any more.
RONDO_INLINE FrozenGraph FrozenGraph::make(TaskGraph&& source, graph::Analysis analysis) {
  const std::vector<std::uint32_t>& order = analysis.order;
  bool keeps_tasks = order.size() == source.tasks_.size() && source.loops_.empty();
  for (std::uint32_t t = 0; t < order.size(); ++t) keeps_tasks = keeps_tasks && order[t] == t;
  FrozenGraph frozen(source.tag_);
  frozen.loops_ = source.loops_;
  if (!keeps_tasks) {
    frozen.tasks_.reserve(order.size());
    for (const std::uint32_t task : order) frozen.tasks_.push_back(source.tasks_[task]);
  }
  if (!frozen.loops_.empty()) graph::place_loops(frozen.loops_, frozen.tasks_);
  TaskGraph rest = std::move(source);
  frozen.tensors_ = std::move(rest.tensors_);
  frozen.args_ = std::move(rest.args_);
  frozen.text_ = std::move(rest.text_);
  if (keeps_tasks) frozen.tasks_ = std::move(rest.tasks_);
  frozen.successor_begin_ = std::move(analysis.successor_begin);
  frozen.successors_ = std::move(analysis.successors);
  frozen.predecessor_count_ = std::move(analysis.predecessor_count);
  return frozen;
}

RONDO_INLINE FrozenGraph freeze(const TaskGraph& graph) {
  if (graph.rare_code().with_fill != nullptr) return freeze(graph.rare_code().with_fill(graph));
  return freeze(TaskGraph(graph));
}
RONDO_INLINE FrozenGraph freeze(TaskGraph&& graph) {
  if (graph.rare_code().with_fill != nullptr) return freeze(graph.rare_code().with_fill(graph));
  return FrozenGraph::make(std::move(graph), graph::analyze(graph));
}

[[nodiscard]] RONDO_INLINE FrozenGraph freeze_interface(const TaskGraph& graph) {
  if (!graph.tasks().empty()) {
    throw Error(Errc::invalid_argument,
                Error::Text{"the interface of an orchestration holds ", graph.tasks().size(),
                            " tasks; declare tensors only, and add tasks in the orchestration"});
  }
  const auto refuse_if = [&](bool is_refused, const char* what, graph::NameRef name, const char* why,
                             Errc code = Errc::unsupported) {
    if (!is_refused) return;
    throw Error(code, Error::Text{what, " '", graph.name(name), "' of an orchestration's interface ", why});
  };
  if (graph.is_symbolic()) refuse_if(true, "symbol", graph.symbols()[0], "has no value; instantiate() it");
  for (const graph::TensorRecord& tensor : graph.tensors()) {
    refuse_if(tensor.alias_of != graph::TensorRecord::no_alias, "output", tensor.name,
              "reuses the memory of an input; make the two one inout tensor instead");
    refuse_if(tensor.is_view(), "tensor", tensor.name,
              "is a view; the tasks that will write its source are not known yet, so copy the data with a kernel "
              "instead");
    refuse_if(tensor.direction == Direction::session_value, "value", tensor.name,
              "would never be written; make it a host input");
    refuse_if(tensor.direction == Direction::workspace, "tensor", tensor.name,
              "is a workspace; make it in the orchestration", Errc::invalid_argument);
  }
  graph::Analysis nothing;
  nothing.successor_begin.push_back(0);
  return FrozenGraph::make(TaskGraph(graph), std::move(nothing));
}

}  // namespace rondo
#endif
