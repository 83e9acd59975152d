// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/observe/compare.hpp>

#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::observe;
using namespace rondo::test;

namespace {

template <class T>
Difference difference(DataType type, const std::vector<T>& got, const std::vector<T>& want,
                      measure::Tolerance tolerance = {1e-3, 1e-6}) {
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(want.size())};
  return compare("x", type, shape, std::as_bytes(std::span{got}), std::as_bytes(std::span{want}), tolerance);
}

template <class T>
double value(DataType type, T bits) {
  return observe::detail::value_of(type, reinterpret_cast<const std::byte*>(&bits));
}

}  // namespace

TEST_CASE("The first element that differs is located, and the others are counted") {
  std::vector<float> want(12);
  for (std::size_t i = 0; i < want.size(); ++i) want[i] = static_cast<float>(i);
  std::vector<float> got = want;
  got[7] = 7.5F;
  got[9] = 5.0F;
  const std::vector<std::int64_t> shape{2, 3, 2};
  const Difference d =
      compare("logits", DataType::float32, shape, std::as_bytes(std::span{got}), std::as_bytes(std::span{want}), {});
  CHECK(d.wrong == 2);
  CHECK(d.index == 7);
  CHECK(d.at == "[1, 0, 1]");
  CHECK(d.largest == 4);
  CHECK(d.text() == "logits[1, 0, 1] (element 7) is 7.5, the dump has 7; 2 of 12 elements differ, by 4 at most");
  CHECK(compare("x", DataType::float32, shape, std::as_bytes(std::span{want}), std::as_bytes(std::span{want}), {})
            .wrong == 0);
  CHECK(raised([&] {
          (void)compare("x", DataType::float32, shape, std::as_bytes(std::span{got}.first(11)),
                        std::as_bytes(std::span{want}), {});
        }).code == Errc::wrong_size);
}

TEST_CASE("Floats may differ by the tolerance, and NaN is like NaN only") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(difference<float>(DataType::float32, {1.0005F, nan, -0.0F}, {1, nan, 0}).wrong == 0);
  CHECK(difference<float>(DataType::float32, {1.002F}, {1}).wrong == 1);
  CHECK(difference<float>(DataType::float32, {1.0005F}, {1}, {0, 0}).wrong == 1);
  const Difference d = difference<float>(DataType::float32, {1, nan}, {nan, 1});
  CHECK(d.wrong == 2);
  CHECK(std::isnan(d.largest));
  // bfloat16: 1 and the next number, 1 + 2^-7
  CHECK(difference<std::uint16_t>(DataType::bfloat16, {0x3F81}, {0x3F80}, {1e-2, 0}).wrong == 0);
  CHECK(difference<std::uint16_t>(DataType::bfloat16, {0x3F81}, {0x3F80}, {1e-3, 0}).wrong == 1);
}

TEST_CASE("Complex numbers are compared part by part, and written as sums") {
  using Complex = std::complex<float>;
  CHECK(difference<Complex>(DataType::complex64, {{1.0005F, -2}}, {{1, -2.0005F}}).wrong == 0);
  const Difference d =
      difference<Complex>(DataType::complex64, {{1, 2}, {3, -4}, {8, 0}}, {{1, 2}, {3, -4.5F}, {5, 0}});
  CHECK(d.wrong == 2);
  CHECK(d.index == 1);
  CHECK(d.got == "3-4i");
  CHECK(d.want == "3-4.5i");
  CHECK(d.largest == 3);
  const std::complex<double> wide{1.25, 7};
  const Complex narrow{-0.5F, 7};
  CHECK(observe::detail::value_of(DataType::complex128, reinterpret_cast<const std::byte*>(&wide)) == 1.25);
  CHECK(observe::detail::value_of(DataType::complex64, reinterpret_cast<const std::byte*>(&narrow)) == -0.5);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(
      std::isnan(difference<std::complex<double>>(DataType::complex128, {{nan, 0}, {0, 0}}, {{0, 1}, {1, 0}}).largest));
}

TEST_CASE("Integers are the same or not, whatever the tolerance and however large") {
  CHECK(difference<std::int32_t>(DataType::int32, {100001}, {100000}).wrong == 1);
  const std::int64_t large = std::int64_t{1} << 60;  // as doubles these two are equal
  const Difference d = difference<std::int64_t>(DataType::int64, {large + 1}, {large});
  CHECK(d.wrong == 1);
  CHECK(d.got == "1152921504606846977");
  CHECK(d.want == "1152921504606846976");
  CHECK(d.largest == 1);
  CHECK(difference<std::uint64_t>(DataType::uint64, {~std::uint64_t{0}}, {~std::uint64_t{2}}).largest == 2);
  CHECK(difference<std::uint8_t>(DataType::fp4e2m1, {0x21}, {0x20}, {10, 10}).wrong == 1);
}

TEST_CASE_TEMPLATE("Integers have the values of their types, at both ends", T, std::int8_t, std::uint8_t, std::int16_t,
                   std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
  constexpr DataType type = data_type_of<T>;
  for (const T each : {std::numeric_limits<T>::min(), T{1}, std::numeric_limits<T>::max()}) {
    CHECK(value<T>(type, each) == static_cast<double>(each));
  }
  CHECK(observe::detail::is_exact(type));
}

TEST_CASE("Small floats have the values of their formats") {
  CHECK(value<std::uint16_t>(DataType::float16, 0x3C00) == 1);
  CHECK(value<std::uint16_t>(DataType::float16, 0xC500) == -5);
  CHECK(value<std::uint16_t>(DataType::float16, 0x0001) == std::ldexp(1.0, -24));
  CHECK(value<std::uint16_t>(DataType::float16, 0x7BFF) == 65504);
  CHECK(value<std::uint16_t>(DataType::float16, 0xFC00) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(value<std::uint16_t>(DataType::float16, 0x7E00)));
  CHECK(value<std::uint16_t>(DataType::bfloat16, 0xC040) == -3);
  CHECK(value<std::uint8_t>(DataType::fp8e4m3fn, 0x38) == 1);
  CHECK(value<std::uint8_t>(DataType::fp8e4m3fn, 0x7E) == 448);
  CHECK(value<std::uint8_t>(DataType::fp8e4m3fn, 0x81) == -std::ldexp(1.0, -9));
  CHECK(std::isnan(value<std::uint8_t>(DataType::fp8e4m3fn, 0xFF)));
  CHECK(value<std::uint8_t>(DataType::fp8e8m0, 130) == 8);
  CHECK(std::isnan(value<std::uint8_t>(DataType::fp8e8m0, 255)));
}
