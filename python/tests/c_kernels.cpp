// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// A library of functions of C, for tests that hand them over by ctypes and cffi.

#include <cstdint>
#include <cstring>

/// y += a x, with the signature "x: in f32[n], y: inout f32[n], a: f32".
extern "C" void c_saxpy(std::int64_t* args) {
  const auto* const x = reinterpret_cast<const float*>(args[0]);  // NOLINT: what the interface says
  auto* const y = reinterpret_cast<float*>(args[1]);              // NOLINT
  float a = 0;
  std::memcpy(&a, &args[2], sizeof a);
  for (std::int64_t i = 0; i < args[4]; ++i) y[i] += a * x[i];
}
