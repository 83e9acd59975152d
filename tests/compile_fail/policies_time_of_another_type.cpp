// expect: rondo: Policies::Time must be rondo::NoTime or rondo::DeviceTime
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

#include <utility>

struct Mine : rondo::DefaultPolicies {
  using Time = double;
};

void use(rondo::TaskGraph graph) { auto session = rondo::open<rondo::NullPlatform, Mine>(std::move(graph)); }
