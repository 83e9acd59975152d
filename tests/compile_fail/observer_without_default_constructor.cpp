// expect: rondo: the observer needs a default constructor
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/observer.hpp>

struct Mine {
  explicit Mine(int) {}
  void round_begins(rondo::RoundIndex) noexcept {}
  void round_ends(rondo::RoundIndex, rondo::Status) noexcept {}
};
static_assert(rondo::check_observer<Mine>());
