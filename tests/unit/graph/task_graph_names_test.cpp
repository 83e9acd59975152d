// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/task_graph.hpp>

#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;

// The name is a view into the graph's own text, which grows while it is copied. Needs ASan to show reliably.
TEST_CASE("A task may be given the name of another task of the same graph") {
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {2});
  graph.add_raw("a task with quite a long name, so that the text must grow", CoreType::vector, no_kernel, updates(x));
  for (int i = 0; i < 10; ++i) {
    graph.add_raw(graph.name(graph.tasks()[0].name), CoreType::vector, no_kernel, updates(x));
  }
  for (const auto& task : graph.tasks()) {
    CHECK(graph.name(task.name) == "a task with quite a long name, so that the text must grow");
  }
}

TEST_CASE("A graph that was moved from is empty, and takes tensors again") {
  TaskGraph graph;
  for (int i = 0; i < 20; ++i) (void)graph.input<float>("x" + std::to_string(i), {2});
  const TaskGraph moved = std::move(graph);
  CHECK(moved.tensors().size() == 20);
  CHECK_NOTHROW((void)graph.input<float>("x1", {2}));  // NOLINT(bugprone-use-after-move)
  CHECK_THROWS_AS((void)graph.input<float>("x1", {2}), Error);
}

TEST_CASE("A tensor may be given the name of a task of the same graph, and no other then has it") {
  TaskGraph graph;
  for (int i = 0; i < 100; ++i) {
    CAPTURE(i);
    const std::string name = "task of some length, number " + std::to_string(i);
    graph.add_raw(name, CoreType::vector, +[](ArgWord*) {});
    (void)graph.workspace<float>(graph.name(graph.tasks()[static_cast<std::size_t>(i)].name), {1});
    CHECK_THROWS_AS((void)graph.workspace<float>(name, {1}), Error);
  }
}

TEST_CASE("A view that is refused leaves the tensor as it was") {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto v = graph.workspace<float>("v", {n - 16});
  const auto y = graph.output<float>("y", {4});
  graph.make_view(v, x, n - n + 16);
  CHECK_THROWS_AS(graph.make_view(y, v, n - n + n - n + n - n + n - n), Error);  // too many parts
  CHECK_NOTHROW(graph.make_view(y, x, 16));
  CHECK(graph.tensors()[2].view_first == 16);
}
