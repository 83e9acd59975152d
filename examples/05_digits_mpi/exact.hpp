// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/kernel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// Gradients as integers: multiples of 2^-40. Floating-point sums depend on their order, and so on the number of ranks,
/// and training makes small differences large. The sum of integers is the same in any order.
namespace digits {

inline constexpr double steps = 0x1p40;  ///< the number of steps in 1; sums of up to 2^23 fit

/// sum += a·x. A double represents each product of floats exactly, so the result is the same on every rank.
inline void add_scaled(std::int64_t* sum, double a, const float* x, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) sum[i] += static_cast<std::int64_t>(a * static_cast<double>(x[i]));
}

/// c = aᵀ·b · share, in steps
struct ExactMatMulAt {
  static constexpr std::string_view name = "exact_matmul_at";
  static constexpr auto core = rondo::CoreType::cube;
  static void run(rondo::In<float, 2> a, rondo::In<float, 2> b, float share, rondo::Out<std::int64_t, 2> c) noexcept {
    std::fill(c.begin(), c.end(), 0);
    for (std::size_t k = 0; k < a.extent(0); ++k) {
      for (std::size_t i = 0; i < a.extent(1); ++i) {
        const double scaled = static_cast<double>(a(k, i)) * static_cast<double>(share) * steps;
        add_scaled(&c(i, 0), scaled, &b(k, 0), c.extent(1));
      }
    }
  }
};

/// sum = the rows of x, added up, · share, in steps
struct ExactColumnSum {
  static constexpr std::string_view name = "exact_column_sum";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float, 2> x, float share, rondo::Out<std::int64_t> sum) noexcept {
    std::fill(sum.begin(), sum.end(), 0);
    for (std::size_t i = 0; i < x.extent(0); ++i) {
      add_scaled(sum.data(), static_cast<double>(share) * steps, &x(i, 0), sum.size());
    }
  }
};

/// One step down the gradient: w −= rate · dw
struct ExactDescend {
  static constexpr std::string_view name = "exact_descend";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::InOut<float> w, rondo::In<std::int64_t> dw, rondo::In<float> rate) noexcept {
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= rate[0] * static_cast<float>(static_cast<double>(dw[i]) / steps);
  }
};

}  // namespace digits
