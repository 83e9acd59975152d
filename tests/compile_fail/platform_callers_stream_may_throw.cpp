// expect: rondo: the platform declares Capability::callers_stream; write `Stream& callers_stream() noexcept;`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::callers_stream};
  struct Stream {};
  Stream& callers_stream();
};
static_assert(check_platform<Mine>());
