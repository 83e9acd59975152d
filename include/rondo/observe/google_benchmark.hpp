// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/error.hpp>
#include <rondo/measure/timing.hpp>
#include <rondo/observe/clocks.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

/// Runs a session of your own as a case of Google Benchmark (https://github.com/google/benchmark) with manual timing.
/// The library's header is not included here: `State` is benchmark::State.
///
///     benchmark::RegisterBenchmark("saxpy", [&](benchmark::State& state) {
///       rondo::observe::measure_rounds(state, session, bind(x, hx), bind(y, hy));
///     })->UseManualTime();
///
/// The counter `device_s` is the device's own time of the last round in seconds, if the platform reports it or the
/// engine Model predicts it. Thread safety: one thread at a time, as for the session. A round that fails ends the case
/// with an error that states the reason.
namespace rondo::observe {

namespace detail {

inline constexpr double seconds_per_ns = 1e-9;

/// Sets the counter `device_s`, if the device's time of the last round is known.
template <class State, class Session>
void count_device_time(State& state, Session& session) {
  if constexpr (requires { session.last_round_ns(); }) {
    state.counters["device_s"] = seconds_per_ns * session.last_round_ns();
  }
}

}  // namespace detail

/// Runs rounds for as long as `state` requests. The time of each is that of run_round, including two clock reads around
/// it (some 50 ns together).
template <class State, class Session, BoundPair... B>
void measure_rounds(State& state, Session& session, const B&... pairs) {
  while (state.KeepRunning()) {
    const std::uint64_t begin = SteadyClock::now();
    const Status status = session.run_round(pairs...);
    const std::uint64_t end = SteadyClock::now();
    if (!status) return state.SkipWithError(session.explain(status).c_str());
    state.SetIterationTime(static_cast<double>(end - begin) * detail::seconds_per_ns);
  }
  detail::count_device_time(state, session);
}

/// Does the same step by step, with counters for seconds per round: `begin_s` (bind, copy in), `launch_s` (refresh,
/// launch) and `finish_s` (wait, copy out). It reads the clock two more times than measure_rounds, and a round by steps
/// costs some 20 instructions more.
template <class State, class Session, BoundPair... B>
void measure_phases(State& state, Session& session, const B&... pairs) {
  std::uint64_t phases[3] = {};
  std::uint64_t rounds = 0;
  while (state.KeepRunning()) {
    const std::uint64_t t0 = SteadyClock::now();
    auto round = session.begin_round(pairs...);
    const std::uint64_t t1 = SteadyClock::now();
    auto running = std::move(round).launch();
    const std::uint64_t t2 = SteadyClock::now();
    const Status status = std::move(running).finish().status();
    const std::uint64_t t3 = SteadyClock::now();
    if (!status) return state.SkipWithError(session.explain(status).c_str());
    phases[0] += t1 - t0;
    phases[1] += t2 - t1;
    phases[2] += t3 - t2;
    ++rounds;
    state.SetIterationTime(static_cast<double>(t3 - t0) * detail::seconds_per_ns);
  }
  if (rounds == 0) return;
  const auto per_round = [&](std::uint64_t ns) {
    return static_cast<double>(ns) * detail::seconds_per_ns / static_cast<double>(rounds);
  };
  state.counters["begin_s"] = per_round(phases[0]);
  state.counters["launch_s"] = per_round(phases[1]);
  state.counters["finish_s"] = per_round(phases[2]);
  detail::count_device_time(state, session);
}

}  // namespace rondo::observe
