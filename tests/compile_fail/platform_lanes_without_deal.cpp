// expect: rondo: the platform's concurrency is in_lanes; write `static FrozenGraph deal(FrozenGraph, const
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/freeze.hpp>
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr memory::Concurrency concurrency = memory::Concurrency::in_lanes;
  static void deal(FrozenGraph, const Options&);
};
static_assert(check_platform<Mine>());
