// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The same as hot_path_calls for rounds whose graph is built while they run: with workers and without, rings that turn
// over, edges and regions by the hundred, and not one allocation, lock, clock read, thread or library in 1000 rounds.

#include <rondo/orchestrated.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

#include "counted_calls.hpp"

#include <vector>

namespace {

using namespace rondo;

struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};
struct Sum {
  static constexpr std::string_view name = "sum";
  static constexpr auto core = CoreType::cube;
  static void run(In<float> x, InOut<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
  }
};

template <class Runtime_>
struct With : DefaultPolicies {
  using Runtime = Runtime_;
};

template <class P, class R>
void check(const char* name, bool late) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  const auto y = graph.inout<float>("y", {64});
  const auto n = graph.input<int>("n", {});
  const auto orchestration = [=](auto& round) {
    const int count = round.value(n);
    runtime::TaskRef last;
    for (int i = 0; i < count; ++i) {
      const auto scope = round.scope();
      const auto t = round.template workspace<float>({64});
      const auto first = round.template add<Twice>(x, t);
      const auto second = round.template add<Sum>(round.view(t, {16}, {32}), round.view(y, {i % 32}, {32}));
      if constexpr (requires { round.add_edge(first, second); }) {
        round.add_edge(first, second);
        if (i > 0) round.add_edge(last, second);
      }
      last = second;
    }
  };
  typename RoundSession<P, With<R>, Orchestrated<std::remove_cv_t<decltype(orchestration)>>>::Options options;
  options.orchestration.late = late;
  options.orchestration.ring_bytes = Bytes{8192};
  options.orchestration.window = 256;
  auto session = open<P, With<R>>(graph, orchestration, options);
  std::vector<float> hx(64, 1.0F), hy(64);
  int hn = 100;
  const auto binding = session.prebind(bind(x, hx), bind(y, hy), bind(n, hn));
  // With threads, a round that waits for room in its small ring looks at the clock while nothing runs: that is how a
  // deadlock is told from a thread that the host has taken off its core.
  const bool may_wait = !std::is_same_v<P, A2A3Sim>;
  const auto checked = [&] {
    hn = 1 + (hn * 7) % 100;
    return session.run_round(bind(x, hx), bind(y, hy), bind(n, hn)).ok();
  };
  const auto prebound = [&] { return session.run_round(binding).ok(); };
  const auto stepwise = [&] {
    return session.begin_round(bind(x, hx), bind(y, hy), bind(n, hn)).launch().finish().status().ok();
  };
  expect_no_calls(name, "checked", checked, may_wait);
  expect_no_calls(name, "prebound", prebound, may_wait);
  expect_no_calls(name, "stepwise", stepwise, may_wait);
}

}  // namespace

int main() {
  if (!the_counters_count()) return 2;
  check<A2A3Sim, runtime::TensorMapRingBuffer>("map", false);
  check<A2A3Sim, runtime::TensorMapRingBuffer>("map late", true);
  check<A2A3SimOn<Pool>, runtime::TensorMapRingBuffer>("map pool", false);
  check<A2A3Sim, runtime::AicpuBuildGraph>("aicpu", false);
  check<A2A3SimOn<Pool>, runtime::AicpuBuildGraph>("aicpupool", false);
  return quiet ? 0 : 1;
}
