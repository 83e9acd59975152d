// expect: rondo: an asynchronous copy would still use this memory when the call returns
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/rondo.hpp>

#include <vector>

bool run(rondo::RoundSession<rondo::A2A3Sim>& session, rondo::Input<float> x, std::vector<float>& pageable) {
  return session.begin_async_round(rondo::bind(x, pageable)).launch().finish().status().ok();
}
