// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/records.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/slice.hpp>

#include <cstdint>

namespace rondo {

namespace detail {

/// A graph that several sessions run over one plan of it, which both stand elsewhere.
template <class Graph, class Drawn>
struct PlannedGraph {
  static constexpr bool is_static = false;
  const Graph* graph;
  const Drawn* plan;
  [[nodiscard]] graph::GraphView view() const noexcept { return graph->view(); }
};

}  // namespace detail

/// That plan.
template <class Graph, class Drawn, arch::Arch A, class Planner, memory::Concurrency concurrency>
class memory::Layout<detail::PlannedGraph<Graph, Drawn>, A, Planner, concurrency> {
 public:
  static constexpr bool is_static = false;
  static constexpr bool ports_may_share = Drawn::ports_may_share;
  explicit Layout(const rondo::detail::PlannedGraph<Graph, Drawn>& planned) noexcept : plan_{planned.plan} {}

  [[nodiscard]] Slice<const std::uint64_t> offsets() const noexcept { return plan_->offsets(); }
  [[nodiscard]] Bytes arena_bytes() const noexcept { return plan_->arena_bytes(); }

 private:
  const Drawn* plan_;
};

}  // namespace rondo
