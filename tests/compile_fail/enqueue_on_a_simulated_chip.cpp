// expect: rondo: the platform has no streams of callers; choose one that declares Capability::callers_stream
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/rondo.hpp>

bool run(rondo::RoundSession<rondo::A2A3Sim>& session, rondo::Input<float> x, rondo::DeviceSpan<const float> memory) {
  return session.enqueue_round(rondo::bind(x, memory)).ok();
}
