// expect: rondo: a scalar argument is an arithmetic or enumeration value of at most 8 bytes
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/task_graph.hpp>

void body(std::int64_t*);

void build(rondo::TaskGraph& graph) {
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add_raw("body", rondo::CoreType::cube, body, reads(x), writes(y), "text");
}
