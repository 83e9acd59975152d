// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <rondo/platform/cuda/device/kernel.hpp>

using namespace on_gpu;

RONDO_DEVICE void mix_on_cuda(rondo::In<Word> x, rondo::In<Word> y, rondo::Out<Word> z, rondo::Block block) {
  const std::size_t first = block.index * rondo::cuda::threads() + rondo::cuda::thread();
  for (std::size_t i = first; i < z.size(); i += block.count * rondo::cuda::threads()) z[i] = 3 * x[i] + y[i];
}
RONDO_CUDA_KERNEL(mix, Mix, mix_on_cuda)

RONDO_DEVICE void fold_on_cuda(rondo::In<Word> x, rondo::InOut<Word> s) {
  for (std::size_t i = rondo::cuda::thread(); i < s.size(); i += rondo::cuda::threads()) s[i] = 5 * s[i] + x[i];
}
RONDO_CUDA_KERNEL(fold, Fold, fold_on_cuda)

RONDO_DEVICE void axpy_on_cuda(rondo::In<float> x, rondo::InOut<float> y, float a) {
  for (std::size_t i = rondo::cuda::thread(); i < y.size(); i += rondo::cuda::threads()) y[i] += a * x[i];
}
RONDO_CUDA_KERNEL(axpy, Axpy, axpy_on_cuda)
