// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace rondo::python {

/// Adds rondo.plan_memory and rondo.Plan.
void define_memory(pybind11::module_& module);

}  // namespace rondo::python
