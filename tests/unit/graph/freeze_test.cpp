// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/freeze.hpp>

#include <rondo/graph/instantiate.hpp>
#include <rondo/launch/round_values.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Diamond {
  TaskGraph graph{Edges::explicit_};
  InputOutput<float> x = graph.inout<float>("x", {1});
  TaskId last = graph.add_raw("last", CoreType::vector, no_kernel, reads(x));
  TaskId left = graph.add_raw("left", CoreType::cube, Blocks{2}, no_kernel, reads(x), 7);
  TaskId right = graph.add_raw("right", CoreType::vector, no_kernel, reads(x));
  TaskId first = graph.add_raw("first", CoreType::cube, no_kernel, updates(x));
  Diamond() {
    graph.add_edge(first, left);
    graph.add_edge(first, right);
    graph.add_edge(left, last);
    graph.add_edge(right, last);
  }
};

TaskGraph sample() {
  TaskGraph graph;
  const auto a = graph.input<float>("a", {4});
  const auto b = graph.output<float>("b", {4});
  (void)graph.inout<std::int32_t>("c", {4});
  (void)graph.resident<bool>("d", {4});
  graph.add<Scale>(a, b, 2.0F);
  return graph;
}

}  // namespace

TEST_CASE("Freezing puts the tasks into an order that can run, each with the number it was added as") {
  const Diamond diamond;
  const FrozenGraph frozen = freeze(diamond.graph);
  const graph::GraphView view = frozen.view();
  REQUIRE(view.tasks.size() == 4);
  CHECK(view.name(view.tasks[0].name) == "first");
  CHECK(view.name(view.tasks[1].name) == "left");
  CHECK(view.name(view.tasks[2].name) == "right");
  CHECK(view.name(view.tasks[3].name) == "last");
  CHECK(view.tasks[0].added_as == 3);
  CHECK(view.tasks[1].added_as == 1);
  CHECK(view.tasks[2].added_as == 2);
  CHECK(view.tasks[3].added_as == 0);
  CHECK(view.tasks[1].blocks == 2);
  CHECK(view.args_of(view.tasks[1]).size() == 2);
  CHECK(view.args_of(view.tasks[1])[1].bits == 7);
  CHECK(view.successors_of(0).size() == 2);
  CHECK(view.predecessor_count[3] == 2);
  CHECK(view.tag == diamond.graph.tag());
}

TEST_CASE("Freezing leaves the graph as it was, to be extended and frozen again") {
  Diamond diamond;
  const FrozenGraph before = freeze(diamond.graph);
  CHECK(diamond.graph.name(diamond.graph.tasks()[0].name) == "last");
  const TaskId more = diamond.graph.add_raw("more", CoreType::vector, no_kernel, reads(diamond.x));
  diamond.graph.add_edge(diamond.first, more);
  const FrozenGraph after = freeze(diamond.graph);
  CHECK(before.view().tasks.size() == 4);
  CHECK(after.view().tasks.size() == 5);
}

TEST_CASE("A graph that cannot be frozen is left as it was, and freezes once it is mended") {
  TaskGraph graph{Edges::explicit_};
  const auto x = graph.inout<float>("x", {1});
  const TaskId a = graph.add_raw("a", CoreType::vector, no_kernel, updates(x));
  const TaskId b = graph.add_raw("b", CoreType::vector, no_kernel, updates(x));
  CHECK(raised([&] { (void)freeze(graph); }).code == Errc::race);
  CHECK(raised([&] { (void)freeze(std::move(graph)); }).code == Errc::race);
  CHECK(graph.tasks().size() == 2);
  CHECK(graph.explicit_edges().empty());
  graph.add_edge(b, a);
  const FrozenGraph frozen = freeze(graph);
  CHECK(frozen.view().tasks[0].added_as == 1);
}

TEST_CASE("A graph that is moved freezes as it does when it is copied, and its records stay where they are") {
  Diamond copied;
  const graph::TensorRecord* const tensors = copied.graph.tensors().data();
  const FrozenGraph one = freeze(copied.graph);
  const FrozenGraph other = freeze(std::move(copied.graph));
  CHECK(one.view().tensors.data() != tensors);
  CHECK(other.view().tensors.data() == tensors);
  REQUIRE(other.view().tasks.size() == one.view().tasks.size());
  for (std::size_t t = 0; t < one.view().tasks.size(); ++t) {
    CHECK(other.view().name(other.view().tasks[t].name) == one.view().name(one.view().tasks[t].name));
    CHECK(other.view().tasks[t].blocks == one.view().tasks[t].blocks);
    CHECK(std::ranges::equal(other.view().successors_of(t), one.view().successors_of(t)));
  }

  TaskGraph in_order = sample();
  const graph::TaskRecord* const tasks = in_order.tasks().data();
  CHECK(freeze(std::move(in_order)).view().tasks.data() == tasks);
  (void)in_order.input<float>("a", {4});  // it is as empty as a new one NOLINT(bugprone-use-after-move)
  CHECK(in_order.tensors().size() == 1);
  CHECK(in_order.tasks().empty());
}

TEST_CASE("A graph without work has no tasks once it is frozen") {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<Scale>(x, y, 2.0F);
  const std::int64_t none[] = {0};
  CHECK(freeze(instantiate(graph, none)).view().tasks.empty());
  const TaskGraph idle = instantiate(graph, none);
  CHECK(freeze(idle).view().tasks.empty());
}

TEST_CASE("An empty graph can be frozen") {
  const FrozenGraph frozen = freeze(TaskGraph{});
  CHECK(frozen.view().tasks.empty());
  CHECK(frozen.view().tensors.empty());
  CHECK(frozen.view().successor_begin.size() == 1);
}

TEST_CASE("A frozen graph gives out the handles that its source gave out") {
  const TaskGraph source = sample();
  const FrozenGraph frozen = freeze(source);
  CHECK(frozen.input<float>("a").key == TensorKey{TensorId{0}, source.tag()});
  CHECK(frozen.output<float>("b").key == TensorKey{TensorId{1}, source.tag()});
  CHECK(frozen.inout<std::int32_t>("c").key == TensorKey{TensorId{2}, source.tag()});
  CHECK(frozen.resident<bool>("d").key == TensorKey{TensorId{3}, source.tag()});
}

TEST_CASE("A frozen graph refuses a handle of the wrong kind, naming the tensor") {
  const FrozenGraph frozen = freeze(sample());
  const Raised r = raised([&] { (void)frozen.resident<float>("a"); });
  CAPTURE(r.text);
  CHECK(r.code == Errc::invalid_argument);
  CHECK(says(r.text, "'a'", "in of float32", "resident of float32"));
  CHECK(says(raised([&] { (void)frozen.output<float>("z"); }).text, "'z'"));
}

TEST_CASE("Views of a frozen graph stay valid when it moves") {
  FrozenGraph frozen = freeze(sample());
  const graph::GraphView view = frozen.view();
  const FrozenGraph moved = std::move(frozen);
  CHECK(moved.view().tasks.data() == view.tasks.data());
  CHECK(view.name(view.tensors[3].name) == "d");
}

TEST_CASE("A frozen graph is only made by freezing, moves, and does not copy") {
  CHECK_FALSE(std::is_default_constructible_v<FrozenGraph>);
  CHECK_FALSE(std::is_copy_constructible_v<FrozenGraph>);
  CHECK(std::is_nothrow_move_constructible_v<FrozenGraph>);
  CHECK_FALSE(FrozenGraph::is_static);
  // Whoever has a view cannot write through it.
  CHECK(std::is_const_v<std::remove_reference_t<decltype(std::declval<graph::GraphView&>().tasks[0])>>);
  CHECK(std::is_const_v<std::remove_reference_t<decltype(std::declval<graph::GraphView&>().args[0])>>);
}

TEST_CASE("The interface of an orchestration holds tensors that a round binds or that stay, and nothing else") {
  const auto refused = [](const TaskGraph& graph) { return raised([&] { (void)freeze_interface(graph); }); };
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  (void)graph.resident<float>("weights", {4});
  CHECK(freeze_interface(graph).view().tensors.size() == 3);

  TaskGraph with_task = graph;
  with_task.add<Scale>(x, y, 2.0F);
  CHECK(refused(with_task).code == Errc::invalid_argument);
  CHECK(says(refused(with_task).text, "holds 1 tasks", "add tasks in the orchestration"));
  TaskGraph with_view = graph;
  with_view.make_view(with_view.output<float>("shown", {2}), x, 1);
  CHECK(refused(with_view).code == Errc::unsupported);
  CHECK(says(refused(with_view).text, "'shown'", "is a view", "copy the data with a kernel"));
  TaskGraph with_value = graph;
  (void)launch::step(with_value, "step");
  CHECK(refused(with_value).code == Errc::unsupported);
  CHECK(says(refused(with_value).text, "'step'", "never be written", "a host input"));
  TaskGraph with_workspace = graph;
  (void)with_workspace.workspace<float>("w", {4});
  CHECK(refused(with_workspace).code == Errc::invalid_argument);
  CHECK(says(refused(with_workspace).text, "'w'", "make it in the orchestration"));
}
