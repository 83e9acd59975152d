// expect: rondo: the platform declares Capability::stopping; write `void request_stop() noexcept;`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::stopping};
  void request_stop();  // noexcept is missing
};
static_assert(check_platform<Mine>());
