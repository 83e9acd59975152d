// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/observe/clocks.hpp>
#include <rondo/session/observer.hpp>
#include <rondo/types.hpp>
#include <rondo/update/mechanism.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::observe::detail::bench {

inline constexpr std::size_t phases = 7;  ///< the number of values of Phase
using RoundTimes = std::array<std::uint64_t, phases>;

/// The host's time in each phase of each round, in ticks of TickClock; memory is allocated before the rounds.
class PhaseTimes {
 public:
  explicit PhaseTimes(std::size_t rounds) { rounds_.reserve(rounds); }

  /// Discards all measured rounds.
  void clear() noexcept { *this = PhaseTimes(std::move(rounds_)); }
  void move_to(Phase next) noexcept {
    const std::uint64_t now = TickClock::now();
    if (phase_ != Phase::outside) now_[static_cast<std::size_t>(phase_)] += now - since_;
    phase_ = next;
    since_ = now;
  }
  void end_round() noexcept {
    move_to(Phase::outside);
    if (rounds_.size() < rounds_.capacity()) rounds_.push_back(now_);
    now_ = {};
  }

  [[nodiscard]] const std::vector<RoundTimes>& rounds() const noexcept { return rounds_; }
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t refreshes = 0;

  /// The object to which the observers of sessions opened from now on report.
  static inline PhaseTimes* current = nullptr;

 private:
  explicit PhaseTimes(std::vector<RoundTimes>&& room) noexcept : rounds_{std::move(room)} { rounds_.clear(); }

  std::vector<RoundTimes> rounds_;
  RoundTimes now_{};
  Phase phase_ = Phase::outside;
  std::uint64_t since_ = 0;
};

/// The observer that reports the phases; each costs one reading of the clock.
class Watch {
 public:
  static constexpr Events events{Event::phases, Event::copies, Event::refreshes, Event::deliveries};
  void round_begins(RoundIndex) noexcept {}
  void round_ends(RoundIndex, Status) noexcept { to_->end_round(); }
  void enters(Phase phase) noexcept { to_->move_to(phase); }
  void delivers(RoundIndex) noexcept { to_->move_to(Phase::wait); }
  void copies_in(Bytes size) noexcept { to_->bytes_in += size.value; }
  void copies_out(Bytes size) noexcept { to_->bytes_out += size.value; }
  void refresh_begins() noexcept { to_->move_to(Phase::refresh); }
  void refreshed(const update::Refreshed&) noexcept { ++to_->refreshes; }

 private:
  PhaseTimes* to_ = PhaseTimes::current;
};

}  // namespace rondo::observe::detail::bench
