// expect: use of deleted function || call to implicitly-deleted copy constructor
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

#include <utility>
#include <vector>

using Session = rondo::RoundSession<rondo::NullPlatform>;

void use(Session& session, rondo::Input<float> x, rondo::Resident<float> w) {
  std::vector<float> memory(8);
  auto bound = session.begin_round(bind(x, memory));
  (void)w, (void)bound;
  Session moved = std::move(session);
}
