// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../src/erased/orchestration.hpp"

#include <pybind11/pybind11.h>

#include <memory>

namespace rondo::python {

/// A function of Python that adds the tasks of each round.
///
/// Lifetime: the session's. Errors: an exception of the function is kept until the round has ended, and raised there.
class Orchestration {
 public:
  /// `kernels`: a list, to which the kernels that rounds use are added, so that they live as long as the session.
  Orchestration(pybind11::object function, pybind11::list kernels);
  /// Calls the function, from the thread that orchestrates the round, which does not hold the GIL.
  void operator()(erased::AnyRound& round);
  /// Raises what the function raised in a round that has failed, if that is so.
  void raise_pending();

 private:
  pybind11::object function_;
  pybind11::list kernels_;
  std::uint64_t number_;  ///< among all orchestrations of the process
  std::unique_ptr<pybind11::error_already_set> pending_;
};

/// Adds rondo.Round, rondo.Region and rondo.Task.
void define_round(pybind11::module_& module);

}  // namespace rondo::python
