// expect: rondo: the completion of a round takes its Status and does not throw
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

using Session = rondo::PipelinedSession<rondo::NullPlatform, 2>;

void use(Session& session, rondo::Input<float> x, const float (&hx)[4], int& n) {
  (void)session.submit_round(bind(x, hx), [&](rondo::Status) { ++n; });
}
