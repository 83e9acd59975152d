// expect: rondo: the platform declares Capability::device_copy and Capability::queue; write, in its queue, `Status copy_on_device(
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::queue, Capability::device_copy};
  Status copy_on_device(const DeviceCopy&) noexcept;
  struct Queue {
    void reserve(Bytes);
    Status copy_in(std::uint32_t, DevicePtr<std::byte>, const void*, Bytes) noexcept;
    Status copy_out(std::uint32_t, void*, DevicePtr<const std::byte>, Bytes) noexcept;
    Status launch(std::uint32_t, Program&) noexcept;
    Status commit(std::uint32_t) noexcept;
    bool is_done(std::uint32_t) noexcept;
    void await(std::uint32_t) noexcept;
    Status deliver(std::uint32_t) noexcept;
    void cancel(std::uint32_t) noexcept;
    Status close() noexcept;
  };
  Queue open_queue(std::size_t, std::size_t, Bytes);
};
static_assert(check_platform<Mine>());
