// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The cost of observing: a round of one empty kernel, and a chain of them, without an observer, with counters, with a
// trace that is on, and with one that is off. `ns_per_span` is the additional time compared to the same round without
// an observer, measured just before, divided by the number of spans of the round.

#include <rondo/observe/clocks.hpp>
#include <rondo/observe/counters.hpp>
#include <rondo/observe/trace.hpp>
#include <rondo/observe/trace_json.hpp>
#include <rondo/observe/traced.hpp>
#include <rondo/rondo.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <sstream>
#include <vector>

namespace {

using namespace rondo;

struct Touch {
  static constexpr std::string_view name = "touch";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<float> y) noexcept { benchmark::DoNotOptimize(y.data()); }
};

template <class Observer>
struct With : DefaultPolicies {
  using Observe = Observer;
};

/// A chain of kernels on 16 floats.
template <class P, class Policies>
class Chain {
 public:
  explicit Chain(int tasks) : y_{graph_.inout<float>("y", {16})}, session_{freeze(with_tasks(tasks))} {}

  bool round() noexcept { return session_.run_round(bind(y_, hy_)).ok(); }
  [[nodiscard]] auto& session() noexcept { return session_; }

 private:
  const TaskGraph& with_tasks(int tasks) {
    for (int i = 0; i < tasks; ++i) graph_.add<Touch>(y_);
    return graph_;
  }

  TaskGraph graph_;
  InputOutput<float> y_;
  RoundSession<P, Policies> session_;
  std::vector<float> hy_ = std::vector<float>(16);
};

/// The time of a round in nanoseconds: the least of twenty measurements, since disturbances come from other programs.
template <class Rounds>
double least_ns(Rounds& rounds) {
  constexpr int rounds_of_a_measurement = 2000;
  double least = 1e18;
  for (int s = 0; s < 20; ++s) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds_of_a_measurement; ++i) benchmark::DoNotOptimize(rounds.round());
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count() / rounds_of_a_measurement);
  }
  return least;
}

template <class P, class Policies>
void measure(benchmark::State& state, int tasks, double spans, bool on = true) {
  Chain<A2A3Sim, DefaultPolicies> plain(tasks);
  Chain<P, Policies> observed(tasks);
  observe::record(observed.session(), on);
  const double without = least_ns(plain);
  const double with = least_ns(observed);
  for (auto _ : state) {
    if (!observed.round()) state.SkipWithError("a round failed");
  }
  state.counters["ns_without"] = without;
  state.counters["ns_beyond"] = with - without;
  if (spans > 0) state.counters["ns_per_span"] = (with - without) / spans;
}

using TracedSim = A2A3SimOn<observe::Traced<Inline>>;
using SteadyTraced = A2A3SimOn<observe::Traced<Inline, observe::SteadyClock>>;
using SteadyTrace = observe::TraceWith<65536, observe::SteadyClock>;

// A round over one inout has six spans: bind, copy in, launch, copy out, wait, and the round itself.
void nothing(benchmark::State& s) { measure<A2A3Sim, DefaultPolicies>(s, 1, 0); }
void counters(benchmark::State& s) { measure<A2A3Sim, With<observe::Counters>>(s, 1, 0); }
void counters_with_ticks(benchmark::State& s) {
  measure<A2A3Sim, With<observe::CountersWith<observe::TickClock>>>(s, 1, 5);
}
void counters_with_clock(benchmark::State& s) { measure<A2A3Sim, With<observe::TimedCounters>>(s, 1, 5); }
void trace_of_rounds(benchmark::State& s) { measure<A2A3Sim, With<observe::Trace>>(s, 1, 6); }
void trace_of_rounds_off(benchmark::State& s) { measure<A2A3Sim, With<observe::Trace>>(s, 1, 6, false); }
void trace_of_rounds_by_steady_clock(benchmark::State& s) { measure<A2A3Sim, With<SteadyTrace>>(s, 1, 6); }
// A trace of tasks has one span for each task and one for the launch.
void trace_of_1000_tasks(benchmark::State& s) { measure<TracedSim, DefaultPolicies>(s, 1000, 1001); }
void trace_of_1000_tasks_off(benchmark::State& s) { measure<TracedSim, DefaultPolicies>(s, 1000, 1001, false); }
void trace_of_1000_tasks_by_steady_clock(benchmark::State& s) { measure<SteadyTraced, DefaultPolicies>(s, 1000, 1001); }

/// The raw rival: two readings of the same counter, stored in an array.
void raw_pair_of_readings(benchmark::State& state) {
  struct Pair {
    std::uint64_t start, end;
  };
  std::vector<Pair> kept(65536);
  std::size_t n = 0;
  for (auto _ : state) {
    const std::uint64_t start = observe::TickClock::now();
    kept[n++ & 65535] = {start, observe::TickClock::now()};
    benchmark::ClobberMemory();
  }
}

/// The cost of writing a span to the file, which no round pays.
void write_json(benchmark::State& state) {
  Chain<TracedSim, With<observe::Trace>> chain(100);
  for (int i = 0; i < 100; ++i) (void)chain.round();
  std::size_t bytes = 0;
  for (auto _ : state) {
    std::ostringstream out;
    observe::write_trace(out, chain.session());
    bytes = out.str().size();
  }
  state.counters["bytes"] = static_cast<double>(bytes);
  state.counters["spans"] = 100 * (100 + 6 + 1);
}

BENCHMARK(nothing);
BENCHMARK(counters);
BENCHMARK(counters_with_ticks);
BENCHMARK(counters_with_clock);
BENCHMARK(raw_pair_of_readings);
BENCHMARK(trace_of_rounds);
BENCHMARK(trace_of_rounds_off);
BENCHMARK(trace_of_rounds_by_steady_clock);
BENCHMARK(trace_of_1000_tasks);
BENCHMARK(trace_of_1000_tasks_off);
BENCHMARK(trace_of_1000_tasks_by_steady_clock);
BENCHMARK(write_json)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
