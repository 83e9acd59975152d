// expect: rondo: on an NPU the orchestration is a program on the device's AICPU
// expect: open the session with rondo::on_device in place of the callable
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/orchestrated.hpp>
#include <rondo/platform/onboard/onboard.hpp>

struct OnTheDevice : rondo::DefaultPolicies {
  using Runtime = rondo::runtime::TensorMapRingBuffer;
};

void use(const rondo::TaskGraph& interface) {
  auto session = rondo::open<rondo::A2A3Onboard, OnTheDevice>(interface, [](auto&) {});
}
