// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/graph/limits.hpp>
#include <rondo/platform/concept.hpp>

#include <type_traits>
#include <utility>

namespace rondo::platform {

/// Checks that P can run a graph, and deals its tasks to lanes if P has them. Every graph that was built at run time
/// passes through here once before its memory is planned. An orchestration's tasks are not known yet, so none is dealt.
/// @throws Error limit_exceeded, misaligned or unsupported; and as P::deal
template <Platform P, class Graph>
[[nodiscard]] Graph prepare_graph(Graph graph, [[maybe_unused]] const typename P::Options& options) {
  graph::check_limits(graph.view(), arch::limits_of<typename P::Arch>);
  if constexpr (!HasLoops<P>) graph::refuse_loops(graph.view(), P::name);
  if constexpr (HasLanes<P> && std::is_same_v<Graph, FrozenGraph>) {
    return P::deal(std::move(graph), options);
  } else {
    return graph;
  }
}

}  // namespace rondo::platform
