// expect: rondo: the observer declares Event::phases; write `void enters(rondo::Phase) noexcept;`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/observer.hpp>

struct Mine {
  static constexpr rondo::Events events{rondo::Event::phases};
  void round_begins(rondo::RoundIndex) noexcept {}
  void round_ends(rondo::RoundIndex, rondo::Status) noexcept {}
  void enter(rondo::Phase) noexcept {}
};
static_assert(rondo::check_observer<Mine>());
