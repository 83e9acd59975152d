// expect: CheckRounds looks into device memory, which the simulated platforms and the host alone allow
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/session/open.hpp>

struct Debugging : rondo::DefaultPolicies {
  using Check = rondo::CheckRounds;
};

void wrong(const rondo::TaskGraph& graph) { (void)rondo::open<rondo::NullPlatform, Debugging>(graph); }
