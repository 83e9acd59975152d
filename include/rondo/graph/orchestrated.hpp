// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/analysis.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/graph/frozen_graph.hpp>
#include <rondo/graph/task_graph.hpp>
#include <rondo/types.hpp>

#include <utility>

namespace rondo {

/// Freezes a TaskGraph that declares tensors only: the interface of a session whose tasks an orchestration adds.
/// @throws Error invalid_argument if it holds a task, or a workspace tensor, which the orchestration makes itself;
/// unsupported if it holds a view or a value
[[nodiscard]] inline FrozenGraph freeze_interface(const TaskGraph& graph) {
  if (!graph.tasks().empty()) {
    throw Error(Errc::invalid_argument,
                Error::Text("the interface of an orchestration holds ", graph.tasks().size(),
                            " tasks; declare tensors only, and add tasks in the orchestration"));
  }
  for (const graph::TensorRecord& tensor : graph.tensors()) {
    if (tensor.is_view()) {
      throw Error(
          Errc::unsupported,
          Error::Text("tensor '", graph.name(tensor.name),
                      "' of an orchestration's interface is a view; nobody knows which tasks will write what it "
                      "shows, so let a kernel copy"));
    }
    if (tensor.direction == Direction::session_value) {
      throw Error(Errc::unsupported, Error::Text("value '", graph.name(tensor.name),
                                                 "' of an orchestration's interface would be written by nobody; make "
                                                 "it a host input"));
    }
    if (tensor.direction != Direction::workspace) continue;
    throw Error(Errc::invalid_argument,
                Error::Text("tensor '", graph.name(tensor.name),
                            "' of an orchestration's interface is a workspace; make it in the orchestration"));
  }
  graph::Analysis nothing;
  nothing.successor_begin.push_back(0);
  return {graph, nothing};
}

/// An interface and the callable that adds each round's tasks; what a session of such a runtime has for a graph.
template <class F>
class Orchestrated : public FrozenGraph {
 public:
  /// Its tasks are added during the round.
  static constexpr bool is_orchestrated = true;

  Orchestrated(FrozenGraph interface, F orchestration)
      : FrozenGraph{std::move(interface)}, orchestration_{std::move(orchestration)} {}

  /// Called once per round, by one thread at a time; it may keep state from round to round.
  template <class Orchestrator>
  requires requires(F& f, Orchestrator& o) { f(o); }
  void orchestrate(Orchestrator& orchestrator) const { orchestration_(orchestrator); }

 private:
  mutable F orchestration_;
};

}  // namespace rondo
