// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The host function that the stand-in runs in place of the example's kernel.

#include "cuda_stand_in/control.hpp"

namespace {

void saxpy(std::int64_t* args) {
  const auto* const x = reinterpret_cast<const float*>(args[0]);
  auto* const y = reinterpret_cast<float*>(args[1]);
  float a = 0;
  std::memcpy(&a, &args[2], sizeof(a));
  for (std::int64_t i = 0; i < args[3]; ++i) y[i] += a * x[i];
}

const bool is_known = (rondo_cuda_stand_in_kernel("saxpy", &saxpy, 8 * 5), true);

}  // namespace
