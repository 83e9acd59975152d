// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What docs/python.md shows as a module of one's own.

#include "register_kernel.hpp"  // python/

struct Saxpy {
  static constexpr std::string_view name = "my_saxpy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += a * x[i];
  }
};

PYBIND11_MODULE(my_kernels, module) {
  module.doc() = "Kernels of my own";
  rondo::python::register_kernel<Saxpy>();
}
