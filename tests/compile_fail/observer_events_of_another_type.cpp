// expect: rondo: the observer's `events` is not of type rondo::Events; write `static constexpr rondo::Events events{rondo::Event::phases};`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/observer.hpp>

struct Mine {
  static constexpr rondo::Event events[] = {rondo::Event::phases};
  void round_begins(rondo::RoundIndex) noexcept {}
  void round_ends(rondo::RoundIndex, rondo::Status) noexcept {}
  void enters(rondo::Phase) noexcept {}
};
static_assert(rondo::check_observer<Mine>());
