// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/concepts.hpp>

/// What a round must refresh of the args table.
namespace rondo::update {

/// Nothing: the table is written when the session is opened, and its addresses never change. Costs nothing.
struct NoUpdate {
  static constexpr UpdateLevel highest = UpdateLevel::none;
  [[nodiscard]] constexpr UpdateLevel decide(BaseTable) const noexcept { return UpdateLevel::none; }
};
static_assert(check_update_strategy<NoUpdate>());

/// The whole table, every round: never wrong, and so the yardstick for the others and the first thing to try when a
/// stale argument is suspected. Costs one pass over the table per round.
struct InitOnce {
  static constexpr UpdateLevel highest = UpdateLevel::init;
  [[nodiscard]] constexpr UpdateLevel decide(BaseTable) const noexcept { return UpdateLevel::init; }
};
static_assert(check_update_strategy<InitOnce>());

}  // namespace rondo::update
