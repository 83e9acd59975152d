// expect: rondo: Policies::Refresh chooses no refresh mechanism
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

struct Mine {
  static constexpr bool allows(rondo::update::Mechanism) noexcept { return true; }
  rondo::update::Mechanism choose(const rondo::update::RefreshFacts&) const { return {}; }
};
struct Policies : rondo::DefaultPolicies {
  using Refresh = Mine;
};

void use(const rondo::TaskGraph& graph) { auto session = rondo::open<rondo::NullPlatform, Policies>(graph); }
