// expect: CheckRounds looks into device memory, which a simulated platform alone allows
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/session/open.hpp>

struct Debugging : rondo::DefaultPolicies {
  using Check = rondo::CheckRounds;
};

void wrong(const rondo::TaskGraph& graph) { (void)rondo::open<rondo::NullPlatform, Debugging>(graph); }
