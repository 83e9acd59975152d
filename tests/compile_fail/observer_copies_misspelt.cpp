// expect: rondo: the observer declares Event::copies; write `void copies_in(rondo::Bytes) noexcept;` and `void copies_out(rondo::Bytes) noexcept;`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/observer.hpp>

struct Mine {
  static constexpr rondo::Events events{rondo::Event::copies};
  void round_begins(rondo::RoundIndex) noexcept {}
  void round_ends(rondo::RoundIndex, rondo::Status) noexcept {}
  void copies_in(rondo::Bytes) noexcept {}
  void copy_out(rondo::Bytes) noexcept {}
};
static_assert(rondo::check_observer<Mine>());
