// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// How to measure a session of your own with Google Benchmark: rondo/observe/google_benchmark.hpp.
//   saxpy/rounds   the time of run_round
//   saxpy/phases   the same step by step, with the phases as counters
//   saxpy/model    with the predicted time on the chip as counter device_s

#include <rondo/observe/google_benchmark.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/session/open.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <vector>

namespace {

struct Saxpy {
  static constexpr std::string_view name = "saxpy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
  }
};

/// Opens a session on P and calls `measure` with it and its bindings.
template <class P, class Measure>
void with_session(benchmark::State& state, Measure measure) {
  constexpr std::size_t n = 4096;
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.inout<float>("y", {n});
  graph.add<Saxpy>(x, y, 2.0F);
  auto session = rondo::open<P>(graph);
  std::vector<float> hx(n, 1.0F), hy(n);
  measure(state, session, bind(x, hx), bind(y, hy));
}

constexpr auto rounds = [](auto&&... all) { rondo::observe::measure_rounds(all...); };
constexpr auto phases = [](auto&&... all) { rondo::observe::measure_phases(all...); };

}  // namespace

int main(int argc, char** argv) {
  using benchmark::State;
  benchmark::RegisterBenchmark("saxpy/rounds", [](State& s) {
    with_session<rondo::A2A3Sim>(s, rounds);
  })->UseManualTime();
  benchmark::RegisterBenchmark("saxpy/phases", [](State& s) {
    with_session<rondo::A2A3Sim>(s, phases);
  })->UseManualTime();
  benchmark::RegisterBenchmark("saxpy/model", [](State& s) {
    with_session<rondo::A2A3SimOn<rondo::Model>>(s, rounds);
  })->UseManualTime();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
