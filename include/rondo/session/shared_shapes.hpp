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
class SharedShapes {
  using Inner = typename Policies::Plan;
  using Plan = memory::ResidentsFirst<std::conditional_t<(Depth > 1), memory::PortsLast<Inner>, Inner>>;

 public:
  /// A resolved shape: its plain graph and the plan of its arena.
  using Resolved = launch::ResolvedShape<typename P::Arch, Plan, detail::concurrency<P, FrozenGraph>>;

  /// `options`: may affect how a platform distributes tasks over lanes; see HasLanes.
  explicit SharedShapes(TaskGraph graph, const typename P::Options& options = {})
      : book_{std::make_shared<Book>(std::move(graph), launch::Dealing<P>(options))} {}

  /// Resolves a shape before any session uses it. @throws Error like a round with a new shape
  void prepare(std::initializer_list<std::pair<Dim, std::int64_t>> symbols) const {
    (void)book_->find_or_resolve(launch::values_of(graph(), symbols));
  }
  /// Returns the shape for these values of the symbols, by number. @throws Error likewise
  [[nodiscard]] std::shared_ptr<const Resolved> find_or_resolve(std::span<const std::int64_t> values) const {
    return book_->find_or_resolve(values);
  }
  /// The number of shapes that are currently known.
  [[nodiscard]] std::size_t entries() const { return book_->size(); }
  /// The number of times that a shape was resolved.
  [[nodiscard]] std::uint64_t resolved() const { return book_->resolved(); }
  /// The symbolic graph.
  [[nodiscard]] const TaskGraph& graph() const noexcept { return book_->graph(); }

 private:
  using Book = launch::ShapeBook<Resolved, Capacity, launch::Dealing<P>>;
  std::shared_ptr<Book> book_;
};

/// Shares the shapes of a symbolic graph between sessions; see SharedShapes. `Depth` is that of the sessions.
/// @throws std::bad_alloc
template <Platform P, class Policies = DefaultPolicies, class Capacity = launch::Lru<64>, std::size_t Depth = 1>
[[nodiscard]] SharedShapes<CheckedPlatform<P, Policies>, Policies, Capacity, Depth> share_shapes(
    TaskGraph graph, const typename CheckedPlatform<P, Policies>::Options& options = {}) {
  return SharedShapes<CheckedPlatform<P, Policies>, Policies, Capacity, Depth>(std::move(graph), options);
}

}  // namespace rondo
