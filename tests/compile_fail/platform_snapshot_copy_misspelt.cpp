// expect: rondo: the platform declares Capability::snapshot_copy; write `Status copy_in_snapshot(
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::snapshot_copy};
  Status copy_in_snapshoot(DevicePtr<std::byte>, const void*, Bytes) noexcept;
};
static_assert(check_platform<Mine>());
