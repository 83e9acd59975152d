// expect: rondo: the platform declares Capability::orchestration; write `template <class Runtime, class Graph> using Orchestration
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::orchestration};
  template <class Runtime>
  struct Orchestration {};
};
static_assert(check_platform<Mine>());
