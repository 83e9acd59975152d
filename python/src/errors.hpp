// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../src/erased/fail.hpp"

#include <rondo/error.hpp>

#include <pybind11/pybind11.h>

namespace rondo::python {

/// Adds rondo.Errc and rondo.Error, and has every rondo::Error arrive in Python as the latter.
void define_errors(pybind11::module_& module);

/// Has the exception that is being handled arrive in Python, for functions that Python calls without pybind11. Returns
/// null. To be called in a catch block.
PyObject* raise_current() noexcept;

using erased::fail;

}  // namespace rondo::python
