// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/shared.hpp>
#include <rondo/launch/shape_book.hpp>
#include <rondo/memory/planners.hpp>
#include <rondo/session/inner_observers.hpp>
#include <rondo/session/planned_graph.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/slice.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace rondo {

/// A symbolic graph and its shapes, resolved once for all sessions over it: what a launch needs but for addresses.
///
///     const auto shapes = share_shapes<A2A3Sim>(graph);
///     shapes.prepare({{n, 128}});
///     auto first = open_shaped(shapes), second = open_shaped(shapes, options);   // each for a thread of its own
///
/// What each session has for itself is memory: its arena, args tables over it, programs over those.
///
/// Lifetime: a handle; copies share, and the last one or the last session ends it. Thread safety: every call, from any
/// thread; sessions over it run side by side. Errors: those of set-up. Cost: a lock where a session meets a shape for
/// the first time, none in its later rounds.
template <Platform P, class Policies = DefaultPolicies, launch::EvictionPolicy Capacity = launch::Lru<64>>
class SharedShapes {
 public:
  /// What each shape is planned by.
  struct EntryPolicies : Policies {
    /// Who plans the arena.
    using Plan = memory::ResidentsFirst<typename Policies::Plan>;
    /// The session's own, whatever the shape.
    using Observe = detail::ShapeObserver<typename Policies::Observe>;
    /// Nothing: the platform is checked already.
    using Check = NoCheck;
  };
  /// What a shape needs but for addresses.
  using Resolved =
      launch::ResolvedShape<typename P::Arch, typename EntryPolicies::Plan, detail::concurrency<P, FrozenGraph>>;
  /// The graph with its plan.
  using Graph = detail::PlannedGraph<FrozenGraph, typename Resolved::Plan>;

  explicit SharedShapes(TaskGraph graph)
      : book_{detail::Shared<launch::ShapeBook<Resolved, Capacity>>::make(std::move(graph))} {}

  /// Resolves a shape before any session meets it. @throws Error as an unknown shape's round reports
  void prepare(std::initializer_list<std::pair<Dim, std::int64_t>> symbols) const {
    (void)book_->find_or_resolve(launch::values_of(graph(), symbols));
  }
  /// The shape under these values of the symbols, by number. @throws Error likewise
  [[nodiscard]] detail::Shared<const Resolved> find_or_resolve(Slice<const std::int64_t> values) const {
    return book_->find_or_resolve(values);
  }
  /// Shapes that are known at present; and how often one was resolved.
  [[nodiscard]] std::size_t entries() const { return book_->size(); }
  /// How often a shape was resolved.
  [[nodiscard]] std::uint64_t resolved() const { return book_->resolved(); }
  /// The symbolic graph.
  [[nodiscard]] const TaskGraph& graph() const noexcept { return book_->graph(); }

 private:
  detail::Shared<launch::ShapeBook<Resolved, Capacity>> book_;
};

/// Shares a symbolic graph's shapes between sessions; see SharedShapes. @throws std::bad_alloc
template <Platform P, class Policies = DefaultPolicies, launch::EvictionPolicy Capacity = launch::Lru<64>>
[[nodiscard]] SharedShapes<CheckedPlatform<P, Policies>, Policies, Capacity> share_shapes(TaskGraph graph) {
  return SharedShapes<CheckedPlatform<P, Policies>, Policies, Capacity>(std::move(graph));
}

}  // namespace rondo
