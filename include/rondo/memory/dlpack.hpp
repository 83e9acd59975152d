// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/tensor/handle.hpp>
#include <rondo/types.hpp>

// Optional: this header is empty unless DLPack's own header is installed (Debian: libdlpack-dev).
#if __has_include(<dlpack/dlpack.h>)
#include <rondo/error.hpp>
#include <rondo/memory/registry.hpp>
#include <rondo/memory/space.hpp>
#include <rondo/tensor/pair.hpp>
#include <rondo/tensor/strided_layout.hpp>

#include <dlpack/dlpack.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>

/// Exchanges tensors with other libraries through DLPack (0.6 and later), without copies or transfer of ownership.
namespace rondo::dlpack {

/// DLPack's data type for an element type. DLPack 0.6 has no fp8 and fp4 types; they become opaque bits.
[[nodiscard]] constexpr DLDataType data_type(DataType type) noexcept {
  constexpr DLDataType names[] = {{kDLFloat, 32, 1}, {kDLFloat, 16, 1}, {kDLInt, 32, 1},    {kDLInt, 16, 1},
                                  {kDLInt, 8, 1},    {kDLUInt, 8, 1},   {kDLBfloat, 16, 1}, {kDLInt, 64, 1},
                                  {kDLUInt, 64, 1},  {kDLUInt, 16, 1},  {kDLUInt, 32, 1},   {kDLUInt, 8, 1}};
  if (type == DataType::float64) return {kDLFloat, 64, 1};
  if (is_complex(type)) return {kDLComplex, static_cast<std::uint8_t>(8 * size_of(type)), 1};
  return is_a5_only(type) ? DLDataType{kDLOpaqueHandle, 8, 1} : names[static_cast<std::size_t>(type)];
}

/// Whether the host may access the memory.
[[nodiscard]] constexpr bool is_on_host(const DLDevice& device) noexcept {
  return device.device_type == kDLCPU || device.device_type == kDLCUDAHost || device.device_type == kDLROCMHost;
}

namespace detail {

/// The number of elements of T in the tensor. `may_have_strides`: whether its elements may lie in any order, with gaps.
/// @throws Error invalid_argument: another type, strides, or a description that no tensor has
template <Element T>
[[nodiscard]] std::size_t checked_size(const DLTensor& tensor, bool may_have_strides = false) {
  const auto fail = [](std::initializer_list<rondo::detail::TextPart> text) {
    Error::Text all{"DLPack tensor: "};
    all.append(text);
    throw Error(Errc::invalid_argument, all);
  };
  const DLDataType wanted = data_type(data_type_of<T>);
  constexpr std::uint8_t boolean_code = 6;  // kDLBool, which DLPack has since 0.7
  const bool is_boolean = data_type_of<T> == DataType::boolean && tensor.dtype.code == boolean_code;
  if ((tensor.dtype.code != wanted.code && !is_boolean) || tensor.dtype.bits != wanted.bits ||
      tensor.dtype.lanes != 1) {
    fail({"its elements have type code ", unsigned{tensor.dtype.code}, " and ", unsigned{tensor.dtype.bits},
          " bits; wanted is ", to_string(data_type_of<T>)});
  }
  if (tensor.ndim < 0) fail({"it has ", tensor.ndim, " dimensions"});
  if (tensor.ndim > 0 && tensor.shape == nullptr) fail({"it has no shape"});
  const bool is_empty = std::count(tensor.shape, tensor.shape + tensor.ndim, 0) != 0;  // then strides mean nothing
  std::size_t count = 1;
  for (int d = tensor.ndim; d-- > 0;) {
    const std::int64_t extent = tensor.shape[d];
    if (extent < 0) fail({"dimension ", d, " has extent ", extent});
    if (!may_have_strides && tensor.strides != nullptr && extent != 1 && !is_empty &&
        tensor.strides[d] != static_cast<std::int64_t>(count)) {
      fail({"dimension ", d, " has stride ", tensor.strides[d], ", without gaps it would be ", count,
            "; make it contiguous first, or take its host_view or device_view"});
    }
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(extent), &count) || count > PTRDIFF_MAX / sizeof(T)) {
      fail({"it has more elements than memory has room for"});
    }
  }
  if (count != 0 && tensor.data == nullptr) fail({"it has elements, and no memory"});
  return count;
}
inline void require_host(const DLTensor& tensor) {
  if (is_on_host(tensor.device)) return;
  throw Error(Errc::invalid_argument, Error::Text("DLPack tensor: it is in device memory; take its device_span"));
}
[[nodiscard]] inline std::uintptr_t address(const DLTensor& tensor) noexcept {
  return reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
}

}  // namespace detail

/// The elements of a tensor in host memory. The tensor must outlive the span.
/// @throws Error invalid_argument: another element type, gaps between elements, or device memory
template <Element T>
[[nodiscard]] std::span<T> host_span(const DLManagedTensor& managed) {
  const std::size_t size = detail::checked_size<T>(managed.dl_tensor);
  detail::require_host(managed.dl_tensor);
  return {reinterpret_cast<T*>(detail::address(managed.dl_tensor)), size};  // NOLINT
}

/// A tensor in host memory with strides, for DynamicBindings::bind(tensor, view.first, view.layout).
struct HostView {
  void* first = nullptr;  ///< the element at index 0 of each dimension
  StridedLayout layout;   ///< where the others lie
};
/// A tensor in device memory with strides, for DynamicBindings::bind(tensor, view.first, view.layout).
struct DeviceView {
  DevicePtr<std::byte> first;  ///< the element at index 0 of each dimension
  StridedLayout layout;        ///< where the others lie
};

namespace detail {

template <Element T>
[[nodiscard]] StridedLayout layout_of(const DLTensor& tensor) {
  (void)checked_size<T>(tensor, true);
  std::int64_t strides[max_rank] = {};
  std::int64_t packed = sizeof(T);
  bool fits = static_cast<std::size_t>(tensor.ndim) <= max_rank;
  for (int d = fits ? tensor.ndim : 0; d-- > 0;) {
    strides[d] = packed;
    packed *= tensor.shape[d];
    if (tensor.strides != nullptr) fits = fits && !__builtin_mul_overflow(tensor.strides[d], sizeof(T), &strides[d]);
  }
  const StridedLayout layout(sizeof(T), tensor.shape, strides, static_cast<std::size_t>(tensor.ndim));
  if (!fits || !layout.is_valid()) {
    throw Error(Errc::invalid_argument, Error::Text{"DLPack tensor: it has more than ", max_rank,
                                                    " dimensions, or strides that leave the address space"});
  }
  return layout;
}

}  // namespace detail

/// The elements of a tensor in host memory, with strides or without. The tensor must outlive the view's use.
/// @throws Error invalid_argument: another element type, more than 5 dimensions, or device memory
template <Element T>
[[nodiscard]] HostView host_view(const DLManagedTensor& managed) {
  detail::require_host(managed.dl_tensor);
  const StridedLayout layout = detail::layout_of<T>(managed.dl_tensor);
  return {reinterpret_cast<void*>(detail::address(managed.dl_tensor)), layout};  // NOLINT
}
/// The elements of a tensor in device memory, with strides or without. A simulated device uses host memory, so any
/// tensor is accepted there. @throws Error invalid_argument: another element type, or more than 5 dimensions
template <Element T>
[[nodiscard]] DeviceView device_view(const DLManagedTensor& managed) {
  const StridedLayout layout = detail::layout_of<T>(managed.dl_tensor);
  return {DevicePtr<std::byte>{detail::address(managed.dl_tensor)}, layout};
}

/// The elements of a tensor in device memory. A simulated device uses host memory, so any tensor is accepted there.
/// @throws Error invalid_argument: another element type, or gaps between elements
template <Element T>
[[nodiscard]] DeviceSpan<T> device_span(const DLManagedTensor& managed) {
  const std::size_t size = detail::checked_size<T>(managed.dl_tensor);
  return {DevicePtr<T>{detail::address(managed.dl_tensor)}, size};
}

/// Creates a DLPack tensor that borrows the memory: its deleter frees the description, not the elements. Call the
/// deleter once. `device` is the device that the tensor names to its consumer.
/// @throws Error invalid_argument if the shape and the memory differ in their number of elements; std::bad_alloc
template <Element T>
[[nodiscard]] DLManagedTensor* export_tensor(DeviceSpan<T> memory, const Shape& shape, DLDevice device) {
  struct Exported {
    DLManagedTensor managed{};
    std::int64_t extents[max_rank] = {};
  };
  if (shape.rank() > max_rank) throw Error(Errc::invalid_argument, Error::Text("export_tensor: too many dimensions"));
  auto exported = std::make_unique<Exported>();
  for (std::size_t d = 0; d < shape.rank(); ++d) exported->extents[d] = shape.extent(d);
  DLTensor& tensor = exported->managed.dl_tensor;
  tensor.data = reinterpret_cast<void*>(memory.data().address());  // NOLINT
  tensor.device = device;
  tensor.ndim = static_cast<int>(shape.rank());
  tensor.dtype = data_type(data_type_of<T>);
  tensor.shape = exported->extents;
  if (const std::size_t count = detail::checked_size<T>(tensor); count != memory.size()) {
    throw Error(Errc::invalid_argument,
                Error::Text{"export_tensor: the shape holds ", count, " elements, the memory ", memory.size()});
  }
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](DLManagedTensor* self) { delete static_cast<Exported*>(self->manager_ctx); };
  return &exported.release()->managed;
}
template <Element T>
[[nodiscard]] DLManagedTensor* export_tensor(std::span<T> memory, const Shape& shape) {
  return export_tensor(DeviceSpan<T>{DevicePtr<T>{reinterpret_cast<std::uintptr_t>(memory.data())}, memory.size()},
                       shape, {kDLCPU, 0});
}

/// Binds a host tensor of another library after checking it: `prebind(dlpack::bind(x, *tensor))`. @throws as host_span
template <Element T, Direction D>
[[nodiscard]] auto bind(TensorHandle<T, D> tensor, const DLManagedTensor& managed) {
  return rondo::bind(tensor, host_span<T>(managed));
}
/// Binds the device memory of a tensor of another library. @throws as device_span
template <Element T, Direction D>
[[nodiscard]] auto bind_device(TensorHandle<T, D> tensor, const DLManagedTensor& managed) {
  return rondo::bind(tensor, device_span<T>(managed));
}

/// Gives a tensor back to the library that lent it: calls its deleter. A session that checks memory refuses prebindings
/// of the tensor from now on; see docs/addresses.md. Thread safety: any thread, if no round uses the tensor.
inline void give_back(DLManagedTensor* managed) noexcept {
  const DLTensor& tensor = managed->dl_tensor;
  const std::int64_t element = (std::int64_t{tensor.dtype.bits} * tensor.dtype.lanes + 7) / 8;
  std::uint64_t begin = detail::address(tensor);
  std::uint64_t end = begin + static_cast<std::uint64_t>(element);
  std::int64_t packed = 1;  // the elements between neighbours of dimension d, if there are no strides
  for (int d = tensor.ndim; d-- > 0; packed *= tensor.shape[d]) {
    const std::int64_t stride = tensor.strides == nullptr ? packed : tensor.strides[d];
    const std::int64_t reach = (tensor.shape[d] - 1) * stride * element;
    (reach < 0 ? begin : end) += static_cast<std::uint64_t>(reach);
  }
  if (packed == 0) end = begin;
  using memory::Space;
  const std::int32_t id = tensor.device.device_id;
  const Space space = is_on_host(tensor.device)              ? Space::host
                      : tensor.device.device_type == kDLCUDA ? memory::space_of_device(memory::cuda_devices, id)
                                                             : memory::space_of_device(memory::onboard_devices, id);
  memory::Registry::instance().note_given_back(space, begin, Bytes{end - begin});
  if (managed->deleter != nullptr) managed->deleter(managed);
}

}  // namespace rondo::dlpack
#endif
