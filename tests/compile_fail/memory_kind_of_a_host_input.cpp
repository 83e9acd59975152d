// expect: rondo: a host input is in the args table, so it has no memory of its own
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/rondo.hpp>

void ask() {
  rondo::TaskGraph graph;
  graph.in_memory(graph.host_input<float>("x", {4}), rondo::MemoryKind::mapped_host);
}
