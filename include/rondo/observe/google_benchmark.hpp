// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/measure/timing.hpp>
#include <rondo/observe/clocks.hpp>
#include <rondo/binding/bindings.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

/// A session of your own as a case of Google Benchmark (https://github.com/google/benchmark), timed by hand. Its header
/// is not included here, so nothing is asked of who does not use it: `State` stands for benchmark::State.
///
///     benchmark::RegisterBenchmark("saxpy", [&](benchmark::State& state) {
///       rondo::observe::measure_rounds(state, session, bind(x, hx), bind(y, hy));
///     })->UseManualTime();
///
/// The counter `device_s` is the device's own time of the last round in seconds, where there is one: told by the
/// platform, or predicted by the engine Model. One thread at a time, as the session. A round that fails ends the case
/// with an error that says why.
namespace rondo::observe {

namespace detail {

inline constexpr double seconds_per_ns = 1e-9;

/// The device's own time of the last round, where the platform tells one or its engine predicts it.
template <class State, class Session>
void count_device_time(State& state, Session& session) {
  using P = std::remove_cvref_t<decltype(session.platform())>;
  if constexpr (measure::detail::tells_device_time<P>) {
    state.counters["device_s"] = measure::detail::device_seconds(session.platform());
  }
}

}  // namespace detail

/// Runs rounds for as long as `state` wants; each one's time is that of run_round, two clock reads around it (some 50
/// ns together) included.
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

/// The same step by step, with counters for seconds per round: `begin_s` (bind, copy in), `launch_s` (refresh,
/// launch) and `finish_s` (wait, copy out). Two clock reads more than measure_rounds, and a round taken by steps costs
/// some 20 instructions more.
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
