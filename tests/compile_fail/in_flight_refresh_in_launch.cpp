// expect: rondo: rounds in flight are launched by a queue, whose launches carry no base table
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>

struct Policies : rondo::DefaultPolicies {
  using Refresh = rondo::update::Always<rondo::update::Mechanism::in_launch>;
};

void use(rondo::PipelinedSession<rondo::A2A3Sim, 2, Policies>& session, rondo::Input<float> x,
         rondo::DeviceSpan<float> memory) {
  (void)session.submit_round(bind(x, memory));
}
