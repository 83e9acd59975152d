// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The overlap of rounds in flight on a bus whose copies take time.
//   pipeline/shape:<111|131|311>/depth:<1..4>   the times of copy in, compute and copy out, in units of 100 µs. The
//                                               counter `efficiency` is rounds/s × the slowest stage's time: 1 is the
//                                               best possible, and one round at a time reaches slowest / sum
//   own_cost/<run|submit|completion|coroutine>/depth:<d>   almost empty rounds on a bus that takes no time: the cost
//                                               of submitting a round and taking its result, next to run_round

#include <rondo/platform/sim/traffic.hpp>
#include <rondo/rondo.hpp>
#include <rondo/session/round_loop.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using rondo::platform::sim::now_ns;
using TimedSim = rondo::A2A3SimOn<rondo::Inline, rondo::platform::sim::TimedBus>;

/// A kernel that takes a time, and no other resource of the host.
struct Compute {
  static constexpr std::string_view name = "compute";
  static constexpr auto core = rondo::CoreType::cube;
  static void run(rondo::In<float> x, rondo::Out<float> y, std::uint64_t ns) noexcept {
    const std::uint64_t end = now_ns() + ns;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
    while (now_ns() < end) rondo::platform::sim::pause();
  }
};
struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};

/// With one round in flight it is a RoundSession, which programs without overlap open.
template <class P, std::size_t Depth>
auto open_with(const rondo::TaskGraph& graph, const typename P::Options& options = {}) {
  if constexpr (Depth == 1) {
    return rondo::open<P>(graph, options);
  } else {
    return rondo::open_pipelined<P, Depth>(graph, options);
  }
}

template <std::size_t Depth>
bool run_one(auto& session, const auto&... pairs) {
  if constexpr (Depth == 1) {
    return session.run_round(pairs...).ok();
  } else {
    return session.submit_round(pairs...).submitted().ok();
  }
}
template <std::size_t Depth>
bool finish(auto& session) {
  if constexpr (Depth == 1) {
    return true;
  } else {
    return session.wait_all().ok();
  }
}

template <std::size_t Depth>
void pipeline(benchmark::State& state, std::string_view shape) {
  constexpr double unit_ns = 100'000;
  constexpr int rounds = 300;
  const auto stage = [&](std::size_t i) { return unit_ns * (shape[i] - '0'); };
  const double slowest = std::max({stage(0), stage(1), stage(2)});

  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  const auto y = graph.output<float>("y", {64});
  graph.add<Compute>(x, y, static_cast<std::uint64_t>(stage(1)));
  TimedSim::Options options;
  options.traffic.copy_in_latency_ns = stage(0);
  options.traffic.copy_out_latency_ns = stage(2);
  auto session = open_with<TimedSim, Depth>(graph, options);

  std::vector<float> in(64, 1.0F);
  std::vector<std::vector<float>> out(Depth, std::vector<float>(64));
  double seconds = 0;
  for (auto _ : state) {
    const std::uint64_t begin = now_ns();
    bool good = true;
    for (std::size_t r = 0; r < rounds; ++r)
      good = good && run_one<Depth>(session, bind(x, in), bind(y, out[r % Depth]));
    if (!good || !finish<Depth>(session)) return state.SkipWithError("a round failed");
    const double took = static_cast<double>(now_ns() - begin) / 1e9;
    seconds += took;
    state.SetIterationTime(took);
  }
  const double per_second = rounds * static_cast<double>(state.iterations()) / seconds;
  state.counters["rounds/s"] = per_second;
  state.counters["efficiency"] = per_second * slowest / 1e9;
}

enum class Way { run, submit, completion, coroutine };

template <std::size_t Depth>
void own_cost(benchmark::State& state, Way way) {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto y = graph.output<float>("y", {16});
  graph.add<Twice>(x, y);
  auto session = open_with<rondo::A2A3Sim, Depth>(graph);
  std::vector<float> in(16, 1.0F), out(16);

  if constexpr (Depth > 1) {
    if (way == Way::coroutine) {
      constexpr int rounds = 10'000;
      const auto loop = [&]() -> rondo::RoundLoop {
        for (int r = 0; r < rounds; ++r) {
          if (auto status = co_await session.round(bind(x, in), bind(y, out)); !status) co_return status;
        }
        co_return rondo::Status{};
      };
      for (auto _ : state) {
        const std::uint64_t begin = now_ns();
        std::vector<rondo::RoundLoop> loops;
        for (std::size_t d = 0; d < Depth; ++d) loops.push_back(loop());
        if (!session.wait_all()) return state.SkipWithError("a round failed");
        state.SetIterationTime(static_cast<double>(now_ns() - begin) / 1e9 / (rounds * Depth));  // of one round
      }
      return;
    }
  }
  for (auto _ : state) {
    bool good = true;
    if constexpr (Depth > 1) {
      good = way == Way::completion
                 ? session
                       .submit_round(bind(x, in), bind(y, out),
                                     [&](rondo::Status status) noexcept { benchmark::DoNotOptimize(status); })
                       .submitted()
                       .ok()
                 : session.submit_round(bind(x, in), bind(y, out)).submitted().ok();
    } else {
      good = session.run_round(bind(x, in), bind(y, out)).ok();
    }
    if (!good) return state.SkipWithError("a round failed");
  }
  if (!finish<Depth>(session)) state.SkipWithError("a round failed");
}

template <std::size_t Depth>
void register_depth() {
  const std::string depth = "/depth:" + std::to_string(Depth);
  for (const char* shape : {"111", "131", "311"}) {
    benchmark::RegisterBenchmark(("pipeline/shape:" + std::string(shape) + depth).c_str(),
                                 [shape](benchmark::State& state) { pipeline<Depth>(state, shape); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  const auto add = [&](const char* name, Way way) {
    auto* const bench = benchmark::RegisterBenchmark(("own_cost/" + std::string(name) + depth).c_str(),
                                                     [way](benchmark::State& state) { own_cost<Depth>(state, way); });
    if (way == Way::coroutine) {
      bench->UseManualTime()->Iterations(20);
    } else {
      bench->UseRealTime();
    }
  };
  if (Depth == 1) return add("run", Way::run);
  add("submit", Way::submit);
  add("completion", Way::completion);
  add("coroutine", Way::coroutine);
}

}  // namespace

int main(int argc, char** argv) {
  register_depth<1>();
  register_depth<2>();
  register_depth<3>();
  register_depth<4>();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
