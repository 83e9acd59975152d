// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/dynamic_bindings.hpp>
#include <rondo/session/in_flight.hpp>
#include <rondo/session/open.hpp>

struct Two : rondo::DefaultPolicies {
  static constexpr std::size_t rounds_in_flight = 1;
};

int main() {
  rondo::TaskGraph graph;
  auto session = rondo::open<rondo::NullPlatform, Two>(graph);
  rondo::DynamicBindings bindings(session);
}
