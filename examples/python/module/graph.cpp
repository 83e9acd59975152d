// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include "elements.hpp"
#include "errors.hpp"

#include <pybind11/stl.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string_view>

namespace py = pybind11;

namespace rondo::python {

namespace {

/// By name; ordered, so that rondo.kernels() is.
std::map<std::string, const KernelRecord*, std::less<>>& registry() {
  static std::map<std::string, const KernelRecord*, std::less<>> kernels;
  return kernels;
}

void register_record(const py::object& capsule) {
  const auto* const record = static_cast<const KernelRecord*>(PyCapsule_GetPointer(capsule.ptr(), capsule_name));
  if (record == nullptr) {
    PyErr_Clear();
    fail(Errc::invalid_argument, "the module's kernels were compiled against another Rondo than this module's, ",
         capsule_name, "; compile both against the same");
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

std::string describe_kernel(const KernelRecord& kernel) {
  std::string text = to_string(kernel.core) + std::string(": ");
  for (const KernelParameter& p : kernel.parameters) {
    if (&p != kernel.parameters.data()) text += ", ";
    if (p.is_tensor) {
      text += std::string(p.access == Access::read    ? "In"
                          : p.access == Access::write ? "Out"
                                                      : "InOut") +
              "[" + to_string(p.type) + (p.rank == 1 ? "" : ", " + std::to_string(p.rank)) + "]";
    } else {
      constexpr const char* kinds[] = {"bool", "int", "uint", "float"};
      text += kinds[static_cast<std::size_t>(p.scalar)];
      if (p.scalar != ScalarKind::boolean) text += std::to_string(8 * p.scalar_bytes);
    }
  }
  return text;
}

DataType element_of(const py::object& dtype) {
  if (py::isinstance<py::str>(dtype)) return element_called(py::cast<std::string>(dtype));
  return element_called(py::cast<std::string>(py::module_::import("numpy").attr("dtype")(dtype).attr("name")));
}

Shape shape_of(const py::object& extents) {
  std::int64_t values[max_rank] = {};
  std::size_t rank = 0;
  const py::tuple list = PyLong_Check(extents.ptr()) ? py::make_tuple(extents) : py::tuple(extents);
  for (const py::handle extent : list) {
    if (rank < max_rank) values[rank] = py::cast<std::int64_t>(extent);
    ++rank;
  }
  return {values, rank};  // more dimensions than there may be are refused by the graph
}

template <Direction D>
TensorKey add_tensor(TaskGraph& graph, std::string_view name, DataType type, const Shape& shape) {
  return with_element(type, [&](auto t) -> TensorKey {
    using T = typename decltype(t)::type;
    if constexpr (D == Direction::in) return graph.input<T>(name, shape).key;
    if constexpr (D == Direction::out) return graph.output<T>(name, shape).key;
    if constexpr (D == Direction::inout) return graph.inout<T>(name, shape).key;
    if constexpr (D == Direction::resident) return graph.resident<T>(name, shape).key;
    if constexpr (D == Direction::workspace) return graph.workspace<T>(name, shape).key;
    if constexpr (D == Direction::host_input) return graph.host_input<T>(name, shape).key;
  });
}

template <Direction D>
Tensor make_tensor(Graph& graph, const std::string& name, const py::object& dtype, const py::object& extents) {
  const DataType type = element_of(dtype);
  const Shape shape = shape_of(extents);
  return {add_tensor<D>(graph.tasks, name, type, shape), name, type, shape, D};
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
  if (tensor.type != parameter.type) {
    fail(Errc::invalid_argument, "kernel '", kernel, "' takes ", to_string(parameter.type), " as argument ", n,
         ", and tensor '", tensor.name, "' holds ", to_string(tensor.type));
  }
  if (writes(parameter.access) && !kernels_may_write(tensor.direction)) {
    fail(Errc::invalid_argument, "kernel '", kernel, "' writes argument ", n, ", and tensor '", tensor.name,
         "' is an input; make it an inout");
  }
  return {tensor.key, tensor.shape, 0};
}

std::uint32_t add_task(Graph& graph, const std::string& name, const py::args& arguments, std::int64_t blocks) {
  const KernelRecord& kernel = kernel_called(name);
  if (arguments.size() != kernel.parameters.size()) {
    fail(Errc::invalid_argument, "kernel '", name, "' takes ", kernel.parameters.size(), " arguments (",
         describe_kernel(kernel).c_str(), "), ", arguments.size(), " were given");
  }
  std::vector<KernelArgument> checked;
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    checked.push_back(argument_of(arguments[n], kernel.parameters[n], n, name));
  }
  graph.kernels.reserve(graph.kernels.size() + 1);
  const TaskId task = kernel.add(graph.tasks, Blocks{blocks}, checked);
  graph.kernels.push_back(&kernel);
  return index(task);
}

Tensor reshaped(const Tensor& tensor, const py::object& extents) {
  Tensor other = tensor;
  other.shape = shape_of(extents);
  return other;
}

std::vector<Tensor> tensors_of(const Graph& graph) {
  std::vector<Tensor> tensors;
  for (const graph::TensorRecord& record : graph.tasks.tensors()) {
    const TensorId id{static_cast<std::uint32_t>(tensors.size())};
    tensors.push_back({TensorKey{id, graph.tasks.tag()}, std::string(graph.tasks.name(record.name)), record.type,
                       record.shape, record.direction});
  }
  return tensors;
}

template <Direction D>
void define_tensors(py::class_<Graph>& graph, const char* method, const char* doc) {
  graph.def(method, &make_tensor<D>, py::arg("name"), py::arg("dtype"), py::arg("shape"), doc);
}

}  // namespace

ArgWord scalar_word(py::handle value, const KernelParameter& parameter, std::string_view kernel) {
  const auto refuse = [&](const char* what) {
    fail(Errc::invalid_argument, "kernel '", kernel, "' takes a scalar of ", 8 * parameter.scalar_bytes, " bits, and ",
         std::string(py::repr(value)), " ", what);
  };
  if (parameter.scalar == ScalarKind::boolean) {
    if (!PyBool_Check(value.ptr())) throw py::type_error("rondo: kernel '" + std::string(kernel) + "' takes a bool");
    return value.ptr() == Py_True ? 1 : 0;
  }
  if (parameter.scalar == ScalarKind::floating) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1.0 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (parameter.scalar_bytes == sizeof(double)) return rondo::detail::to_word(number);
    constexpr double most = std::numeric_limits<float>::max();
    if (number - number == 0 && (number > most || number < -most)) refuse("does not fit");
    return rondo::detail::to_word(static_cast<float>(number));
  }
  const py::object integer = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!integer) throw py::error_already_set();
  const unsigned bits = 8U * parameter.scalar_bytes;
  if (parameter.scalar == ScalarKind::unsigned_integer) {
    const unsigned long long number = PyLong_AsUnsignedLongLong(integer.ptr());
    const bool is_out = PyErr_Occurred() != nullptr;
    PyErr_Clear();
    if (is_out || (bits < 64 && number >> bits != 0)) refuse("does not fit");
    return static_cast<ArgWord>(number);
  }
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (overflow != 0 || (bits < 64 && (number >> (bits - 1)) != (number < 0 ? -1 : 0))) refuse("does not fit");
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  return static_cast<ArgWord>(static_cast<std::uint64_t>(number) & mask);
}

py::tuple shape_tuple(const Shape& shape) {
  py::tuple tuple(shape.rank());
  for (std::size_t d = 0; d < shape.rank(); ++d) tuple[d] = shape.extent(d);
  return tuple;
}

void define_graph(py::module_& module) {
  py::class_<Tensor>(module, "Tensor", "A tensor of a graph; hand it to Graph.add.")
      .def_readonly("name", &Tensor::name)
      .def_property_readonly("dtype", [](const Tensor& t) { return to_string(t.type); })
      .def_property_readonly("shape", [](const Tensor& t) { return shape_tuple(t.shape); })
      .def_property_readonly("direction", [](const Tensor& t) { return to_string(t.direction); })
      .def("reshape", &reshaped, py::arg("shape"), "The same tensor under another shape of as many elements.")
      .def("__repr__", [](const Tensor& t) {
        return "<rondo.Tensor '" + t.name + "' " + to_string(t.direction) + " " + to_string(t.type) +
               std::string(py::str(shape_tuple(t.shape))) + ">";
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
  graph.def("add", &add_task, py::arg("kernel"), py::arg("blocks") = 1,
            "Adds a task that runs a registered kernel; returns its number.");
  graph.def(
      "add_edge",
      [](Graph& g, std::uint32_t before, std::uint32_t after) { g.tasks.add_edge(TaskId{before}, TaskId{after}); },
      py::arg("before"), py::arg("after"), "The second task starts only when the first is done.");
  graph.def(
      "keep", [](Graph& g, const Tensor& tensor) { g.tasks.keep(Input<float>{tensor.key}); }, py::arg("tensor"),
      "The tensor shares its memory with no other.");
  graph.def(
      "alias",
      [](Graph& g, const Tensor& output, const Tensor& input) {
        if (output.direction != Direction::out || input.direction != Direction::in) {
          fail(Errc::invalid_argument, "alias takes an output and the input whose memory it reuses");
        }
        g.tasks.alias(Output<float>{output.key}, Input<float>{input.key});
      },
      py::arg("output"), py::arg("input"), "Each round binds the same memory to both.");
  graph.def_property_readonly("tensors", &tensors_of, "All tensors, in the order in which they were added.");
  graph.def("__len__", [](const Graph& g) { return g.tasks.tasks().size(); });

  module.def(
      "kernels",
      [] {
        py::dict kernels;
        for (const auto& [name, record] : registry()) kernels[py::str(name)] = describe_kernel(*record);
        return kernels;
      },
      "The registered kernels: name to core and parameters.");
  module.def("_register", &register_record);
}

}  // namespace rondo::python
