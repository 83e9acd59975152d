// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// All StridedMemory of a round.
class StridedList {
 public:
  /// Packs what the round reads, except for ports that are held. Copies on the device may not be over. Errors: the
  /// platform's.
  template <class P, class IsHeld>
  Status pack(P& platform, const IsHeld& is_held) noexcept {
    Status status;
    for (StridedMemory& m : list) {
      const bool is_read = copies_in(m.direction) || is_carried_in_args(m.direction);
      if (!m.is_bound || !is_read || is_held(m.port) || !status.ok()) continue;
      if (m.device) {
        status = copy_on_device(platform, m, true);
      } else {
        m.layout.pack(m.packed.data(), m.host);
      }
    }
    return status;
  }
  /// Scatters what the round wrote, and waits for copies on the device; does nothing if the round failed. @returns its
  /// status, or the first failure
  template <class P>
  Status scatter(P& platform, Status status) noexcept {
    for (StridedMemory& m : list) {
      if (!status.ok() || !m.is_bound || !copies_out(m.direction)) continue;
      if (m.device) {
        status = copy_on_device(platform, m, false);
      } else {
        m.layout.scatter(m.host, m.packed.data());
      }
    }
    return status.ok() && is_on_device() ? platform.wait() : status;
  }
  /// Whether any of the memory that is bound is on the device.
  [[nodiscard]] bool is_on_device() const noexcept {
    return std::any_of(list.begin(), list.end(), [](const StridedMemory& m) { return m.is_bound && m.device; });
  }
  /// The memory of a port, even if it is no longer bound; null if there never was any.
  [[nodiscard]] StridedMemory* find(std::size_t port) noexcept {
    const auto m = std::find_if(list.begin(), list.end(), [&](const StridedMemory& each) { return each.port == port; });
    return m == list.end() ? nullptr : &*m;
  }

  std::vector<StridedMemory> list;

 private:
  template <class P>
  static Status copy_on_device([[maybe_unused]] P& platform, const StridedMemory& m,
                               [[maybe_unused]] bool packs) noexcept {
    Status status;
    if constexpr (HasDeviceCopy<P>) {
      m.layout.for_each_row(
          [&](std::int64_t apart, std::uint64_t packed, std::size_t size, std::int64_t stride, std::int64_t count) {
            const auto dense = static_cast<std::int64_t>(size);
            const DevicePtr<std::byte> element{m.device.address() + static_cast<std::uint64_t>(apart)};
            const DevicePtr<std::byte> dense_at = m.block.offset(Bytes{packed});
            const auto pieces = static_cast<std::uint64_t>(count);
            status = platform.copy_on_device(packs ? DeviceCopy{dense_at, element, Bytes{size}, pieces, dense, stride}
                                                   : DeviceCopy{element, dense_at, Bytes{size}, pieces, stride, dense});
            return status.ok();
          });
    }
    return status;
  }
};

/// A completion that scatters, then calls the caller's.
template <class Flights, class F>
class ScatterFirst {
 public:
  template <class Then>
  ScatterFirst(Flights& flights, std::shared_ptr<StridedList> list, Then&& then) noexcept
      : flights_{&flights}, list_{std::move(list)}, then_(std::forward<Then>(then)) {}
  void operator()(Status status) noexcept { (void)then_(flights_->scatter_delivered(*list_, status)); }

 private:
  Flights* flights_;
  std::shared_ptr<StridedList> list_;
  F then_;
};

}  // namespace rondo::detail
