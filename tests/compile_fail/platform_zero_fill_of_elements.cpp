// expect: rondo: the platform declares Capability::zero_fill; write `Status fill_zeros(
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::zero_fill};
  Status fill_zeros(DevicePtr<std::byte>, std::size_t) noexcept;  // not Bytes
};
static_assert(check_platform<Mine>());
