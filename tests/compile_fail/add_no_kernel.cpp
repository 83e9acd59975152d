// expect: rondo: the kernel has no name; write
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/task_graph.hpp>

struct Nothing {};

void build(rondo::TaskGraph& graph) { graph.add<Nothing>(); }
