// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../src/erased/kernel.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo::python {

/// A kernel that Python brings: the address of a function, or a function of Python itself.
///
/// Lifetime: graphs and sessions that use it keep it. Errors: an exception of a Python function is kept until the
/// session's round has ended, and raised there. The text of the session's failure contains its number, so that each
/// session finds its own.
class Kernel {
 public:
  /// `function`: a callable that takes the kernel's arguments; or, with an `address`, what owns the `void
  /// (*)(int64_t*)` that is there. An address of 0 is that of a kernel that exists on devices only.
  Kernel(const std::string& signature, const pybind11::object& function, const std::string& name,
         const std::string& core, std::optional<std::uintptr_t> address);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  [[nodiscard]] const erased::SignatureKernel& record() const noexcept { return *record_; }
  [[nodiscard]] const pybind11::object& function() const noexcept { return function_; }
  /// Takes the exception that the text of a session's failure names; null if it names none of this function.
  [[nodiscard]] std::unique_ptr<pybind11::error_already_set> take_raised(std::string_view failure);

 private:
  static void run(ArgWord* args);
  void call(const ArgWord* args);

  pybind11::object function_;
  std::unique_ptr<erased::SignatureKernel> record_;
  std::vector<pybind11::dtype> dtypes_;  ///< by parameter, of tensors
  /// The exceptions that no session has taken yet, each with its words in the text of a failure.
  std::deque<std::pair<std::string, std::unique_ptr<pybind11::error_already_set>>> raised_;
};

/// Adds rondo.Kernel.
void define_kernel(pybind11::module_& module);

}  // namespace rondo::python
