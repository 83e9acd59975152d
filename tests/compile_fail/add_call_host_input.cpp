// expect: rondo: a host input is in the args table; copy it to a tensor with a kernel
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/task_graph.hpp>

void build(rondo::TaskGraph& graph) {
  const auto n = graph.host_input<float>("n", {1});
  const auto y = graph.output<float>("y", {8});
  graph.add_call("fill", {reads(n), writes(y)}, [](const rondo::LibraryCall&) {});
}
