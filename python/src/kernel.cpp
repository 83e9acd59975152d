// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel.hpp"

#include "errors.hpp"
#include "host_memory.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace py = pybind11;

namespace rondo::python {

namespace {

CoreType core_called(const std::string& core) {
  if (core == "vector") return CoreType::vector;
  if (core == "cube") return CoreType::cube;
  fail(Errc::invalid_argument, "a kernel runs on a 'vector' or a 'cube' core, not on '", core, "'");
}

py::object scalar_of(ArgWord word, const erased::KernelParameter& parameter) {
  const unsigned bits = 8U * parameter.scalar_bytes;
  switch (parameter.scalar) {
    case erased::ScalarKind::boolean: return py::bool_(word != 0);
    case erased::ScalarKind::unsigned_integer: return py::int_(static_cast<std::uint64_t>(word));
    case erased::ScalarKind::signed_integer:
      return py::int_(static_cast<std::int64_t>(static_cast<std::uint64_t>(word) << (64 - bits)) >> (64 - bits));
    case erased::ScalarKind::floating: break;
  }
  return bits == 64 ? py::float_(rondo::detail::from_word<double>(word))
                    : py::float_(static_cast<double>(rondo::detail::from_word<float>(word)));
}

}  // namespace

Kernel::Kernel(const std::string& signature, const py::object& function, const std::string& name,
               const std::string& core, std::optional<std::uintptr_t> address)
    : function_{function} {
  const CoreType type = core_called(core);
  if (address) {
    const auto entry = reinterpret_cast<KernelEntry>(*address);  // NOLINT: Python tells functions as numbers
    record_ = std::make_unique<erased::SignatureKernel>(name, type, signature, entry);
    return;
  }
  if (PyCallable_Check(function.ptr()) == 0) {
    throw py::type_error("rondo: a kernel is a callable or the address of a function");
  }
  record_ = std::make_unique<erased::SignatureKernel>(name, type, signature, &Kernel::run, this);
  for (const erased::KernelParameter& p : record_->parameters) dtypes_.push_back(numpy_dtype(p.type));
}

/// The function of every Python kernel; the first word is the kernel.
void Kernel::run(ArgWord* args) {
  auto& kernel = *reinterpret_cast<Kernel*>(static_cast<std::uintptr_t>(args[0]));  // NOLINT: what the constructor put
  std::string failed;
  {
    const py::gil_scoped_acquire gil;
    try {
      kernel.call(args + 1);
    } catch (py::error_already_set& error) {
      static std::uint64_t exceptions = 0;
      failed = "Python exception #" + std::to_string(++exceptions) + ";";
      kernel.raised_.emplace_back(failed, std::make_unique<py::error_already_set>(std::move(error)));
      // No session takes those of tasks that fail after the first one of their round.
      const auto oldest = kernel.raised_.size() > 16 ? std::move(kernel.raised_.front().second) : nullptr;
      if (oldest != nullptr) kernel.raised_.pop_front();
    }
  }
  if (!failed.empty()) throw std::runtime_error(failed);
}

std::unique_ptr<py::error_already_set> Kernel::take_raised(std::string_view failure) {
  auto place = std::ranges::find_if(
      raised_, [&](const auto& raised) { return failure.find(raised.first) != std::string_view::npos; });
  if (place == raised_.end() && failure.ends_with("...") && !raised_.empty()) --place;  // a long name cut the text
  if (place == raised_.end()) return nullptr;
  auto error = std::move(place->second);
  raised_.erase(place);
  return error;
}

void Kernel::call(const ArgWord* args) {
  const std::vector<std::size_t>& words = record_->words();
  const ArgWord* extent = args + words.size();
  py::tuple arguments(words.size());
  for (std::size_t w = 0; w < words.size(); ++w) {
    if (words[w] == erased::SignatureKernel::block) {
      const auto block = rondo::detail::from_word<std::uint64_t>(args[w]);
      arguments[w] = py::make_tuple(static_cast<std::uint32_t>(block), block >> 32);
      continue;
    }
    const erased::KernelParameter& parameter = record_->parameters[words[w]];
    if (!parameter.is_tensor) {
      arguments[w] = scalar_of(args[w], parameter);
      continue;
    }
    std::vector<py::ssize_t> shape(parameter.rank);
    for (py::ssize_t& e : shape) e = static_cast<py::ssize_t>(*extent++);
    void* const memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(args[w]));  // NOLINT: simulated memory
    // With an owner, any, the array is a view and no copy.
    py::array array(dtypes_[words[w]], shape, {}, memory, py::none());
    if (!writes(parameter.access)) array.attr("setflags")(py::arg("write") = false);
    arguments[w] = std::move(array);
  }
  (void)function_(*arguments);
}

void define_kernel(py::module_& module) {
  py::class_<Kernel>(module, "Kernel",
                     "A function with a signature, to be added to graphs as a task; see rondo.kernel.")
      .def(py::init<const std::string&, const py::object&, const std::string&, const std::string&,
                    std::optional<std::uintptr_t>>(),
           py::arg("signature"), py::arg("function"), py::arg("name"), py::arg("core") = "vector",
           py::arg("address") = py::none())
      .def_property_readonly("name", [](const Kernel& k) { return std::string(k.record().name); })
      .def_property_readonly("signature", [](const Kernel& k) { return k.record().signature(); })
      .def_property_readonly("core", [](const Kernel& k) { return to_string(k.record().core); })
      .def_property_readonly("function", &Kernel::function, "What it was made of.")
      .def("__repr__", [](const Kernel& k) {
        return "<rondo.Kernel '" + std::string(k.record().name) + "' " + k.record().signature() + ">";
      });
}

}  // namespace rondo::python
