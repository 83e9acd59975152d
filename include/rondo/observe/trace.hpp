// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/observe/clocks.hpp>
#include <rondo/observe/span_ring.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/types.hpp>
#include <rondo/update/mechanism.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rondo::observe {

/// Keeps the last spans of a session's rounds and their phases; for Policies::Observe. write_trace() writes them to a
/// file (see trace_json.hpp); the engine traces tasks (see traced.hpp).
///
///     struct MyPolicies : rondo::DefaultPolicies { using Observe = rondo::observe::Trace; };
///     auto session = open<A2A3Sim, MyPolicies>(graph);
///     … rounds …
///     write_trace(file, session);
///
/// `Spans`: the number of spans that are kept, six to eight per round; new ones replace the oldest. `Clock`: as for
/// CountersWith; if it has a timebase(), readings are converted to nanoseconds when they are written.
///
/// Lifetime: that of the session. Thread safety: that of the session, except that any thread may call record(). Errors:
/// none; lost spans are counted. Cost: the ring is allocated when the session is opened (48 bytes per span); a span
/// takes one reading of the clock, since a phase begins where the last one ends; when off, one load and a branch.
template <std::size_t Spans = 65536, class Clock = TickClock>
class TraceWith {
 public:
  /// The clock whose readings the spans hold.
  using clock = Clock;
  static constexpr std::uint32_t round = 0xFFFF'FFFF;  ///< the kind of a span that is a whole round; others are phases
  /// The kind of a span with the time of a round on the device: `bytes` is that time in nanoseconds, and `end` is when
  /// the host learned of the round's end.
  static constexpr std::uint32_t on_device = 0xFFFF'FFFE;
  static constexpr std::size_t most_in_flight = 64;

  TraceWith() : spans_(Spans) { anchor<Clock>(); }

  /// Sets whether to keep spans from now on; earlier ones stay. The current phase is left out.
  void record(bool on) noexcept { on_.store(on, std::memory_order_relaxed); }
  [[nodiscard]] bool records() const noexcept { return on_.load(std::memory_order_relaxed); }

  /// The spans, in the order in which they ended; to be read between rounds. For a phase, `bytes` is the size of its
  /// copies, and `detail` is the UpdateLevel of a refresh; for a round, `detail` is its Errc.
  [[nodiscard]] const SpanRing& spans() const noexcept { return spans_; }
  /// Discards all spans; to be called between rounds.
  void clear() noexcept { spans_.clear(); }

  // --- events from the session

  static constexpr Events events{Event::phases, Event::copies, Event::refreshes, Event::deliveries,
                                 Event::device_times};

  void enters(Phase phase) noexcept {
    if (!records()) [[unlikely]] {
      phase_ = Phase::outside;
      return;
    }
    move_to(phase, Clock::now());
  }
  void round_begins(RoundIndex index) noexcept {
    std::uint64_t& began = began_[rondo::index(index) % most_in_flight];
    began = 0;
    if (!records()) [[unlikely]]
      return;
    const std::uint64_t now = Clock::now();
    began = phase_ == Phase::bind ? since_ : now;
    round_ = rondo::index(index);
    move_to(Phase::outside, now, true);
  }
  void round_ends(RoundIndex index, Status status) noexcept {
    std::uint64_t& began = began_[rondo::index(index) % most_in_flight];
    if (!records()) [[unlikely]] {
      phase_ = Phase::outside;
      began = 0;
      return;
    }
    const std::uint64_t now = Clock::now();
    round_ = rondo::index(index);
    move_to(Phase::outside, now);
    if (began != 0) {
      spans_.add({began, now, round_, round, static_cast<std::uint32_t>(status.code()), 0});
    }
    began = 0;
  }
  /// Called when the host starts to wait for a round in flight.
  void delivers(RoundIndex index) noexcept {
    round_ = rondo::index(index);
    enters(Phase::wait);
  }
  void device_time(RoundIndex index, double ns) noexcept {
    if (records()) {
      spans_.add({since_, since_, rondo::index(index), on_device, 0, static_cast<std::uint64_t>(ns)});
    }
  }
  void copies_in(Bytes size) noexcept { bytes_ += size.value; }
  void copies_out(Bytes size) noexcept { bytes_ += size.value; }
  void refresh_begins() noexcept { enters(Phase::refresh); }
  void refreshed(const update::Refreshed& refreshed) noexcept {
    if (phase_ != Phase::refresh) return;
    bytes_ = refreshed.bytes;
    detail_ = static_cast<std::uint32_t>(refreshed.level);
  }

 private:
  /// The phase `bind` is left out unless its round `begins`. After a refused round, the caller has control.
  void move_to(Phase next, std::uint64_t now, bool begins = false) noexcept {
    if (phase_ != Phase::outside && (phase_ != Phase::bind || begins)) {
      spans_.add({since_, now, round_, static_cast<std::uint32_t>(phase_), detail_, bytes_});
    }
    phase_ = next;
    since_ = now;
    bytes_ = 0;
    detail_ = 0;
  }

  SpanRing spans_;
  std::atomic<bool> on_{true};
  Phase phase_ = Phase::outside;  ///< the phase of the calling thread, of any round
  std::uint32_t detail_ = 0;
  std::uint64_t since_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t round_ = 0;
  std::uint64_t began_[most_in_flight]{};  ///< of the rounds that are open; 0: the round is not traced
};
/// A trace with room for 65536 spans.
using Trace = TraceWith<>;

}  // namespace rondo::observe
