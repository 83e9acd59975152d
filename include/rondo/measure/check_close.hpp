// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/fault.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace rondo::measure {

/// The tolerance of an element: |got − want| ≤ absolute + relative · |want|.
struct Tolerance {
  double relative = 1e-5;
  double absolute = 1e-8;
};

namespace detail {

/// The distance of two elements. Integers of 64 bits are subtracted as such, since as doubles neighbours can be equal.
template <class Got, class Want>
[[nodiscard]] double difference(const Got& got, const Want& want) noexcept {
  if constexpr (std::integral<Got> && std::integral<Want>) {
    if (std::cmp_less(+got, 0) == std::cmp_less(+want, 0)) {
      const auto g = static_cast<std::uint64_t>(got);
      const auto w = static_cast<std::uint64_t>(want);
      return static_cast<double>(std::max(g, w) - std::min(g, w));
    }
  }
  return std::abs(static_cast<double>(got) - static_cast<double>(want));
}

/// Whether the values are close. NaN is close to NaN, an infinity only to the same infinity.
template <class Got, class Want>
[[nodiscard]] bool is_close(const Got& got, const Want& want, const Tolerance& tolerance) noexcept {
  const auto g = static_cast<double>(got);
  const auto w = static_cast<double>(want);
  if (std::isnan(g) || std::isnan(w)) return std::isnan(g) && std::isnan(w);
  if (std::isinf(g) || std::isinf(w)) return g == w;
  return difference(got, want) <= tolerance.absolute + tolerance.relative * std::abs(w);
}

/// An integer in full, another value with nine digits.
template <class Value>
[[nodiscard]] std::string text_of_element(const Value& value) {
  if constexpr (std::integral<Value>) {
    return fmt::to_string(+value);
  } else {
    return fmt::format("{:.9g}", static_cast<double>(value));
  }
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
    if (detail::is_close(got[i], want[i], tolerance)) continue;
    if (wrong++ == 0) first = i;
    if (const double difference = detail::difference(got[i], want[i]); !(difference <= largest)) largest = difference;
  }
  if (wrong == 0) return;
  throw Failure(Fault::wrong_answer,
                fmt::format("{:.80}[{}] is {}, the reference says {}; {} of {} elements differ, by {:.3g} at most",
                            name, first, detail::text_of_element(got[first]), detail::text_of_element(want[first]),
                            wrong, got.size(), largest));
}

}  // namespace rondo::measure
