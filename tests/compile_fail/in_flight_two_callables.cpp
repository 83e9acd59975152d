// expect: rondo: a round takes pairs, as bind
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/in_flight.hpp>

struct Policies : rondo::DefaultPolicies {
  static constexpr std::size_t rounds_in_flight = 2;
};
using Session = rondo::RoundSession<rondo::NullPlatform, Policies>;

void use(Session& session, rondo::Input<float> x, const float (&hx)[4], int& n) {
  (void)session.submit_round(
      bind(x, hx), [&](rondo::Status) noexcept { ++n; }, [&](rondo::Status) noexcept { ++n; });
}
