// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace rondo::python {

/// Adds rondo.Session, rondo.Binding and rondo.platforms.
void define_session(pybind11::module_& module);

}  // namespace rondo::python
