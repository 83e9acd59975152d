// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../src/erased/graph.hpp"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace rondo::python {

/// A tensor of a graph, as Python holds it.
struct Tensor {
  TensorKey key;
  std::string name;
  DataType type;
  SymbolicShape shape;  ///< its own, or that of reshape()
  Direction direction;
  pybind11::tuple extents;  ///< the shape as Python shows it: numbers, and expressions as text
};

/// A graph, and the kernel objects of Python that its tasks use.
struct Graph {
  explicit Graph(Edges edges) : native{edges} {}
  erased::Graph native;
  pybind11::list kernels;
};

/// The word of a Python number as a kernel takes it. @throws Error invalid_argument: out of range; TypeError
[[nodiscard]] ArgWord scalar_word(pybind11::handle value, const erased::KernelParameter& parameter,
                                  std::string_view kernel);

/// Whether a shape is one number, as in `shape=4`, and no sequence of them.
[[nodiscard]] bool is_number(pybind11::handle extents);
/// An extent, which is anything that Python takes for an index. @throws TypeError, OverflowError
[[nodiscard]] std::int64_t integer_of(pybind11::handle extent);

/// A shape as Python shows it. Expressions that are no lone symbols are shown as "…".
[[nodiscard]] pybind11::tuple shape_tuple(const SymbolicShape& shape, const TaskGraph& graph);

/// Adds rondo.Graph, rondo.Tensor, rondo.kernels() and rondo._register().
void define_graph(pybind11::module_& module);

}  // namespace rondo::python
