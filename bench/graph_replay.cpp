// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The cost of replaying a graph, per round: Rondo's default engine next to raw calls in topological order, oneTBB's
// flow graph (the faster of its default and lightweight policies, found by trial) and Taskflow, if CMake finds them.
//   replay/<shape>/work:<0|1>/threads:<t>/<raw|rondo|tbb|taskflow>   work 0: empty tasks, 1: about 1 µs each
//   replay_beside_raw/<shape>/threads:<t>/<rondo|tbb|by_hand>   tasks of 1 µs; to resolve a few percent, 31 rounds in
//     turn with 31 raw ones, at the same clock rate; `of_raw` is the median of their ratios, `of_raw_25` and
//     `of_raw_75` the quartiles; one iteration is all of these rounds. by_hand, for fork_join100x8 only: two threads
//     whose code is those stages and nothing else; above `at_best` it takes the time in which a word reaches another
//     core
//   in_flight/<shape>/threads:<t>/<one_at_a_time|four>   tasks of 1 µs; 100 rounds after 10 raw ones, with one round at
//     a time, or with four in flight; `efficiency` is the median of raw's time for them / (threads · the time they
//     took), `efficiency_25` and `efficiency_75` the quartiles; one iteration is all of these rounds
//   learn/<growing|shrinking|alternating|noisy>/threads:<t>   12 chains of 8 tasks, whose costs change after 100
//     rounds, and again if they alternate. A session that learned the new costs from the start is the reference:
//     `rounds_to_settle` is the number of rounds after the last change until 16 of them have a median within a tenth of
//     the reference's, and `of_best` is the final ratio to it, by the medians of 31 rounds of each, in turn
//   open/10000/<planned|saved>   two chains of 5,000 tasks of about 1 µs on two threads, opened by itself and run for
//     60 rounds, or with the file of an earlier session and run for 9; `opening_ms` is the time to open it, and
//     `searches` and `learning_rounds` count the work that the file saves
// In the other cases one iteration is one round. Raw runs on one thread only.
// On two threads a round takes at least `at_best` times half of raw's time, by the graph alone: 1 for independent and
// random (500 and 1000 steps of two tasks), 1.001 for the tree (its root runs alone: 512 steps for 1023 tasks), 1.002
// for the wavefront (its first and last tasks run alone: 513 steps for 1024 tasks), 2 for the chain. In uneven800 the
// tasks take 1 to 8 µs, some 40.

#include "graph_shapes.hpp"

#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/open.hpp>

#include <benchmark/benchmark.h>
#ifdef RONDO_HAVE_TBB
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#endif
#ifdef RONDO_HAVE_TASKFLOW
#include <taskflow/taskflow.hpp>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using graph_shapes::Shape;

[[gnu::noinline]] void empty(std::int64_t*) { asm volatile(""); }
/// A chain of multiplications that depend on each other: about 1 µs on a core of 3 GHz, with no memory touched.
[[gnu::noinline]] void microsecond(std::int64_t*) {
  std::uint64_t x = 1;
  for (int i = 0; i < 1200; ++i) {
    x *= 0x9E37'79B9'7F4A'7C15U;
    asm volatile("" : "+r"(x));
  }
}
/// Takes as many microseconds as its argument says.
void microseconds(std::int64_t* steps) {
  for (std::int64_t step = 0; step < *steps; ++step) microsecond(nullptr);
}
rondo::KernelEntry kernel(const Shape& shape, int work) {
  if (work == 0) return &empty;
  return shape.costs.empty() ? &microsecond : &microseconds;
}

class RawCalls {
 public:
  RawCalls(const Shape& shape, int work)
      : calls_(shape.tasks, kernel(shape, work)), costs_(shape.costs), args_(shape.tasks, nullptr) {
    for (std::size_t t = 0; t < costs_.size(); ++t) args_[t] = &costs_[t];
  }
  void round() {
    for (std::size_t t = 0; t < calls_.size(); ++t) calls_[t](args_[t]);
    benchmark::ClobberMemory();
  }

 private:
  std::vector<rondo::KernelEntry> calls_;
  std::vector<std::int64_t> costs_;
  std::vector<std::int64_t*> args_;
};

void run_raw(benchmark::State& state, const Shape& shape, int work) {
  RawCalls raw(shape, work);
  for (auto _ : state) raw.round();
}

class RondoGraph {
 public:
  RondoGraph(const Shape& shape, int work, int threads)
      : session_{rondo::open<Platform>(graph(shape, work), on(threads))} {
    for (int i = 0; i < 60; ++i) round();  // it learns
  }
  bool round() { return session_.run_round().ok(); }
  [[nodiscard]] std::size_t threads_used() { return session_.platform().engine().threads_used(); }

  using Platform = rondo::A2A3SimOn<rondo::Pool>;
  static rondo::TaskGraph graph(const Shape& shape, int work) {
    rondo::TaskGraph graph{rondo::Edges::explicit_};
    for (std::size_t t = 0; t < shape.tasks; ++t) {
      if (shape.costs.empty()) {
        graph.add_raw("task", rondo::CoreType::vector, kernel(shape, work));
      } else {
        graph.add_raw("task", rondo::CoreType::vector, kernel(shape, work), shape.cost(t));
      }
    }
    for (const auto& [before, after] : shape.edges) graph.add_edge(rondo::TaskId{before}, rondo::TaskId{after});
    return graph;
  }
  static Platform::Options on(int threads) {
    Platform::Options options;
    options.engine.threads = static_cast<std::uint32_t>(threads);
    return options;
  }

 private:
  rondo::RoundSession<Platform> session_;
};

void run_rondo(benchmark::State& state, const Shape& shape, int work, int threads) {
  RondoGraph graph(shape, work, threads);
  for (auto _ : state) {
    if (!graph.round()) state.SkipWithError("a round failed");
  }
  state.counters["at_best"] = static_cast<double>(graph_shapes::least_steps(shape, static_cast<std::size_t>(threads))) *
                              static_cast<double>(threads) / static_cast<double>(shape.total_cost());
  state.counters["threads_used"] = static_cast<double>(graph.threads_used());
}

/// The median of 31 rounds.
double seconds_of(auto& graph) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < 2; ++i) graph.round();  // threads that fell asleep meanwhile wake up
  std::array<double, 31> seconds{};
  for (double& each : seconds) {
    const auto start = Clock::now();
    graph.round();
    each = std::chrono::duration<double>(Clock::now() - start).count();
  }
  std::nth_element(seconds.begin(), seconds.begin() + 15, seconds.end());
  return seconds[15];
}

void run_beside_raw(benchmark::State& state, const Shape& shape, auto& graph) {
  RawCalls raw(shape, 1);
  std::vector<double> ratios;
  for (auto _ : state) {
    const double alone = seconds_of(raw);
    ratios.push_back(seconds_of(graph) / alone);
  }
  std::sort(ratios.begin(), ratios.end());
  state.counters["of_raw_25"] = ratios[ratios.size() / 4];
  state.counters["of_raw"] = ratios[ratios.size() / 2];
  state.counters["of_raw_75"] = ratios[ratios.size() * 3 / 4];
}
void run_rondo_beside_raw(benchmark::State& state, const Shape& shape, int threads) {
  RondoGraph graph(shape, 1, threads);
  run_beside_raw(state, shape, graph);
  if (!graph.round()) state.SkipWithError("a round failed");
}

/// The rounds of fork_join100x8 as one would write them for it alone. Both threads spin; each stage passes two words.
class ForkJoinByHand {
 public:
  ~ForkJoinByHand() { begun_.store(last, std::memory_order_release); }
  void round() {
    for (int stage = 0; stage < 100; ++stage) {
      microsecond(nullptr);
      begun_.store(++stage_, std::memory_order_release);
      run_half();
      wait_for(ended_, stage_);
      microsecond(nullptr);
    }
  }

 private:
  static constexpr std::uint64_t last = ~std::uint64_t{0};
  static std::uint64_t wait_for(const std::atomic<std::uint64_t>& word, std::uint64_t least) {
    for (;;) {
      if (const std::uint64_t now = word.load(std::memory_order_acquire); now >= least) return now;
      rondo::platform::sim::pause();
    }
  }
  static void run_half() {
    for (int task = 0; task < 4; ++task) microsecond(nullptr);
  }
  void help() {
    for (std::uint64_t stage = 1; wait_for(begun_, stage) != last; ++stage) {
      run_half();
      ended_.store(stage, std::memory_order_release);
    }
  }

  alignas(64) std::atomic<std::uint64_t> begun_{0};
  alignas(64) std::atomic<std::uint64_t> ended_{0};
  std::uint64_t stage_ = 0;
  std::jthread helper_{[this] { help(); }};
};
void run_fork_join_by_hand(benchmark::State& state, const Shape& shape) {
  ForkJoinByHand rounds;
  run_beside_raw(state, shape, rounds);
}

template <class Round, class Finish>
void run_in_flight(benchmark::State& state, const Shape& shape, int threads, Round round, Finish finish) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](auto&& what) {
    const auto start = Clock::now();
    what();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  RawCalls raw(shape, 1);
  std::vector<double> efficiency;
  for (auto _ : state) {
    const double alone = seconds([&] {
      for (int i = 0; i < 10; ++i) raw.round();
    });
    round(), finish();  // threads that fell asleep meanwhile wake up
    const double together = seconds([&] {
      for (int i = 0; i < 100; ++i) round();
      finish();
    });
    efficiency.push_back(10 * alone / (threads * together));
  }
  std::sort(efficiency.begin(), efficiency.end());
  state.counters["efficiency_25"] = efficiency[efficiency.size() / 4];
  state.counters["efficiency"] = efficiency[efficiency.size() / 2];
  state.counters["efficiency_75"] = efficiency[efficiency.size() * 3 / 4];
}
void run_one_at_a_time(benchmark::State& state, const Shape& shape, int threads) {
  RondoGraph graph(shape, 1, threads);
  run_in_flight(state, shape, threads, [&] { (void)graph.round(); }, [] {});
  if (!graph.round()) state.SkipWithError("a round failed");
}
void run_four_in_flight(benchmark::State& state, const Shape& shape, int threads) {
  auto session = rondo::open_pipelined<RondoGraph::Platform, 4>(RondoGraph::graph(shape, 1), RondoGraph::on(threads));
  for (int i = 0; i < 60; ++i) (void)session.submit_round();  // it learns
  if (!session.wait_all().ok()) state.SkipWithError("a round failed");
  run_in_flight(state, shape, threads, [&] { (void)session.submit_round(); }, [&] { (void)session.wait_all(); });
  if (!session.wait_all().ok()) state.SkipWithError("a round failed");
}

/// A graph whose tasks cost what a table holds at that time.
class Changing {
 public:
  static constexpr std::size_t chains = 12, length = 8, tasks = chains * length;
  /// The cost of each task in multiplications; some 1,200 take 1 µs.
  static inline std::array<int, tasks> costs{};

  explicit Changing(int threads) : session_{rondo::open<RondoGraph::Platform>(graph(), RondoGraph::on(threads))} {}
  double round() {
    const auto start = std::chrono::steady_clock::now();
    ok_ = session_.run_round().ok() && ok_;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  static void work(std::int64_t* args) {
    std::uint64_t x = 1;
    for (int i = costs[static_cast<std::size_t>(args[0])]; i > 0; --i) {
      x *= 0x9E37'79B9'7F4A'7C15U;
      asm volatile("" : "+r"(x));
    }
  }
  static rondo::TaskGraph graph() {
    rondo::TaskGraph graph{rondo::Edges::explicit_};
    for (std::size_t t = 0; t < tasks; ++t) {
      const rondo::TaskId id = graph.add_raw("task", rondo::CoreType::vector, &work, static_cast<std::int64_t>(t));
      if (t % length != 0) graph.add_edge(rondo::TaskId{index(id) - 1}, id);
    }
    return graph;
  }
  rondo::RoundSession<RondoGraph::Platform> session_;
  bool ok_ = true;
};

/// The costs of the tasks before and after a change, and in each round.
struct Change {
  const char* name;
  int phases;
  int (*cost)(std::size_t task, int phase);  ///< in multiplications
  bool is_noisy = false;
};
constexpr int us = 1200;
const Change changes[] = {
    {"growing", 2, [](std::size_t, int phase) { return phase == 0 ? 12 : 30 * us; }},
    // One chain is nine tenths of the work at first.
    {"shrinking", 2,
     [](std::size_t task, int phase) { return phase == 0 && task < Changing::length ? 800 * us : 8 * us; }},
    {"alternating", 6,
     [](std::size_t task, int phase) {
       const bool is_heavy = (task / Changing::length) % 3 == static_cast<std::size_t>(phase % 2);
       return is_heavy ? 40 * us : 4 * us;
     }},
    {"noisy", 2,
     [](std::size_t task, int phase) {
       const bool is_heavy = (task / Changing::length) % 4 == static_cast<std::size_t>(phase);
       return is_heavy ? 60 * us : 10 * us;
     },
     true},
};

void run_learn(benchmark::State& state, const Change& change, int threads) {
  constexpr int rounds_after = 400;
  std::mt19937 random{7};
  const auto set_costs = [&](int phase) {
    for (std::size_t t = 0; t < Changing::tasks; ++t) {
      const int cost = change.cost(t, phase);
      Changing::costs[t] = change.is_noisy ? cost / 2 + static_cast<int>(random() % static_cast<unsigned>(cost)) : cost;
    }
  };
  const auto median = [](auto first, auto end) {
    std::vector<double> sorted(first, end);
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
    return sorted[sorted.size() / 2];
  };
  std::vector<double> of_best, settle;
  for (auto _ : state) {
    Changing session(threads);
    std::vector<double> times;
    for (int phase = 0; phase < change.phases; ++phase) {
      const bool is_last = phase + 1 == change.phases;
      for (int i = 0; i < (is_last ? rounds_after : 250); ++i) {
        set_costs(phase);
        const double took = session.round();
        if (is_last) times.push_back(took);
      }
    }
    Changing fresh(threads);
    for (int i = 0; i < 80; ++i) set_costs(change.phases - 1), fresh.round();
    std::array<double, 31> of_fresh{}, of_session{};
    for (std::size_t i = 0; i < of_fresh.size(); ++i) {
      set_costs(change.phases - 1);
      of_fresh[i] = fresh.round();
      of_session[i] = session.round();
    }
    const double best = median(of_fresh.begin(), of_fresh.end());
    of_best.push_back(median(of_session.begin(), of_session.end()) / best);
    std::size_t settled = 0;
    while (settled + 16 < times.size() && median(&times[settled], &times[settled] + 16) > 1.1 * best) {
      ++settled;
    }
    settle.push_back(static_cast<double>(settled));
    if (!session.ok() || !fresh.ok()) state.SkipWithError("a round failed");
  }
  state.counters["of_best"] = median(of_best.begin(), of_best.end());
  state.counters["rounds_to_settle"] = median(settle.begin(), settle.end());
}

#ifdef RONDO_HAVE_TBB
template <class Policy>
class TbbGraph {
 public:
  TbbGraph(const Shape& shape, int work) : start_(graph_) {
    std::vector<bool> has_predecessor(shape.tasks);
    for (std::size_t t = 0; t < shape.tasks; ++t) {
      nodes_.push_back(std::make_unique<Node>(
          graph_, [f = kernel(shape, work), cost = shape.cost(t)](const tbb::flow::continue_msg& m) mutable {
            f(&cost);
            return m;
          }));
    }
    for (const auto& [before, after] : shape.edges) {
      tbb::flow::make_edge(*nodes_[before], *nodes_[after]);
      has_predecessor[after] = true;
    }
    for (std::size_t t = 0; t < shape.tasks; ++t) {
      if (!has_predecessor[t]) tbb::flow::make_edge(start_, *nodes_[t]);
    }
  }
  void round() {
    start_.try_put(tbb::flow::continue_msg{});
    graph_.wait_for_all();
  }

 private:
  using Node = tbb::flow::continue_node<tbb::flow::continue_msg, Policy>;
  tbb::flow::graph graph_;
  tbb::flow::broadcast_node<tbb::flow::continue_msg> start_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

/// Calls `f` with the faster of its two policies.
void with_tbb(const Shape& shape, int work, int threads, auto f) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  TbbGraph<tbb::flow::queueing> standard(shape, work);
  TbbGraph<tbb::flow::lightweight> lightweight(shape, work);
  (void)seconds_of(standard), (void)seconds_of(lightweight);
  if (seconds_of(standard) < seconds_of(lightweight)) {
    f(standard);
  } else {
    f(lightweight);
  }
}
void run_tbb(benchmark::State& state, const Shape& shape, int work, int threads) {
  with_tbb(shape, work, threads, [&](auto& graph) {
    for (auto _ : state) graph.round();
  });
}
void run_tbb_beside_raw(benchmark::State& state, const Shape& shape, int threads) {
  with_tbb(shape, 1, threads, [&](auto& graph) { run_beside_raw(state, shape, graph); });
}
#endif

#ifdef RONDO_HAVE_TASKFLOW
void run_taskflow(benchmark::State& state, const Shape& shape, int work, int threads) {
  tf::Executor executor(static_cast<std::size_t>(threads));
  tf::Taskflow taskflow;
  std::vector<tf::Task> tasks;
  for (std::size_t t = 0; t < shape.tasks; ++t) {
    tasks.push_back(taskflow.emplace([f = kernel(shape, work), cost = shape.cost(t)]() mutable { f(&cost); }));
  }
  for (const auto& [before, after] : shape.edges) tasks[before].precede(tasks[after]);
  constexpr std::size_t batch = 64;
  while (state.KeepRunningBatch(batch)) executor.run_n(taskflow, batch).wait();
}
#endif

void add(const Shape& shape, int work, int threads) {
  const std::string name = std::string("replay/") + shape.name + "/work:" + std::to_string(work) +
                           "/threads:" + std::to_string(threads) + "/";
  const auto add_one = [&](const char* contender, auto run) {
    benchmark::RegisterBenchmark((name + contender).c_str(), run)->UseRealTime()->Unit(benchmark::kNanosecond);
  };
  if (threads == 1) add_one("raw", [=](benchmark::State& state) { run_raw(state, shape, work); });
  add_one("rondo", [=](benchmark::State& state) { run_rondo(state, shape, work, threads); });
#ifdef RONDO_HAVE_TBB
  add_one("tbb", [=](benchmark::State& state) { run_tbb(state, shape, work, threads); });
#endif
#ifdef RONDO_HAVE_TASKFLOW
  add_one("taskflow", [=](benchmark::State& state) { run_taskflow(state, shape, work, threads); });
#endif
}

void add_beside_raw(const Shape& shape, int threads) {
  const std::string name = std::string("replay_beside_raw/") + shape.name + "/threads:" + std::to_string(threads) + "/";
  const auto add_one = [&](const char* contender, auto run) {
    benchmark::RegisterBenchmark((name + contender).c_str(), run)->UseRealTime()->Unit(benchmark::kNanosecond);
  };
  add_one("rondo", [=](benchmark::State& state) { run_rondo_beside_raw(state, shape, threads); });
  if (shape.name == std::string_view("fork_join100x8")) {
    add_one("by_hand", [=](benchmark::State& state) { run_fork_join_by_hand(state, shape); });
  }
#ifdef RONDO_HAVE_TBB
  add_one("tbb", [=](benchmark::State& state) { run_tbb_beside_raw(state, shape, threads); });
#endif
}

void add_in_flight(const Shape& shape, int threads) {
  const std::string name = std::string("in_flight/") + shape.name + "/threads:" + std::to_string(threads) + "/";
  const auto add_one = [&](const char* how, auto run) {
    benchmark::RegisterBenchmark((name + how).c_str(), [=](benchmark::State& state) { run(state, shape, threads); })
        ->UseRealTime()
        ->Unit(benchmark::kNanosecond);
  };
  add_one("one_at_a_time", run_one_at_a_time);
  add_one("four", run_four_in_flight);
}

struct Step {
  static constexpr std::string_view name = "step";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<std::uint64_t> x, rondo::Out<std::uint64_t> y) noexcept {
    microsecond(nullptr);
    y[0] = x[0] + 1;
  }
};

void run_open(benchmark::State& state, bool is_saved) {
  rondo::TaskGraph graph;
  const auto x = graph.input<std::uint64_t>("x", {1});
  std::vector<rondo::Output<std::uint64_t>> outputs;
  for (const char* const chain : {"a", "b"}) {
    auto last = graph.workspace<std::uint64_t>(chain, {1});
    graph.add<Step>(x, last);
    for (int i = 2; i < 5000; ++i) {
      const auto next = graph.workspace<std::uint64_t>(chain + std::to_string(i), {1});
      graph.add<Step>(last, next);
      last = next;
    }
    outputs.push_back(graph.output<std::uint64_t>(std::string(chain) + "_out", {1}));
    graph.add<Step>(last, outputs.back());
  }
  const std::string path = (std::filesystem::temp_directory_path() / "rondo_bench_open.rondo").string();
  const auto run = [&](const char* file, bool saves) {
    auto options = RondoGraph::on(2);
    options.saved = file;
    const auto begin = std::chrono::steady_clock::now();
    auto session = rondo::open<RondoGraph::Platform>(graph, options);
    const std::chrono::duration<double, std::milli> opening = std::chrono::steady_clock::now() - begin;
    const std::vector<std::uint64_t> hx(1);
    std::vector<std::uint64_t> a(1);
    std::vector<std::uint64_t> b(1);
    for (int i = 0; i < 60; ++i) {
      const rondo::Status status = session.run_round(bind(x, hx), bind(outputs[0], a), bind(outputs[1], b));
      if (!status || a[0] != 5000) state.SkipWithError("a round failed");
      if (file != nullptr && i == 8) break;  // before the costs are checked again
    }
    state.counters["searches"] = session.platform().engine().searches();
    state.counters["learning_rounds"] = session.platform().engine().learning_rounds();
    state.counters["opening_ms"] = opening.count();
    if (saves) session.save(path.c_str());
  };
  if (is_saved) run(nullptr, true);
  for (auto _ : state) run(is_saved ? path.c_str() : nullptr, false);
  std::filesystem::remove(path);
}

}  // namespace

int main(int argc, char** argv) {
  for (const Shape& shape : graph_shapes::all()) {
    for (const int work : {0, 1}) {
      for (const int threads : {1, 2}) add(shape, work, threads);
    }
    add_beside_raw(shape, 2);
  }
  for (const Shape& shape : graph_shapes::with_drain()) add_in_flight(shape, 2);
  for (const Change& change : changes) {
    const std::string name = std::string("learn/") + change.name + "/threads:2";
    benchmark::RegisterBenchmark(name.c_str(), [&change](benchmark::State& state) { run_learn(state, change, 2); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(3);
  }
  for (const bool is_saved : {false, true}) {
    benchmark::RegisterBenchmark(is_saved ? "open/10000/saved" : "open/10000/planned",
                                 [is_saved](benchmark::State& state) { run_open(state, is_saved); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(1);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
