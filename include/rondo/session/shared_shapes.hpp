// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/launch/shape_book.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/session/policies.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace rondo {

namespace detail {

/// The planner for the shapes of sessions with `Depth` rounds in flight.
template <class Planner, std::size_t Depth>
using PlannerOfShapes = memory::ResidentsFirst<std::conditional_t<(Depth > 1), memory::PortsLast<Planner>, Planner>>;
template <class P, class Policies, class Capacity, std::size_t Depth>
using ShapesOf =
    launch::ShapeBook<P,
                      memory::Layout<FrozenGraph, typename P::Arch, PlannerOfShapes<typename Policies::Plan, Depth>,
                                     concurrency<P, FrozenGraph>>,
                      Capacity>;

}  // namespace detail

/// A symbolic graph and its shapes, resolved once for all of its sessions: the data of a launch except for addresses.
///
///     const auto shapes = share_shapes<A2A3Sim>(graph);
///     shapes.prepare({{n, 128}});
///     auto first = open_shaped(shapes), second = open_shaped(shapes, options);   // each for a thread of its own
///
/// Each session has its own memory: its arena, its args tables, and its programs.
///
/// Lifetime: a handle; the shapes exist as long as a copy of it or a session that uses them. Thread safety: every call,
/// from any thread; its sessions may run concurrently. Errors: those of set-up. Cost: a lock when a session uses a
/// shape for the first time, none in later rounds.
template <Platform P, class Policies = DefaultPolicies, class Capacity = launch::Lru<64>, std::size_t Depth = 1>
class SharedShapes : public detail::ShapesOf<P, Policies, Capacity, Depth> {
 public:
  using detail::ShapesOf<P, Policies, Capacity, Depth>::ShapesOf;
};

/// Shares the shapes of a symbolic graph between sessions; see SharedShapes. `Depth` is that of the sessions.
/// @throws std::bad_alloc
template <Platform P, class Policies = DefaultPolicies, class Capacity = launch::Lru<64>, std::size_t Depth = 1>
[[nodiscard]] SharedShapes<CheckedPlatform<P, Policies>, Policies, Capacity, Depth> share_shapes(
    TaskGraph graph, const typename CheckedPlatform<P, Policies>::Options& options = {}) {
  return SharedShapes<CheckedPlatform<P, Policies>, Policies, Capacity, Depth>(std::move(graph), options);
}

}  // namespace rondo
