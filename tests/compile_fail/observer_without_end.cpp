// expect: rondo: the observer does not hear rounds; write `void round_begins(rondo::RoundIndex) noexcept;`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/observer.hpp>

struct Mine {
  void round_begins(rondo::RoundIndex) noexcept {}
};
static_assert(rondo::check_observer<Mine>());
