// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The cost of a round through the interface for C, next to the same round in C++: two inputs and two outputs of 16
// floats, one task.
//   c_rounds/cpp        A2A3Sim, pairs checked each round
//   c_rounds/c          bindings made once
//   c_rounds/c_bind     the four tensors bound again before each round

#include <rondo/c/rondo.h>
#include <rondo/rondo.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace {

constexpr std::size_t n = 16;

/// s = x + y, d = x - y
struct SumAndDifference {
  static constexpr std::string_view name = "sum_and_difference";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::In<float> y, rondo::Out<float> s, rondo::Out<float> d) noexcept {
    for (std::size_t i = 0; i < s.size(); ++i) {
      s[i] = x[i] + y[i];
      d[i] = x[i] - y[i];
    }
  }
};

struct Memory {
  alignas(64) std::array<std::array<float, n>, 4> tensors{};
};

void cpp(benchmark::State& state) {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.input<float>("y", {n});
  const auto s = graph.output<float>("s", {n});
  const auto d = graph.output<float>("d", {n});
  graph.add<SumAndDifference>(x, y, s, d);
  auto session = rondo::open<rondo::A2A3Sim>(graph);
  Memory m;
  for (auto _ : state) {
    const rondo::Status status =
        session.run_round(bind(x, m.tensors[0]), bind(y, m.tensors[1]), bind(s, m.tensors[2]), bind(d, m.tensors[3]));
    if (!status) state.SkipWithError("a round failed");
    benchmark::ClobberMemory();
  }
}

/// The same kernel over the argument words that the interface for C passes.
void entry(std::int64_t* words) { rondo::detail::kernel_entry<SumAndDifference>(words); }

void c(benchmark::State& state, bool binds) {
  rondo_kernel kernel{};
  rondo_graph graph{};
  rondo_tensor tensors[4] = {};
  rondo_session session{};
  rondo_bindings bindings{};
  rondo_code code = rondo_kernel_create("sum", RONDO_VECTOR, "x: in f32[n], y: in f32[n], s: out f32[n], d: out f32[n]",
                                        entry, &kernel);
  code |= rondo_graph_create(RONDO_EDGES_DERIVED, &graph);
  code |= rondo_graph_add_tensors(graph, "x: in f32[16], y: in f32[16], s: out f32[16], d: out f32[16]", tensors, 4);
  rondo_argument arguments[4];
  for (std::size_t t = 0; t < 4; ++t) arguments[t] = rondo_tensor_argument(tensors[t]);
  code |= rondo_graph_add_task(graph, kernel, arguments, 4, nullptr, nullptr);
  code |= rondo_open(graph, "a2a3_sim", nullptr, &session);
  code |= rondo_bindings_create(session, &bindings);
  Memory m;
  const auto bind_all = [&] {
    rondo_code bound = RONDO_OK;
    for (std::size_t t = 0; t < 4; ++t)
      bound |= rondo_bind(bindings, tensors[t], m.tensors[t].data(), n * sizeof(float));
    return bound;
  };
  code |= bind_all();
  if (code != RONDO_OK) state.SkipWithError(rondo_last_error());
  for (auto _ : state) {
    if (binds && bind_all() != RONDO_OK) state.SkipWithError(rondo_last_error());
    if (rondo_run_round(bindings) != RONDO_OK) state.SkipWithError(rondo_last_error());
    benchmark::ClobberMemory();
  }
  (void)rondo_close(session);
  (void)rondo_graph_destroy(graph);
  (void)rondo_kernel_destroy(kernel);
}

BENCHMARK(cpp)->Name("c_rounds/cpp");
BENCHMARK_CAPTURE(c, bound_once, false)->Name("c_rounds/c");
BENCHMARK_CAPTURE(c, bound_each_round, true)->Name("c_rounds/c_bind");

}  // namespace

BENCHMARK_MAIN();
