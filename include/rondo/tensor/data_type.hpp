// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rondo {

/// The element types. Types that the chips know have the numbers of simpler (hw-native-sys/simpler).
enum class DataType : std::uint8_t {
  float32 = 0,
  float16 = 1,
  int32 = 2,
  int16 = 3,
  int8 = 4,
  uint8 = 5,
  bfloat16 = 6,
  int64 = 7,
  uint64 = 8,
  uint16 = 9,
  uint32 = 10,
  boolean = 11,
  fp8e4m3fn = 12,   ///< not on a2a3
  fp8e8m0 = 13,     ///< not on a2a3
  fp4e2m1 = 14,     ///< not on a2a3; two values in one stored byte
  float64 = 15,     ///< on the host and on GPUs
  complex64 = 16,   ///< two float32
  complex128 = 17,  ///< two float64; on the host and on GPUs
};
inline constexpr std::size_t data_type_count = 18;

/// Whether the type is one that a5 has and a2a3 lacks.
[[nodiscard]] constexpr bool is_a5_only(DataType type) noexcept {
  return type >= DataType::fp8e4m3fn && type <= DataType::fp4e2m1;
}

/// Whether the elements are integers, or bool.
[[nodiscard]] constexpr bool is_integer(DataType type) noexcept {
  return (type >= DataType::int32 && type <= DataType::uint8) || (type >= DataType::int64 && type <= DataType::boolean);
}
/// Whether the elements are complex numbers.
[[nodiscard]] constexpr bool is_complex(DataType type) noexcept {
  return type == DataType::complex64 || type == DataType::complex128;
}
/// Whether the elements are of double precision, with which no chip computes.
[[nodiscard]] constexpr bool is_double(DataType type) noexcept {
  return type == DataType::float64 || type == DataType::complex128;
}

// Storage for element types without a C++ equivalent. None has arithmetic.

/// The bits of a float16.
struct Float16 {
  std::uint16_t bits;
};
/// The bits of a bfloat16.
struct BFloat16 {
  std::uint16_t bits;
};
/// The bits of an fp8 with 4 bits of exponent, without infinities.
struct Fp8E4M3Fn {
  std::uint8_t bits;
};
/// The bits of an fp8 that is a power of two.
struct Fp8E8M0 {
  std::uint8_t bits;
};
/// The bits of two fp4 with 2 bits of exponent, the first in the low four bits.
struct Fp4E2M1x2 {
  std::uint8_t bits;
};

namespace detail {

/// A complex number of `Part`: `std::complex<Part>`, or a class with the same members and layout, such as
/// cuda::std::complex<Part>. It is recognised by its members, because including <complex> would cost each program
/// 35,000 lines.
template <class T, class Part>
concept ComplexOf = std::is_trivially_copyable_v<T> && sizeof(T) == 2 * sizeof(Part) && requires(const T& number) {
  requires std::same_as<typename T::value_type, Part>;
  { number.real() } -> std::convertible_to<Part>;
  { number.imag() } -> std::convertible_to<Part>;
};
template <class Part>
struct ComplexParts {
  Part real;
  Part imag;
};

/// The C++ types of the element types, in the order of DataType.
template <class... T>
struct ElementTypes {
  static constexpr std::size_t sizes[sizeof...(T)] = {sizeof(T)...};
  template <class U>
  static constexpr std::size_t find() noexcept {
    if constexpr (requires { requires std::is_class_v<U> && ComplexOf<U, float>; }) {
      return find<ComplexParts<float>>();
    } else if constexpr (requires { requires std::is_class_v<U> && ComplexOf<U, double>; }) {
      return find<ComplexParts<double>>();
    } else {
      std::size_t number = 0;
      (void)((std::is_same_v<T, U> || (++number, false)) || ...);
      return number;
    }
  }
};
using AllElementTypes = ElementTypes<float, Float16, std::int32_t, std::int16_t, std::int8_t, std::uint8_t, BFloat16,
                                     std::int64_t, std::uint64_t, std::uint16_t, std::uint32_t, bool, Fp8E4M3Fn,
                                     Fp8E8M0, Fp4E2M1x2, double, ComplexParts<float>, ComplexParts<double>>;

}  // namespace detail

/// A C++ type that a tensor may hold, such as float, std::complex<float> or Float16. No chip computes with `double`, so
/// a session on a chip refuses a graph with tensors of it, or of std::complex<double>.
template <class T>
concept Element = detail::AllElementTypes::find<T>() < data_type_count;

/// The DataType of a C++ type.
template <Element T>
inline constexpr DataType data_type_of = static_cast<DataType>(detail::AllElementTypes::find<T>());

/// The bytes of one stored element.
[[nodiscard]] constexpr std::size_t size_of(DataType type) noexcept {
  return detail::AllElementTypes::sizes[static_cast<std::size_t>(type)];
}

[[nodiscard]] constexpr const char* to_string(DataType type) noexcept {
  constexpr const char* names[data_type_count] = {
      "float32", "float16", "int32", "int16",     "int8",    "uint8",   "bfloat16", "int64",     "uint64",
      "uint16",  "uint32",  "bool",  "fp8e4m3fn", "fp8e8m0", "fp4e2m1", "float64",  "complex64", "complex128"};
  return names[static_cast<std::size_t>(type)];
}

}  // namespace rondo
