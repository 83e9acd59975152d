// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/static_graph.hpp>
#include <rondo/memory/lay_out.hpp>
#include <rondo/session/open.hpp>

#include <cstddef>

/// Sessions over graphs that are known at compile time.
namespace rondo {

/// Opens a session over a graph known at compile time: `open<A2A3Sim, graph>()` with `constexpr auto& graph =
/// static_graph<build>`. The compiler checks its limits, plans its arena, and can inline its kernels.
template <Platform P, const auto& G, class Policies = DefaultPolicies>
[[nodiscard]] RoundSession<CheckedPlatform<P, Policies>, Policies, graph::StaticGraphRef<G>> open(
    const typename CheckedPlatform<P, Policies>::Options& options = {}) {
  return RoundSession<CheckedPlatform<P, Policies>, Policies, graph::StaticGraphRef<G>>({}, options);
}

/// The size of the arena on P for a graph known at compile time: `static_assert(arena_bytes<A5Sim, graph> <=
/// Bytes{128});`
template <Platform P, const auto& G, class Policies = DefaultPolicies>
inline constexpr Bytes arena_bytes = memory::Layout<graph::StaticGraphRef<G>, typename P::Arch, typename Policies::Plan,
                                                    detail::concurrency<P, graph::StaticGraphRef<G>>>::arena_bytes();

/// Opens a session over such a graph, with `Depth` rounds in flight. @throws Error as PipelinedSession's constructor
template <Platform P, const auto& G, std::size_t Depth = 2, class Policies = DefaultPolicies>
[[nodiscard]] PipelinedSession<CheckedPlatform<P, Policies>, Depth, Policies, graph::StaticGraphRef<G>> open_pipelined(
    const typename CheckedPlatform<P, Policies>::Options& options = {}) {
  return PipelinedSession<CheckedPlatform<P, Policies>, Depth, Policies, graph::StaticGraphRef<G>>({}, options);
}
}  // namespace rondo
