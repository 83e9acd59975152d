// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/tensor/data_type.hpp>
#include <rondo/types.hpp>

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

struct DLManagedTensor;

namespace rondo::python {

/// A tensor that rounds bind, as Python hands memory for it.
struct Port {
  pybind11::object name;  ///< interned
  std::string text;       ///< the name again
  TensorId tensor{};
  DataType type{};
  Shape shape;
  Direction direction{};
};

struct ReleaseDlpack {
  void operator()(DLManagedTensor* tensor) const noexcept;
};

/// Memory that was checked against a port, and what keeps it alive.
struct HostMemory {
  void* data = nullptr;
  pybind11::object array;                                ///< a NumPy array, or the capsule of
  std::unique_ptr<DLManagedTensor, ReleaseDlpack> loan;  ///< a DLPack tensor, taken over by take()

  /// Takes over what a capsule lends; until then the capsule is as it was.
  void take();
};

/// The memory of a NumPy array, a DLPack capsule, or an object with __dlpack__(); never a copy. `is_written`: the round
/// writes it. Types that NumPy lacks are bound as their bits: uint16 for bfloat16, uint8 for fp8 and fp4.
/// @throws Error invalid_argument: another element type or byte order, not contiguous, read-only, not host memory;
/// wrong_size: another shape. TypeError for what is no array
[[nodiscard]] HostMemory memory_of(pybind11::handle object, const Port& port, bool is_written);

}  // namespace rondo::python
