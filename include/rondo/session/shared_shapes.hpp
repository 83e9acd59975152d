// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/freeze.hpp>
#include <rondo/graph/instantiate.hpp>
#include <rondo/launch/launch_cache.hpp>
#include <rondo/launch/solve.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/platform/prepare_graph.hpp>
#include <rondo/session/policies.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

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
  using Planner = std::conditional_t<(Depth > 1), memory::PortsLast<typename Policies::Plan>, typename Policies::Plan>;

 public:
  /// A shape with everything that does not depend on the session: extents, block counts and views are resolved, tasks
  /// are checked and ordered, and the arena is planned. Immutable, so that threads may share it.
  struct Resolved {
    /// The planner's result for the shape.
    using Plan = memory::Layout<FrozenGraph, typename P::Arch, memory::ResidentsFirst<Planner>,
                                detail::concurrency<P, FrozenGraph>>;
    explicit Resolved(FrozenGraph plain) : graph{std::move(plain)}, plan{graph} {}

    FrozenGraph graph;  ///< without symbols
    Plan plan;          ///< the locations of its tensors
  };

  /// `options`: may affect how a platform distributes tasks over lanes; see HasLanes.
  explicit SharedShapes(TaskGraph graph, const typename P::Options& options = {})
      : pages_{std::make_shared<Pages>(std::move(graph), options)} {}

  /// The symbolic graph.
  [[nodiscard]] const TaskGraph& graph() const noexcept { return pages_->graph; }
  /// Resolves a shape before any session uses it. @throws Error like a round with a new shape
  void prepare(std::initializer_list<std::pair<Dim, std::int64_t>> symbols) const {
    (void)find_or_resolve(launch::values_of(graph(), symbols));
  }
  /// Returns the shape for these values of the symbols, by number. @throws Error those of instantiate(), freeze(),
  /// platform::prepare_graph() and the planner; nothing is kept then
  [[nodiscard]] std::shared_ptr<const Resolved> find_or_resolve(std::span<const std::int64_t> values) const {
    if (values.size() != graph().symbols().size()) return pages_->resolve(values);
    const std::vector<std::uint64_t> key(values.begin(), values.end());
    const std::shared_ptr<Page> page = pages_->find(key);
    const std::lock_guard lock(page->mutex);
    if (page->shape == nullptr) page->shape = pages_->resolve(values);  // if it throws, the page stays empty
    return page->shape;
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
    [[nodiscard]] std::shared_ptr<Page> find(launch::KeyView key) {
      const std::lock_guard lock(mutex);
      return cache.insert(key, [] { return std::make_shared<Page>(); });
    }

    const TaskGraph graph;
    const typename P::Options options;
    std::mutex mutex;  ///< guards `cache`
    launch::LaunchCache<std::shared_ptr<Page>, Capacity> cache;
  };
  std::shared_ptr<Pages> pages_;
};

/// Shares the shapes of a symbolic graph between sessions; see SharedShapes. `Depth` is that of the sessions.
/// @throws std::bad_alloc
template <Platform P, class Policies = DefaultPolicies, class Capacity = launch::Lru<64>, std::size_t Depth = 1>
[[nodiscard]] SharedShapes<CheckedPlatform<P, Policies>, Policies, Capacity, Depth> share_shapes(
    TaskGraph graph, const typename CheckedPlatform<P, Policies>::Options& options = {}) {
  return SharedShapes<CheckedPlatform<P, Policies>, Policies, Capacity, Depth>(std::move(graph), options);
}

}  // namespace rondo
