// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The kernel of examples/01_saxpy.cpp for CUDA devices: all that the example needs to run on one.

#include <rondo/platform/cuda/device/kernel.hpp>

struct Saxpy {
  static constexpr std::string_view name = "saxpy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a) noexcept;
};

RONDO_DEVICE void saxpy_on_cuda(rondo::In<float> x, rondo::InOut<float> y, float a) {
  for (std::size_t i = rondo::cuda::thread(); i < x.size(); i += rondo::cuda::threads()) y[i] += a * x[i];
}
RONDO_CUDA_KERNEL(saxpy, Saxpy, saxpy_on_cuda)
