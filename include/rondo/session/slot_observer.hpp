// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/types.hpp>
#include <rondo/update/refresher.hpp>

#include <cstdint>
#include <type_traits>

namespace rondo::detail {

/// What one slot of a session tells the session's observer: all but the round's end, which is for the session to see.
template <class Observer>
struct SlotObserver {
  Observer* observer = nullptr;  ///< none while the slot is being opened
  std::uint64_t round = 0;       ///< its number in the session

  void round_begins(RoundIndex) noexcept { observer->round_begins(RoundIndex{round}); }
  void round_ends(RoundIndex, Status) noexcept {
    if constexpr (requires { observer->enters(Phase::outside); }) observer->enters(Phase::outside);
  }
  void enters(Phase phase) noexcept requires requires(Observer& o) { o.enters(phase); }
  { observer->enters(phase); }
  void copies_in(Bytes size) noexcept requires requires(Observer& o) { o.copies_in(size); }
  { observer->copies_in(size); }
  void copies_out(Bytes size) noexcept requires requires(Observer& o) { o.copies_out(size); }
  { observer->copies_out(size); }
  void refresh_begins() noexcept requires requires(Observer& o) { o.refresh_begins(); }
  {
    if (observer != nullptr) observer->refresh_begins();
  }
  void refreshed(const update::Refreshed& what) noexcept requires requires(Observer& o) { o.refreshed(what); }
  {
    if (observer != nullptr) observer->refreshed(what);
  }
};

/// An observer that has nothing to keep need not be told.
template <class Observer>
requires std::is_empty_v<Observer>
struct SlotObserver<Observer> : Observer {
};

}  // namespace rondo::detail
