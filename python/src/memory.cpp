// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include "errors.hpp"

#include <rondo/memory/planners.hpp>

#include <pybind11/stl.h>

#include <string>
#include <tuple>
#include <vector>

namespace py = pybind11;

namespace rondo::python {

namespace {

using Buffers = std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>;

memory::Plan plan_memory(const Buffers& buffers, std::int64_t alignment, const std::string& planner) {
  memory::Problem problem;
  for (const auto& [lower, upper, size] : buffers) problem.buffers.push_back({lower, upper, size, alignment});
  if (planner == "greedy") return memory::Greedy::plan(problem);
  if (planner == "disjoint") return memory::Disjoint::plan(problem);
  fail(Errc::invalid_argument, "there is no planner '", planner, "'; the planners are greedy and disjoint");
}

}  // namespace

void define_memory(py::module_& module) {
  py::class_<memory::Plan>(module, "Plan", "Where buffers lie in one arena; made by plan_memory.")
      .def_property_readonly(
          "offsets", [](const memory::Plan& p) { return p.offsets; }, "By buffer, in bytes.")
      .def_property_readonly(
          "arena", [](const memory::Plan& p) { return p.arena; }, "The bytes of the arena.")
      .def_property_readonly(
          "lower_bound", [](const memory::Plan& p) { return p.lower_bound; }, "No plan takes fewer bytes.")
      .def_property_readonly("planner", [](const memory::Plan& p) { return std::string(p.planner); });
  module.def(
      "plan_memory", &plan_memory, py::arg("buffers"), py::arg("alignment") = 1, py::arg("planner") = "greedy",
      R"(Finds offsets in one arena for buffers, each a tuple of its first step, the step after its last, and its bytes.

>>> import rondo
>>> plan = rondo.plan_memory([(0, 2, 100), (1, 3, 50), (2, 4, 100)])
>>> plan.arena, plan.lower_bound
(150, 150)
>>> len(plan.offsets)
3)");
}

}  // namespace rondo::python
