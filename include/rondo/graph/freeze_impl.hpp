// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/analysis.hpp>
#include <rondo/graph/freeze.hpp>

#if RONDO_HAS_BODIES
/// The bodies of FrozenGraph and of the functions that create one.
namespace rondo {

RONDO_INLINE FrozenGraph::FrozenGraph(FrozenGraph&& other) noexcept = default;
RONDO_INLINE FrozenGraph& FrozenGraph::operator=(FrozenGraph&& other) noexcept = default;
RONDO_INLINE FrozenGraph::~FrozenGraph() = default;

RONDO_INLINE FrozenGraph::FrozenGraph(const TaskGraph& source, const graph::Analysis& analysis)
    : tensors_{source.tensors()},
      args_{source.args()},
      successor_begin_{analysis.successor_begin},
      successors_{analysis.successors},
      predecessor_count_{analysis.predecessor_count},
      text_{source.text()},
      tag_{source.tag()},
      loops_{source.loops()} {
  tasks_.reserve(analysis.order.size());
  for (const std::uint32_t task : analysis.order) tasks_.push_back(source.tasks()[task]);
  if (!loops_.empty()) graph::place_loops(loops_, tasks_);
}

RONDO_INLINE FrozenGraph freeze(const TaskGraph& graph) {
  if (graph.rare_code().with_fill == nullptr) return {graph, graph::analyze(graph)};
  const TaskGraph filled = graph.rare_code().with_fill(graph);
  return {filled, graph::analyze(filled)};
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
  return {graph, nothing};
}

}  // namespace rondo
#endif
