// expect: rondo: the platform declares Capability::round_time; write `double last_round_ns() const noexcept;`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::round_time};
  std::uint64_t last_round_ns() const noexcept;  // of another type
};
static_assert(check_platform<Mine>());
