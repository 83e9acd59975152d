// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/fault.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string>

namespace rondo::measure {

/// The tolerance of an element: |got − want| ≤ absolute + relative · |want|.
struct Tolerance {
  double relative = 1e-5;
  double absolute = 1e-8;
};

namespace detail {

/// Whether the values are close. NaN is close to NaN, an infinity only to the same infinity.
[[nodiscard]] inline bool is_close(double got, double want, const Tolerance& tolerance) noexcept {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  if (std::isinf(got) || std::isinf(want)) return got == want;
  return std::abs(got - want) <= tolerance.absolute + tolerance.relative * std::abs(want);
}

}  // namespace detail

/// Compares an output with its reference, element by element. `name` is used in the text.
/// @throws Failure wrong_answer, with the first element that differs, how many differ, and the largest difference
template <class Got, class Want>
void check_close(const char* name, const Got& got, const Want& want, const Tolerance& tolerance = {}) {
  if (got.size() != want.size()) {
    throw Failure(Fault::wrong_answer,
                  fmt::format("{} has {} elements, its reference {}", name, got.size(), want.size()));
  }
  std::size_t wrong = 0;
  std::size_t first = 0;
  double largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto g = static_cast<double>(got[i]);
    const auto w = static_cast<double>(want[i]);
    if (detail::is_close(g, w, tolerance)) continue;
    if (wrong++ == 0) first = i;
    if (const double difference = std::abs(g - w); !(difference <= largest)) largest = difference;
  }
  if (wrong == 0) return;
  throw Failure(
      Fault::wrong_answer,
      fmt::format("{:.80}[{}] is {:.9g}, the reference says {:.9g}; {} of {} elements differ, by {:.3g} at most", name,
                  first, static_cast<double>(got[first]), static_cast<double>(want[first]), wrong, got.size(),
                  largest));
}

}  // namespace rondo::measure
