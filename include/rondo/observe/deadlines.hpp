// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/observe/clocks.hpp>
#include <rondo/observe/concepts.hpp>
#include <rondo/observe/histogram.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/types.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace rondo::observe {

/// The number of rounds that missed their time limit, and percentiles of the times, in nanoseconds.
struct DeadlineReport {
  std::uint64_t rounds = 0;  ///< rounds that ended, with any outcome
  std::uint64_t missed = 0;  ///< rounds that exceeded the limit or failed
  double limit_ns = 0;       ///< 0: no limit
  double p50_ns = 0;
  double p99_ns = 0;
  double p999_ns = 0;
  double max_ns = 0;
};

/// A limit for the time that a round takes on the host, the number of rounds that missed it, and a histogram of all
/// times; for Policies::Observe. The time of a round starts when its bindings are accepted and ends when its outputs
/// are delivered.
///
///     struct MyPolicies : rondo::DefaultPolicies { using Observe = rondo::observe::Deadlines; };
///     auto session = rondo::open<rondo::Host, MyPolicies>(graph);
///     session.observer().set_limit(std::chrono::microseconds(1333));
///     …
///     const auto report = session.observer().report();
///
/// Lifetime: that of the session. Thread safety: that of the session; read it between rounds. Cost: two readings of the
/// clock and an addition, at most 30 ns per round with TickClock; nothing if no observer is used.
template <class Clock = TickClock>
class DeadlinesWith {
 public:
  DeadlinesWith() { anchor<Clock>(); }

  /// Sets the limit from the next round on; 0 removes it. May wait 2 ms for a clock's timebase().
  void set_limit(std::chrono::nanoseconds limit) noexcept {
    limit_ns_ = static_cast<double>(limit.count());
    const double ticks = limit_ns_ / timebase_of<Clock>().ns_per_tick;
    limit_ = limit.count() <= 0 || ticks >= 0x1p64 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(ticks);
  }
  /// Discards all rounds, for example after a warm-up.
  void clear() noexcept {
    times_.clear();
    missed_ = failed_ = 0;
  }

  /// The report on the rounds so far. May wait 2 ms for a clock's timebase().
  [[nodiscard]] DeadlineReport report() const noexcept {
    const double ns = ns_per_tick();
    const auto percentile = [&](double share) { return static_cast<double>(times_.percentile(share)) * ns; };
    return {times_.count() + failed_,
            missed_ + failed_,
            limit_ns_,
            percentile(0.5),
            percentile(0.99),
            percentile(0.999),
            static_cast<double>(times_.greatest()) * ns};
  }
  /// The times of the rounds that succeeded, in units of the clock.
  [[nodiscard]] const Histogram& times() const noexcept { return times_; }
  /// The length of a unit of the clock. May wait 2 ms for a clock's timebase().
  [[nodiscard]] static double ns_per_tick() noexcept { return timebase_of<Clock>().ns_per_tick; }

  void round_begins(RoundIndex round) noexcept { begun_[place_of(round)] = Clock::now(); }
  void round_ends(RoundIndex round, Status status) noexcept {
    const std::uint64_t took = Clock::now() - begun_[place_of(round)];
    if (!status) [[unlikely]] {
      ++failed_;
      return;
    }
    missed_ += took > limit_ ? 1 : 0;
    times_.add(took);
  }

 private:
  static constexpr std::size_t most_in_flight = 64;
  [[nodiscard]] static constexpr std::size_t place_of(RoundIndex round) noexcept {
    return static_cast<std::uint64_t>(round) % most_in_flight;
  }

  Histogram times_;
  std::uint64_t limit_ = ~std::uint64_t{0};  ///< the time limit, in units of the clock
  std::uint64_t missed_ = 0;
  std::uint64_t failed_ = 0;
  double limit_ns_ = 0;
  std::uint64_t begun_[most_in_flight] = {};  ///< by round in flight: the reading at its start
};
using Deadlines = DeadlinesWith<>;

static_assert(check_observer<Deadlines>());

}  // namespace rondo::observe
