// expect: rondo: a library call takes a const rondo::LibraryCall&
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/task_graph.hpp>

void build(rondo::TaskGraph& graph) {
  const auto y = graph.output<float>("y", {8});
  graph.add_call("fill", {writes(y)}, [](void*) {});
}
