// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/freeze.hpp>

#include <unit/support.hpp>

#include <doctest/doctest.h>

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
  CHECK(graph.tasks().size() == 2);
  CHECK(graph.explicit_edges().empty());
  graph.add_edge(b, a);
  const FrozenGraph frozen = freeze(graph);
  CHECK(frozen.view().tasks[0].added_as == 1);
}

TEST_CASE("An empty graph can be frozen") {
  const FrozenGraph frozen = freeze(TaskGraph{});
  CHECK(frozen.view().tasks.empty());
  CHECK(frozen.view().tensors.empty());
  CHECK(frozen.view().successor_begin.size() == 1);
}
