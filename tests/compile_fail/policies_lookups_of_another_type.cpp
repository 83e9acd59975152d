// expect: rondo: Policies::Lookups must be launch::NoCounts or launch::Counts
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

struct Policies : rondo::DefaultPolicies {
  using Lookups = bool;
};

void use(const rondo::TaskGraph& graph) { auto session = rondo::open<rondo::NullPlatform, Policies>(graph); }
