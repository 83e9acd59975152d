// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/words.hpp>
#include <rondo/tensor/data_type.hpp>

#include <mpi.h>

#include <cstddef>
#include <span>
#include <type_traits>

/// The types and operations of MPI.
namespace rondo::mpi::detail {

/// The type with which MPI calculates, or MPI_DATATYPE_NULL if it cannot.
[[nodiscard]] inline MPI_Datatype type_of(DataType type) noexcept {
  switch (type) {
    case DataType::float32: return MPI_FLOAT;
    case DataType::float64: return MPI_DOUBLE;
    case DataType::complex64: return MPI_C_FLOAT_COMPLEX;
    case DataType::complex128: return MPI_C_DOUBLE_COMPLEX;
    case DataType::int8: return MPI_INT8_T;
    case DataType::int16: return MPI_INT16_T;
    case DataType::int32: return MPI_INT32_T;
    case DataType::int64: return MPI_INT64_T;
    case DataType::uint8: return MPI_UINT8_T;
    case DataType::uint16: return MPI_UINT16_T;
    case DataType::uint32: return MPI_UINT32_T;
    case DataType::uint64: return MPI_UINT64_T;
    default: return MPI_DATATYPE_NULL;
  }
}
[[nodiscard]] inline MPI_Op op_of(Reduction reduction) noexcept {
  switch (reduction) {
    case Reduction::min: return MPI_MIN;
    case Reduction::max: return MPI_MAX;
    case Reduction::product: return MPI_PROD;
    default: return MPI_SUM;
  }
}

/// Divides values of type T for a mean, which only floating-point numbers have.
template <class T>
void divide(void* values, std::size_t bytes, int by) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    for (T& value : std::span{static_cast<T*>(values), bytes / sizeof(T)}) value /= static_cast<T>(by);
  }
}

}  // namespace rondo::mpi::detail
