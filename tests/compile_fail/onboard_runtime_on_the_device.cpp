// expect: rondo: this runtime runs on the simulated platforms; on an NPU it needs an orchestrator that runs on the
// expect: which the onboard platforms do not launch
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/rondo.hpp>

struct OnTheDevice : rondo::DefaultPolicies {
  using Runtime = rondo::runtime::TensorMapRingBuffer;
};

void use(const rondo::TaskGraph& interface) {
  auto session = rondo::open<rondo::A2A3Onboard, OnTheDevice>(interface, [](auto&) {});
}
