// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/observer.hpp>

struct Mine {
  static constexpr rondo::Events events{rondo::Event::phases, rondo::Event::copies, rondo::Event::refreshes,
                                        rondo::Event::deliveries};
  void round_begins(rondo::RoundIndex) noexcept {}
  void round_ends(rondo::RoundIndex, rondo::Status) noexcept {}
  void enters(rondo::Phase) noexcept {}
  void copies_in(rondo::Bytes) noexcept {}
  void copies_out(rondo::Bytes) noexcept {}
  void refresh_begins() noexcept {}
  void refreshed(const rondo::update::Refreshed&) noexcept {}
  void delivers(rondo::RoundIndex) noexcept {}
};
static_assert(rondo::check_observer<Mine>());
