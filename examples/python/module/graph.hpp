// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../kernel_record.hpp"

#include <rondo/graph/task_graph.hpp>

#include <pybind11/pybind11.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::python {

/// A tensor of a graph, as Python holds it.
struct Tensor {
  TensorKey key;
  std::string name;
  DataType type;
  Shape shape;  ///< its own, or that of reshape()
  Direction direction;
};

/// A TaskGraph, and which kernel each task runs.
struct Graph {
  explicit Graph(Edges edges) : tasks{edges} {}
  TaskGraph tasks;
  std::vector<const KernelRecord*> kernels;  ///< by TaskId
};

/// The word of a Python number as a kernel takes it. @throws Error invalid_argument: out of range; TypeError
[[nodiscard]] ArgWord scalar_word(pybind11::handle value, const KernelParameter& parameter, std::string_view kernel);

[[nodiscard]] pybind11::tuple shape_tuple(const Shape& shape);

/// Adds rondo.Graph, rondo.Tensor, rondo.kernels() and rondo._register().
void define_graph(pybind11::module_& module);

}  // namespace rondo::python
