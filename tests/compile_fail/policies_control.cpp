// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

struct Decides {
  static constexpr auto highest = rondo::UpdateLevel::none;
  rondo::UpdateLevel decide(rondo::BaseTable) noexcept { return highest; }
};
struct Policies : rondo::DefaultPolicies {
  using Update = Decides;
  static constexpr std::size_t rounds_in_flight = 1;
};

void use(const rondo::TaskGraph& graph) { auto session = rondo::open<rondo::NullPlatform, Policies>(graph); }
