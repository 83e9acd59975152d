// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/update/concept.hpp>

/// The strategies of the library.
namespace rondo::update {

/// Gives the same answer every round, whatever changed.
template <UpdateLevel Level>
struct Fixed {
  static constexpr UpdateLevel highest = Level;
  [[nodiscard]] constexpr UpdateLevel decide(Changes) const noexcept { return Level; }
};

/// Nothing: the table is written when the session is opened, and its addresses never change. Costs nothing; a session
/// with it takes neither device memory nor host inputs, and its arena does not move.
struct NoUpdate : Fixed<UpdateLevel::none> {};
/// The bytes of host inputs, every round; addresses never change.
struct HostInput : Fixed<UpdateLevel::host_input> {};
/// The slots of all inputs and outputs, every round, and host inputs.
struct ModelIo : Fixed<UpdateLevel::model_io> {};
/// Every address, every round, and host inputs.
struct FeatureMapAndModelIo : Fixed<UpdateLevel::feature_map_and_model_io> {};
/// The whole table, every round. It is never wrong, so compare other strategies with it, and try it first when you
/// suspect a stale argument.
struct InitOnce : Fixed<UpdateLevel::init> {};

/// The least that is enough. Costs a compare of each base that a round sets; in a session whose rounds bind host memory
/// only, nothing.
struct Auto {
  static constexpr UpdateLevel highest = UpdateLevel::init;
  [[nodiscard]] constexpr UpdateLevel decide(Changes changes) const noexcept { return changes.level(); }
};

static_assert(is_exact<Auto> && is_idle_while_unbound<Auto> && is_fixed<InitOnce> && !is_idle_while_unbound<ModelIo>);

}  // namespace rondo::update
