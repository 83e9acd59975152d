// expect: rondo: rounds of different shapes run one at a time
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/in_flight.hpp>
#include <rondo/session/shaped_session.hpp>

struct Policies : rondo::DefaultPolicies {
  static constexpr std::size_t rounds_in_flight = 2;
};

void use(const rondo::TaskGraph& graph) { auto session = rondo::open_shaped<rondo::NullPlatform, Policies>(graph); }
