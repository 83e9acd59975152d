// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace rondo {

/// The element types that the chips know; the numbers are those of the peer runtime (hw-native-sys/simpler).
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
  fp8e4m3fn = 12,  ///< a5 only
  fp8e8m0 = 13,    ///< a5 only
  fp4e2m1 = 14,    ///< a5 only; two values in one stored byte
};
inline constexpr std::size_t data_type_count = 15;

/// Is the type known to a5 alone?
[[nodiscard]] constexpr bool is_a5_only(DataType type) noexcept { return type >= DataType::fp8e4m3fn; }

/// Bytes that one stored element takes.
[[nodiscard]] constexpr std::size_t size_of(DataType type) noexcept {
  switch (type) {
    case DataType::int64:
    case DataType::uint64: return 8;
    case DataType::float32:
    case DataType::int32:
    case DataType::uint32: return 4;
    case DataType::float16:
    case DataType::bfloat16:
    case DataType::int16:
    case DataType::uint16: return 2;
    default: return 1;
  }
}

/// Storage for element types without a C++ type of their own: the bits, and no arithmetic.
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};
struct Fp8E4M3Fn {
  std::uint8_t bits;
};
struct Fp8E8M0 {
  std::uint8_t bits;
};
/// Two values, the first in the low four bits.
struct Fp4E2M1x2 {
  std::uint8_t bits;
};

namespace detail {
template <class T>
struct DataTypeOf {};
template <DataType D>
struct DataTypeIs {
  static constexpr DataType value = D;
};
template <>
struct DataTypeOf<float> : DataTypeIs<DataType::float32> {};
template <>
struct DataTypeOf<Float16> : DataTypeIs<DataType::float16> {};
template <>
struct DataTypeOf<std::int32_t> : DataTypeIs<DataType::int32> {};
template <>
struct DataTypeOf<std::int16_t> : DataTypeIs<DataType::int16> {};
template <>
struct DataTypeOf<std::int8_t> : DataTypeIs<DataType::int8> {};
template <>
struct DataTypeOf<std::uint8_t> : DataTypeIs<DataType::uint8> {};
template <>
struct DataTypeOf<BFloat16> : DataTypeIs<DataType::bfloat16> {};
template <>
struct DataTypeOf<std::int64_t> : DataTypeIs<DataType::int64> {};
template <>
struct DataTypeOf<std::uint64_t> : DataTypeIs<DataType::uint64> {};
template <>
struct DataTypeOf<std::uint16_t> : DataTypeIs<DataType::uint16> {};
template <>
struct DataTypeOf<std::uint32_t> : DataTypeIs<DataType::uint32> {};
template <>
struct DataTypeOf<bool> : DataTypeIs<DataType::boolean> {};
template <>
struct DataTypeOf<Fp8E4M3Fn> : DataTypeIs<DataType::fp8e4m3fn> {};
template <>
struct DataTypeOf<Fp8E8M0> : DataTypeIs<DataType::fp8e8m0> {};
template <>
struct DataTypeOf<Fp4E2M1x2> : DataTypeIs<DataType::fp4e2m1> {};
}  // namespace detail

/// A C++ type that a tensor may hold. `double` is none: neither chip computes with it.
template <class T>
concept Element = requires {
  { detail::DataTypeOf<T>::value } -> std::convertible_to<DataType>;
};

/// The DataType of a type of C++.
template <Element T>
inline constexpr DataType data_type_of = detail::DataTypeOf<T>::value;

[[nodiscard]] constexpr const char* to_string(DataType type) noexcept {
  constexpr const char* names[data_type_count] = {"float32", "float16",  "int32",     "int16",   "int8",
                                                  "uint8",   "bfloat16", "int64",     "uint64",  "uint16",
                                                  "uint32",  "bool",     "fp8e4m3fn", "fp8e8m0", "fp4e2m1"};
  return names[static_cast<std::size_t>(type)];
}

}  // namespace rondo
