// expect: rondo: the graph keeps the address of a call that has a state; pass a variable that outlives its sessions
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/task_graph.hpp>

void build(rondo::TaskGraph& graph, int n) {
  const auto y = graph.output<float>("y", {8});
  graph.add_call("fill", {writes(y)}, [n](const rondo::LibraryCall&) { return n; });
}
