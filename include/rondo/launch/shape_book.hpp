// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/shared.hpp>
#include <rondo/detail/thread.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/graph/instantiate.hpp>
#include <rondo/launch/launch_cache.hpp>
#include <rondo/list.hpp>
#include <rondo/memory/lay_out.hpp>
#include <rondo/slice.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace rondo::launch {

/// A shape of a symbolic graph with all that does not depend on who runs it: extents, block counts and views resolved,
/// tasks checked and in order, the arena planned. Immutable, so that threads may share it.
template <arch::Arch A, class Planner, memory::Concurrency concurrency>
struct ResolvedShape {
  /// Who plans the arena.
  using Plan = memory::Layout<FrozenGraph, A, Planner, concurrency>;

  explicit ResolvedShape(const TaskGraph& plain) : graph{freeze(plain)}, plan{graph} {}

  /// The graph without symbols.
  FrozenGraph graph;
  /// Where its tensors lie.
  Plan plan;
};

/// The values of a graph's symbols, by number, from pairs of symbol and value. @throws Error invalid_argument
[[nodiscard]] inline List<std::int64_t> values_of(const TaskGraph& graph,
                                                  std::initializer_list<std::pair<Dim, std::int64_t>> symbols) {
  List<std::int64_t> values(graph.symbols().size(), -1);
  for (const auto& [dim, value] : symbols) {
    const std::int32_t s = dim.as_symbol();
    if (s < 0 || static_cast<std::size_t>(s) >= values.size()) {
      throw Error(Errc::invalid_argument, Error::Text("prepare: give the graph's own symbols their values"));
    }
    values[static_cast<std::size_t>(s)] = value;
  }
  for (std::size_t s = 0; s < values.size(); ++s) {
    if (values[s] < 0) {
      throw Error(Errc::invalid_argument, Error::Text("prepare: symbol '", graph.name(graph.symbols()[s]),
                                                      "' has no value that is not negative; give it one"));
    }
  }
  return values;
}

/// The shapes of one symbolic graph that were resolved so far, by the values of its symbols: what the sessions over the
/// graph share. `Capacity` says how many are kept; one that has gone stays with the sessions that hold it.
///
/// Thread safety: every call, from any thread. Two threads that ask for the same new shape get the same one, resolved
/// once, the second waiting for the first; other shapes are resolved meanwhile. Errors: what instantiate(), freeze()
/// and the planner throw; nothing is kept then. Cost: set-up's; a lock for each call, none of which is a round's.
template <class Resolved, EvictionPolicy Capacity>
class ShapeBook {
 public:
  /// A shape, shared.
  using Shape = rondo::detail::Shared<const Resolved>;

  explicit ShapeBook(TaskGraph graph) : graph_{std::move(graph)}, pages_{graph_.symbols().size()} {}

  /// The graph without symbols.
  [[nodiscard]] const TaskGraph& graph() const noexcept { return graph_; }

  /// The shape under these values of the symbols, by number.
  [[nodiscard]] Shape find_or_resolve(Slice<const std::int64_t> values) {
    if (values.size() != graph_.symbols().size()) return Shape::make(instantiate(graph_, values));
    List<std::uint64_t> key;
    for (const std::int64_t value : values) key.push_back(static_cast<std::uint64_t>(value));
    const rondo::detail::Shared<Page> page = find_page(key);
    const rondo::detail::Lock lock(page->mutex);
    if (page->shape == nullptr) {
      page->shape = Shape::make(instantiate(graph_, values));  // if it throws, the page stays empty
      const rondo::detail::Lock count(mutex_);
      ++resolved_;
    }
    return page->shape;
  }

  /// How many are kept, shapes that could not be resolved included until others take their place.
  [[nodiscard]] std::size_t size() const {
    const rondo::detail::Lock lock(mutex_);
    return pages_.size();
  }
  /// How many were resolved since the book was made.
  [[nodiscard]] std::uint64_t resolved() const {
    const rondo::detail::Lock lock(mutex_);
    return resolved_;
  }

 private:
  struct Page {
    rondo::detail::Mutex mutex;
    Shape shape;
  };

  [[nodiscard]] rondo::detail::Shared<Page> find_page(KeyView key) {
    const rondo::detail::Lock lock(mutex_);
    return pages_.find_or_insert(key, [] { return rondo::detail::Shared<Page>::make(); });
  }

  const TaskGraph graph_;
  mutable rondo::detail::Mutex mutex_;  ///< of what follows
  LaunchCache<rondo::detail::Shared<Page>, Capacity> pages_;
  std::uint64_t resolved_ = 0;
};

}  // namespace rondo::launch
