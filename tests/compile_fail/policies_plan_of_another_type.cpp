// expect: rondo: a planner needs `static rondo::memory::Plan plan(const rondo::memory::Problem&);`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

struct Mine {
  static int plan(const rondo::memory::Problem&) { return 0; }
};
struct Policies : rondo::DefaultPolicies {
  using Plan = Mine;
};

void use(const rondo::TaskGraph& graph) { auto session = rondo::open<rondo::NullPlatform, Policies>(graph); }
