// expect: rondo: the platform cannot run a graph; write `Program load
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/rondo.hpp>

struct Mine : rondo::NullPlatform {
  using NullPlatform::NullPlatform;
  void launch(Program&) noexcept {}  // tells nobody how it went
};
static_assert(rondo::check_platform<Mine>());

void use(const rondo::TaskGraph& graph) { auto session = rondo::open<Mine>(graph); }
