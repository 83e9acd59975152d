// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The same kernel for the stand-in of Rondo's tests, which takes shared libraries of the host for kernel binaries. The
// words are those that the device's kernel gets.

#include <bit>
#include <cstdint>

extern "C" void saxpy(std::int64_t* args) {
  const auto* const x = reinterpret_cast<const float*>(args[0]);
  auto* const y = reinterpret_cast<float*>(args[1]);
  const float a = std::bit_cast<float>(static_cast<std::uint32_t>(args[2]));
  for (std::int64_t i = 0; i < args[3]; ++i) y[i] += a * x[i];
}
