// expect: rondo: Policies::Refresh chooses no refresh mechanism; name update::ByCost<> or update::Always
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

struct Policies : rondo::DefaultPolicies {
  using Refresh = rondo::update::Mechanism;  // one of them, but no choice
};

void use(const rondo::TaskGraph& graph) { auto session = rondo::open<rondo::NullPlatform, Policies>(graph); }
