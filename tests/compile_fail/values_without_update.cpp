// expect: rondo: the session's update strategy never writes values
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/launch/round_values.hpp>
#include <rondo/rondo.hpp>

struct Still : rondo::DefaultPolicies {
  using Update = rondo::update::NoUpdate;
  using Values = rondo::launch::RoundValues<>;
};

bool run(rondo::TaskGraph graph) { return rondo::open<rondo::A2A3Sim, Still>(graph).rounds() == 0; }
