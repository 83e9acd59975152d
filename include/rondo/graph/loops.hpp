// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/detail/fixed_text.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/graph/task_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#if RONDO_HAS_BODIES
#include <rondo/graph/loop_calls.hpp>
#endif

/// Loops of a graph: TaskGraph::repeat_until() and TaskGraph::when().
///
/// The tasks of a loop are tasks of the graph. They follow one another in its order, so arguments, memory and names are
/// those of all tasks. A loop adds one task of its own, its decision, which reads the condition. On platforms whose
/// kernels are host functions it does nothing: the platform reads the condition by itself.
namespace rondo {

namespace graph {

inline void decide(ArgWord*) noexcept {}

/// The name of a loop in messages, which is also the name of its decision.
[[nodiscard]] inline rondo::detail::FixedText<128> loop_name(LoopRecord::Kind kind, std::string_view condition) {
  return rondo::detail::FixedText<128>{kind == LoopRecord::Kind::when ? "when " : "until ", condition};
}

}  // namespace graph

template <class Body>
TaskId TaskGraph::add_loop(graph::LoopRecord loop, TensorKey condition, Extent most, Body& body, Where where) {
  static_assert(std::is_invocable_v<Body&>,
                "rondo: the body of a loop is a callable without parameters that adds tasks to the graph");
  TaskGraph before = copy();  // what the graph is again if the body throws
  try {
    const auto number = static_cast<std::uint32_t>(loops_.size());
    loop.parent = before.open_loop_;
    loops_.push_back(loop);
    open_loop_ = number;
    const bool decides_first = loop.kind == graph::LoopRecord::Kind::when;
    TaskId decision{};
    if (decides_first) decision = add_decision(loop, condition, most, where);
    const std::size_t first = tasks_.size();
    body();
    if (loops_.size() <= number || tag_ != before.tag_) {
      refuse(where, {"the body of a loop moved or replaced the graph; let it only add tasks to it"});
    }
    if (!decides_first) decision = add_decision(loop, condition, most, where);
    loops_[number].condition = index(condition.tensor());
    loops_[number].decision = index(decision);
    check_loop(loops_[number], first, where);
    open_loop_ = before.open_loop_;
    return decision;
  } catch (...) {
    restore(before);
    throw;
  }
}

template <class T, Direction D, class Body>
constexpr TaskId TaskGraph::repeat_until(TensorHandle<T, D> condition, Extent most, Body&& body, double expected,
                                         Where where) {
  graph::LoopRecord loop;
  loop.expected = expected;
  if (std::is_constant_evaluated()) return loops_.push_back(loop), TaskId{};  // static_graph refuses it
  return add_loop(loop, condition.key, most, body, where);
}
template <class T, Direction D, class Body>
constexpr TaskId TaskGraph::when(TensorHandle<T, D> condition, Body&& body, double expected, Where where) {
  graph::LoopRecord loop;
  loop.kind = graph::LoopRecord::Kind::when;
  loop.expected = expected;
  if (std::is_constant_evaluated()) return loops_.push_back(loop), TaskId{};  // static_graph refuses it
  return add_loop(loop, condition.key, 1, body, where);
}

#if RONDO_HAS_BODIES
RONDO_INLINE TaskGraph TaskGraph::copy() const { return *this; }
RONDO_INLINE void TaskGraph::restore(TaskGraph& before) noexcept { *this = std::move(before); }

RONDO_INLINE TaskId TaskGraph::add_decision(const graph::LoopRecord& loop, TensorKey condition, Extent most,
                                            Where where) {
  if (!has(condition))
    refuse(where, {"the condition of a loop is a tensor of another graph; use the handles of this one"});
  const graph::TensorRecord& tensor = tensors_[index(condition.tensor())];
  const auto loop_text = graph::loop_name(loop.kind, name(tensor.name));
  if (!is_integer(tensor.type)) {
    refuse(where,
           {"loop '", loop_text, "': its condition is ", to_string(tensor.type), "; make it an integer or bool"});
  }
  if (tensor.is_symbolic() || tensor.count != 1) {
    refuse(where, {"loop '", loop_text, "': its condition has ",
                   tensor.is_symbolic() ? "a symbolic size" : "more than one element", "; give it the shape {1}"});
  }
  if (most.dim.empty() && (most.value < 1 || most.value > 0xFFFF'FFFF)) {
    refuse(where, {"loop '", loop_text, "' repeats at most ", most.value, " times; at least 1 and less than 2^32"});
  }
  const double most_expected = most.dim.empty() ? static_cast<double>(most.value) : 0xFFFF'FFFF;
  if (!(loop.expected >= 0 && loop.expected <= most_expected)) {
    refuse(where, {"loop '", loop_text, "': the expected repetitions are not between 0 and the most"});
  }
  std::uint32_t depth = 0;
  for (std::uint32_t l = open_loop_; l != graph::TaskRecord::no_loop; l = loops_[l].parent) ++depth;
  if (depth > most_loop_depth) {
    throw Error(Errc::limit_exceeded,
                Error::Text{"loop '", std::string_view(loop_text), "' is in ", depth - 1, " loops; the most is ",
                            most_loop_depth - 1, ", so move its tasks to the loop around it"},
                where);
  }
  loops_[open_loop_].code = &graph::loop_code;
  Draft draft{*this};
  draft.add_address(loop_text, condition, Access::read);
  draft.args.push_back({graph::ArgRecord::Kind::constant, Access::read, 0, static_cast<ArgWord>(size_of(tensor.type))});
  draft.add_value(loop_text, most);
  return draft.commit(loop_text, CoreType::vector, Blocks{1}, &graph::decide);
}

/// Checks the tasks that the body has added, from `first_task` on.
RONDO_INLINE void TaskGraph::check_loop(const graph::LoopRecord& loop, std::size_t first_task, Where where) const {
  const auto loop_text = graph::loop_name(loop.kind, name(tensors_[loop.condition].name));
  const auto is_condition = [&](std::uint32_t tensor) {
    return graph::home_of(tensors_, tensor) == graph::home_of(tensors_, loop.condition);
  };
  bool has_tasks = false;
  bool writes_condition = loop.kind == graph::LoopRecord::Kind::when;
  for (std::size_t t = first_task; t < tasks_.size(); ++t) {
    if (t == loop.decision) continue;
    has_tasks = true;
    for (const graph::ArgRecord& arg : args_of(tasks_[t])) {
      if (arg.is_address() && writes(arg.access) && is_condition(arg.tensor)) writes_condition = true;
    }
  }
  if (!has_tasks) refuse(where, {"loop '", loop_text, "' has no tasks; add some in its body"});
  if (!writes_condition) {
    refuse(where, {"loop '", loop_text, "': no task of its body writes '", name(tensors_[loop.condition].name),
                   "', so nothing ends it early; let one write it"});
  }
}
#endif

}  // namespace rondo
