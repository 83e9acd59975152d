// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

struct Decides {
  static constexpr auto highest = rondo::UpdateLevel::none;
  rondo::UpdateLevel decide(rondo::Changes) noexcept { return highest; }
};
struct Policies : rondo::DefaultPolicies {
  using Update = Decides;
  using Plan = rondo::memory::Disjoint;
  using Refresh = rondo::update::Always<rondo::update::Mechanism::segment_copy>;
  using Lookups = rondo::launch::Counts;
  static std::uint64_t system_address(rondo::args::SystemSlot) { return 1; }
  static void log(rondo::LogEvent, const char*) noexcept {}
  static void report_unclosed(rondo::Status, const char*) noexcept {}
};

void use(const rondo::TaskGraph& graph) { auto session = rondo::open<rondo::NullPlatform, Policies>(graph); }
