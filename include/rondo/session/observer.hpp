// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/enum_set.hpp>
#include <rondo/error.hpp>
#include <rondo/types.hpp>
#include <rondo/update/mechanism.hpp>

#include <concepts>
#include <cstdint>

namespace rondo {

/// The phases of a round on the host, in order; `outside`: the caller has control.
enum class Phase : std::uint8_t { outside, bind, copy_in, refresh, launch, copy_out, wait };

/// The events that an observer may receive in addition to the begin and end of rounds.
enum class Event : std::uint8_t {
  phases,      ///< `enters(Phase)`; also for a round that is refused after `bind`
  copies,      ///< `copies_in(Bytes)` and `copies_out(Bytes)`, before each copy
  refreshes,   ///< `refresh_begins()` and `refreshed(const update::Refreshed&)`
  deliveries,  ///< `delivers(RoundIndex)`, before the host waits for that round, if rounds are in flight
  /// `device_time(RoundIndex, double ns)`, after the end of a round that succeeded, if Policies::Time is DeviceTime
  device_times,
};

/// A set of events.
using Events = detail::EnumSet<Event>;

/// Receives the begin and the end of each round: `void round_begins(RoundIndex) noexcept` once its bindings are
/// accepted, and `void round_ends(RoundIndex, Status) noexcept`.
template <class O>
concept HearsRounds = requires(O& observer, RoundIndex round, Status status) {
  { observer.round_begins(round) } noexcept -> std::same_as<void>;
  { observer.round_ends(round, status) } noexcept -> std::same_as<void>;
};

namespace detail {

template <class O>
[[nodiscard]] consteval bool declares_event(Event event) {
  if constexpr (requires {
                  { O::events } -> std::convertible_to<Events>;
                })
    return O::events.has(event);
  return false;
}

}  // namespace detail

/// An observer that declares Event::phases and has its member.
template <class O>
concept HearsPhases = detail::declares_event<O>(Event::phases) && requires(O& observer, Phase phase) {
  { observer.enters(phase) } noexcept -> std::same_as<void>;
};
/// An observer that declares Event::copies and has its members.
template <class O>
concept HearsCopies = detail::declares_event<O>(Event::copies) && requires(O& observer, Bytes size) {
  { observer.copies_in(size) } noexcept -> std::same_as<void>;
  { observer.copies_out(size) } noexcept -> std::same_as<void>;
};
/// An observer that declares Event::refreshes and has its members.
template <class O>
concept HearsRefreshes =
    detail::declares_event<O>(Event::refreshes) && requires(O& observer, const update::Refreshed& what) {
      { observer.refresh_begins() } noexcept -> std::same_as<void>;
      { observer.refreshed(what) } noexcept -> std::same_as<void>;
    };
/// An observer that declares Event::deliveries and has its member.
template <class O>
concept HearsDeliveries = detail::declares_event<O>(Event::deliveries) && requires(O& observer, RoundIndex round) {
  { observer.delivers(round) } noexcept -> std::same_as<void>;
};

/// An observer that declares Event::device_times and has its member.
template <class O>
concept HearsDeviceTimes =
    detail::declares_event<O>(Event::device_times) && requires(O& observer, RoundIndex round, double ns) {
      { observer.device_time(round, ns) } noexcept -> std::same_as<void>;
    };

/// Explains, part by part, what O lacks to be an observer, as named by Policies::Observe. An observer is
/// default-constructible, receives the begin and end of rounds, and declares all other events that it receives: `static
/// constexpr rondo::Events events{rondo::Event::phases};`
template <class O>
consteval bool check_observer() {
  static_assert(std::default_initializable<O>, "rondo: the observer needs a default constructor");
  static_assert(HearsRounds<O>,
                "rondo: the observer does not hear rounds; write `void round_begins(rondo::RoundIndex) noexcept;` and "
                "`void round_ends(rondo::RoundIndex, rondo::Status) noexcept;`");
  static_assert(
      !requires { O::events; } ||
          requires {
            { O::events } -> std::convertible_to<Events>;
          },
      "rondo: the observer's `events` is not of type rondo::Events; write `static constexpr "
      "rondo::Events events{rondo::Event::phases};`");
  static_assert(HearsPhases<O> || !detail::declares_event<O>(Event::phases),
                "rondo: the observer declares Event::phases; write `void enters(rondo::Phase) noexcept;`");
  static_assert(HearsCopies<O> || !detail::declares_event<O>(Event::copies),
                "rondo: the observer declares Event::copies; write `void copies_in(rondo::Bytes) noexcept;` and `void "
                "copies_out(rondo::Bytes) noexcept;`");
  static_assert(HearsRefreshes<O> || !detail::declares_event<O>(Event::refreshes),
                "rondo: the observer declares Event::refreshes; write `void refresh_begins() noexcept;` and `void "
                "refreshed(const rondo::update::Refreshed&) noexcept;`");
  static_assert(HearsDeliveries<O> || !detail::declares_event<O>(Event::deliveries),
                "rondo: the observer declares Event::deliveries; write `void delivers(rondo::RoundIndex) noexcept;`");
  static_assert(HearsDeviceTimes<O> || !detail::declares_event<O>(Event::device_times),
                "rondo: the observer declares Event::device_times; write `void device_time(rondo::RoundIndex, double "
                "ns) noexcept;`");
  return HearsRounds<O>;
}

/// Observes nothing; takes no space and no instructions.
struct NoObserver {
  /// Does nothing.
  void round_begins(RoundIndex) noexcept {}
  /// Does nothing.
  void round_ends(RoundIndex, Status) noexcept {}
};

namespace detail {

/// Notifies an observer of the events of one round that it declared.
template <class O>
struct RoundObserver {
  O& observer;
  const std::uint64_t& number;  ///< of the round; not read if the observer does not use it

  [[nodiscard]] [[gnu::always_inline]] RoundIndex round() const noexcept { return RoundIndex{number}; }

  [[gnu::always_inline]] void begins() const noexcept { observer.round_begins(round()); }
  [[gnu::always_inline]] void enters([[maybe_unused]] Phase phase) const noexcept {
    if constexpr (HearsPhases<O>) observer.enters(phase);
  }
  [[gnu::always_inline]] void copies_in([[maybe_unused]] Bytes size) const noexcept {
    if constexpr (HearsCopies<O>) observer.copies_in(size);
  }
  [[gnu::always_inline]] void copies_out([[maybe_unused]] Bytes size) const noexcept {
    if constexpr (HearsCopies<O>) observer.copies_out(size);
  }
  [[gnu::always_inline]] void refresh_begins() const noexcept {
    if constexpr (HearsRefreshes<O>) observer.refresh_begins();
  }
  void delivers() const noexcept {
    if constexpr (HearsDeliveries<O>) observer.delivers(round());
  }
  template <class Refresher>
  [[gnu::always_inline]] void refreshed([[maybe_unused]] const Refresher& refresher) const noexcept {
    if constexpr (HearsRefreshes<O>) observer.refreshed(refresher.refreshed());
  }
};

}  // namespace detail
}  // namespace rondo
