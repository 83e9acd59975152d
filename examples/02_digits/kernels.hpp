// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/kernel.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

/// The kernels of a small network. Inner loops run along rows, so that compilers turn them into vector instructions;
/// every sum has one fixed order, so that a result does not depend on which thread runs which task at what time.
namespace digits {

using rondo::CoreType;
using rondo::In;
using rondo::InOut;
using rondo::Out;

/// y += a·x over n elements.
inline void add_scaled(float* __restrict y, float a, const float* __restrict x, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

/// c = a·b
struct MatMul {
  static constexpr std::string_view name = "matmul";
  static constexpr auto core = CoreType::cube;
  static void run(In<float, 2> a, In<float, 2> b, Out<float, 2> c) noexcept {
    std::fill(c.begin(), c.end(), 0.0F);
    for (std::size_t i = 0; i < a.extent(0); ++i) {
      for (std::size_t k = 0; k < a.extent(1); ++k) add_scaled(&c(i, 0), a(i, k), &b(k, 0), c.extent(1));
    }
  }
};

/// c = aᵀ·b
struct MatMulAt {
  static constexpr std::string_view name = "matmul_at";
  static constexpr auto core = CoreType::cube;
  static void run(In<float, 2> a, In<float, 2> b, Out<float, 2> c) noexcept {
    std::fill(c.begin(), c.end(), 0.0F);
    for (std::size_t k = 0; k < a.extent(0); ++k) {
      for (std::size_t i = 0; i < a.extent(1); ++i) add_scaled(&c(i, 0), a(k, i), &b(k, 0), c.extent(1));
    }
  }
};

/// c = a·bᵀ
struct MatMulBt {
  static constexpr std::string_view name = "matmul_bt";
  static constexpr auto core = CoreType::cube;
  static void run(In<float, 2> a, In<float, 2> b, Out<float, 2> c) noexcept {
    for (std::size_t i = 0; i < c.extent(0); ++i) {
      for (std::size_t j = 0; j < c.extent(1); ++j) {
        float sum = 0.0F;
        for (std::size_t k = 0; k < a.extent(1); ++k) sum += a(i, k) * b(j, k);
        c(i, j) = sum;
      }
    }
  }
};

/// y = max(0, x + bias), the bias added to every row
struct BiasRelu {
  static constexpr std::string_view name = "bias_relu";
  static constexpr auto core = CoreType::vector;
  static void run(In<float, 2> x, In<float> bias, Out<float, 2> y) noexcept {
    for (std::size_t i = 0; i < y.extent(0); ++i) {
      for (std::size_t j = 0; j < y.extent(1); ++j) y(i, j) = std::max(0.0F, x(i, j) + bias[j]);
    }
  }
};

/// Each row of p: softmax(x + bias)
struct BiasSoftmax {
  static constexpr std::string_view name = "bias_softmax";
  static constexpr auto core = CoreType::vector;
  static void run(In<float, 2> x, In<float> bias, Out<float, 2> p) noexcept {
    for (std::size_t i = 0; i < p.extent(0); ++i) {
      float highest = -std::numeric_limits<float>::infinity();
      for (std::size_t j = 0; j < p.extent(1); ++j) highest = std::max(highest, x(i, j) + bias[j]);
      float sum = 0.0F;
      for (std::size_t j = 0; j < p.extent(1); ++j) sum += p(i, j) = std::exp(x(i, j) + bias[j] - highest);
      for (std::size_t j = 0; j < p.extent(1); ++j) p(i, j) /= sum;
    }
  }
};

/// loss = the mean over the rows of −ln(the probability given to the row's label)
struct CrossEntropy {
  static constexpr std::string_view name = "cross_entropy";
  static constexpr auto core = CoreType::vector;
  static void run(In<float, 2> p, In<std::int32_t> labels, Out<float> loss) noexcept {
    float sum = 0.0F;
    for (std::size_t i = 0; i < p.extent(0); ++i) {
      sum -= std::log(std::max(p(i, labels[i]), std::numeric_limits<float>::min()));
    }
    loss[0] = sum / static_cast<float>(p.extent(0));
  }
};

/// dx = (p − one-hot(labels)) / rows: the gradient of the loss with respect to the input of softmax
struct LossGradient {
  static constexpr std::string_view name = "loss_gradient";
  static constexpr auto core = CoreType::vector;
  static void run(In<float, 2> p, In<std::int32_t> labels, Out<float, 2> dx) noexcept {
    const float scale = 1.0F / static_cast<float>(p.extent(0));
    for (std::size_t i = 0; i < dx.size(); ++i) dx[i] = scale * p[i];
    for (std::size_t i = 0; i < dx.extent(0); ++i) dx(i, labels[i]) -= scale;
  }
};

/// dx = dy where y > 0, else 0
struct ReluGradient {
  static constexpr std::string_view name = "relu_gradient";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> y, In<float> dy, Out<float> dx) noexcept {
    for (std::size_t i = 0; i < dx.size(); ++i) dx[i] = y[i] > 0.0F ? dy[i] : 0.0F;
  }
};

/// sum = the sum of the rows of x
struct ColumnSum {
  static constexpr std::string_view name = "column_sum";
  static constexpr auto core = CoreType::vector;
  static void run(In<float, 2> x, Out<float> sum) noexcept {
    std::fill(sum.begin(), sum.end(), 0.0F);
    for (std::size_t i = 0; i < x.extent(0); ++i) add_scaled(sum.data(), 1.0F, &x(i, 0), sum.size());
  }
};

/// One step down the gradient: w −= rate · dw
struct Descend {
  static constexpr std::string_view name = "descend";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<float> w, In<float> dw, In<float> rate) noexcept {
    add_scaled(w.data(), -rate[0], dw.data(), w.size());
  }
};

}  // namespace digits
