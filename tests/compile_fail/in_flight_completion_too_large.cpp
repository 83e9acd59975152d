// expect: rondo: the completion of a round holds more than 48 bytes
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>
struct Large {
  char bytes[64];
};

using Session = rondo::PipelinedSession<rondo::NullPlatform, 2>;

void use(Session& session, rondo::Input<float> x, const float (&hx)[4], const Large& n) {
  (void)session.submit_round(bind(x, hx), [n](rondo::Status) noexcept { (void)n; });
}
