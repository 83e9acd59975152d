// expect: rondo: the observer declares Event::refreshes; write `void refresh_begins() noexcept;`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/observer.hpp>

struct Mine {
  static constexpr rondo::Events events{rondo::Event::refreshes};
  void round_begins(rondo::RoundIndex) noexcept {}
  void round_ends(rondo::RoundIndex, rondo::Status) noexcept {}
  void refreshed(const rondo::update::Refreshed&) noexcept {}
};
static_assert(rondo::check_observer<Mine>());
