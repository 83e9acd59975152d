// expect: rondo: the host memory's element type is not the tensor's; bind memory of the tensor's own type
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
  const std::vector<double> wrong(8);
  (void)session.upload(w, wrong);
}
