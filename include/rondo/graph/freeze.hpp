// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/graph/lanes.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/graph/task_graph.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo {

namespace graph {
struct Analysis;
struct LaneRules;
}  // namespace graph

/// A checked and ordered graph that can no longer change, in flat arrays. Made by freeze(). Threads may share it, as
/// planners, args tables and engines do.
class FrozenGraph {
 public:
  static constexpr bool is_static = false;

  FrozenGraph(FrozenGraph&& other) noexcept;
  FrozenGraph& operator=(FrozenGraph&& other) noexcept;
  FrozenGraph(const FrozenGraph&) = delete;
  FrozenGraph& operator=(const FrozenGraph&) = delete;
  ~FrozenGraph();

  /// All records of the graph, valid during the lifetime of the graph.
  [[nodiscard]] graph::GraphView view() const noexcept {
    return {graph::span_of(tensors_),
            graph::span_of(tasks_),
            graph::span_of(args_),
            graph::span_of(successor_begin_),
            graph::span_of(successors_),
            graph::span_of(predecessor_count_),
            {text_.data(), text_.size()},
            tag_,
            lanes_.get(),
            graph::span_of(loops_)};
  }

  /// The handle of the tensor with this name, type and direction. @throws Error invalid_argument
  template <Element T>
  [[nodiscard]] Input<T> input(std::string_view name) const {
    return view().find<T, Direction::in>(name);
  }
  template <Element T>
  [[nodiscard]] Output<T> output(std::string_view name) const {
    return view().find<T, Direction::out>(name);
  }
  template <Element T>
  [[nodiscard]] InputOutput<T> inout(std::string_view name) const {
    return view().find<T, Direction::inout>(name);
  }
  template <Element T>
  [[nodiscard]] Resident<T> resident(std::string_view name) const {
    return view().find<T, Direction::resident>(name);
  }

 private:
  friend FrozenGraph freeze(TaskGraph&& graph);
  friend FrozenGraph freeze_interface(const TaskGraph& graph);
  friend FrozenGraph deal(FrozenGraph graph, const graph::LaneRules& rules);
  explicit FrozenGraph(std::uint32_t tag) noexcept : tag_{tag} {}
  static FrozenGraph make(TaskGraph&& source, graph::Analysis analysis);

  std::vector<graph::TensorRecord> tensors_;
  std::vector<graph::TaskRecord> tasks_;
  std::vector<graph::ArgRecord> args_;
  std::vector<std::uint32_t> successor_begin_;
  std::vector<std::uint32_t> successors_;
  std::vector<std::uint32_t> predecessor_count_;
  std::vector<char> text_;
  std::uint32_t tag_;
  std::unique_ptr<const graph::Lanes> lanes_;  ///< null: a single lane
  std::vector<graph::LoopRecord> loops_;
};

/// Checks and orders a graph. The graph does not change; its handles are valid for the frozen graph.
[[nodiscard]] FrozenGraph freeze(const TaskGraph& graph);
/// The same for a graph that is not needed any more: takes over its records, except tasks that change places and graphs
/// with zeroed workspaces, which are copied. If it throws, the graph has not changed.
[[nodiscard]] FrozenGraph freeze(TaskGraph&& graph);
/// Returns a graph that is frozen already.
[[nodiscard]] inline FrozenGraph freeze(FrozenGraph graph) noexcept { return graph; }

/// What freeze() takes.
template <class Graph>
concept Freezable = requires(Graph&& graph) { rondo::freeze(std::forward<Graph>(graph)); };

}  // namespace rondo

#if RONDO_HAS_BODIES
#include <rondo/graph/freeze_impl.hpp>  // IWYU pragma: export
#endif
