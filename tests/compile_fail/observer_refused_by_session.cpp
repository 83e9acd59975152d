// expect: rondo: the observer declares Event::copies; write `void copies_in(rondo::Bytes) noexcept;` and `void copies_out(rondo::Bytes) noexcept;`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

struct Mine {
  static constexpr rondo::Events events{rondo::Event::copies};
  void round_begins(rondo::RoundIndex) noexcept {}
  void round_ends(rondo::RoundIndex, rondo::Status) noexcept {}
  void copies_in(rondo::Bytes) noexcept {}
  void copied_out(rondo::Bytes) noexcept {}
};
struct Policies : rondo::DefaultPolicies {
  using Observe = Mine;
};

void use(const rondo::TaskGraph& graph) { auto session = rondo::open<rondo::NullPlatform, Policies>(graph); }
