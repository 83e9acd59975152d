// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rounds with a deadline on the host: the synthesiser of examples/08_audio_graph, 38 tasks a block, next to the same
// calls in a loop and in the flow graphs of other libraries. And the cost of one observer of deadlines.
//
//   audio/<calls|rondo|tbb|taskflow>/threads:<t>   a block of 64 frames; p50_us, p999_us and max_us of its time;
//                                                  `missed` is the share of blocks that took longer than 1.33 ms
//   deadlines/<without|with>                       a round of one empty task; the difference is the cost of Deadlines
//
// One clock measures all of them. On a host with fewer cores than threads, or with other programs at work, p99.9 and
// max show the host.

#include "../examples/08_audio_graph/patch.hpp"
#include "../examples/08_audio_graph/plain_graph.hpp"

#include <rondo/observe/deadlines.hpp>
#include <rondo/platform/host/host.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

#include <benchmark/benchmark.h>

#ifdef RONDO_HAVE_TBB
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#endif
#ifdef RONDO_HAVE_TASKFLOW
#include <taskflow/taskflow.hpp>
#endif

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using rondo::observe::TickClock;

/// Measures `block(number)`, which returns whether it succeeded.
template <class Block>
void measure(benchmark::State& state, Block block) {
  rondo::observe::Histogram times;
  std::uint64_t missed = 0;
  const double us = TickClock::timebase().ns_per_tick / 1000;
  const auto limit = static_cast<std::uint64_t>(1e6 * audio::frames / audio::rate / us);
  bool is_good = true;
  std::int64_t number = 0;
  for (; number < 200; ++number) is_good = block(number) && is_good;  // the pool learns
  for (auto _ : state) {
    const std::uint64_t begin = TickClock::now();
    is_good = block(number++) && is_good;
    const std::uint64_t took = TickClock::now() - begin;
    missed += took > limit ? 1 : 0;
    times.add(took);
  }
  if (!is_good) state.SkipWithError("a block failed");
  state.counters["p50_us"] = us * static_cast<double>(times.percentile(0.5));
  state.counters["p999_us"] = us * static_cast<double>(times.percentile(0.999));
  state.counters["max_us"] = us * static_cast<double>(times.greatest());
  state.counters["missed"] = static_cast<double>(missed) / static_cast<double>(state.iterations());
}

void run_calls(benchmark::State& state) {
  audio::PlainGraph graph;
  const audio::Patch patch(graph);
  measure(state, [&](std::int64_t number) {
    *patch.position.data = number;
    graph.run();
    return true;
  });
}

void run_rondo(benchmark::State& state, std::uint32_t threads) {
  rondo::TaskGraph graph;
  const audio::Patch patch(graph);
  rondo::HostOn<rondo::Pool>::Options options;
  options.engine.threads = threads;
  auto session = rondo::open<rondo::HostOn<rondo::Pool>>(std::move(graph), options);
  bool is_good = session.upload(patch.seed, std::uint32_t{0}).ok();
  for (std::size_t s = 0; s < patch.states.size(); ++s) {
    const std::vector<float> zeros(static_cast<std::size_t>(patch.state_sizes[s]));
    is_good = session.upload(patch.states[s], zeros).ok() && is_good;
  }
  std::vector<float> sound(2 * audio::frames);
  measure(state, [&](std::int64_t number) {
    return is_good && session.run_round(bind(patch.position, number), bind(patch.sound, rondo::in_place(sound))).ok();
  });
  state.counters["threads_used"] = static_cast<double>(session.platform().engine().threads_used());
}

#if defined(RONDO_HAVE_TBB) || defined(RONDO_HAVE_TASKFLOW)
/// The edges of a plain graph: from the last writer to each reader, and from all users to the next writer.
std::vector<std::pair<std::size_t, std::size_t>> edges_of(const std::vector<audio::PlainGraph::Call>& calls) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  const auto uses = [](const std::vector<std::size_t>& tensors, std::size_t t) {
    return std::find(tensors.begin(), tensors.end(), t) != tensors.end();
  };
  for (std::size_t c = 0; c < calls.size(); ++c) {
    const auto find_before = [&](std::size_t tensor, bool writes) {
      for (std::size_t b = c; b-- > 0;) {
        const bool wrote = uses(calls[b].writes, tensor);
        if (wrote || (writes && uses(calls[b].reads, tensor))) edges.emplace_back(b, c);
        if (wrote) return;
      }
    };
    for (const std::size_t t : calls[c].reads) find_before(t, false);
    for (const std::size_t t : calls[c].writes) find_before(t, true);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}
#endif

#ifdef RONDO_HAVE_TBB
void run_tbb(benchmark::State& state, std::uint32_t threads) {
  using Message = tbb::flow::continue_msg;
  using Node = tbb::flow::continue_node<Message, tbb::flow::lightweight>;
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  audio::PlainGraph plain;
  const audio::Patch patch(plain);
  tbb::flow::graph graph;
  tbb::flow::broadcast_node<Message> start(graph);
  std::vector<std::unique_ptr<Node>> nodes;
  for (const audio::PlainGraph::Call& call : plain.calls()) {
    nodes.push_back(std::make_unique<Node>(graph, [&call](const Message& m) {
      call.run();
      return m;
    }));
  }
  std::vector<bool> has_predecessor(nodes.size());
  for (const auto& [before, after] : edges_of(plain.calls())) {
    tbb::flow::make_edge(*nodes[before], *nodes[after]);
    has_predecessor[after] = true;
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (!has_predecessor[n]) tbb::flow::make_edge(start, *nodes[n]);
  }
  measure(state, [&](std::int64_t number) {
    *patch.position.data = number;
    start.try_put(Message{});
    graph.wait_for_all();
    return true;
  });
}
#endif

#ifdef RONDO_HAVE_TASKFLOW
void run_taskflow(benchmark::State& state, std::uint32_t threads) {
  audio::PlainGraph plain;
  const audio::Patch patch(plain);
  tf::Executor executor(threads);
  tf::Taskflow taskflow;
  std::vector<tf::Task> tasks;
  for (const audio::PlainGraph::Call& call : plain.calls()) {
    tasks.push_back(taskflow.emplace([&call] { call.run(); }));
  }
  for (const auto& [before, after] : edges_of(plain.calls())) tasks[before].precede(tasks[after]);
  measure(state, [&](std::int64_t number) {
    *patch.position.data = number;
    executor.run(taskflow).wait();
    return true;
  });
}
#endif

struct Empty {
  static constexpr std::string_view name = "empty";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::InOut<float>) noexcept {}
};
struct Observed : rondo::DefaultPolicies {
  using Observe = rondo::observe::Deadlines;
};

/// Declared hot, since g++ compiles functions for size if main() calls them once.
template <class Policies>
[[gnu::hot, gnu::noinline]] void run_empty(benchmark::State& state) {
  rondo::TaskGraph graph;
  const auto x = graph.inout<float>("x", {4});
  graph.add<Empty>(x);
  auto session = rondo::open<rondo::Host, Policies>(std::move(graph));
  if constexpr (std::is_same_v<Policies, Observed>) session.observer().set_limit(std::chrono::microseconds(10));
  std::vector<float> hx(4);
  bool is_good = true;
  for (auto _ : state) is_good &= session.run_round(bind(x, hx)).ok();
  if (!is_good) state.SkipWithError("a round failed");
}

void add(const std::string& contender, std::uint32_t threads, auto run) {
  benchmark::RegisterBenchmark(("audio/" + contender + "/threads:" + std::to_string(threads)).c_str(), run)
      ->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  add("calls", 1, run_calls);
  for (const std::uint32_t threads : {1U, 2U}) {
    add("rondo", threads, [=](benchmark::State& state) { run_rondo(state, threads); });
#ifdef RONDO_HAVE_TBB
    add("tbb", threads, [=](benchmark::State& state) { run_tbb(state, threads); });
#endif
#ifdef RONDO_HAVE_TASKFLOW
    add("taskflow", threads, [=](benchmark::State& state) { run_taskflow(state, threads); });
#endif
  }
  benchmark::RegisterBenchmark("deadlines/without", run_empty<rondo::DefaultPolicies>);
  benchmark::RegisterBenchmark("deadlines/with", run_empty<Observed>);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
