// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/graph/instantiate.hpp>
#include <rondo/launch/launch_cache.hpp>
#include <rondo/launch/solve.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/platform/concept.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace rondo::launch {

/// Distributes the tasks of a frozen graph over lanes if the platform has lanes; otherwise changes nothing.
template <class P>
struct Dealing {
  explicit Dealing(const typename P::Options&) noexcept {}
  [[nodiscard]] FrozenGraph operator()(FrozenGraph graph) const { return graph; }
};
/// For platforms with lanes.
template <HasLanes P>
struct Dealing<P> {
  explicit Dealing(const typename P::Options& asked) : options{asked} {}
  [[nodiscard]] FrozenGraph operator()(FrozenGraph graph) const { return P::deal(std::move(graph), options); }
  typename P::Options options;
};

/// A shape of a symbolic graph with everything that does not depend on the session: extents, block counts and views are
/// resolved, tasks are checked and ordered, and the arena is planned. Immutable, so that threads may share it.
template <arch::Arch A, class Planner, memory::Concurrency concurrency>
struct ResolvedShape {
  using Plan = memory::Layout<FrozenGraph, A, Planner, concurrency>;

  explicit ResolvedShape(FrozenGraph plain) : graph{std::move(plain)}, plan{graph} {}

  FrozenGraph graph;  ///< without symbols
  Plan plan;          ///< the locations of its tensors
};

/// Returns the values of a graph's symbols, by number, from pairs of symbol and value. @throws Error invalid_argument
[[nodiscard]] inline std::vector<std::int64_t> values_of(const TaskGraph& graph,
                                                         std::initializer_list<std::pair<Dim, std::int64_t>> symbols) {
  std::vector<std::int64_t> values(graph.symbols().size(), not_stated);
  for (const auto& [dim, value] : symbols) {
    const auto s = static_cast<std::size_t>(dim.as_symbol());  // -1 is out of range
    if (s >= values.size() || values[s] != not_stated) {
      throw Error(Errc::invalid_argument, Error::Text("prepare: give each of the graph's own symbols one value"));
    }
    values[s] = value;
  }
  for (std::size_t s = 0; s < values.size(); ++s) {
    if (values[s] < 0) {
      throw Error(Errc::invalid_argument, Error::Text{"prepare: symbol '", graph.name(graph.symbols()[s]),
                                                      "' has no value that is not negative; give it one"});
    }
  }
  return values;
}

/// The resolved shapes of one symbolic graph, by the values of its symbols. Sessions of the graph share them.
/// `Capacity` (an Lru) limits their number; sessions keep an evicted shape alive. `Deal` converts a frozen graph into
/// the one to plan.
///
/// Thread safety: every call, from any thread. Threads that ask for the same new shape get the same one, resolved once.
/// Errors: those of instantiate(), freeze() and the planner; nothing is kept then. Cost: one lock per call; rounds
/// make no calls.
template <class Resolved, class Capacity, class Deal>
class ShapeBook {
 public:
  using Shape = std::shared_ptr<const Resolved>;

  explicit ShapeBook(TaskGraph graph, const Deal& deal)
      : graph_{std::move(graph)}, deal_{deal}, pages_{graph_.symbols().size()} {}

  [[nodiscard]] const TaskGraph& graph() const noexcept { return graph_; }

  /// Returns the shape for these values of the symbols, by number.
  [[nodiscard]] Shape find_or_resolve(std::span<const std::int64_t> values) {
    if (values.size() != graph_.symbols().size()) return resolve(values);
    const std::vector<std::uint64_t> key(values.begin(), values.end());
    const std::shared_ptr<Page> page = find_page(key);
    const std::lock_guard lock(page->mutex);
    if (page->shape == nullptr) {
      page->shape = resolve(values);  // if it throws, the page stays empty
      const std::lock_guard count(mutex_);
      ++resolved_;
    }
    return page->shape;
  }

  /// The number of shapes that are kept, including those that could not be resolved.
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return pages_.size();
  }
  /// The number of shapes that were resolved since the book was made.
  [[nodiscard]] std::uint64_t resolved() const {
    const std::lock_guard lock(mutex_);
    return resolved_;
  }

 private:
  struct Page {
    std::mutex mutex;
    Shape shape;
  };

  [[nodiscard]] Shape resolve(std::span<const std::int64_t> values) const {
    return std::make_shared<const Resolved>(deal_(freeze(instantiate(graph_, values))));
  }
  [[nodiscard]] std::shared_ptr<Page> find_page(KeyView key) {
    const std::lock_guard lock(mutex_);
    return pages_.find_or_insert(key, [] { return std::make_shared<Page>(); });
  }

  const TaskGraph graph_;
  const Deal deal_;
  mutable std::mutex mutex_;  ///< guards the members below
  LaunchCache<std::shared_ptr<Page>, Capacity> pages_;
  std::uint64_t resolved_ = 0;
};

}  // namespace rondo::launch
