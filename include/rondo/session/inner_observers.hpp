// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/types.hpp>
#include <rondo/update/refreshed.hpp>

#include <cstdint>
#include <type_traits>

namespace rondo::detail {

/// What a session inside another one tells that one's observer as it hears it: all but where rounds begin and end.
template <class Observer>
struct ObserverOfOuter {
  Observer* observer = nullptr;  ///< none while the session is being opened

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

/// Of one slot of a session with rounds in flight: a round's end is for the session to see.
template <class Observer>
struct SlotObserver : ObserverOfOuter<Observer> {
  std::uint64_t round = 0;  ///< its number in the session

  void round_begins(RoundIndex) noexcept { this->observer->round_begins(RoundIndex{round}); }
  void round_ends(RoundIndex, Status) noexcept {
    if constexpr (requires { this->observer->enters(Phase::outside); }) this->observer->enters(Phase::outside);
  }
};

/// Of one shape of a session that knows many, which numbers the rounds of all of them.
template <class Observer>
struct ShapeObserver : ObserverOfOuter<Observer> {
  const std::uint64_t* rounds = nullptr;  ///< of the session, so far

  void round_begins(RoundIndex) noexcept { this->observer->round_begins(RoundIndex{*rounds}); }
  void round_ends(RoundIndex, Status status) noexcept { this->observer->round_ends(RoundIndex{*rounds}, status); }
};

/// An observer that has nothing to keep need not be told.
template <class Observer>
requires std::is_empty_v<Observer>
struct SlotObserver<Observer> : Observer {
};
template <class Observer>
requires std::is_empty_v<Observer>
struct ShapeObserver<Observer> : Observer {
};

}  // namespace rondo::detail
