// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/freeze.hpp>
#include <rondo/graph/instantiate.hpp>
#include <rondo/launch/launch_cache.hpp>
#include <rondo/launch/solve.hpp>
#include <rondo/platform/prepare_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace rondo::launch {

/// A shape of a symbolic graph with everything that does not depend on the session: extents, block counts and views are
/// resolved, tasks are checked and ordered, and the arena is planned. Immutable, so that threads may share it.
template <class Layout>
struct ResolvedShape {
  using Plan = Layout;

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

/// The resolved shapes of one symbolic graph, by the values of its symbols: what SharedShapes holds. `Layout` is a
/// memory::Layout; `Capacity` (an Lru) limits the number of shapes, and sessions keep an evicted one alive. Threads
/// that ask for the same new shape get the same one, resolved once.
template <class P, class Layout, class Capacity>
class ShapeBook {
 public:
  /// A resolved shape: its plain graph and the plan of its arena.
  using Resolved = ResolvedShape<Layout>;

  /// `options`: may affect how a platform distributes tasks over lanes; see HasLanes.
  explicit ShapeBook(TaskGraph graph, const typename P::Options& options = {})
      : pages_{std::make_shared<Pages>(std::move(graph), options)} {}

  /// The symbolic graph.
  [[nodiscard]] const TaskGraph& graph() const noexcept { return pages_->graph; }
  /// Resolves a shape before any session uses it. @throws Error like a round with a new shape
  void prepare(std::initializer_list<std::pair<Dim, std::int64_t>> symbols) const {
    (void)find_or_resolve(values_of(graph(), symbols));
  }
  /// Returns the shape for these values of the symbols, by number. @throws Error those of instantiate(), freeze(),
  /// platform::prepare_graph() and the planner; nothing is kept then
  [[nodiscard]] std::shared_ptr<const Resolved> find_or_resolve(std::span<const std::int64_t> values) const {
    if (values.size() != graph().symbols().size()) return pages_->resolve(values);
    const std::vector<std::uint64_t> key(values.begin(), values.end());
    const std::shared_ptr<Page> page = pages_->find(key);
    const std::lock_guard lock(page->mutex);
    if (page->shape == nullptr) {
      page->shape = pages_->resolve(values);  // if it throws, the page stays empty
      const std::lock_guard count(pages_->mutex);
      ++pages_->resolved;
    }
    return page->shape;
  }

  /// The number of shapes that are kept, including those that could not be resolved.
  [[nodiscard]] std::size_t entries() const {
    const std::lock_guard lock(pages_->mutex);
    return pages_->cache.size();
  }
  /// The number of times that a shape was resolved.
  [[nodiscard]] std::uint64_t resolved() const {
    const std::lock_guard lock(pages_->mutex);
    return pages_->resolved;
  }

 private:
  struct Page {
    std::mutex mutex;
    std::shared_ptr<const Resolved> shape;
  };
  struct Pages {
    Pages(TaskGraph symbolic, const typename P::Options& asked)
        : graph{std::move(symbolic)}, options{asked}, cache{graph.symbols().size()} {}

    [[nodiscard]] std::shared_ptr<const Resolved> resolve(std::span<const std::int64_t> values) const {
      return std::make_shared<const Resolved>(platform::prepare_graph<P>(freeze(instantiate(graph, values)), options));
    }
    [[nodiscard]] std::shared_ptr<Page> find(KeyView key) {
      const std::lock_guard lock(mutex);
      return cache.find_or_insert(key, [] { return std::make_shared<Page>(); });
    }

    const TaskGraph graph;
    const typename P::Options options;
    std::mutex mutex;  ///< guards the members below
    LaunchCache<std::shared_ptr<Page>, Capacity> cache;
    std::uint64_t resolved = 0;
  };
  std::shared_ptr<Pages> pages_;
};

}  // namespace rondo::launch
