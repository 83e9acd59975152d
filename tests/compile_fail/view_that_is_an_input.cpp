// expect: only an output or a workspace can be a view
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/task_graph.hpp>

void declare(rondo::TaskGraph& graph) {
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.input<float>("y", {4});
  graph.make_view(x, y);
}
