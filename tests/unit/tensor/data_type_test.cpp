// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/tensor/data_type.hpp>

#include <doctest/doctest.h>

#include <complex>
#include <set>
#include <string>

using namespace rondo;

namespace {

struct Row {
  DataType type;
  int number;
  std::size_t bytes;
  bool a5_only;
  const char* name;
};
template <class T>
Row row(int number, std::size_t bytes, bool a5_only, const char* name) {
  CHECK(sizeof(T) == bytes);
  return {data_type_of<T>, number, bytes, a5_only, name};
}

}  // namespace

TEST_CASE("Every element type has simpler's number, its size and a name of its own") {
  const Row rows[] = {
      row<float>(0, 4, false, "float32"),
      row<Float16>(1, 2, false, "float16"),
      row<std::int32_t>(2, 4, false, "int32"),
      row<std::int16_t>(3, 2, false, "int16"),
      row<std::int8_t>(4, 1, false, "int8"),
      row<std::uint8_t>(5, 1, false, "uint8"),
      row<BFloat16>(6, 2, false, "bfloat16"),
      row<std::int64_t>(7, 8, false, "int64"),
      row<std::uint64_t>(8, 8, false, "uint64"),
      row<std::uint16_t>(9, 2, false, "uint16"),
      row<std::uint32_t>(10, 4, false, "uint32"),
      row<bool>(11, 1, false, "bool"),
      row<Fp8E4M3Fn>(12, 1, true, "fp8e4m3fn"),
      row<Fp8E8M0>(13, 1, true, "fp8e8m0"),
      row<Fp4E2M1x2>(14, 1, true, "fp4e2m1"),
      row<double>(15, 8, false, "float64"),
      row<std::complex<float>>(16, 8, false, "complex64"),
      row<std::complex<double>>(17, 16, false, "complex128"),
  };
  CHECK(std::size(rows) == data_type_count);
  std::set<std::string> names;
  for (const Row& r : rows) {
    CAPTURE(r.name);
    CHECK(static_cast<int>(r.type) == r.number);
    CHECK(std::string{to_string(r.type)} == r.name);
    CHECK(is_a5_only(r.type) == r.a5_only);
    CHECK(names.insert(r.name).second);
  }
}

TEST_CASE("Types that nothing computes with are no elements") {
  CHECK_FALSE(Element<long double>);
  CHECK_FALSE(Element<const float>);
  CHECK_FALSE(Element<float*>);
  CHECK_FALSE(Element<void>);
  struct Mine {};
  CHECK_FALSE(Element<Mine>);
  CHECK(Element<float>);
}

namespace {

/// As the complex numbers of a GPU's standard library, whose alignment differs.
template <class Part>
struct alignas(2 * sizeof(Part)) Aligned {
  using value_type = Part;
  [[nodiscard]] Part real() const { return re; }
  [[nodiscard]] Part imag() const { return im; }
  Part re, im;
};
struct Quaternion : Aligned<float> {
  float j, k;
};
struct NotTrivial : Aligned<float> {
  ~NotTrivial() {}  // NOLINT
};
struct Pair {
  using value_type = float;
  float first, second;
};

}  // namespace

TEST_CASE("A complex number is an element whatever library it comes from, and nothing else of its size is") {
  CHECK(data_type_of<Aligned<float>> == DataType::complex64);
  CHECK(data_type_of<Aligned<double>> == DataType::complex128);
  CHECK_FALSE(Element<std::complex<long double>>);
  CHECK_FALSE(Element<Quaternion>);
  CHECK_FALSE(Element<NotTrivial>);
  CHECK_FALSE(Element<Pair>);
  for (std::size_t t = 0; t < data_type_count; ++t) {
    const auto type = static_cast<DataType>(t);
    CHECK(is_complex(type) == (type >= DataType::complex64));
    CHECK(is_double(type) == (type == DataType::float64 || type == DataType::complex128));
  }
}
