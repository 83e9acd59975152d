// expect: rondo: the platform declares Capability::pinned_memory; write `void* allocate_pinned(Bytes);` and
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::pinned_memory};
  void* allocate_pinned(Bytes);  // release_pinned() is missing
};
static_assert(check_platform<Mine>());
