// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Any description of a tensor as DLPack has it: an Error, or a span that lies within the tensor's memory.
#include <fuzz/fuzz.hpp>
#include <rondo/memory/dlpack.hpp>

#include <algorithm>
#include <vector>

using namespace rondo;

namespace {

/// The memory that each description names: so many elements of the largest type.
constexpr std::size_t room = 64;
std::int64_t elements[room];

__extension__ using Wide = unsigned __int128;

template <class T>
void check(const DLManagedTensor& managed) {
  const DLTensor& tensor = managed.dl_tensor;
  const auto require_fit = [&](std::size_t size, bool is_somewhere) {
    Wide count = 1;
    for (int d = 0; d < tensor.ndim; ++d) {
      fuzz::require(tensor.shape[d] >= 0);
      count = std::min<Wide>(count * static_cast<std::uint64_t>(tensor.shape[d]), ~std::uint64_t{0});
    }
    fuzz::require(tensor.ndim >= 0 && size == count && tensor.dtype.lanes == 1);
    if (count > 1) fuzz::require(is_somewhere && tensor.dtype.bits == 8 * sizeof(T));
  };
  fuzz::allow_refusal([&] {
    const auto span = dlpack::host_span<T>(managed);
    fuzz::require(dlpack::is_on_host(tensor.device));
    require_fit(span.size(), tensor.data != nullptr);
    if (span.size() <= room - tensor.byte_offset / sizeof(elements[0])) {
      for (const T& each : span) (void)*const_cast<const volatile T*>(&each);
    }
  });
  fuzz::allow_refusal([&] {
    const DeviceSpan<T> span = dlpack::device_span<T>(managed);
    require_fit(span.size(), tensor.data != nullptr);
    fuzz::require(span.data().address() == reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes{data, size};
  DLManagedTensor managed{};
  DLTensor& tensor = managed.dl_tensor;
  const auto flags = bytes.take();
  tensor.data = (flags & 1) != 0 ? nullptr : elements;
  if ((flags & 128) != 0) tensor.byte_offset = sizeof(elements[0]) * (bytes.take() % room);
  tensor.device.device_type = static_cast<DLDeviceType>((flags & 2) != 0 ? kDLCPU : bytes.take() % 16);
  tensor.dtype = {bytes.take(), bytes.take(), bytes.take<std::uint16_t>()};
  if ((flags & 4) != 0) tensor.dtype = dlpack::data_type(DataType::float32);
  tensor.ndim = static_cast<std::int8_t>(bytes.take());
  const std::size_t rank = tensor.ndim < 0 ? 0 : static_cast<std::size_t>(tensor.ndim);
  std::vector<std::int64_t> shape(rank), strides(rank);
  for (std::int64_t& extent : shape) {
    extent = (flags & 8) != 0 ? bytes.take<std::int64_t>() : static_cast<std::int8_t>(bytes.take());
  }
  std::int64_t stride = 1;
  for (std::size_t d = rank; d-- > 0;) {
    strides[d] = (flags & 16) != 0 ? static_cast<std::int8_t>(bytes.take()) : stride;
    (void)__builtin_mul_overflow(stride, shape[d], &stride);
  }
  tensor.shape = (flags & 64) != 0 ? nullptr : shape.data();
  tensor.strides = (flags & 32) != 0 ? nullptr : strides.data();
  check<float>(managed);
  check<std::int64_t>(managed);
  return 0;
}
