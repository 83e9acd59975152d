// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/task_graph.hpp>

#include <string>

namespace rondo::python {

/// A graph in the language of Graphviz. @throws Error what freeze() throws; unsupported in a build without
/// rondo::observe
[[nodiscard]] std::string to_dot(const TaskGraph& graph);

}  // namespace rondo::python
