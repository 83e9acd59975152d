// expect: rondo: the platform's capabilities are of another type; write `static constexpr rondo::Capabilities
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capability capabilities = Capability::args_in_host_memory;  // one, not a set
};
static_assert(check_platform<Mine>());
