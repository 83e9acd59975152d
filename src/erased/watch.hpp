// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session.hpp"

#include <rondo/session/policies.hpp>

#include <ostream>
#include <type_traits>

#ifdef RONDO_ERASED_WATCHES

#include <rondo/observe/counters.hpp>
#include <rondo/observe/trace.hpp>
#include <rondo/observe/trace_json.hpp>
#include <rondo/observe/traced.hpp>

namespace rondo::erased {

/// Counts the rounds of a session, and keeps the last spans of their phases if Options::trace is set.
class Watch : public observe::TraceWith<16384, observe::TickClock> {
  using Trace = observe::TraceWith<16384, observe::TickClock>;

 public:
  static constexpr Events events = Trace::events;

  void enters(Phase phase) noexcept {
    Trace::enters(phase);
    counters_.enters(phase);
  }
  void round_begins(RoundIndex index) noexcept {
    Trace::round_begins(index);
    counters_.round_begins(index);
  }
  void round_ends(RoundIndex index, Status status) noexcept {
    Trace::round_ends(index, status);
    counters_.round_ends(index, status);
  }
  void delivers(RoundIndex index) noexcept {
    Trace::delivers(index);
    counters_.delivers(index);
  }
  void copies_in(Bytes size) noexcept {
    Trace::copies_in(size);
    counters_.copies_in(size);
  }
  void copies_out(Bytes size) noexcept {
    Trace::copies_out(size);
    counters_.copies_out(size);
  }
  void refresh_begins() noexcept {
    Trace::refresh_begins();
    counters_.refresh_begins();
  }
  void refreshed(const update::Refreshed& what) noexcept {
    Trace::refreshed(what);
    counters_.refreshed(what);
  }
  [[nodiscard]] observe::CountersSnapshot snapshot() const noexcept { return counters_.snapshot(); }

 private:
  observe::CountersWith<observe::TickClock> counters_;
};

/// Policies of sessions that can be watched.
struct WatchedPolicies : DefaultPolicies {
  using Observe = Watch;
};
/// An engine whose tasks can be traced.
template <class Engine>
using WatchedEngine = observe::Traced<Engine>;

template <class S>
inline constexpr bool is_watched = std::is_same_v<std::remove_cvref_t<decltype(std::declval<S&>().observer())>, Watch>;

template <class S>
void write_session_trace(std::ostream& out, S& session) {
  observe::write_trace(out, session);
}
template <class S>
void record_session(S& session, bool on) noexcept {
  observe::record(session, on);
}
template <class S>
[[nodiscard]] Counters counters_of(S& session) noexcept {
  const observe::CountersSnapshot s = observe::snapshot(session);
  Counters counters{s.rounds, s.failed_rounds, s.copies_in, s.bytes_in, s.copies_out, s.bytes_out};
  for (std::size_t level = 1; level < update_level_count; ++level) counters.refreshes += s.refreshes[level];
  counters.refresh_bytes = s.refresh_bytes;
  counters.parks = s.parks;
  static_assert(std::size(counters.phase_ns) == observe::phase_count);
  for (std::size_t p = 0; p < observe::phase_count; ++p) counters.phase_ns[p] = s.phase_ns[p];
  return counters;
}

}  // namespace rondo::erased

#else

namespace rondo::erased {

// Without the libraries of rondo::observe nothing is watched.
using WatchedPolicies = DefaultPolicies;
template <class Engine>
using WatchedEngine = Engine;
template <class S>
inline constexpr bool is_watched = false;

}  // namespace rondo::erased

#endif
