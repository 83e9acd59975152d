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
};

/// Copies a tensor on the device to `place`, where kernels use it, from the memory that is bound; or back, if not
/// `is_in`. `move(copy)` makes one of the copies. @returns the status of the first that fails
template <class Move>
Status copy_on_device(const Binding& b, DevicePtr<std::byte> place, bool is_in, const Move& move) noexcept {
  if (b.strided == nullptr) {
    const DevicePtr<std::byte> bound{b.device};
    return move(is_in ? DeviceCopy{place, bound, Bytes{b.bytes}} : DeviceCopy{bound, place, Bytes{b.bytes}});
  }
  Status status;
  b.strided->layout.for_each_row(
      [&](std::int64_t apart, std::uint64_t packed, std::size_t size, std::int64_t stride, std::int64_t count) {
        const auto dense = static_cast<std::int64_t>(size);
        const DevicePtr<std::byte> element{b.strided->device.address() + static_cast<std::uint64_t>(apart)};
        const DevicePtr<std::byte> dense_at = place.offset(Bytes{packed});
        const auto pieces = static_cast<std::uint64_t>(count);
        status = move(is_in ? DeviceCopy{dense_at, element, Bytes{size}, pieces, dense, stride}
                            : DeviceCopy{element, dense_at, Bytes{size}, pieces, stride, dense});
        return status.ok();
      });
  return status;
}

/// All StridedMemory of a round. Rounds themselves copy what is on the device.
class StridedList {
 public:
  /// Packs the host memory that the round reads, except for ports that are held.
  template <class IsHeld>
  void pack(const IsHeld& is_held) noexcept {
    for (StridedMemory& m : list) {
      const bool is_read = copies_in(m.direction) || is_carried_in_args(m.direction);
      if (m.is_bound && is_read && m.host != nullptr && !is_held(m.port)) m.layout.pack(m.packed.data(), m.host);
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
