// expect: rondo: the platform declares Capability::launch_refresh; write `static constexpr std::uint32_t max_launch_bytes
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::launch_refresh};
  bool can_refresh_args() const noexcept;
  const args::RefreshCosts* refresh_costs() const noexcept;
  Status refresh_in_launch(const args::RefreshOp&, const args::LaunchPayload&) noexcept;
};
static_assert(check_platform<Mine>());
