// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../src/erased/fail.hpp"

#include <rondo/error.hpp>

#include <pybind11/pybind11.h>

namespace rondo::python {

/// Adds rondo.Errc and rondo.Error, and has every rondo::Error arrive in Python as the latter.
void define_errors(pybind11::module_& module);

using erased::fail;

}  // namespace rondo::python
