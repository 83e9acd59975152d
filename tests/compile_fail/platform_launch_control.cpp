// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/rondo.hpp>

struct Mine : rondo::NullPlatform {
  using NullPlatform::NullPlatform;
  rondo::Status launch(Program&) noexcept { return {}; }
};
static_assert(rondo::check_platform<Mine>());

void use(const rondo::TaskGraph& graph) { auto session = rondo::open<Mine>(graph); }
