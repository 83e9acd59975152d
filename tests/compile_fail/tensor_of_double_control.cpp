// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/task_graph.hpp>

void build(rondo::TaskGraph& graph) { (void)graph.input<float>("x", {8}); }
