// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The cost of measuring beyond building and running: the wall time of 64 candidates with unequal build and run times,
// on four builders and one runner.
//   measure/<load>/async        ProgramMeasurer, Mode::Async
//   measure/<load>/sync         the same, Mode::Sync, batches of 16
//   measure/<load>/rival:16     batches by hand over the same pools: build 16, wait, run 16, wait
//   measure/<load>/rival:64     all in one batch
// The loads sleep instead of working, so the result shows which part waits for which, and does not depend on the number
// of cores:
//   builds  building takes longest;  runs  running does;  even  both take as long
// `bound` is max(total build / builders, total run / runners), the lower bound of the time; `goal` is 1.10 times
// that, one longest build and one longest run. Both are computed from the nominal times, in milliseconds.
//   measure/source/<async|rival:16>   the same with real compilers (two) and worker processes (one)
//   measure/trivial             10,000 candidates that do nothing; us_each

#include <rondo/measure/callable.hpp>
#include <rondo/measure/local_runner.hpp>
#include <rondo/measure/program_measurer.hpp>
#include <rondo/measure/source_builder.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <latch>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace rondo::measure;

constexpr std::size_t candidate_count = 64;
constexpr std::size_t builders = 4;

/// Milliseconds of sleep.
struct Load {
  double build;
  double run;
};

/// Times spread over a factor of sixteen, with these means.
std::vector<Load> make_loads(double mean_build, double mean_run) {
  std::mt19937_64 random{1};
  const auto spread = [&random] { return std::exp2(4.0 * static_cast<double>(random() >> 11) * 0x1p-53); };
  std::vector<Load> loads(candidate_count);
  double build = 0, run = 0;
  for (Load& load : loads) {
    load = {spread(), spread()};
    build += load.build;
    run += load.run;
  }
  for (Load& load : loads) {
    load.build *= mean_build * candidate_count / build;
    load.run *= mean_run * candidate_count / run;
  }
  return loads;
}

void sleep_ms(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }

/// Measures each candidate. @returns false if one failed
template <class B, class R>
bool measure(B& builder, R& runner, const std::vector<typename B::Input>& inputs, const MeasurerOptions& options) {
  ProgramMeasurer measurer(builder, runner, options);
  for (const auto& input : inputs) measurer.submit(input, [](const Result&) {});
  measurer.wait();
  return measurer.tally().faults[0] == inputs.size();
}

/// The old way: a batch is built, and run after its last candidate is built.
template <class B, class R>
bool measure_in_batches(B& builder, R& runner, const std::vector<typename B::Input>& inputs, std::size_t batch) {
  std::atomic<std::size_t> measured = 0;
  for (std::size_t first = 0; first < inputs.size(); first += batch) {
    const std::size_t count = std::min(batch, inputs.size() - first);
    std::vector<std::optional<typename B::Artifact>> artifacts(count);
    std::latch all_built(static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      builder.submit_build(inputs[first + i], [&, i](Built<typename B::Artifact> b) {
        artifacts[i] = std::move(b.artifact);
        all_built.count_down();
      });
    }
    all_built.wait();
    std::latch all_run(static_cast<std::ptrdiff_t>(count));
    for (auto& artifact : artifacts) {
      if (!artifact) {
        all_run.count_down();
        continue;
      }
      runner.submit_run(std::move(*artifact), [&](Measured m) {
        if (m.ok()) ++measured;
        all_run.count_down();
      });
    }
    all_run.wait();
  }
  return measured == inputs.size();
}

template <class Work>
void run_sleeping(benchmark::State& state, const std::vector<Load>& loads, Work&& work) {
  CallableBuilder<Load, Load> builder(builders, [](Load& load) {
    sleep_ms(load.build);
    return load;
  });
  CallableRunner<Load> runner(1, [](Load& load) {
    sleep_ms(load.run);
    return std::vector{1e-3 * load.run};
  });
  for (auto _ : state) {
    if (!work(builder, runner, loads)) state.SkipWithError("a candidate failed");
  }
  Load total{0, 0}, longest{0, 0};
  for (const Load& load : loads) {
    total = {total.build + load.build, total.run + load.run};
    longest = {std::max(longest.build, load.build), std::max(longest.run, load.run)};
  }
  const double bound = std::max(total.build / builders, total.run);
  state.counters["bound"] = bound;
  state.counters["goal"] = 1.10 * bound + longest.build + longest.run;
}

void register_sleeping(const std::string& load, double build, double run) {
  const auto loads = make_loads(build, run);
  const auto add = [&](const std::string& method, auto work) {
    benchmark::RegisterBenchmark(("measure/" + load + "/" + method).c_str(),
                                 [loads, work](benchmark::State& state) { run_sleeping(state, loads, work); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(1);
  };
  add("async", [](auto& b, auto& r, auto& l) { return measure(b, r, l, {}); });
  add("sync", [](auto& b, auto& r, auto& l) { return measure(b, r, l, {.mode = Mode::Sync, .batch = 16}); });
  for (const std::size_t batch : {16UL, 64UL}) {
    add("rival:" + std::to_string(batch),
        [batch](auto& b, auto& r, auto& l) { return measure_in_batches(b, r, l, batch); });
  }
}

/// A candidate whose compilation and run both take the longer the larger n is.
SourceCandidate make_source(std::size_t n) {
  std::string text = "#include <cstdint>\nstatic double x[64];\n";
  for (std::size_t f = 0; f <= 4 * (n % 16); ++f) {
    const std::string number = std::to_string(f);
    text += "static void f" + number + "() { for (int i = 0; i < 64; ++i) x[i] = x[i] * 1.0" + std::to_string(n + 1) +
            " + " + number + "; }\n";
  }
  text += "extern \"C\" void work(std::int64_t*) {\n  for (int n = 0; n < " + std::to_string(5000 * (n % 7 + 1)) +
          "; ++n) {";
  for (std::size_t f = 0; f <= 4 * (n % 16); ++f) text += " f" + std::to_string(f) + "();";
  return {.source = text + " }\n}\n"};
}

void register_source() {
  const auto add = [](const std::string& method, auto work) {
    benchmark::RegisterBenchmark(("measure/source/" + method).c_str(),
                                 [work](benchmark::State& state) {
                                   std::vector<SourceCandidate> inputs;
                                   for (std::size_t n = 0; n < candidate_count; ++n) inputs.push_back(make_source(n));
                                   LocalRunner runner([](Trial& trial) {
                                     auto* const entry = trial.symbol<void(std::int64_t*)>("work");
                                     trial.time_calls([&] { entry(nullptr); });
                                   });
                                   SourceBuilder builder({.workers = 2});
                                   for (auto _ : state) {
                                     if (!work(builder, runner, inputs)) state.SkipWithError("a candidate failed");
                                   }
                                 })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(1);
  };
  add("async", [](auto& b, auto& r, auto& l) { return measure(b, r, l, {}); });
  add("rival:16", [](auto& b, auto& r, auto& l) { return measure_in_batches(b, r, l, 16); });
}

void trivial(benchmark::State& state) {
  constexpr std::size_t count = 10'000;
  CallableBuilder<int, int> builder(2, [](int& n) { return n; });
  CallableRunner<int> runner(1, [](int& n) { return std::vector{static_cast<double>(n)}; });
  const std::vector<int> inputs(count, 1);
  double seconds = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    if (!measure(builder, runner, inputs, {})) state.SkipWithError("a candidate failed");
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  state.counters["us_each"] = 1e6 * seconds / static_cast<double>(count) / static_cast<double>(state.iterations());
}

}  // namespace

int main(int argc, char** argv) {
  register_sleeping("builds", 24, 3);
  register_sleeping("runs", 12, 6);
  register_sleeping("even", 24, 6);
  register_source();
  benchmark::RegisterBenchmark("measure/trivial", trivial)->UseRealTime()->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
