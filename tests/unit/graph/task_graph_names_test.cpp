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
