// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/freeze.hpp>
#include <rondo/graph/loops.hpp>
#include <rondo/graph/orchestrated.hpp>
#include <rondo/session/pipelined_session.hpp>
#include <rondo/session/round_session.hpp>

#include <cstddef>
#include <utility>

namespace rondo {

/// Freezes a graph, unless it is frozen already, and opens a session over it. Use the graph's handles to bind rounds of
/// the session, which keeps a copy of the graph, or takes over a graph that is moved, as one that is frozen must be.
/// @throws Error as freeze() and RoundSession's constructor do. After an error of freeze() a graph that was moved has
/// not changed; after a later one it is empty. Cost: the whole set-up, once.
template <Platform P, class Policies = DefaultPolicies, Freezable Graph>
[[nodiscard]] RoundSession<CheckedPlatform<P, Policies>, Policies> open(
    Graph&& graph, const typename CheckedPlatform<P, Policies>::Options& options = {}) {
  return RoundSession<CheckedPlatform<P, Policies>, Policies>(rondo::freeze(std::forward<Graph>(graph)), options);
}

/// Opens a session whose tasks are added in each round by `orchestration`, a callable that takes the runtime's
/// Orchestrator&. `interface` declares the tensors; use its handles to bind rounds, and to name the tensors in the
/// orchestration. Upload every resident tensor before the first round. @throws Error as freeze_interface() and
/// RoundSession's constructor do
template <Platform P, class Policies, class F>
  requires(Policies::Runtime::is_orchestrated)
[[nodiscard]] RoundSession<P, Policies, Orchestrated<F>> open(
    const TaskGraph& interface, F orchestration, const typename Policies::Runtime::template Options<P>& options = {}) {
  return RoundSession<P, Policies, Orchestrated<F>>({freeze_interface(interface), std::move(orchestration)}, options);
}

/// Opens a session with `Depth` rounds in flight over a graph, as open() does. @throws Error as PipelinedSession's
/// constructor does
template <Platform P, std::size_t Depth = 2, class Policies = DefaultPolicies, Freezable Graph>
[[nodiscard]] PipelinedSession<CheckedPlatform<P, Policies>, Depth, Policies> open_pipelined(
    Graph&& graph, const typename CheckedPlatform<P, Policies>::Options& options = {}) {
  return PipelinedSession<CheckedPlatform<P, Policies>, Depth, Policies>(rondo::freeze(std::forward<Graph>(graph)),
                                                                         options);
}
/// The same with an orchestration, on platforms whose queue launches such rounds.
template <Platform P, std::size_t Depth, class Policies, class F>
  requires(Policies::Runtime::is_orchestrated)
[[nodiscard]] PipelinedSession<P, Depth, Policies, Orchestrated<F>> open_pipelined(
    const TaskGraph& interface, F orchestration, const typename Policies::Runtime::template Options<P>& options = {}) {
  return PipelinedSession<P, Depth, Policies, Orchestrated<F>>({freeze_interface(interface), std::move(orchestration)},
                                                               options);
}

}  // namespace rondo
