// expect: rondo: the session's update strategy never changes the address of an input or output
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/rondo.hpp>

struct Still : rondo::DefaultPolicies {
  using Update = rondo::update::NoUpdate;
};

bool run(rondo::ShapedSession<rondo::A2A3Sim, Still>& session, rondo::Input<float> x, rondo::DeviceSpan<float> memory) {
  return session.run_round(rondo::bind(x, memory)).ok();
}
