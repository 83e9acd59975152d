// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"
#include "graph.hpp"
#include "kernel.hpp"
#include "memory.hpp"
#include "round.hpp"
#include "session.hpp"

#include <rondo/version.hpp>

#include <pybind11/pybind11.h>

#include <string>

PYBIND11_MODULE(_rondo, module) {
  module.doc() = "The compiled part of the package rondo.";
  module.attr("__version__") = std::to_string(rondo::version.major) + "." + std::to_string(rondo::version.minor) + "." +
                               std::to_string(rondo::version.patch);
  rondo::python::define_errors(module);
  rondo::python::define_kernel(module);
  rondo::python::define_graph(module);
  rondo::python::define_round(module);
  rondo::python::define_session(module);
  rondo::python::define_memory(module);
}
