// expect: rondo: the platform's concurrency is of another type; write `static constexpr rondo::memory::Concurrency
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr int concurrency = 2;
};
static_assert(check_platform<Mine>());
