// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/kernel.hpp>
#include <rondo/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// Helpers of several unit tests: a function that catches an Error, and kernels whose results show how often and in
/// which order they ran.
namespace rondo::test {

/// The Error that a call throws; its code is `ok` if it throws nothing.
struct Raised {
  Errc code = Errc::ok;
  std::string text;
  std::string file;
};

template <class F>
[[nodiscard]] Raised raised(F&& call) {
  try {
    call();
  } catch (const Error& e) {
    return {e.code(), e.what(), e.where().file_name()};
  }
  return {};
}

/// Whether the text contains each of the parts.
template <class... Parts>
[[nodiscard]] bool says([[maybe_unused]] std::string_view text, const Parts&... parts) {
  return ((text.find(parts) != std::string_view::npos) && ...);
}

/// y = a x
struct Scale {
  static constexpr std::string_view name = "scale";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y, float a) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = a * x[i];
  }
};

/// y += x
struct Accumulate {
  static constexpr std::string_view name = "accumulate";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
  }
};

/// Throws if the first element is negative; otherwise y = x.
struct Fragile {
  struct Refusal : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "a negative element"; }
  };
  static constexpr std::string_view name = "fragile";
  static constexpr auto core = CoreType::cube;
  static void run(In<float> x, Out<float> y) {
    if (x[0] < 0) throw Refusal{};
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};

/// A raw kernel that does nothing, for graphs that are never run.
inline void no_kernel(ArgWord*) {}

}  // namespace rondo::test
