// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Kernels of your own for Python: types as for C++, and one line for each.

#include "register_kernel.hpp"  // python/

#include <cstddef>

namespace {

/// y += a x
struct Saxpy {
  static constexpr std::string_view name = "saxpy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += a * x[i];
  }
};

/// z = x + y
struct Add {
  static constexpr std::string_view name = "add";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::In<float> y, rondo::Out<float> z) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = x[i] + y[i];
  }
};

/// z = x y; each block computes rows of its own
struct Matmul {
  static constexpr std::string_view name = "matmul";
  static constexpr auto core = rondo::CoreType::cube;
  static void run(rondo::In<float, 2> x, rondo::In<float, 2> y, rondo::Out<float, 2> z, rondo::Block block) noexcept {
    for (std::size_t r = block.index; r < z.extent(0); r += block.count) {
      for (std::size_t c = 0; c < z.extent(1); ++c) {
        float sum = 0;
        for (std::size_t k = 0; k < x.extent(1); ++k) sum += x(r, k) * y(k, c);
        z(r, c) = sum;
      }
    }
  }
};

/// y = max(x, 0)
struct Relu {
  static constexpr std::string_view name = "relu";
  static constexpr auto core = rondo::CoreType::vector;
  static constexpr rondo::InPlace in_place{.out = 1, .in = 0};
  static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] > 0 ? x[i] : 0;
  }
};

}  // namespace

PYBIND11_MODULE(rondo_kernels, module) {
  module.doc() = "Example kernels for Rondo.";
  rondo::python::register_kernel<Saxpy>();
  rondo::python::register_kernel<Add>();
  rondo::python::register_kernel<Matmul>();
  rondo::python::register_kernel<Relu>();
}
