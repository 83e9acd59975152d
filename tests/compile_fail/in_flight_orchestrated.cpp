// expect: rondo: the platform lacks Capability::queued_orchestration
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/orchestrated.hpp>
#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/rondo.hpp>

struct Policies : rondo::DefaultPolicies {
  using Runtime = rondo::runtime::AicpuBuildGraph;
};

void use(const rondo::TaskGraph& interface) {
  auto session = rondo::open_pipelined<rondo::A2A3Onboard, 2, Policies>(interface, rondo::on_device);
  (void)session.submit_round();
}
