// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/owned_array.hpp>
#include <rondo/graph/records.hpp>

namespace rondo {

class TaskGraph;
namespace graph {
struct Analysis;
}

/// A graph that can no longer change: checked, ordered, in flat arrays. Made by freeze(); read by planners, args tables
/// and engines, which may share it between threads.
///
/// Lifetime: move-only; views of it stay valid when it moves. Thread safety: immutable. Cost: nothing after freeze().
class FrozenGraph {
 public:
  /// Not known to the compiler; see StaticGraphRef for one that is.
  static constexpr bool is_static = false;

  /// All records of the graph, as slices; as long as the graph lives.
  [[nodiscard]] graph::GraphView view() const noexcept {
    return {tensors_.slice(),
            tasks_.slice(),
            args_.slice(),
            successor_begin_.slice(),
            successors_.slice(),
            predecessor_count_.slice(),
            {text_.data(), text_.size()},
            tag_};
  }

  /// The handle of the tensor called `name`. @throws Error invalid_argument
  template <Element T>
  [[nodiscard]] Input<T> input(std::string_view name) const {
    return view().find<T, Direction::in>(name);
  }
  /// As input(), for a tensor that rounds copy out. @throws Error likewise
  template <Element T>
  [[nodiscard]] Output<T> output(std::string_view name) const {
    return view().find<T, Direction::out>(name);
  }
  /// As input(), for a tensor that rounds copy in and out. @throws Error likewise
  template <Element T>
  [[nodiscard]] InputOutput<T> inout(std::string_view name) const {
    return view().find<T, Direction::inout>(name);
  }
  /// As input(), for a tensor that stays on the device, uploaded when it changes. @throws Error likewise
  template <Element T>
  [[nodiscard]] Resident<T> resident(std::string_view name) const {
    return view().find<T, Direction::resident>(name);
  }

 private:
  friend FrozenGraph freeze(const TaskGraph& graph);
  friend FrozenGraph freeze_interface(const TaskGraph& graph);
  FrozenGraph(const TaskGraph& source, const graph::Analysis& analysis);

  detail::OwnedArray<graph::TensorRecord> tensors_;
  detail::OwnedArray<graph::TaskRecord> tasks_;
  detail::OwnedArray<graph::ArgRecord> args_;
  detail::OwnedArray<std::uint32_t> successor_begin_;
  detail::OwnedArray<std::uint32_t> successors_;
  detail::OwnedArray<std::uint32_t> predecessor_count_;
  detail::OwnedArray<char> text_;
  std::uint32_t tag_;
};

}  // namespace rondo
