// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/update/concept.hpp>

/// The update strategies of the library.
namespace rondo::update {

/// Returns the same level in every round, even if nothing changed.
template <UpdateLevel Level>
struct Fixed {
  static constexpr UpdateLevel highest = Level;
  [[nodiscard]] constexpr UpdateLevel decide(Changes) const noexcept { return Level; }
};

/// Refreshes nothing: the table is written when the session is opened, and its addresses never change. Costs nothing; a
/// session with this strategy accepts neither device memory nor host inputs, and its arena does not move.
struct NoUpdate : Fixed<UpdateLevel::none> {};
/// Refreshes the bytes of host inputs in every round; addresses never change.
struct HostInput : Fixed<UpdateLevel::host_input> {};
/// Refreshes the slots of all inputs and outputs, and host inputs, in every round.
struct ModelIo : Fixed<UpdateLevel::model_io> {};
/// Refreshes every address, and host inputs, in every round.
struct FeatureMapAndModelIo : Fixed<UpdateLevel::feature_map_and_model_io> {};
/// Refreshes the whole table in every round. It is always correct, so compare other strategies with it, and try it
/// first when you suspect a stale argument.
struct InitOnce : Fixed<UpdateLevel::init> {};

/// Refreshes only what changed. Costs one comparison for each base that a round sets; nothing in a session whose rounds
/// bind only host memory.
struct Auto {
  static constexpr UpdateLevel highest = UpdateLevel::init;
  [[nodiscard]] constexpr UpdateLevel decide(Changes changes) const noexcept { return changes.level(); }
};

static_assert(is_exact<Auto> && is_idle_while_unbound<Auto> && is_fixed<InitOnce> && !is_idle_while_unbound<ModelIo>);

}  // namespace rondo::update
