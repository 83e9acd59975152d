// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/freeze.hpp>
#include <rondo/graph/task_graph.hpp>

#include <utility>

namespace rondo {

/// Freezes a TaskGraph that only declares tensors: the interface of a session whose orchestration adds the tasks.
/// @throws Error invalid_argument if the graph has a task, or a workspace tensor, which only the orchestration creates;
/// unsupported if it has a symbol, an alias, a view or a value
FrozenGraph freeze_interface(const TaskGraph& graph);

/// An interface and the callable that adds the tasks of each round: the graph of a session whose runtime builds it
/// during the round.
template <class F>
class Orchestrated : public FrozenGraph {
 public:
  static constexpr bool is_orchestrated = true;

  Orchestrated(FrozenGraph interface, F orchestration)
      : FrozenGraph{std::move(interface)}, orchestration_{std::move(orchestration)} {}

  /// Called once per round, by one thread at a time; the callable may keep state between rounds.
  template <class Orchestrator>
    requires requires(F& f, Orchestrator& o) { f(o); }
  void orchestrate(Orchestrator& orchestrator) const {
    orchestration_(orchestrator);
  }

 private:
  mutable F orchestration_;
};

}  // namespace rondo
