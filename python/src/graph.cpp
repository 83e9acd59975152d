// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include "elements.hpp"
#include "errors.hpp"
#include "kernel.hpp"
#include "picture.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace py = pybind11;

namespace rondo::python {

using erased::KernelArgument;
using erased::KernelParameter;
using erased::KernelRecord;
using erased::ScalarKind;

namespace {

/// By name; ordered, so that rondo.kernels() is.
std::map<std::string, const KernelRecord*, std::less<>>& registry() {
  static std::map<std::string, const KernelRecord*, std::less<>> kernels;
  return kernels;
}

void register_record(const py::object& capsule) {
  const auto* const record =
      static_cast<const KernelRecord*>(PyCapsule_GetPointer(capsule.ptr(), erased::capsule_name));
  if (record == nullptr) {
    PyErr_Clear();
    fail(Errc::invalid_argument, "the module's kernels were compiled against another Rondo than this module's, ",
         erased::capsule_name, "; compile both against the same");
  }
  const auto [place, is_new] = registry().emplace(record->name, record);
  if (!is_new && place->second != record) {
    fail(Errc::invalid_argument, "there is a kernel '", record->name, "' already; give each its own name");
  }
}

const KernelRecord& kernel_called(std::string_view name) {
  const auto place = registry().find(name);
  if (place != registry().end()) return *place->second;
  fail(Errc::invalid_argument, "no kernel '", name, "' is registered; import the module that brings it (there are ",
       registry().size(), ", see rondo.kernels())");
}

DataType element_of(const py::object& dtype) {
  if (py::isinstance<py::str>(dtype)) return element_called(py::cast<std::string>(dtype));
  return element_called(py::cast<std::string>(py::module_::import("numpy").attr("dtype")(dtype).attr("name")));
}

/// Extents are numbers, or text with symbols of the graph.
Extent extent_of(erased::Graph& graph, py::handle extent) {
  if (py::isinstance<py::str>(extent)) return erased::parse_extent(graph, py::cast<std::string>(extent));
  return Extent{integer_of(extent)};
}

SymbolicShape shape_of(erased::Graph& graph, const py::object& extents) {
  const bool is_one = is_number(extents) || py::isinstance<py::str>(extents);
  std::vector<Extent> list;
  for (const py::handle extent : is_one ? py::make_tuple(extents) : py::tuple(extents)) {
    list.push_back(extent_of(graph, extent));
  }
  return {list.data(), list.size()};
}

Tensor tensor_at(const erased::Graph& graph, std::size_t t) {
  const graph::TensorRecord& record = graph.tasks.tensors()[t];
  const SymbolicShape shape = graph.tasks.declared_shape(record);
  return {
      graph.tasks.interface().key(t), std::string(graph.tasks.name(record.name)), record.type, shape, record.direction,
      shape_tuple(shape, graph.tasks)};
}

bool has_text(const py::object& extents) {
  if (is_number(extents) || py::isinstance<py::str>(extents)) return py::isinstance<py::str>(extents);
  for (const py::handle extent : extents) {
    if (py::isinstance<py::str>(extent)) return true;
  }
  return false;
}

template <Direction D>
Tensor make_tensor(Graph& graph, const std::string& name, const py::object& dtype, const py::object& shape) {
  const DataType type = element_of(dtype);
  const bool is_one = is_number(shape) || py::isinstance<py::str>(shape);
  const py::object extents = is_one ? shape : py::object(py::tuple(shape));  // a generator is read once
  const TensorKey key = erased::change(graph.native, has_text(extents), [&](erased::Graph& g) {
    return g.tasks.add_tensor(name, type, D, shape_of(g, extents));
  });
  return tensor_at(graph.native, index(key.tensor()));
}

py::object declare(Graph& graph, const std::string& text) {
  py::list tensors;
  for (const TensorKey key : erased::add_tensors(graph.native, text)) {
    tensors.append(tensor_at(graph.native, index(key.tensor())));
  }
  return tensors.size() == 1 ? py::object(tensors[0]) : py::object(py::tuple(tensors));
}

KernelArgument argument_of(py::handle value, const KernelParameter& parameter, std::size_t n, std::string_view kernel) {
  if (!parameter.is_tensor) {
    if (py::isinstance<Tensor>(value)) {
      fail(Errc::invalid_argument, "kernel '", kernel, "' takes a scalar as argument ", n, ", not a tensor");
    }
    return {{}, {}, scalar_word(value, parameter, kernel)};
  }
  if (!py::isinstance<Tensor>(value)) {
    throw py::type_error("rondo: kernel '" + std::string(kernel) + "' takes a tensor of the graph as argument " +
                         std::to_string(n));
  }
  const auto& tensor = py::cast<const Tensor&>(value);
  return {tensor.key, tensor.shape, 0};
}

std::uint32_t add_task(Graph& graph, const py::object& what, const py::args& arguments, const py::object& blocks) {
  const bool is_kernel = py::isinstance<Kernel>(what);
  if (!is_kernel && !py::isinstance<py::str>(what)) {
    throw py::type_error("rondo: Graph.add takes a kernel made by rondo.kernel, or the name of a registered one");
  }
  const KernelRecord& kernel =
      is_kernel ? py::cast<const Kernel&>(what).record() : kernel_called(py::cast<std::string>(what));
  std::vector<KernelArgument> list;
  for (std::size_t n = 0; n < std::min(arguments.size(), kernel.parameters.size()); ++n) {
    list.push_back(argument_of(arguments[n], kernel.parameters[n], n, kernel.name));
  }
  list.resize(arguments.size());
  if (is_kernel) graph.kernels.append(what);
  return index(erased::change(graph.native, py::isinstance<py::str>(blocks), [&](erased::Graph& g) {
    return erased::add_task(g, kernel, extent_of(g, blocks), list);
  }));
}

std::uint32_t add_loop(Graph& graph, graph::LoopRecord::Kind kind, const Tensor& condition, const py::object& most,
                       const py::function& body, double expected) {
  const auto limit = [&](erased::Graph& g) { return extent_of(g, most); };
  return index(erased::add_loop(graph.native, kind, condition.key, limit, [&] { (void)body(); }, expected));
}

Tensor reshaped(const Tensor& tensor, const py::object& extents) {
  erased::Graph none{Edges::derived};
  Tensor other = tensor;
  other.shape = shape_of(none, extents);
  if (other.shape.rank() > max_rank) {
    fail(Errc::invalid_argument, "tensor '", tensor.name, "' is reshaped to ", other.shape.rank(),
         " dimensions; the most is ", max_rank);
  }
  for (std::size_t d = 0; d < other.shape.rank(); ++d) {
    if (!other.shape.dim(d).empty() || other.shape.extent(d) >= 1) continue;
    fail(Errc::invalid_argument, "tensor '", tensor.name, "' is reshaped to an extent below 1 in dimension ", d,
         "; each must be at least 1");
  }
  if (other.shape.is_symbolic()) {
    fail(Errc::unsupported, "tensor '", tensor.name, "' is reshaped to symbols; give numbers, or declare the shape");
  }
  other.extents = shape_tuple(other.shape, none.tasks);
  return other;
}

std::vector<Tensor> tensors_of(const Graph& graph) {
  std::vector<Tensor> tensors;
  for (std::size_t t = 0; t < graph.native.tasks.tensors().size(); ++t) tensors.push_back(tensor_at(graph.native, t));
  return tensors;
}

/// The extents of a tensor for the values that shapes() of a case of rondo.run gives the symbols, by name.
std::vector<std::int64_t> extents_of(const Graph& graph, const Tensor& tensor, const py::dict& symbols) {
  const std::vector<std::string> names = erased::symbols_of(graph.native.tasks);
  std::vector<std::int64_t> values(names.size());
  const auto take = [&](std::int32_t symbol) {
    const std::string& name = names[static_cast<std::size_t>(symbol)];
    if (!symbols.contains(name)) {
      fail(Errc::invalid_argument, "tensor '", tensor.name, "': shapes() of the case gives the symbol '", name,
           "' no value");
    }
    values[static_cast<std::size_t>(symbol)] = py::cast<std::int64_t>(symbols[py::str(name)]);
  };
  std::vector<std::int64_t> extents;
  for (std::size_t d = 0; d < tensor.shape.rank(); ++d) {
    tensor.shape.dim(d).for_each_symbol(take);
    const Dim::Value extent = tensor.shape.evaluate(d, values.data());
    if (!extent.ok || extent.value < 0) {
      fail(Errc::wrong_size, "tensor '", tensor.name, "': the extent of dimension ", d,
           " is no size for the values of shapes()");
    }
    extents.push_back(extent.value);
  }
  return extents;
}

template <Direction D>
void define_tensors(py::class_<Graph>& graph, const char* method, const char* doc) {
  graph.def(method, &make_tensor<D>, py::arg("name"), py::arg("dtype"), py::arg("shape"), doc);
}

}  // namespace

ArgWord scalar_word(py::handle value, const KernelParameter& parameter, std::string_view kernel) {
  if (parameter.scalar == ScalarKind::boolean) {
    if (!PyBool_Check(value.ptr())) throw py::type_error("rondo: kernel '" + std::string(kernel) + "' takes a bool");
    return value.ptr() == Py_True ? 1 : 0;
  }
  if (parameter.scalar == ScalarKind::floating) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1.0 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    return erased::scalar_word(number, parameter, kernel);
  }
  const py::object integer = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!integer) throw py::error_already_set();
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (overflow == 0) return erased::scalar_word(static_cast<std::int64_t>(number), parameter, kernel);
  const unsigned long long natural = overflow > 0 ? PyLong_AsUnsignedLongLong(integer.ptr()) : 0;
  if (overflow < 0 || PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    fail(Errc::invalid_argument, "kernel '", kernel, "' takes a scalar of ", 8 * parameter.scalar_bytes, " bits, and ",
         std::string(py::repr(value)), " does not fit");
  }
  return erased::scalar_word(static_cast<std::uint64_t>(natural), parameter, kernel);
}

bool is_number(py::handle extents) {
  return PyIndex_Check(extents.ptr()) != 0 && !py::hasattr(extents, "__len__");  // an array of NumPy has both
}
std::int64_t integer_of(py::handle extent) {
  const py::object integer = py::reinterpret_steal<py::object>(PyNumber_Index(extent.ptr()));
  if (!integer) throw py::error_already_set();
  const long long number = PyLong_AsLongLong(integer.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return number;
}

py::tuple shape_tuple(const SymbolicShape& shape, const TaskGraph& graph) {
  py::tuple tuple(shape.rank());
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const Dim& dim = shape.dim(d);
    if (dim.empty()) {
      tuple[d] = shape.extent(d);
    } else if (dim.as_symbol() >= 0) {
      tuple[d] = std::string(graph.name(graph.symbols()[static_cast<std::size_t>(dim.as_symbol())]));
    } else {
      tuple[d] = "…";
    }
  }
  return tuple;
}

void define_graph(py::module_& module) {
  py::class_<Tensor>(module, "Tensor", "A tensor of a graph; hand it to Graph.add.")
      .def_readonly("name", &Tensor::name)
      .def_property_readonly("dtype", [](const Tensor& t) { return to_string(t.type); })
      .def_property_readonly("shape", [](const Tensor& t) { return t.extents; })
      .def_property_readonly("direction", [](const Tensor& t) { return to_string(t.direction); })
      .def("reshape", &reshaped, py::arg("shape"), "The same tensor under another shape of as many elements.")
      .def("__repr__", [](const Tensor& t) {
        return "<rondo.Tensor '" + t.name + "' " + to_string(t.direction) + " " + to_string(t.type) +
               std::string(py::str(py::handle(t.extents))) + ">";
      });

  py::class_<Graph> graph(module, "Graph", "What is to run: tensors, and tasks that read and write them.");
  graph.def(py::init([](const std::string& edges) {
              if (edges != "derived" && edges != "explicit") {
                fail(Errc::invalid_argument, "edges are 'derived' or 'explicit', not '", edges, "'");
              }
              return std::make_unique<Graph>(edges == "derived" ? Edges::derived : Edges::explicit_);
            }),
            py::arg("edges") = "derived");
  define_tensors<Direction::in>(graph, "input", "Copied to the device each round.");
  define_tensors<Direction::out>(graph, "output", "Copied to the host each round.");
  define_tensors<Direction::inout>(graph, "inout", "Both.");
  define_tensors<Direction::resident>(graph, "resident", "Stays on the device; moved by upload and download.");
  define_tensors<Direction::workspace>(graph, "workspace", "Lives on the device within a round.");
  define_tensors<Direction::host_input>(graph, "host_input", "A small input that travels inside the args table.");
  graph.def(
      "add", &add_task, py::arg("kernel"), py::arg("blocks") = 1,
      "Adds a task that runs a kernel, given as rondo.kernel made it or by its registered name; returns its number.");
  graph.def(
      "add_edge",
      [](Graph& g, std::uint32_t before, std::uint32_t after) {
        g.native.tasks.add_edge(TaskId{before}, TaskId{after});
      },
      py::arg("before"), py::arg("after"), "The second task starts only when the first is done.");
  graph.def(
      "repeat_until",
      [](Graph& g, const Tensor& condition, const py::object& most, const py::function& body, double expected) {
        return add_loop(g, graph::LoopRecord::Kind::repeat_until, condition, most, body, expected);
      },
      py::arg("condition"), py::arg("most"), py::arg("body"), py::arg("expected") = 0.0,
      "Adds a loop: the tasks that the function `body` adds run again and again until the condition, a tensor of one\n"
      "integer or bool that they write, is not 0, `most` times at most. Returns the number of the task that decides.");
  graph.def(
      "when",
      [](Graph& g, const Tensor& condition, const py::function& body, double expected) {
        return add_loop(g, graph::LoopRecord::Kind::when, condition, py::int_(1), body, expected);
      },
      py::arg("condition"), py::arg("body"), py::arg("expected") = 0.0,
      "The tasks that the function `body` adds run if the condition is not 0 when the loop begins, or not at all.");
  graph.def(
      "keep", [](Graph& g, const Tensor& tensor) { g.native.tasks.keep(Input<float>{tensor.key}); }, py::arg("tensor"),
      "The tensor shares its memory with no other.");
  graph.def(
      "in_memory",
      [](Graph& g, const Tensor& tensor, const std::string& kind) { erased::in_memory(g.native, tensor.key, kind); },
      py::arg("tensor"), py::arg("kind"),
      "The tensor is in memory of another kind, such as \"mapped_host\": a resident or workspace in a block of its "
      "own,\n"
      "and what rounds bind in what Session.allocate returns.");
  graph.def(
      "alias",
      [](Graph& g, const Tensor& output, const Tensor& input) { erased::alias(g.native, output.key, input.key); },
      py::arg("output"), py::arg("input"), "Each round binds the same memory to both.");
  graph.def(
      "zero",
      [](Graph& g, const Tensor& workspace, bool once) {
        erased::zero(g.native, workspace.key, once ? Zeroed::once : Zeroed::each_round);
      },
      py::arg("workspace"), py::arg("once") = false,
      "The workspace holds zeros when the tasks of a round begin: of each round, or of the first.");
  graph.def(
      "declare", &declare, py::arg("tensors"),
      "Adds the tensors that a text declares, as \"x: in f32[n, 64], y: out f32[n, 64]\". Returns a tuple of them,\n"
      "or the tensor if it is one.");
  graph.def(
      "to_dot", [](const Graph& g) { return to_dot(g.native.tasks); },
      "The graph in the language of Graphviz. Notebooks draw a graph by themselves, where `dot` is installed.");
  graph.def("_extents", &extents_of, py::arg("tensor"), py::arg("symbols"));
  graph.def_property_readonly("tensors", &tensors_of, "All tensors, in the order in which they were added.");
  graph.def("__len__", [](const Graph& g) { return g.native.tasks.tasks().size(); });

  module.def(
      "kernels",
      [] {
        py::dict kernels;
        for (const auto& [name, record] : registry()) kernels[py::str(name)] = erased::describe_kernel(*record);
        return kernels;
      },
      "The registered kernels: name to core and parameters.");
  module.def("_register", &register_record);
}

}  // namespace rondo::python
