// expect: rondo: the kernel writes a tensor that is an input; make it inout, or read it
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/task_graph.hpp>

void body(std::int64_t*);

void build(rondo::TaskGraph& graph) {
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add_raw("body", rondo::CoreType::cube, body, updates(x), writes(y), 2.0);
}
