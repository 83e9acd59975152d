// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "touch.hpp"

#include <rondo/platform/cuda/device/kernel.hpp>

RONDO_DEVICE void touch_on_cuda(rondo::In<float> x, rondo::InOut<float> y) {
  for (std::size_t i = rondo::cuda::thread(); i < y.size(); i += rondo::cuda::threads()) y[i] += x[i];
}
RONDO_CUDA_KERNEL(touch, Touch, touch_on_cuda)
