// expect: rondo: the platform declares Capability::failure_text; write `const Error::Text& failure_text() const noexcept;`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::failure_text};
  const Error::Text& failure_text() noexcept;  // const is missing
};
static_assert(check_platform<Mine>());
