// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Counts what rounds ask of the C library and the kernel: allocations, locks, clock reads, new threads. Every one of
// these functions is replaced by one that counts and passes on; in a thousand rounds, on each engine and in each way of
// running a round, none may be called, by any thread.

#include <rondo/observe/trace.hpp>
#include <rondo/observe/traced.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>
#include <rondo/session/round_loop.hpp>
#include <rondo/session/shaped_session.hpp>

#include "counted_calls.hpp"

#include <cstdio>
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

template <class P, class Policies = DefaultPolicies>
void check(const char* engine, const typename P::Options& options = {}) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  const auto y = graph.inout<float>("y", {64});
  const auto t = graph.workspace<float>("t", {64});
  const auto u = graph.workspace<float>("u", {64});
  graph.add<Twice>(x, t);
  graph.add<Twice>(x, u);  // something to run beside it
  graph.add<Sum>(t, y);
  auto session = open<P, Policies>(graph, options);
  std::vector<float> hx(64, 1.0F), hy(64);

  expect_no_calls(engine, "checked", [&] { return session.run_round(bind(x, hx), bind(y, hy)).ok(); });
  expect_no_calls(engine, "any order", [&] { return session.run_round(bind(y, hy), bind(x, hx)).ok(); });
  const auto binding = session.prebind(bind(x, hx), bind(y, hy));
  expect_no_calls(engine, "prebound", [&] { return session.run_round(binding).ok(); });
  expect_no_calls(engine, "stepwise",
                  [&] { return session.begin_round(bind(x, hx), bind(y, hy)).launch().finish().status().ok(); });
  expect_no_calls(engine, "refused", [&] { return session.run_round(bind(x, hx)).code() == Errc::unbound_tensor; });
  DynamicBindings dynamic(session);
  const Bytes size{64 * sizeof(float)};
  const bool bound = dynamic.bind(TensorId{0}, hx.data(), size).ok() && dynamic.bind(TensorId{1}, hy.data(), size).ok();
  expect_no_calls(engine, "dynamic", [&] { return bound && session.run_round(dynamic).ok(); });
  expect_no_calls(engine, "dynamic, stepwise",
                  [&] { return session.begin_round(dynamic).launch().finish().status().ok(); });
  std::vector<float> wide(128);
  const std::int64_t extent = 64, apart = 2 * sizeof(float), back = -static_cast<std::int64_t>(sizeof(float));
  const StridedLayout every_other(sizeof(float), &extent, &apart, 1), reversed(sizeof(float), &extent, &back, 1);
  const bool strided =
      dynamic.bind(TensorId{0}, wide.data(), every_other).ok() && dynamic.bind(TensorId{1}, &hy[63], reversed).ok();
  expect_no_calls(engine, "strided", [&] { return strided && session.run_round(dynamic).ok(); });
  expect_no_calls(engine, "strided, stepwise",
                  [&] { return session.begin_round(dynamic).launch().finish().status().ok(); });
  expect_no_calls(engine, "strided, bound anew",
                  [&] { return dynamic.bind(TensorId{0}, &hx[63], reversed).ok() && session.run_round(dynamic).ok(); });
}

/// Tracing reads the processor's counter, which is no call.
struct Traces : DefaultPolicies {
  using Observe = observe::Trace;
};

/// Rounds in flight, in every way to submit them; and what a coroutine awaits.
template <class P>
void check_in_flight(const char* engine, const typename P::Options& options = {}) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  const auto y = graph.output<float>("y", {64});
  graph.add<Twice>(x, y);
  auto session = open_pipelined<P, 3>(graph, options);
  std::vector<float> hx(64, 1.0F), hy(64);
  std::atomic<long> completed{0};

  expect_no_calls(engine, "submitted", [&] { return session.submit_round(bind(x, hx), bind(y, hy)).submitted().ok(); });
  expect_no_calls(engine, "completion", [&] {
    return session.submit_round(bind(x, hx), bind(y, hy), [&](Status) noexcept { ++completed; }).submitted().ok();
  });
  const auto binding = session.prebind(bind(x, hx), bind(y, hy));
  expect_no_calls(engine, "prebound", [&] { return session.submit_round(binding).submitted().ok(); });
  DynamicBindings dynamic(session);
  const Bytes size{64 * sizeof(float)};
  const bool bound = dynamic.bind(TensorId{0}, hx.data(), size).ok() && dynamic.bind(TensorId{1}, hy.data(), size).ok();
  expect_no_calls(engine, "dynamic", [&] { return bound && session.submit_round(dynamic).submitted().ok(); });
  std::vector<float> wide(128);
  const std::int64_t extent = 64, apart = 2 * sizeof(float);
  const bool strided = dynamic.bind(TensorId{1}, wide.data(), {sizeof(float), &extent, &apart, 1}).ok();
  expect_no_calls(engine, "strided", [&] { return strided && session.submit_round(dynamic).submitted().ok(); });
  expect_no_calls(engine, "waited for", [&] { return session.run_round(bind(x, hx), bind(y, hy)).ok(); });
  expect_no_calls(engine, "stepwise",
                  [&] { return session.begin_round(bind(x, hx), bind(y, hy)).launch().finish().status().ok(); });
  expect_no_calls(engine, "refused", [&] { return !session.submit_round(bind(x, hx)); });
  bool good = true;
  const auto loop = [&]() -> RoundLoop {
    while (good) {
      const Status status = co_await session.round(bind(x, hx), bind(y, hy));
      good = good && status.ok();
    }
    co_return Status{};
  };
  {
    const RoundLoop a = loop();
    const RoundLoop b = loop();
    expect_no_calls(engine, "coroutine", [&] { return session.poll() != 0 && good; });
    good = false;
    (void)session.wait_all();
  }
}

/// Rounds of shapes that are known, one at a time and in flight, bound in every way.
template <class P, std::size_t Depth>
void check_shaped(const char* engine, const typename P::Options& options = {}) {
  TaskGraph graph;
  const auto n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<Twice>(x, y);
  auto session = open_shaped<P, DefaultPolicies, launch::Lru<64>, Depth>(graph, options);
  std::vector<float> hx[] = {std::vector<float>(64, 1.0F), std::vector<float>(32, 1.0F)};
  std::vector<float> hy[] = {std::vector<float>(64), std::vector<float>(32)};
  std::size_t turn = 0;

  expect_no_calls(engine, "same", [&] { return session.run_round(bind(x, hx[0]), bind(y, hy[0])).ok(); });
  expect_no_calls(engine, "in turn", [&] {
    turn = 1 - turn;
    return session.run_round(bind(x, hx[turn]), bind(y, hy[turn])).ok();
  });
  expect_no_calls(engine, "symbols",
                  [&] { return session.run_round(with_symbols({{n, 64}}), bind(x, hx[0]), bind(y, hy[0])).ok(); });
  expect_no_calls(engine, "submitted", [&] {
    turn = 1 - turn;
    return session.submit_round(bind(x, hx[turn]), bind(y, hy[turn])).submitted().ok();
  });
  DynamicBindings dynamic(session);
  const Bytes size{64 * sizeof(float)};
  const bool bound =
      dynamic.bind(TensorId{0}, hx[0].data(), size).ok() && dynamic.bind(TensorId{1}, hy[0].data(), size).ok();
  expect_no_calls(engine, "dynamic", [&] { return bound && session.submit_round(dynamic).submitted().ok(); });
  (void)session.wait_all();
}

}  // namespace

int main() {
  if (!the_counters_count()) return 2;
  check<A2A3SimOn<Inline>>("inline");
  A2A3SimOn<Pool>::Options settled;  // one round in 16 of a pool that goes on learning reads the clock
  settled.engine.look_rounds = 0;
  check<A2A3SimOn<Pool>>("pool", settled);
  A2A3SimOn<Pool>::Options spread;  // over two threads, from the first round on
  spread.engine = {.threads = 2, .scheduling = platform::sim::Scheduling::uniform};
  check<A2A3SimOn<Pool>>("2 threads", spread);
  check<A2A3SimOn<Model>>("model");
  check<A2A3SimOn<Checked<Pool>>>("checked");
  check<NullPlatform>("null");
  check<A2A3SimOn<observe::Traced<Inline>>, Traces>("traced");
  A2A3SimOn<observe::Traced<Pool>>::Options traced;
  traced.engine.inner = spread.engine;
  check<A2A3SimOn<observe::Traced<Pool>>, Traces>("traced, 2", traced);
  check_in_flight<A2A3SimOn<Inline>>("inline, in flight");
  check_in_flight<A2A3SimOn<Pool>>("2 threads, in flight", spread);
  check_in_flight<NullPlatform>("null, in flight");
  check_shaped<A2A3SimOn<Inline>, 1>("shaped");
  check_shaped<A2A3SimOn<Inline>, 3>("shaped, in flight");
  check_shaped<A2A3SimOn<Pool>, 3>("shaped, in flight, 2 threads", spread);
  return quiet ? 0 : 1;
}
