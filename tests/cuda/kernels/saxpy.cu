// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The kernel of saxpy.hpp for CUDA devices.

#include "saxpy.hpp"

#include <rondo/platform/cuda/device/kernel.hpp>

RONDO_DEVICE void saxpy_on_cuda(rondo::In<float> x, rondo::InOut<float> y, float a, rondo::Block block) {
  const std::size_t first = block.index * rondo::cuda::threads() + rondo::cuda::thread();
  for (std::size_t i = first; i < y.size(); i += block.count * rondo::cuda::threads()) y[i] += a * x[i];
}
RONDO_CUDA_KERNEL(saxpy, Saxpy, saxpy_on_cuda)
