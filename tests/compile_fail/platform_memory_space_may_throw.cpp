// expect: rondo: the platform declares Capability::memory_registry; write `rondo::memory::Space memory_space() const
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::memory_registry};
  memory::Space memory_space() const;
};
static_assert(check_platform<Mine>());
