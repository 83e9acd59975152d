// expect: rondo: the platform declares Capability::device_refresh; write `Status refresh_args(
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::device_refresh};
  bool can_refresh_args() const noexcept;
  const args::RefreshCosts* refresh_costs() const noexcept;
  void refresh_args(const args::RefreshOp&) noexcept;  // no Status
};
static_assert(check_platform<Mine>());
