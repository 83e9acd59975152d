// expect: rondo: Policies::Check must be rondo::NoCheck, rondo::CheckMemory or rondo::CheckRounds
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

#include <utility>

struct Mine : rondo::DefaultPolicies {
  struct Check {};
};

void use(rondo::TaskGraph graph) { auto session = rondo::open<rondo::NullPlatform, Mine>(std::move(graph)); }
