// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/tensor/strided_layout.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rondo::detail {

/// Memory that is bound to a port and that kernels cannot use as it is, and the packed memory in its place: host memory
/// with strides, or device memory that has strides or is misaligned.
struct StridedMemory {
  std::size_t port = 0;
  Direction direction = Direction::in;
  StridedLayout layout;
  std::byte* host = nullptr;        ///< the first element; only read if the tensor is an input
  DevicePtr<std::byte> device{};    ///< the first element in device memory; then `host` is null
  std::vector<std::byte> packed{};  ///< of host memory
  DevicePtr<std::byte> block{};     ///< packed device memory
  bool is_bound = true;             ///< otherwise its packed memory is kept for another binding

  /// `held`: by port, whether it is held; or empty.
  [[nodiscard]] bool is_held(std::span<const char> held) const noexcept { return !held.empty() && held[port] != 0; }
};

/// The copy of a row between memory with strides and its packed place; `first` is the element at index 0.
[[nodiscard]] inline DeviceCopy copy_of_row(const StridedRow& row, DevicePtr<std::byte> first,
                                            DevicePtr<std::byte> place, bool is_in) noexcept {
  const DevicePtr<std::byte> apart{first.address() + static_cast<std::uint64_t>(row.apart)};
  const DevicePtr<std::byte> packed = place.offset(Bytes{row.packed});
  const auto dense = static_cast<std::int64_t>(row.size);
  const auto count = static_cast<std::uint64_t>(row.count);
  return is_in ? DeviceCopy{packed, apart, Bytes{row.size}, count, dense, row.stride}
               : DeviceCopy{apart, packed, Bytes{row.size}, count, row.stride, dense};
}

/// Copies a tensor on the device to `place`, where kernels use it, from the memory that is bound; or back, if not
/// `is_in`. `move(copy)` makes one of the copies. @returns the status of the first that fails
template <class Move>
Status copy_on_device(const Binding& b, DevicePtr<std::byte> place, bool is_in, const Move& move) noexcept {
  if (b.strided == nullptr) {
    const DevicePtr<std::byte> bound{b.device};
    return move(is_in ? DeviceCopy{place, bound, Bytes{b.bytes}} : DeviceCopy{bound, place, Bytes{b.bytes}});
  }
  Status status;
  for (StridedRows rows(b.strided->layout); status.ok() && rows.next();) {
    status = move(copy_of_row(rows.row(), b.strided->device, place, is_in));
  }
  return status;
}

/// All StridedMemory of a round. Rounds themselves copy what is on the device.
class StridedList {
 public:
  /// Packs the host memory that the round reads, except for ports that are held.
  void pack(std::span<const char> held) noexcept {
    for (StridedMemory& m : list) {
      const bool is_read = copies_in(m.direction) || is_carried_in_args(m.direction);
      if (m.is_bound && is_read && m.host != nullptr && !m.is_held(held)) m.layout.pack(m.packed.data(), m.host);
    }
  }
  /// Scatters what the round wrote to host memory.
  void scatter() noexcept {
    for (StridedMemory& m : list) {
      if (m.is_bound && copies_out(m.direction) && m.host != nullptr) m.layout.scatter(m.host, m.packed.data());
    }
  }
  /// The memory of a port, even if it is no longer bound; null if there never was any.
  [[nodiscard]] StridedMemory* find(std::size_t port) noexcept {
    const auto m = std::find_if(list.begin(), list.end(), [&](const StridedMemory& each) { return each.port == port; });
    return m == list.end() ? nullptr : &*m;
  }

  std::vector<StridedMemory> list;
};

}  // namespace rondo::detail
