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

/// `Source`: a graph that is copied, or one that is moved.
template <class Source>
FrozenGraph::FrozenGraph(Source&& source, graph::Analysis&& analysis)
    : tensors_{std::forward<Source>(source).tensors_},
      args_{std::forward<Source>(source).args_},
      successor_begin_{std::move(analysis.successor_begin)},
      successors_{std::move(analysis.successors)},
      predecessor_count_{std::move(analysis.predecessor_count)},
      text_{std::forward<Source>(source).text_},
      tag_{source.tag_},
      loops_{std::forward<Source>(source).loops_} {
  const std::vector<std::uint32_t>& order = analysis.order;
  bool is_in_order = order.size() == source.tasks_.size();
  for (std::uint32_t t = 0; t < order.size(); ++t) is_in_order = is_in_order && order[t] == t;
  if (is_in_order) {
    tasks_ = std::forward<Source>(source).tasks_;
  } else {
    tasks_.reserve(order.size());
    for (const std::uint32_t task : order) tasks_.push_back(source.tasks_[task]);
  }
  if (!loops_.empty()) graph::place_loops(loops_, tasks_);
}

template <class Source>
FrozenGraph FrozenGraph::make(Source&& source) {
  if (source.rare_code().with_fill == nullptr) {
    graph::Analysis analysis = graph::analyze(source);
    return {std::forward<Source>(source), std::move(analysis)};
  }
  TaskGraph filled = source.rare_code().with_fill(source);
  graph::Analysis analysis = graph::analyze(filled);
  return {std::move(filled), std::move(analysis)};
}

RONDO_INLINE FrozenGraph freeze(const TaskGraph& graph) { return FrozenGraph::make(graph); }
RONDO_INLINE FrozenGraph freeze(TaskGraph&& graph) { return FrozenGraph::make(std::move(graph)); }

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
  return {graph, std::move(nothing)};
}

}  // namespace rondo
#endif
