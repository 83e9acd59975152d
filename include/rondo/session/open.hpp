// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/freeze.hpp>
#include <rondo/graph/orchestrated.hpp>
#include <rondo/graph/static_graph.hpp>
#include <rondo/session/round_session.hpp>
#include <rondo/session/set_up.hpp>

#include <utility>

namespace rondo {

/// Freezes a graph and opens a session over it. The graph's handles bind the session's rounds.
/// @throws Error what freeze() and RoundSession's constructor throw. Cost: all of the set-up; once.
template <Platform P, class Policies = DefaultPolicies>
[[nodiscard]] RoundSession<CheckedPlatform<P, Policies>, Policies> open(
    const TaskGraph& graph, const typename CheckedPlatform<P, Policies>::Options& options = {}) {
  return RoundSession<CheckedPlatform<P, Policies>, Policies>(freeze(graph), options);
}

/// Opens a session over a graph that is frozen already.
template <Platform P, class Policies = DefaultPolicies>
[[nodiscard]] RoundSession<CheckedPlatform<P, Policies>, Policies> open(
    FrozenGraph graph, const typename CheckedPlatform<P, Policies>::Options& options = {}) {
  return RoundSession<CheckedPlatform<P, Policies>, Policies>(std::move(graph), options);
}

/// Opens a session over a graph that the compiler knows: `open<A2A3Sim, graph>()` with `constexpr auto& graph =
/// static_graph<build>`. Its limits are checked, its arena laid out and its kernels called by constants.
template <Platform P, const auto& G, class Policies = DefaultPolicies>
[[nodiscard]] RoundSession<CheckedPlatform<P, Policies>, Policies, graph::StaticGraphRef<G>> open(
    const typename CheckedPlatform<P, Policies>::Options& options = {}) {
  return RoundSession<CheckedPlatform<P, Policies>, Policies, graph::StaticGraphRef<G>>({}, options);
}

/// What the arena of a graph that the compiler knows takes on P: `static_assert(arena_bytes<A5Sim, graph> <=
/// Bytes{128});`
template <Platform P, const auto& G, class Policies = DefaultPolicies>
inline constexpr Bytes arena_bytes = memory::Layout<graph::StaticGraphRef<G>, typename P::Arch, typename Policies::Plan,
                                                    detail::concurrency<P, graph::StaticGraphRef<G>>>::arena_bytes();

/// Opens a session whose tasks `orchestration` adds, each round anew: a callable that takes the runtime's
/// Orchestrator&. `interface` declares the tensors; its handles bind the session's rounds and name the tensors in the
/// orchestration. Every resident tensor is uploaded before the first round.
/// @throws Error what freeze_interface() and RoundSession's constructor throw
template <Platform P, class Policies, class F>
requires(Policies::Runtime::is_orchestrated) [[nodiscard]] RoundSession<P, Policies, Orchestrated<F>> open(
    const TaskGraph& interface, F orchestration,
    const typename RoundSession<P, Policies, Orchestrated<F>>::Options& options = {}) {
  return RoundSession<P, Policies, Orchestrated<F>>({freeze_interface(interface), std::move(orchestration)}, options);
}

}  // namespace rondo
