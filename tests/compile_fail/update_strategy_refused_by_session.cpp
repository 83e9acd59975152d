// expect: rondo: the strategy does not decide; write
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

struct NoDecision {
  static constexpr auto highest = rondo::UpdateLevel::none;
};
struct Policies : rondo::DefaultPolicies {
  using Update = NoDecision;
};

void use(const rondo::TaskGraph& graph) { auto session = rondo::open<rondo::NullPlatform, Policies>(graph); }
