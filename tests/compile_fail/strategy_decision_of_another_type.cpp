// expect: rondo: the strategy does not decide; write `rondo::UpdateLevel decide(rondo::Changes) noexcept;`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/update/concept.hpp>

struct Mine {
  static constexpr rondo::UpdateLevel highest = rondo::UpdateLevel::init;
  bool decide(rondo::Changes) noexcept;
};
static_assert(rondo::check_update_strategy<Mine>());
