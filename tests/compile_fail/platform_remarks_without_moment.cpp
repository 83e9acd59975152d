// expect: rondo: the platform declares Capability::remarks; write `template <class Sink> void remarks(
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::remarks};
  template <class Sink>
  void remarks(Sink&&) const noexcept;
};
static_assert(check_platform<Mine>());
