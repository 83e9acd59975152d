// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/tensor/data_type.hpp>
#include <rondo/types.hpp>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
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
  std::uint64_t bytes = 0;  ///< of a shape without symbols
  pybind11::dtype dtype;
};

struct ReleaseDlpack {
  void operator()(DLManagedTensor* tensor) const noexcept;
};

/// Memory that was checked against a port, and what keeps it alive.
struct HostMemory {
  void* data = nullptr;
  std::uint64_t device = 0;                              ///< the address of device memory, in place of `data`
  std::int64_t extents[max_rank] = {};                   ///< of a port whose shape has symbols
  pybind11::object array;                                ///< a NumPy array, or the capsule of
  std::unique_ptr<DLManagedTensor, ReleaseDlpack> loan;  ///< a DLPack tensor, taken over by take()

  [[nodiscard]] bool is_bound() const noexcept { return data != nullptr || device != 0; }
  /// The bytes of a tensor of that shape.
  [[nodiscard]] Bytes bytes(const Port& port) const noexcept {
    if (!port.shape.is_symbolic()) return Bytes{port.bytes};
    std::uint64_t size = size_of(port.type);
    for (std::size_t d = 0; d < port.shape.rank(); ++d) size *= static_cast<std::uint64_t>(extents[d]);
    return Bytes{size};
  }
  /// Takes over what a capsule lends; until then the capsule is as it was.
  void take();
};

/// The type of NumPy for an element type, or that of its bits where NumPy lacks it.
[[nodiscard]] pybind11::dtype numpy_dtype(DataType type);

/// Which memory of devices a platform reaches, as DLPack numbers it.
struct DeviceKind {
  std::int32_t type = 0;  ///< 0: none
  std::int32_t id = 0;
};

/// The memory of a NumPy array, a DLPack capsule, or an object with __dlpack__(); never a copy. `is_written`: the round
/// writes it. Types that NumPy lacks are bound as their bits: uint16 for bfloat16, uint8 for fp8 and fp4.
/// @throws Error invalid_argument: another element type or byte order, not contiguous, read-only, memory of another
/// device; wrong_size: another shape. TypeError for what is no array
[[nodiscard]] HostMemory memory_of(pybind11::handle object, const Port& port, bool is_written, DeviceKind device);

}  // namespace rondo::python
