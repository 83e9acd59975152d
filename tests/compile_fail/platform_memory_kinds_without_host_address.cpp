// expect: rondo: the platform declares Capability::memory_kinds; write `static constexpr rondo::MemoryKinds memory_kinds
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::memory_kinds};
  static constexpr MemoryKinds memory_kinds{MemoryKind::mapped_host};
  using NullPlatform::allocate;
  DevicePtr<std::byte> allocate(MemoryKind, Bytes, Bytes);
};
static_assert(check_platform<Mine>());
