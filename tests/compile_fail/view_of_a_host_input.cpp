// expect: a host input is in the args table; copy it with a kernel
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/task_graph.hpp>

void declare(rondo::TaskGraph& graph) {
  const auto x = graph.host_input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  graph.make_view(y, x);
}
