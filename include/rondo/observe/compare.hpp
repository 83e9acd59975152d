// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/measure/check_close.hpp>
#include <rondo/tensor/data_type.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// Comparison of tensors as bytes, element by element.
namespace rondo::observe {

/// The first difference between two tensors, and the extent of all differences.
struct Difference {
  /// The name of the tensor.
  std::string tensor;
  std::uint64_t index = 0;  ///< the first element that differs, in row-major order
  std::string at;           ///< the same with one index per dimension: "[2, 0]"
  std::string got;          ///< the value of that element here
  std::string want;         ///< its value in the dump
  std::uint64_t wrong = 0;  ///< the number of elements that differ
  std::uint64_t count = 0;  ///< the number of all elements
  double largest = 0;       ///< the largest |got - want| of a number or part; NaN if one of the values is NaN
  /// A sentence that describes the difference.
  [[nodiscard]] std::string text() const {
    return fmt::format("{}{} (element {}) is {}, the dump has {}; {} of {} elements differ, by {:.3g} at most", tensor,
                       at, index, got, want, wrong, count, largest);
  }
};

namespace detail {

template <class T>
[[nodiscard]] T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Decodes a number of sign, `exponent` and `mantissa` bits, or a subnormal. The caller handles the all-ones exponent.
[[nodiscard]] inline double small_float(unsigned bits, int exponent, int mantissa) noexcept {
  const unsigned m = bits & ((1U << mantissa) - 1);
  const auto e = static_cast<int>(bits >> mantissa & ((1U << exponent) - 1));
  const int bias = (1 << (exponent - 1)) - 1;
  const double value =
      e == 0 ? std::ldexp(m, 1 - bias - mantissa) : std::ldexp(m + (1U << mantissa), e - bias - mantissa);
  return (bits >> (exponent + mantissa) & 1U) != 0 ? -value : value;
}

/// Whether elements must be identical (integers and fp4, whose elements are pairs) or only within a tolerance.
[[nodiscard]] constexpr bool is_exact(DataType type) noexcept { return is_integer(type) || type == DataType::fp4e2m1; }

/// The element's value; for an fp4 pair, its bits. Of a complex number, the real part; see part_of().
[[nodiscard]] inline double value_of(DataType type, const std::byte* at) noexcept {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  switch (type) {
    case DataType::complex128:
    case DataType::float64: return load<double>(at);
    case DataType::complex64:
    case DataType::float32: return static_cast<double>(load<float>(at));
    case DataType::bfloat16:
      return static_cast<double>(std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(at)} << 16));
    case DataType::float16: {
      const unsigned bits = load<std::uint16_t>(at);
      if ((bits & 0x7C00U) != 0x7C00U) return small_float(bits, 5, 10);
      if ((bits & 0x3FFU) != 0) return nan;
      return (bits & 0x8000U) != 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    }
    case DataType::fp8e4m3fn: {
      const unsigned bits = load<std::uint8_t>(at);
      return (bits & 0x7FU) == 0x7FU ? nan : small_float(bits, 4, 3);
    }
    case DataType::fp8e8m0: {
      const unsigned bits = load<std::uint8_t>(at);
      return bits == 0xFFU ? nan : std::ldexp(1.0, static_cast<int>(bits) - 127);
    }
    case DataType::int64: return static_cast<double>(load<std::int64_t>(at));
    case DataType::uint64: return static_cast<double>(load<std::uint64_t>(at));
    case DataType::int32: return load<std::int32_t>(at);
    case DataType::uint32: return load<std::uint32_t>(at);
    case DataType::int16: return load<std::int16_t>(at);
    case DataType::uint16: return load<std::uint16_t>(at);
    case DataType::int8: return load<std::int8_t>(at);
    case DataType::uint8:
    case DataType::boolean:
    case DataType::fp4e2m1: return load<std::uint8_t>(at);
  }
  return nan;
}

/// The type of the numbers that are compared: the type of a complex number's parts, or the type itself.
[[nodiscard]] constexpr DataType part_of(DataType type) noexcept {
  if (!is_complex(type)) return type;
  return type == DataType::complex64 ? DataType::float32 : DataType::float64;
}

[[nodiscard]] inline std::string text_of(DataType type, const std::byte* at) {
  if (type == DataType::int64) return fmt::to_string(load<std::int64_t>(at));
  if (type == DataType::uint64) return fmt::to_string(load<std::uint64_t>(at));
  if (is_complex(type)) {
    const DataType part = part_of(type);
    return fmt::format("{:.9g}{:+.9g}i", value_of(part, at), value_of(part, at + size_of(part)));
  }
  const double value = value_of(type, at);
  return is_exact(type) ? fmt::format("{:.0f}", value) : fmt::format("{:.9g}", value);
}

[[nodiscard]] inline std::string position_of(std::uint64_t index, std::span<const std::int64_t> shape) {
  std::vector<std::uint64_t> at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(shape[d]);
    at[d] = index % extent;
    index /= extent;
  }
  return fmt::format("[{}]", fmt::join(at, ", "));
}

}  // namespace detail

/// Compares tensors of one type and shape. Floating-point elements, and the parts of complex ones, may differ by the
/// tolerance, and NaN equals NaN; all others must be identical. @returns `wrong` = 0 if nothing differs
/// @throws Error wrong_size if one is longer than the other
[[nodiscard]] inline Difference compare(std::string name, DataType type, std::span<const std::int64_t> shape,
                                        std::span<const std::byte> got, std::span<const std::byte> want,
                                        const measure::Tolerance& tolerance) {
  const std::size_t size = size_of(type);
  const DataType part = detail::part_of(type);
  if (got.size() != want.size()) {
    throw Error(Errc::wrong_size,
                Error::Text{"tensor '", name, "' has ", got.size(), " bytes, the dump ", want.size()});
  }
  Difference d;
  d.tensor = std::move(name);
  d.count = want.size() / size;
  for (std::uint64_t i = 0; i < d.count; ++i) {
    const std::byte* g = got.data() + i * size;
    const std::byte* w = want.data() + i * size;
    if (std::memcmp(g, w, size) == 0) continue;
    bool is_close = !detail::is_exact(type);
    double by = 0;
    for (std::size_t at = 0; at < size; at += size_of(part)) {
      const double got_value = detail::value_of(part, g + at);
      const double want_value = detail::value_of(part, w + at);
      is_close = is_close && measure::detail::is_close(got_value, want_value, tolerance);
      if (const double part_by = std::abs(got_value - want_value); part_by > by || std::isnan(part_by)) by = part_by;
    }
    using measure::detail::difference;  // as doubles, neighbours among large integers are equal
    if (type == DataType::int64) by = difference(detail::load<std::int64_t>(g), detail::load<std::int64_t>(w));
    if (type == DataType::uint64) by = difference(detail::load<std::uint64_t>(g), detail::load<std::uint64_t>(w));
    if (is_close) continue;
    if (d.wrong++ == 0) {
      d.index = i;
      d.at = detail::position_of(i, shape);
      d.got = detail::text_of(type, g);
      d.want = detail::text_of(type, w);
    }
    if (by > d.largest || std::isnan(by)) d.largest = by;
  }
  return d;
}

}  // namespace rondo::observe
