// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <cstddef>
#include <exception>
#include <new>
#include <string_view>

namespace py = pybind11;

namespace rondo::python {

namespace {

/// In the order of Errc.
constexpr const char* names[] = {"ok",
                                 "invalid_argument",
                                 "overflow",
                                 "null_memory",
                                 "wrong_size",
                                 "wrong_tensor",
                                 "unbound_tensor",
                                 "bound_twice",
                                 "misaligned",
                                 "fixed_address",
                                 "overlapping",
                                 "alias_broken",
                                 "shared_memory",
                                 "cycle",
                                 "race",
                                 "uninitialized_read",
                                 "limit_exceeded",
                                 "busy",
                                 "mixed_modes",
                                 "closed",
                                 "poisoned",
                                 "not_open",
                                 "out_of_memory",
                                 "out_of_resources",
                                 "no_such_device",
                                 "unsupported",
                                 "timed_out",
                                 "stopped",
                                 "abandoned",
                                 "deadlock",
                                 "kernel_failed",
                                 "orchestration_failed",
                                 "device_failed",
                                 "check_failed",
                                 "stale_memory"};
constexpr std::size_t count = sizeof names / sizeof *names;

constexpr bool is_known(std::size_t code) {
  return std::string_view{describe(static_cast<Errc>(code))} != std::string_view{"unknown error code"};
}
static_assert(is_known(count - 1) && !is_known(count), "every code has its name above");
constexpr bool stands_for(Errc code, std::string_view name) { return names[static_cast<std::size_t>(code)] == name; }
static_assert(stands_for(Errc::shared_memory, "shared_memory") && stands_for(Errc::limit_exceeded, "limit_exceeded") &&
              stands_for(Errc::not_open, "not_open") && stands_for(Errc::kernel_failed, "kernel_failed") &&
              stands_for(Errc::stale_memory, "stale_memory"));

PyObject* error_type = nullptr;  ///< rondo.Error; one reference is kept for good, since modules are never unloaded

void raise(const Error& e) {
  const std::string_view what = e.what();  // text of a caller's need not be UTF-8
  const auto text = py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(what.data(), static_cast<Py_ssize_t>(what.size()), "replace"));
  py::object error = py::handle(error_type)(text);
  error.attr("code") = e.code();
  PyErr_SetObject(error_type, error.ptr());
}

}  // namespace

PyObject* raise_current() noexcept {
  try {
    try {
      throw;
    } catch (const Error& e) {
      raise(e);
    }
  } catch (py::error_already_set& e) {
    e.restore();
  } catch (const py::builtin_exception& e) {
    e.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "rondo: an unexpected exception; please report this as a defect of Rondo");
  }
  return nullptr;
}

void define_errors(py::module_& module) {
  py::enum_<Errc> codes(module, "Errc", "What went wrong, the same list for set-up and for rounds.");
  for (std::size_t code = 0; code < count; ++code) {
    codes.value(names[code], static_cast<Errc>(code), describe(static_cast<Errc>(code)));
  }
  error_type = PyErr_NewExceptionWithDoc(
      "rondo.Error", "What Rondo refuses or fails at: `code` is a rondo.Errc, the text says what to do.",
      PyExc_RuntimeError, nullptr);
  if (error_type == nullptr) throw py::error_already_set();
  module.attr("Error") = py::handle(error_type);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& e) {
      raise(e);
    }
  });
}

}  // namespace rondo::python
