// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/bytes.hpp>
#include <rondo/detail/compiled.hpp>
#include <rondo/graph/analysis.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/graph/task_graph.hpp>
#include <rondo/graph/zeroed.hpp>

#include <cstddef>

#if !RONDO_HAS_GRAPH_BODIES
#error "rondo: with rondo::compiled, include <rondo/static_graph.hpp> first, or define RONDO_STATIC_GRAPHS"
#endif

namespace rondo {

namespace graph {

/// The lengths of the arrays of a static graph.
struct StaticSizes {
  std::size_t tensors = 0;
  std::size_t tasks = 0;
  std::size_t args = 0;
  std::size_t edges = 0;
  std::size_t text = 0;
  bool has_loops = false;
};

/// A frozen graph as a constant: the arrays of FrozenGraph, sized and filled at compile time.
template <StaticSizes S>
class StaticGraph {
 public:
  constexpr StaticGraph(const TaskGraph& source, const Analysis& analysis) {
    for (std::size_t i = 0; i < S.tensors; ++i) tensors_[i] = source.tensors()[i];
    for (std::size_t i = 0; i < S.tasks; ++i) tasks_[i] = source.tasks()[analysis.order[i]];
    for (std::size_t i = 0; i < S.args; ++i) args_[i] = source.args()[i];
    for (std::size_t i = 0; i <= S.tasks; ++i) successor_begin_[i] = analysis.successor_begin[i];
    for (std::size_t i = 0; i < S.edges; ++i) successors_[i] = analysis.successors[i];
    for (std::size_t i = 0; i < S.tasks; ++i) predecessor_count_[i] = analysis.predecessor_count[i];
    for (std::size_t i = 0; i < S.text; ++i) text_[i] = source.text()[i];
    // Graphs built at run time have tags that count up from 1. A static graph's tag is a hash of names, types and
    // shapes with its top bit set, so that a session refuses the handles of another static graph.
    rondo::detail::Hash hash;
    for (std::size_t i = 0; i < S.text; ++i) hash.add(static_cast<unsigned char>(text_[i]));
    for (std::size_t t = 0; t < S.tensors; ++t) {
      hash.add(static_cast<std::uint64_t>(tensors_[t].type) << 8 | static_cast<std::uint64_t>(tensors_[t].direction));
      hash.add(tensors_[t].shape.rank());
      hash.add(tensors_[t].count);
    }
    tag_ = static_cast<std::uint32_t>(hash.value()) | 0x8000'0000U;
  }

  [[nodiscard]] constexpr GraphView view() const noexcept {
    return {{tensors_, S.tensors},  {tasks_, S.tasks},
            {args_, S.args},        {successor_begin_, S.tasks + 1},
            {successors_, S.edges}, {predecessor_count_, S.tasks},
            {text_, S.text},        tag_};
  }

  /// The handle of the tensor with this name; a compile error if no tensor has this name, type and direction.
  template <Element T>
  [[nodiscard]] consteval Input<T> input(std::string_view name) const {
    return view().template find<T, Direction::in>(name);
  }
  template <Element T>
  [[nodiscard]] consteval Output<T> output(std::string_view name) const {
    return view().template find<T, Direction::out>(name);
  }
  template <Element T>
  [[nodiscard]] consteval InputOutput<T> inout(std::string_view name) const {
    return view().template find<T, Direction::inout>(name);
  }
  template <Element T>
  [[nodiscard]] consteval Resident<T> resident(std::string_view name) const {
    return view().template find<T, Direction::resident>(name);
  }

 private:
  TensorRecord tensors_[S.tensors + 1] = {};
  TaskRecord tasks_[S.tasks + 1] = {};
  ArgRecord args_[S.args + 1] = {};
  std::uint32_t successor_begin_[S.tasks + 1] = {};
  std::uint32_t successors_[S.edges + 1] = {};
  std::uint32_t predecessor_count_[S.tasks + 1] = {};
  char text_[S.text + 1] = {};
  std::uint32_t tag_ = 0;
};

/// Represents a static graph as a type, so that templates see its contents as constants.
template <const auto& G>
struct StaticGraphRef {
  static constexpr bool is_static = true;
  [[nodiscard]] static constexpr GraphView view() noexcept { return G.view(); }
};

template <auto build>
[[nodiscard]] consteval StaticSizes measure() {
  const TaskGraph built = build();
  if (!built.loops().empty()) return {.has_loops = true};
  const TaskGraph source = with_fill(built);
  const Analysis analysis = analyze(source);
  return {source.tensors().size(), analysis.order.size(), source.args().size(), analysis.successors.size(),
          source.text().size()};
}

template <auto build>
[[nodiscard]] consteval auto make_static() {
  static_assert(!measure<build>().has_loops,
                "rondo: a graph that the compiler knows has no loops; pass what its lambda returns to rondo::open(), "
                "which builds it at run time");
  const TaskGraph source = with_fill(build());
  return StaticGraph<measure<build>()>(source, analyze(source));
}

}  // namespace graph

/// The graph that `build`, a captureless lambda, returns, as a compile-time constant. An error of freeze() is a compile
/// error. The compiler runs `build` twice: for the sizes, then for the contents.
template <auto build>
inline constexpr auto static_graph = graph::make_static<build>();

}  // namespace rondo
