// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/device_array.hpp>
#include <rondo/tensor/data_type.hpp>
#include <rondo/tensor/strided_layout.hpp>
#include <rondo/types.hpp>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

struct DLManagedTensor;

namespace rondo::python {

class SessionArray;

/// A tensor that rounds bind, as Python hands memory for it.
struct Port {
  pybind11::object name;  ///< interned
  std::string text;       ///< the name again
  TensorId tensor{};
  DataType type{};
  SymbolicShape shape;
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
  std::optional<StridedLayout> layout;                   ///< of memory with strides
  std::uint64_t device = 0;                              ///< the address of device memory, in place of `data`
  std::int64_t extents[max_rank] = {};                   ///< of a port whose shape has symbols
  pybind11::object array;                                ///< a NumPy array, or the capsule of
  std::unique_ptr<DLManagedTensor, ReleaseDlpack> loan;  ///< a DLPack tensor, taken over by take()
  SessionArray* session_array = nullptr;                 ///< `array`, if Session.allocate returned it

  [[nodiscard]] bool is_bound() const noexcept { return array.ptr() != nullptr; }
  [[nodiscard]] bool is_capsule() const noexcept { return is_bound() && PyCapsule_CheckExact(array.ptr()); }
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

/// Device memory that Session.allocate returned. Its session keeps it from being released beside a call of another
/// thread.
class SessionArray {
 public:
  using Discard = std::function<void(DeviceArray<std::uint8_t>&&)>;

  /// `session`: the one that allocated it; `port`: the tensor, with the array's own shape.
  SessionArray(const void* session, DeviceArray<std::uint8_t>&& array, Port port, Discard discard)
      : session_{session}, array_{std::move(array)}, port_{std::move(port)}, discard_{std::move(discard)} {}
  SessionArray(const SessionArray&) = delete;
  SessionArray& operator=(const SessionArray&) = delete;
  ~SessionArray() { release(); }

  [[nodiscard]] DeviceArray<std::uint8_t>& native() noexcept { return array_; }
  [[nodiscard]] const Port& port() const noexcept { return port_; }
  [[nodiscard]] bool is_of(const void* session) const noexcept { return session == session_; }
  void release() { discard_(std::move(array_)); }

 private:
  const void* session_;
  DeviceArray<std::uint8_t> array_;
  Port port_;
  Discard discard_;
};

/// The memory of a SessionArray, a NumPy array, a DLPack capsule, or an object with __dlpack__(); never a copy.
/// `is_written`: the round writes it. Types that NumPy lacks are bound as their bits: uint16 for bfloat16, uint8 for
/// fp8 and fp4.
/// @throws Error invalid_argument: another element type or byte order, read-only, memory of another device;
/// overlapping: a round would write elements that share memory; wrong_size: another shape. TypeError for
/// what is no array
[[nodiscard]] HostMemory memory_of(pybind11::handle object, const Port& port, bool is_written, DeviceKind device);

}  // namespace rondo::python
