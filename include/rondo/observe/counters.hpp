// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/observe/clocks.hpp>
#include <rondo/observe/concepts.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/types.hpp>
#include <rondo/update/mechanism.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rondo::observe {

/// Stands for the clock if no clock is read.
struct NoClock {};

/// A number that one thread adds to and any thread may read. Adding is a plain addition, without a locked instruction.
class Count {
 public:
  // model: counters.read
  operator std::uint64_t() const noexcept { return n_.load(std::memory_order_relaxed); }  // NOLINT: stands for it
  Count& operator+=(std::uint64_t more) noexcept {
    n_.store(n_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);  // model: counters.add
    return *this;
  }
  Count& operator++() noexcept { return *this += 1; }

 private:
  std::atomic<std::uint64_t> n_ = 0;
};

inline constexpr std::size_t phase_count = 7;  ///< the number of values of Phase

/// A snapshot of the counters as plain numbers. Times are in nanoseconds.
struct CountersSnapshot {
  /// Rounds that succeeded.
  std::uint64_t rounds = 0;
  std::uint64_t failed_rounds = 0;
  std::uint64_t copies_in = 0;
  /// The size of the copies to the device, in bytes.
  std::uint64_t bytes_in = 0;
  std::uint64_t copies_out = 0;
  /// The size of the copies to the host, in bytes.
  std::uint64_t bytes_out = 0;
  /// Refreshes by UpdateLevel; `none`: nothing had to be refreshed.
  std::uint64_t refreshes[update_level_count] = {};
  /// Refreshes by Mechanism.
  std::uint64_t mechanisms[update::mechanism_count] = {};
  /// Addresses that refreshes computed.
  std::uint64_t slots = 0;
  /// Bytes that refreshes copied, or that launches carried for them.
  std::uint64_t refresh_bytes = 0;
  /// The host's time in refreshes, in nanoseconds; only with a clock.
  std::uint64_t refresh_ns = 0;
  std::uint64_t phase_ns[phase_count] = {};  ///< the host's time, by Phase; 0 for `outside`
  std::uint64_t parks = 0;                   ///< how often threads of the engine went to sleep
  std::uint64_t shape_hits = 0;              ///< rounds whose shape was known; only with Policies::Lookups
  std::uint64_t shape_misses = 0;            ///< rounds whose shape had to be set up
  std::uint64_t shape_evictions = 0;         ///< shapes that were evicted to make room for others
};

/// Counts rounds, copies, and refreshes of args; for Policies::Observe. A `Clock` has `static std::uint64_t now()
/// noexcept`, in nanoseconds unless it has a timebase(); with a clock, the host's time in each phase of a round and in
/// refreshes is also measured. See clocks.hpp.
///
/// Lifetime: that of the session; session.observer() returns it. Thread safety: any thread may read, also during a
/// round; each counter is correct by itself, but two of them may be rounds apart. Cost: an addition for each round,
/// copy and refresh; with a clock, seven readings per round and two per refresh; nothing if no observer is used.
template <class Clock = NoClock>
struct CountersWith {
  static constexpr bool has_clock = !std::is_same_v<Clock, NoClock>;

  /// Rounds that succeeded.
  Count rounds;
  Count failed_rounds;
  /// Copies to the device.
  Count copies_in_count;
  /// The size of the copies to the device, in bytes.
  Count bytes_in;
  /// Copies to the host.
  Count copies_out_count;
  /// The size of the copies to the host, in bytes.
  Count bytes_out;
  Count refreshes[update_level_count];        ///< by level; `none`: nothing had to be refreshed
  Count mechanisms[update::mechanism_count];  ///< by mechanism
  Count slots;                                ///< addresses that refreshes computed
  Count bytes;                                ///< bytes that were copied to refresh args, or carried by launches
  Count refresh_ns;                           ///< the host's time in refreshes; with a clock, in its unit
  Count phase_ns[phase_count];                ///< the host's time, by Phase; only with a clock, in its unit

  /// All counters, with times in nanoseconds. From any thread. Cost: 30 loads; may wait 2 ms for a clock's timebase().
  [[nodiscard]] CountersSnapshot snapshot() const noexcept {
    double ns = 1;
    if constexpr (HasTimebase<Clock>) ns = Clock::timebase().ns_per_tick;
    const auto scaled = [&](std::uint64_t t) {
      return ns == 1 ? t : static_cast<std::uint64_t>(static_cast<double>(t) * ns);
    };
    CountersSnapshot s{rounds, failed_rounds, copies_in_count, bytes_in, copies_out_count, bytes_out};
    for (std::size_t i = 0; i < update_level_count; ++i) s.refreshes[i] = refreshes[i];
    for (std::size_t i = 0; i < update::mechanism_count; ++i) s.mechanisms[i] = mechanisms[i];
    s.slots = slots;
    s.refresh_bytes = bytes;
    s.refresh_ns = scaled(refresh_ns);
    for (std::size_t i = 0; i < phase_count; ++i) s.phase_ns[i] = scaled(phase_ns[i]);
    return s;
  }

  static constexpr Events events = has_clock ? Events{Event::phases, Event::copies, Event::refreshes, Event::deliveries}
                                             : Events{Event::copies, Event::refreshes};
  void round_begins(RoundIndex) noexcept {
    if constexpr (has_clock) move_to(Phase::outside, true);
  }
  void round_ends(RoundIndex, Status status) noexcept {
    if constexpr (has_clock) move_to(Phase::outside);
    ++(status.ok() ? rounds : failed_rounds);
  }
  void enters(Phase phase) noexcept
    requires(has_clock)
  {
    move_to(phase);
  }
  void delivers(RoundIndex) noexcept
    requires(has_clock)
  {
    move_to(Phase::wait);
  }
  void copies_in(Bytes size) noexcept {
    ++copies_in_count;
    bytes_in += size.value;
  }
  void copies_out(Bytes size) noexcept {
    ++copies_out_count;
    bytes_out += size.value;
  }
  void refresh_begins() noexcept {
    if constexpr (has_clock) {
      move_to(Phase::refresh);
      refresh_began_ = since_;
    }
  }
  void refreshed(const update::Refreshed& r) noexcept {
    if constexpr (has_clock) {
      if (refresh_began_ != 0) refresh_ns += Clock::now() - refresh_began_;
    }
    ++refreshes[static_cast<std::size_t>(r.level)];
    ++mechanisms[static_cast<std::size_t>(r.mechanism)];
    slots += r.slots;
    bytes += r.bytes;
  }

 private:
  /// The phase `bind` counts only if its round `begins`. After a refused round, the caller has control.
  void move_to(Phase next, bool begins = false) noexcept {
    const std::uint64_t now = Clock::now();
    if (phase_ != Phase::outside && (phase_ != Phase::bind || begins)) {
      phase_ns[static_cast<std::size_t>(phase_)] += now - since_;
    }
    phase_ = next;
    since_ = now;
  }

  std::uint64_t refresh_began_ = 0;
  std::uint64_t since_ = 0;
  Phase phase_ = Phase::outside;
};
/// Counters without times.
using Counters = CountersWith<>;
/// Counters with times from the steady clock.
using TimedCounters = CountersWith<SteadyClock>;

/// Reads the counters of a session, of its engine, and of the look-ups in a session of many shapes. From any thread;
/// for a session of many shapes, only from the thread that uses it.
template <class Session>
[[nodiscard]] CountersSnapshot snapshot(Session& session) noexcept {
  CountersSnapshot s;
  if constexpr (CountsRounds<std::remove_cvref_t<decltype(session.observer())>>) s = session.observer().snapshot();
  detail::with_engine(session, [&s](CountsParks auto& engine) { s.parks = engine.parks(); });
  if constexpr (CountsLookups<Session>) {
    const auto& lookups = session.lookups();
    s.shape_hits = lookups.hits_on_last + lookups.hits_in_table;
    s.shape_misses = lookups.misses;
    s.shape_evictions = lookups.evictions;
  }
  return s;
}

}  // namespace rondo::observe
