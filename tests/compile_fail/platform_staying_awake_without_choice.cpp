// expect: rondo: the platform declares Capability::staying_awake; write `void keep_awake(bool) noexcept;`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::staying_awake};
  void keep_awake() noexcept;
};
static_assert(check_platform<Mine>());
