// expect: no matching function for call to || no matching member function for call to
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/task_graph.hpp>

void build(rondo::TaskGraph& graph) { (void)graph.input<long double>("x", {8}); }
