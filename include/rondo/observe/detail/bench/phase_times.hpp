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

/// The host's time in each phase of each round, in ticks of TickClock, and the device's time for its tasks; memory is
/// allocated before the rounds.
class PhaseTimes {
 public:
  explicit PhaseTimes(std::size_t rounds) {
    rounds_.reserve(rounds);
    device_ns_.reserve(rounds);
  }
  PhaseTimes(PhaseTimes&&) = default;
  PhaseTimes& operator=(PhaseTimes&&) = default;
  ~PhaseTimes() {
    if (current == this) current = nullptr;
  }

  /// Discards all measured rounds.
  void clear() noexcept { *this = PhaseTimes(std::move(rounds_), std::move(device_ns_)); }
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
  void device_time(double ns) noexcept {
    if (device_ns_.size() < device_ns_.capacity()) device_ns_.push_back(ns);
  }

  [[nodiscard]] const std::vector<RoundTimes>& rounds() const noexcept { return rounds_; }
  /// The device's time for each round, in nanoseconds; empty if the session does not measure it.
  [[nodiscard]] const std::vector<double>& device_ns() const noexcept { return device_ns_; }
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t refreshes = 0;

  /// The object to which the observers of sessions opened from now on report.
  static inline PhaseTimes* current = nullptr;

 private:
  PhaseTimes(std::vector<RoundTimes>&& rounds, std::vector<double>&& device_ns) noexcept
      : rounds_{std::move(rounds)}, device_ns_{std::move(device_ns)} {
    rounds_.clear();
    device_ns_.clear();
  }

  std::vector<RoundTimes> rounds_;
  std::vector<double> device_ns_;
  RoundTimes now_{};
  Phase phase_ = Phase::outside;
  std::uint64_t since_ = 0;
};

/// The observer that reports the phases; each costs one reading of the clock. In a session that is opened outside of
/// bench_main(), nothing reads them.
class Watch {
 public:
  Watch() = default;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  static constexpr Events events{Event::phases, Event::copies, Event::refreshes, Event::deliveries,
                                 Event::device_times};
  void round_begins(RoundIndex) noexcept {}
  void round_ends(RoundIndex, Status) noexcept { to_->end_round(); }
  void device_time(RoundIndex, double ns) noexcept { to_->device_time(ns); }
  void enters(Phase phase) noexcept { to_->move_to(phase); }
  void delivers(RoundIndex) noexcept { to_->move_to(Phase::wait); }
  void copies_in(Bytes size) noexcept { to_->bytes_in += size.value; }
  void copies_out(Bytes size) noexcept { to_->bytes_out += size.value; }
  void refresh_begins() noexcept { to_->move_to(Phase::refresh); }
  void refreshed(const update::Refreshed&) noexcept { ++to_->refreshes; }

 private:
  PhaseTimes unread_{0};
  PhaseTimes* to_ = PhaseTimes::current == nullptr ? &unread_ : PhaseTimes::current;
};

}  // namespace rondo::observe::detail::bench
