// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The cost of a task and of a round through each runtime. One iteration is one round.
//   runtimes/<shape>/<runtime>/<engine>   4096 empty tasks of two tensors each; ns_per_task
//     independent  each task reads the input and writes an output of its own
//     chain        each task reads the input and updates one tensor
//     pairs        each task reads the result of the one before it, intermediates from a ring, a scope per 16 tasks
//   runtimes/submit/<where>/regions:<n>   TensorMapRingBuffer: adding one task of two tensors while n uses are pending
//     tiles        boxes of one tensor        tensors   whole tensors
//     The regions are visited in random order, so that nothing can be prefetched, which is the hard case.
//     tiles_in_turn and tensors_in_turn visit neighbours one after another, as most orchestrations do.
//   runtimes/vector_example/<runtime>/<engine>   5 tasks on 16384 floats, host copies included

#include <rondo/orchestrated.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

#include <benchmark/benchmark.h>

#include <time.h>

#include <string>
#include <vector>

namespace {

using namespace rondo;

struct Aicpu : DefaultPolicies {
  using Runtime = runtime::AicpuBuildGraph;
};
struct TensorMap : DefaultPolicies {
  using Runtime = runtime::TensorMapRingBuffer;
};

struct Nothing {
  static constexpr std::string_view name = "nothing";
  static constexpr auto core = CoreType::vector;
  static void run(In<float>, Out<float>) noexcept {}
};
struct Touch {
  static constexpr std::string_view name = "touch";
  static constexpr auto core = CoreType::vector;
  static void run(In<float>, InOut<float>) noexcept {}
};
struct Add {
  static constexpr std::string_view name = "add";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, In<float> y, Out<float> z) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = x[i] + y[i];
  }
};
struct AddScalar {
  static constexpr std::string_view name = "add_scalar";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, float a, Out<float> z) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = x[i] + a;
  }
};
struct Multiply {
  static constexpr std::string_view name = "multiply";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, In<float> y, Out<float> z) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = x[i] * y[i];
  }
};

constexpr std::size_t tasks = 4096;
enum class Shape4096 { independent, chain, pairs };

template <class Round>
void measure(benchmark::State& state, std::size_t count, Round round) {
  for (int i = 0; i < 3; ++i) {
    if (!round()) state.SkipWithError("a round failed");
  }
  for (auto _ : state) {
    if (!round()) state.SkipWithError("a round failed");
  }
  state.counters["ns_per_task"] = benchmark::Counter(
      static_cast<double>(count) * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// One orchestration for both runtimes. It states edges to the runtime that needs them.
template <Shape4096 S>
constexpr auto orchestration = [](auto& round, Input<float> x, const std::vector<InputOutput<float>>& y) {
  constexpr bool is_explicit = requires { round.add_edge(runtime::TaskRef{}, runtime::TaskRef{}); };
  runtime::TaskRef last;
  if constexpr (S == Shape4096::independent) {
    for (std::size_t t = 0; t < tasks; ++t) round.template add<Nothing>(x, y[t % y.size()]);
  } else if constexpr (S == Shape4096::chain) {
    for (std::size_t t = 0; t < tasks; ++t) {
      const runtime::TaskRef task = round.template add<Touch>(x, y[0]);
      if constexpr (is_explicit) {
        if (t > 0) round.add_edge(last, task);
      }
      last = task;
    }
  } else {
    for (std::size_t t = 0; t < tasks; t += 16) {
      const auto scope = round.scope();
      auto from = round.template workspace<float>({16});
      last = round.template add<Nothing>(x, from);
      for (std::size_t i = 1; i < 16; ++i) {
        const auto to = round.template workspace<float>({16});
        const runtime::TaskRef task = round.template add<Nothing>(from, to);
        if constexpr (is_explicit) round.add_edge(last, task);
        last = task;
        from = to;
      }
    }
  }
};

template <class P, class Policies, Shape4096 S>
void run_shape(benchmark::State& state) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  std::vector<InputOutput<float>> y;
  // Independent tasks have an output each, as far as a round may bind tensors; those far apart share one and follow
  // each other.
  const std::size_t outputs = S == Shape4096::independent ? 128 : 1;
  for (std::size_t i = 0; i < outputs; ++i) y.push_back(graph.inout<float>("y" + std::to_string(i), {16}));
  std::vector<float> hx(16);
  std::vector<std::vector<float>> hy(outputs, std::vector<float>(16));

  const auto go = [&](auto& session) {
    if constexpr (S == Shape4096::independent) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        const auto binding = session.prebind(bind(x, hx), bind(y[I], hy[I])...);
        measure(state, tasks, [&] { return session.run_round(binding).ok(); });
      }(std::make_index_sequence<128>{});
    } else {
      const auto binding = session.prebind(bind(x, hx), bind(y[0], hy[0]));
      measure(state, tasks, [&] { return session.run_round(binding).ok(); });
    }
  };
  if constexpr (std::is_same_v<Policies, DefaultPolicies>) {
    TaskGraph host = graph;
    std::vector<Workspace<float>> between;
    for (std::size_t t = 0; t < tasks; ++t) {
      if constexpr (S == Shape4096::independent) {
        host.add<Nothing>(x, y[t % y.size()]);
      } else if constexpr (S == Shape4096::chain) {
        host.add<Touch>(x, y[0]);
      } else {
        if (t % 16 == 0) between.clear();
        between.push_back(host.workspace<float>("t" + std::to_string(t), {16}));
        if (t % 16 == 0) {
          host.add<Nothing>(x, between.back());
        } else {
          host.add<Nothing>(between[t % 16 - 1], between.back());
        }
      }
    }
    auto session = open<P>(host);
    go(session);
  } else {
    auto session = open<P, Policies>(graph, [=](auto& round) { orchestration<S>(round, x, y); });
    go(session);
  }
}

/// f = (a + b + 1) * (a + b + 2) + (a + b)
template <class P, class Policies>
void run_vector_example(benchmark::State& state) {
  constexpr std::size_t n = 16384;
  TaskGraph graph;
  const auto a = graph.input<float>("a", {n});
  const auto b = graph.input<float>("b", {n});
  const auto f = graph.output<float>("f", {n});
  std::vector<float> ha(n, 2.0F), hb(n, 3.0F), hf(n);
  const auto go = [&](auto& session) {
    measure(state, 5, [&] { return session.run_round(bind(a, ha), bind(b, hb), bind(f, hf)).ok(); });
    if (hf[n - 1] != 47.0F) state.SkipWithError("a wrong result");
  };
  if constexpr (std::is_same_v<Policies, DefaultPolicies>) {
    Workspace<float> t[4];
    for (int i = 0; i < 4; ++i) t[i] = graph.workspace<float>("t" + std::to_string(i), {n});
    graph.add<Add>(a, b, t[0]);
    graph.add<AddScalar>(t[0], 1.0F, t[1]);
    graph.add<AddScalar>(t[0], 2.0F, t[2]);
    graph.add<Multiply>(t[1], t[2], t[3]);
    graph.add<Add>(t[3], t[0], f);
    auto session = open<P>(graph);
    go(session);
  } else {
    auto session = open<P, Policies>(graph, [=](auto& round) {
      const auto c = round.template workspace<float>({n});
      const auto d = round.template workspace<float>({n});
      const auto e = round.template workspace<float>({n});
      const auto g = round.template workspace<float>({n});
      const auto t0 = round.template add<Add>(a, b, c);
      const auto t1 = round.template add<AddScalar>(c, 1.0F, d);
      const auto t2 = round.template add<AddScalar>(c, 2.0F, e);
      const auto t3 = round.template add<Multiply>(d, e, g);
      const auto t4 = round.template add<Add>(g, c, f);
      if constexpr (requires { round.add_edge(t0, t1); }) {
        round.add_edge(t0, t1);
        round.add_edge(t0, t2);
        round.add_edge(t1, t3);
        round.add_edge(t2, t3);
        round.add_edge(t3, t4);
      }
    });
    go(session);
  }
}

/// The processor time of this thread, so that other programs on the machine do not count.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// No task runs until the orchestration ends, so all tasks stay pending.
void run_submit(benchmark::State& state, bool tiles, bool in_turn) {
  using P = A2A3Sim;
  const auto regions = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t measured = 512;
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {regions + 1, 16});
  double seconds = 0;
  auto orchestrate = [&](auto& round) {
    const auto big = round.template workspace<float>({regions, 16});
    std::vector<decltype(round.view(big, {0, 0}, {1, 16}))> parts;
    parts.reserve(regions);
    for (std::size_t i = 0; i < regions; ++i) {
      parts.push_back(tiles ? round.view(big, {i, 0}, {1, 16}) : round.template workspace<float>({16}));
    }
    // Each part is written by one pending task: one use of a region for each.
    for (const auto& part : parts) round.add_raw("write", CoreType::vector, +[](ArgWord*) {}, runtime::writes(part));
    // The regions are made before, so that making them is not measured.
    decltype(parts) walk;
    walk.reserve(measured + 1);
    for (std::size_t i = 0; i <= measured; ++i)
      walk.push_back(parts[(regions / 2 + i * (in_turn ? 1 : 7919)) % regions]);
    const double begin = cpu_seconds();
    for (std::size_t i = 0; i < measured; ++i) round.template add<Touch>(walk[i], walk[i + 1]);
    seconds = cpu_seconds() - begin;
  };
  RoundSession<P, TensorMap, Orchestrated<decltype(orchestrate)>>::Options options;
  options.orchestration.late = true;
  options.orchestration.window = 1U << 18;
  options.orchestration.tensors = 1U << 18;
  options.orchestration.regions = 1U << 20;
  options.orchestration.edges = 1U << 20;
  options.orchestration.ring_bytes = Bytes{64U << 20};
  auto session = open<P, TensorMap>(graph, orchestrate, options);
  std::vector<float> hx((regions + 1) * 16);
  for (int i = 0; i < 5; ++i) {
    if (!session.run_round(bind(x, hx))) state.SkipWithError("a round failed");
  }
  for (auto _ : state) {
    if (!session.run_round(bind(x, hx))) state.SkipWithError("a round failed");
    state.SetIterationTime(seconds / measured);
  }
}

template <class P, class Policies>
void register_runtime(const std::string& tail) {
  benchmark::RegisterBenchmark(("runtimes/independent/" + tail).c_str(), run_shape<P, Policies, Shape4096::independent>)
      ->UseRealTime();
  benchmark::RegisterBenchmark(("runtimes/chain/" + tail).c_str(), run_shape<P, Policies, Shape4096::chain>)
      ->UseRealTime();
  benchmark::RegisterBenchmark(("runtimes/pairs/" + tail).c_str(), run_shape<P, Policies, Shape4096::pairs>)
      ->UseRealTime();
  benchmark::RegisterBenchmark(("runtimes/vector_example/" + tail).c_str(), run_vector_example<P, Policies>)
      ->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  register_runtime<A2A3Sim, DefaultPolicies>("host/inline");
  register_runtime<A2A3Sim, Aicpu>("aicpu/inline");
  register_runtime<A2A3Sim, TensorMap>("tensormap/inline");
  register_runtime<A2A3SimOn<Pool>, DefaultPolicies>("host/pool");
  register_runtime<A2A3SimOn<Pool>, Aicpu>("aicpu/pool");
  register_runtime<A2A3SimOn<Pool>, TensorMap>("tensormap/pool");
  for (const bool tiles : {true, false}) {
    for (const bool in_turn : {false, true}) {
      const std::string what = std::string(tiles ? "tiles" : "tensors") + (in_turn ? "_in_turn" : "");
      benchmark::RegisterBenchmark(("runtimes/submit/" + what + "/regions").c_str(),
                                   [tiles, in_turn](benchmark::State& state) { run_submit(state, tiles, in_turn); })
          ->RangeMultiplier(10)
          ->Range(100, 100'000)
          ->Iterations(20)
          ->UseManualTime();
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
