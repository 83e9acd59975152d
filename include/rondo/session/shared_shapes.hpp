// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/launch/shape_book.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/session/policies.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
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
template <Platform P, class Policies = DefaultPolicies, class Capacity = launch::Lru<64>, std::size_t Depth = 1>
class SharedShapes {
  using Inner = typename Policies::Plan;
  using Plan = memory::ResidentsFirst<std::conditional_t<(Depth > 1), memory::PortsLast<Inner>, Inner>>;

 public:
  /// A shape, resolved: its plain graph and the plan of its arena.
  using Resolved = launch::ResolvedShape<typename P::Arch, Plan, detail::concurrency<P, FrozenGraph>>;

  /// `options`: by them a platform deals tasks to lanes; see HasLanes.
  explicit SharedShapes(TaskGraph graph, const typename P::Options& options = {})
      : book_{std::make_shared<Book>(std::move(graph), launch::Dealing<P>(options))} {}

  /// Resolves a shape before any session meets it. @throws Error as an unknown shape's round reports
  void prepare(std::initializer_list<std::pair<Dim, std::int64_t>> symbols) const {
    (void)book_->find_or_resolve(launch::values_of(graph(), symbols));
  }
  /// The shape under these values of the symbols, by number. @throws Error likewise
  [[nodiscard]] std::shared_ptr<const Resolved> find_or_resolve(std::span<const std::int64_t> values) const {
    return book_->find_or_resolve(values);
  }
  /// The number of shapes that are known at present.
  [[nodiscard]] std::size_t entries() const { return book_->size(); }
  /// How often a shape was resolved.
  [[nodiscard]] std::uint64_t resolved() const { return book_->resolved(); }
  /// The symbolic graph.
  [[nodiscard]] const TaskGraph& graph() const noexcept { return book_->graph(); }

 private:
  using Book = launch::ShapeBook<Resolved, Capacity, launch::Dealing<P>>;
  std::shared_ptr<Book> book_;
};

/// Shares a symbolic graph's shapes between sessions; see SharedShapes. `Depth`: that of the sessions.
/// @throws std::bad_alloc
template <Platform P, class Policies = DefaultPolicies, class Capacity = launch::Lru<64>, std::size_t Depth = 1>
[[nodiscard]] SharedShapes<CheckedPlatform<P, Policies>, Policies, Capacity, Depth> share_shapes(
    TaskGraph graph, const typename CheckedPlatform<P, Policies>::Options& options = {}) {
  return SharedShapes<CheckedPlatform<P, Policies>, Policies, Capacity, Depth>(std::move(graph), options);
}

}  // namespace rondo
