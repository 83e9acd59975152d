// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

/// The kernels that no example has.
namespace bench_rounds {

struct Saxpy {
  static constexpr std::string_view name = "saxpy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
  }
};

struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};

struct Scale {
  static constexpr std::string_view name = "scale";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> t, float a) noexcept {
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = a * x[i];
  }
};

struct Accumulate {
  static constexpr std::string_view name = "accumulate";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
  }
};

/// Writes to the first of its tensors.
[[gnu::noinline]] inline void touch(rondo::ArgWord* args) {
  *reinterpret_cast<float*>(args[0]) += 1.0F;  // NOLINT: the address of simulated memory
}
[[gnu::noinline]] inline void empty(rondo::ArgWord*) { asm volatile(""); }
/// Multiplications that depend on each other: about 1 µs at 3 GHz, no memory touched.
[[gnu::noinline]] inline void microsecond(rondo::ArgWord*) {
  std::uint64_t x = 1;
  for (int i = 0; i < 1200; ++i) {
    x *= 0x9E37'79B9'7F4A'7C15U;
    asm volatile("" : "+r"(x));
  }
}
/// Takes as many microseconds as its scalar says.
inline void microseconds(rondo::ArgWord* args) {
  for (std::int64_t step = 0; step < args[0]; ++step) microsecond(nullptr);
}

}  // namespace bench_rounds
