// expect: rondo: for rounds in flight include <rondo/session/in_flight.hpp>
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

struct Policies : rondo::DefaultPolicies {
  static constexpr std::size_t rounds_in_flight = 2;
};

void use(const rondo::TaskGraph& graph) { auto session = rondo::open<rondo::NullPlatform, Policies>(graph); }
