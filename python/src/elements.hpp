// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../src/erased/declaration.hpp"
#include "errors.hpp"

#include <rondo/tensor/data_type.hpp>

#include <complex>
#include <string_view>
#include <type_traits>

namespace rondo::python {

/// Calls f(std::type_identity<T>{}) with the C++ type of an element type.
template <class F>
decltype(auto) with_element(DataType type, F&& f) {
  switch (type) {
    case DataType::float32: return f(std::type_identity<float>{});
    case DataType::float16: return f(std::type_identity<Float16>{});
    case DataType::int32: return f(std::type_identity<std::int32_t>{});
    case DataType::int16: return f(std::type_identity<std::int16_t>{});
    case DataType::int8: return f(std::type_identity<std::int8_t>{});
    case DataType::uint8: return f(std::type_identity<std::uint8_t>{});
    case DataType::bfloat16: return f(std::type_identity<BFloat16>{});
    case DataType::int64: return f(std::type_identity<std::int64_t>{});
    case DataType::uint64: return f(std::type_identity<std::uint64_t>{});
    case DataType::uint16: return f(std::type_identity<std::uint16_t>{});
    case DataType::uint32: return f(std::type_identity<std::uint32_t>{});
    case DataType::boolean: return f(std::type_identity<bool>{});
    case DataType::fp8e4m3fn: return f(std::type_identity<Fp8E4M3Fn>{});
    case DataType::fp8e8m0: return f(std::type_identity<Fp8E8M0>{});
    case DataType::float64: return f(std::type_identity<double>{});
    case DataType::complex64: return f(std::type_identity<std::complex<float>>{});
    case DataType::complex128: return f(std::type_identity<std::complex<double>>{});
    case DataType::fp4e2m1: break;
  }
  return f(std::type_identity<Fp4E2M1x2>{});
}

/// The element type of that name. @throws Error invalid_argument
[[nodiscard]] inline DataType element_called(std::string_view name) {
  if (DataType type{}; erased::find_element(name, type)) return type;
  fail(Errc::invalid_argument, "no chip knows elements of type '", name,
       "'; the types are float32, float16, bfloat16, int8 to int64, uint8 to uint64, bool, fp8e4m3fn, fp8e8m0, "
       "fp4e2m1, float64, complex64, complex128");
}

}  // namespace rondo::python
