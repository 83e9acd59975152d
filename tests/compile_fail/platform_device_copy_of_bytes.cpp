// expect: rondo: the platform declares Capability::device_copy; write `Status copy_on_device(
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::device_copy};
  Status copy_on_device(DevicePtr<std::byte>, DevicePtr<const std::byte>, Bytes) noexcept;  // not a DeviceCopy
};
static_assert(check_platform<Mine>());
