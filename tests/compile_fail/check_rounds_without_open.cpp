// expect: Policies::Check and Policies::Time choose the platform in open
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/session/open.hpp>

struct Debugging : rondo::DefaultPolicies {
  using Check = rondo::CheckRounds;
};

void wrong(const rondo::FrozenGraph& graph) { rondo::RoundSession<rondo::A2A3Sim, Debugging> session(graph); }
