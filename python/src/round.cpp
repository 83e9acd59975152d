// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "round.hpp"

#include "elements.hpp"
#include "errors.hpp"
#include "graph.hpp"
#include "host_memory.hpp"
#include "kernel.hpp"

#include <pybind11/numpy.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace rondo::python {

namespace {

using erased::AnyRound;
using erased::RoundArgument;
using erased::RoundTensor;
using erased::TaskRef;

/// What a round made, and the number of the orchestration whose rounds may use it: others would look into the memory of
/// a session that is perhaps gone.
template <class T>
struct Of {
  T made;
  std::uint64_t orchestration = 0;
};
using Region = Of<RoundTensor>;
using Task = Of<TaskRef>;

/// The round under way as Python sees it.
class Round {
 public:
  Round(AnyRound& native, py::list kernels, std::uint64_t orchestration)
      : native_{&native}, kernels_{std::move(kernels)}, orchestration_{orchestration} {}

  /// Calls f with the native round. The GIL is released: the call may wait for tasks that need it.
  template <class F>
  auto call(F&& f) {
    if (native_ == nullptr) {
      fail(Errc::not_open, "the round is over; an orchestration uses its round only until it returns");
    }
    try {
      const py::gil_scoped_release others_may_run;
      return f(*native_);
    } catch (const erased::Stopped&) {
      has_stopped_ = true;
    }
    fail(Errc::stopped, "the round has failed, and the orchestration ends here");
  }
  [[nodiscard]] bool has_stopped() const noexcept { return has_stopped_; }
  void end() noexcept { native_ = nullptr; }

  template <class T>
  [[nodiscard]] Of<T> own(const T& made) const noexcept {
    return {made, orchestration_};
  }
  template <class T>
  [[nodiscard]] const T& only_own(const Of<T>& of, const char* what) const {
    if (of.orchestration != orchestration_) {
      fail(Errc::invalid_argument, "the ", what, " is of another session; use what this session's round made");
    }
    return of.made;
  }
  [[nodiscard]] RoundTensor tensor_of(py::handle tensor) {
    if (py::isinstance<Region>(tensor)) return only_own(py::cast<const Region&>(tensor), "region");
    if (!py::isinstance<Tensor>(tensor)) {
      throw py::type_error("rondo: a round takes tensors of its session's graph, and what workspace() and view() made");
    }
    const auto& own = py::cast<const Tensor&>(tensor);
    RoundTensor made = call([&](AnyRound& round) { return round.tensor(own.key); });
    if (!(made.shape() == own.shape)) {
      fail(Errc::invalid_argument, "tensor '", own.name, "' was reshaped; a round takes it as it was declared");
    }
    return made;
  }
  Task add(const py::object& what, const py::args& arguments, std::uint32_t blocks) {
    if (!py::isinstance<Kernel>(what)) {
      throw py::type_error("rondo: Round.add takes a kernel made by rondo.kernel");
    }
    const erased::SignatureKernel& kernel = py::cast<const Kernel&>(what).record();
    std::vector<RoundTensor> tensors;
    tensors.reserve(arguments.size());
    std::vector<RoundArgument> list(arguments.size());
    for (std::size_t n = 0; n < list.size(); ++n) {
      const bool is_tensor = n < kernel.parameters.size() && kernel.parameters[n].is_tensor;
      const py::handle argument = arguments[n];
      if (is_tensor || py::isinstance<Tensor>(argument) || py::isinstance<Region>(argument)) {
        tensors.push_back(tensor_of(argument));
        list[n].tensor = &tensors.back();
      } else if (n < kernel.parameters.size()) {
        list[n].scalar = scalar_word(argument, kernel.parameters[n], kernel.name);
      }
    }
    if (!kernels_.contains(what)) kernels_.append(what);
    return own(call([&](AnyRound& round) { return round.add(kernel, Blocks{blocks}, list); }));
  }

 private:
  AnyRound* native_;
  py::list kernels_;
  std::uint64_t orchestration_;
  bool has_stopped_ = false;
};

Shape plain_shape(const py::object& extents) {
  const py::tuple list = is_number(extents) ? py::make_tuple(extents) : py::tuple(extents);
  std::int64_t e[max_rank] = {1, 1, 1, 1, 1};
  if (list.size() > max_rank) fail(Errc::invalid_argument, "a tensor has at most ", max_rank, " dimensions");
  for (std::size_t d = 0; d < list.size(); ++d) e[d] = integer_of(list[d]);
  return {e, list.size()};
}

py::tuple shape_of(const Region& region) {
  const RoundTensor& tensor = region.made;
  py::tuple shape(tensor.region.rank());
  for (std::size_t d = 0; d < tensor.region.rank(); ++d) shape[d] = tensor.region.extent(d);
  return shape;
}

std::uint64_t orchestrations = 0;  ///< how many there were; guarded by the GIL

/// Of a round that is a Python object.
struct Scope {
  py::object round;
};

}  // namespace

Orchestration::Orchestration(py::object function, py::list kernels)
    : function_{std::move(function)}, kernels_{std::move(kernels)}, number_{++orchestrations} {
  if (PyCallable_Check(function_.ptr()) == 0) {
    throw py::type_error("rondo: an orchestration is a function that takes the round");
  }
}

void Orchestration::operator()(AnyRound& native) {
  bool has_stopped = false;
  bool has_raised = false;
  {
    const py::gil_scoped_acquire gil;
    const py::object object = py::cast(Round(native, kernels_, number_));
    auto& round = py::cast<Round&>(object);
    try {
      (void)function_(object);
    } catch (py::error_already_set& error) {
      has_raised = true;
      if (!round.has_stopped()) pending_ = std::make_unique<py::error_already_set>(std::move(error));
    }
    has_stopped = round.has_stopped();
    round.end();
  }
  if (has_stopped) throw erased::Stopped{};
  if (has_raised) throw std::runtime_error("the orchestration raised an exception");
}

void Orchestration::raise_pending() {
  if (pending_ == nullptr) return;
  const std::unique_ptr<py::error_already_set> error = std::move(pending_);
  throw py::error_already_set(std::move(*error));
}

void define_round(py::module_& module) {
  py::class_<Region>(module, "Region", "An intermediate of a round, or a box of a tensor; see Round.")
      .def_property_readonly("shape", &shape_of)
      .def_property_readonly("dtype", [](const Region& r) { return to_string(r.made.type); });
  py::class_<Task>(module, "Task", "A task of a round; made by Round.add, for Round.add_edge.");
  py::class_<Scope>(module, "Scope", "A scope of a round, for `with`; made by Round.scope.")
      .def("__enter__",
           [](const Scope& scope) { py::cast<Round&>(scope.round).call([](AnyRound& round) { round.begin_scope(); }); })
      .def("__exit__", [](const Scope& scope, const py::object& type, const py::object&, const py::object&) {
        const bool failed = !type.is_none();
        py::cast<Round&>(scope.round).call([&](AnyRound& round) { round.end_scope(failed); });
      });
  py::class_<Round>(module, "Round", "The round under way, to which the orchestration of a session adds tasks.")
      .def("add", &Round::add, py::arg("kernel"), py::arg("blocks") = 1,
           "Adds a task that runs a kernel, made by rondo.kernel, on tensors of the graph, regions and numbers.")
      .def(
          "workspace",
          [](Round& round, const std::string& dtype, const py::object& shape) {
            const DataType type = element_called(dtype);
            const Shape extents = plain_shape(shape);
            return round.own(round.call([&](AnyRound& native) { return native.workspace(type, extents); }));
          },
          py::arg("dtype"), py::arg("shape"), "An intermediate of the open scope; what it holds is undefined.")
      .def(
          "view",
          [](Round& round, const py::object& tensor, const py::object& first, const py::object& extents) {
            const RoundTensor whole = round.tensor_of(tensor);
            const Shape low = plain_shape(first);
            const Shape size = plain_shape(extents);
            return round.own(round.call([&](AnyRound& native) { return native.view(whole, low, size); }));
          },
          py::arg("tensor"), py::arg("first"), py::arg("extents"),
          "The box of a tensor that starts at the index `first`; shares its memory.")
      .def(
          "values",
          [](Round& round, const Tensor& input) {
            const auto bytes = round.call([&](AnyRound& native) { return native.values(input.key); });
            const RoundTensor tensor = round.tensor_of(py::cast(input));
            std::vector<py::ssize_t> shape;
            for (std::size_t d = 0; d < tensor.region.rank(); ++d) {
              shape.push_back(static_cast<py::ssize_t>(tensor.region.extent(d)));
            }
            py::array array(numpy_dtype(tensor.type), shape);
            std::memcpy(array.mutable_data(), bytes.data(), bytes.size());
            return array;
          },
          py::arg("input"), "A copy of what an input holds in this round.")
      .def(
          "add_edge",
          [](Round& round, const Task& before, const Task& after) {
            const TaskRef& first = round.only_own(before, "task");
            const TaskRef& second = round.only_own(after, "task");
            round.call([&](AnyRound& native) { native.add_edge(first, second); });
          },
          py::arg("before"), py::arg("after"),
          "The second task starts only when the first is done; with the runtime aicpu_build_graph.")
      .def(
          "scope", [](const py::object& round) { return Scope{round}; },
          "A scope, for `with`: its intermediates' memory is used again once its tasks are done.");
}

}  // namespace rondo::python
