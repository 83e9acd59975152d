// expect: rondo: Policies::Time is DeviceTime, and the platform cannot tell how long a round takes
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

#include <utility>

struct Timing : rondo::DefaultPolicies {
  using Time = rondo::DeviceTime;
};

void use(rondo::TaskGraph graph) { auto session = rondo::open<rondo::NullPlatform, Timing>(std::move(graph)); }
