// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What the runtimes that build their graph during the round must do, on each chip and engine.

#include "conformance/kernels.hpp"
#include "conformance/platforms.hpp"
#include "scale.hpp"
#include "small_rings.hpp"

#include <rondo/graph/instantiate.hpp>
#include <rondo/orchestrated.hpp>
#include <rondo/platform/host/host.hpp>
#include <rondo/platform/sim/pool.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace rondo;

namespace {

template <class Runtime_>
struct With : DefaultPolicies {
  using Runtime = Runtime_;
};
template <class P, class R>
struct On {
  using Platform = P;
  using Policies = With<R>;
  static constexpr bool is_explicit = std::is_same_v<R, runtime::AicpuBuildGraph>;
  static constexpr bool is_pool = std::is_same_v<P, A2A3SimOn<Pool>> || std::is_same_v<P, A5SimOn<Pool>>;
};
using runtime::AicpuBuildGraph;
using runtime::TensorMapRingBuffer;

#define RONDO_MAP_CASES                                                       \
  On<A2A3Sim, TensorMapRingBuffer>, On<A2A3SimOn<Pool>, TensorMapRingBuffer>, \
      On<A2A3OverStandIn, TensorMapRingBuffer>, On<A5OverStandIn, TensorMapRingBuffer>
#define RONDO_AICPU_CASES                                                                                   \
  On<A2A3Sim, AicpuBuildGraph>, On<A2A3SimOn<Pool>, AicpuBuildGraph>, On<A2A3OverStandIn, AicpuBuildGraph>, \
      On<A5OverStandIn, AicpuBuildGraph>
#define RONDO_ALL_CASES RONDO_MAP_CASES, RONDO_AICPU_CASES

template <class Case>
using Options = typename Case::Policies::Runtime::template Options<typename Case::Platform>;

/// Any orchestration: with one type for all of them a case compiles one type of session, not one for each test. That
/// each may have a type of its own is for random_orchestrations_test.cpp and the last tests here to see.
template <class Case>
using Any =
    std::function<void(typename platform::sim::dynamic::OrchestratorFor<typename Case::Policies::Runtime>::type&)>;

template <class Case>
auto open_case(const TaskGraph& graph, Any<Case> orchestration,
               const Options<Case>& options = small_rings<Options<Case>>()) {
  return open<typename Case::Platform, typename Case::Policies>(graph, std::move(orchestration), options);
}

struct Plane {
  static constexpr std::string_view name = "plane";
  static constexpr auto core = CoreType::vector;
  static void run(Out<float, 2>) noexcept {}
};
struct AddTo {
  static constexpr std::string_view name = "add_to";
  static constexpr auto core = CoreType::vector;
  static void run(In<std::int32_t> from, InOut<std::int32_t> to) noexcept { to[0] += from[0]; }
};

/// y = x + 1, after a millisecond.
struct Slow {
  static constexpr std::string_view name = "slow";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + 1;
  }
};

/// States an edge where the runtime does not find it by itself.
void after(auto& round, runtime::TaskRef first, runtime::TaskRef second) {
  if constexpr (requires { round.add_edge(first, second); }) round.add_edge(first, second);
}

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

bool contains(const Error::Text& text, const std::string& part) {
  return std::string(text.c_str()).find(part) != std::string::npos;
}

/// Waits for something that another thread does.
template <class F>
void await(F condition) {
  while (!condition()) std::this_thread::yield();
}

/// y = x doubled n times, n a scalar of the round; intermediates in scopes of their own.
struct Doubling {
  Doubling()
      : x{graph.input<float>("x", {32})}, y{graph.inout<float>("y", {32})}, n{graph.input<std::int32_t>("n", {})} {}
  auto orchestration() const {
    return [x = x, y = y, n = n](auto& round) {
      auto last = round.template add<kernels::Scale>(x, y, 1.0F);
      for (std::int32_t i = 0; i < round.value(n); ++i) {
        const auto scope = round.scope();
        const auto t = round.template workspace<float>({32});
        const auto copy = round.template add<kernels::Scale>(y, t, 1.0F);
        after(round, last, copy);
        last = round.template add<kernels::Accumulate>(t, y);
        after(round, copy, last);
      }
    };
  }
  TaskGraph graph;
  Input<float> x;
  InputOutput<float> y;
  Input<std::int32_t> n;
};

template <class Session>
void check_doubling(Session& session, const Doubling& g, std::int32_t times) {
  Floats x(32, 1.0F), y(32, -7.0F);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y), bind(g.n, times)).ok());
  REQUIRE(y == Floats(32, static_cast<float>(1U << times)));
}

}  // namespace

TEST_CASE_TEMPLATE("a scalar of the round decides which graph it builds", C, RONDO_ALL_CASES) {
  Doubling g;
  auto session = open_case<C>(g.graph, g.orchestration());
  // Big after small and small after big: what a round leaves behind would show in the next.
  for (int round = 0; round < 400; ++round) check_doubling(session, g, (round * 7) % 20);
  CHECK(session.rounds() == 400);
}

TEST_CASE_TEMPLATE("prebound and stepwise rounds work unchanged, and a dropped one leaves the session usable", C,
                   RONDO_ALL_CASES) {
  Doubling g;
  auto session = open_case<C>(g.graph, g.orchestration());
  Floats x(32, 1.0F), y(32);
  std::int32_t n = 3;
  const auto binding = session.prebind(bind(g.n, n), bind(g.y, y), bind(g.x, x));
  for (int round = 0; round < 50; ++round) {
    y.assign(32, -1.0F);
    REQUIRE(session.run_round(binding).ok());
    REQUIRE(y == Floats(32, 8.0F));
    y.assign(32, -1.0F);
    auto launched = session.begin_round(bind(g.x, x), bind(g.y, y), bind(g.n, n)).launch();
    REQUIRE(std::move(launched).finish().status().ok());
    REQUIRE(y == Floats(32, 8.0F));
    {
      auto dropped = session.begin_round(bind(g.x, x), bind(g.y, y), bind(g.n, n));
    }
    {
      auto dropped = session.begin_round(bind(g.x, x), bind(g.y, y), bind(g.n, n)).launch();
    }
  }
  check_doubling(session, g, 5);
}

TEST_CASE_TEMPLATE("a session destroyed in the middle of a round waits for it", C, RONDO_ALL_CASES) {
  Doubling g;
  Floats x(32, 1.0F), y(32, -1.0F);
  std::int32_t n = 15;
  for (int i = 0; i < 20; ++i) {
    using Session = decltype(open_case<C>(g.graph, g.orchestration()));
    auto session = std::make_unique<Session>(Orchestrated{freeze_interface(g.graph), Any<C>{g.orchestration()}},
                                             small_rings<Options<C>>());
    auto launched = session->begin_round(bind(g.x, x), bind(g.y, y), bind(g.n, n)).launch();
    session.reset();
    CHECK(std::move(launched).finish().status().code() == Errc::closed);
  }
  CHECK(y == Floats(32, -1.0F));
}

TEST_CASE_TEMPLATE("a launched round runs while the caller does something else", C, RONDO_ALL_CASES) {
  static std::atomic<int> runs;
  runs = 0;
  TaskGraph graph;
  const auto n = graph.inout<std::int32_t>("n", {});
  auto session = open_case<C>(
      graph, [=](auto& round) { round.add_raw("run", CoreType::vector, +[](std::int64_t*) { ++runs; }, updates(n)); });
  std::int32_t hn = 0;
  auto launched = session.begin_round(bind(n, hn)).launch();
  await([] { return runs == 1; });
  CHECK(std::move(launched).finish().status().ok());
}

TEST_CASE_TEMPLATE("every resident tensor waits for its upload, and then stays", C, RONDO_ALL_CASES) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto total = graph.resident<float>("total", {4});
  const auto other = graph.resident<float>("other", {4});
  auto session = open_case<C>(graph, [=](auto& round) { round.template add<kernels::Accumulate>(x, total); });
  Floats hx(4, 1.0F), host(4);
  REQUIRE(session.upload(total, Floats(4, 10.0F)).ok());
  const Status early = session.run_round(bind(x, hx));
  CHECK(early.code() == Errc::uninitialized_read);
  CHECK(contains(session.explain(early), "'other'"));
  REQUIRE(session.upload(other, Floats(4, 0.0F)).ok());
  for (int round = 0; round < 5; ++round) REQUIRE(session.run_round(bind(x, hx)).ok());
  REQUIRE(session.download(total, host).ok());
  CHECK(host == Floats(4, 15.0F));
}

TEST_CASE_TEMPLATE("a task of n blocks runs each block once, whatever number of words that takes", C, RONDO_ALL_CASES) {
  constexpr std::uint32_t blocks = 24;
  TaskGraph graph;
  const auto n = graph.inout<std::int32_t>("n", {blocks});
  auto session = open_case<C>(graph, [=](auto& round) {
    runtime::TaskRef last;
    for (int i = 0; i < 40; ++i) {
      const auto task = round.template add<kernels::CountBlocks>(Blocks{blocks}, n);
      if (i > 0) after(round, last, task);
      last = task;
    }
  });
  Ints counts(blocks);
  for (int round = 0; round < 20; ++round) REQUIRE(session.run_round(bind(n, counts)).ok());
  CHECK(counts == Ints(blocks, 20 * 40 * static_cast<std::int32_t>(blocks)));
}

TEST_CASE_TEMPLATE("10000 intermediates pass through a ring that holds a few, scope by scope", C, RONDO_ALL_CASES) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto y = graph.inout<float>("y", {16});
  Options<C> options;
  options.orchestration.ring_bytes = Bytes{4096};
  options.orchestration.tensors = 64;
  options.orchestration.window = 128;
  auto session = open_case<C>(
      graph,
      [=](auto& round) {
        runtime::TaskRef last;
        for (int i = 0; i < 10'000; ++i) {
          const auto scope = round.scope();
          const auto t = round.template workspace<float>({16});
          const auto make = round.template add<kernels::Scale>(x, t, 1.0F);
          const auto use = round.template add<kernels::Accumulate>(t, y);
          after(round, make, use);
          if (i > 0) after(round, last, use);
          last = use;
        }
      },
      options);
  Floats hx(16, 1.0F), hy(16);
  for (int round = 1; round <= 3; ++round) {
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    REQUIRE(hy == Floats(16, 10'000.0F * static_cast<float>(round)));
  }
}

TEST_CASE_TEMPLATE("a kernel that throws poisons the round, is named, and leaves nobody running", C, RONDO_ALL_CASES) {
  static std::atomic<int> running;
  static std::atomic<int> runs;
  running = 0;
  runs = 0;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.inout<float>("y", {4});
  const auto slow = +[](std::int64_t*) {
    ++running;
    ++runs;
    for (int i = 0; i < 50; ++i) std::this_thread::yield();
    --running;
  };
  const auto orchestration = [=](auto& round) {
    const auto scope = round.scope();
    for (int i = 0; i < 20; ++i) {
      const auto t = round.template workspace<float>({4});
      round.add_raw("slow", CoreType::vector, slow, runtime::writes(t));
    }
    const auto t = round.template workspace<float>({4});
    round.template add<kernels::Picky>(x, t);
    for (int i = 0; i < 1000; ++i) {
      const auto inner = round.scope();
      round.add_raw("slow", CoreType::vector, slow, updates(y));
    }
  };
  auto session = open_case<C>(graph, orchestration);
  auto other = open_case<C>(graph, orchestration);
  Floats hx(4, -1.0F), hy(4);
  const Status failed = session.run_round(bind(x, hx), bind(y, hy));
  CHECK(failed.code() == Errc::kernel_failed);
  CHECK(failed.poisoned());
  CHECK(contains(session.explain(failed), "'picky'"));
  CHECK(contains(session.explain(failed), "x[0] is negative"));
  CHECK(running == 0);
  const int after_failure = runs;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(runs == after_failure);
  CHECK(session.run_round(bind(x, hx), bind(y, hy)).code() == Errc::poisoned);
  CHECK(session.close().ok());

  hx.assign(4, 1.0F);
  CHECK(other.run_round(bind(x, hx), bind(y, hy)).ok());
}

TEST_CASE_TEMPLATE("an orchestration that throws fails its round with what it said, and starts nothing more", C,
                   RONDO_ALL_CASES) {
  static std::atomic<int> runs;
  runs = 0;
  TaskGraph graph;
  const auto y = graph.inout<float>("y", {4});
  auto session = open_case<C>(graph, [=](auto& round) {
    const auto run = +[](std::int64_t* args) {
      *reinterpret_cast<float*>(args[0]) = 1;
      ++runs;
    };
    round.add_raw("run", CoreType::vector, run, updates(y));
    const auto scope = round.scope();
    round.add_raw("run", CoreType::vector, run, updates(y));
    throw std::runtime_error("no more today");
  });
  Floats hy(4);
  const Status failed = session.run_round(bind(y, hy));
  CHECK(failed.code() == Errc::orchestration_failed);
  CHECK(failed.poisoned());
  CHECK(contains(session.explain(failed), "no more today"));
  if constexpr (C::is_explicit) CHECK(runs == 0);  // neither scope ended in peace
  // On NPUs the copies are on the stream before the failure is known.
  if constexpr (!is_over_stand_in<typename C::Platform>) CHECK(hy == Floats(4));
}

TEST_CASE_TEMPLATE("a round whose orchestration caught what left a scope is no success", C, RONDO_ALL_CASES) {
  TaskGraph graph;
  const auto y = graph.inout<float>("y", {4});
  auto session = open_case<C>(graph, [=](auto& round) {
    try {
      const auto scope = round.scope();
      round.template add<kernels::Count<CoreType::cube>>(round.template workspace<std::int32_t>({1}));
      throw std::runtime_error("no more today");
    } catch (const std::exception&) {
    }
  });
  Floats hy(4);
  CHECK(session.run_round(bind(y, hy)).code() == Errc::orchestration_failed);
}

TEST_CASE_TEMPLATE("what an orchestration may not do is refused with a reason", C, RONDO_ALL_CASES) {
  struct Wrong {
    std::string text;
    int what;
  };
  TaskGraph other;
  const auto foreign = other.inout<float>("foreign", {4});
  const Wrong wrongs[] = {{"not in this session's interface", 0},
                          {"scope or its round is over", 1},
                          {"with gaps", 2},
                          {"overlapping regions", 3},
                          {"the most on", 4},
                          {"takes 3 from index 2", 5},
                          {"64", 6},
                          {"number of dimensions", 7}};
  for (const Wrong& wrong : wrongs) {
    CAPTURE(wrong.text);
    TaskGraph graph;
    const auto y = graph.inout<float>("y", {4, 4});
    auto session = open_case<C>(graph, [=, what = wrong.what](auto& round) {
      if (what == 0) round.template add<kernels::Accumulate>(foreign, y);
      if (what == 1) {
        auto t = round.template workspace<float>({4});
        {
          const auto scope = round.scope();
          t = round.template workspace<float>({4});
        }
        round.template add<kernels::Accumulate>(t, y);
      }
      if (what == 2) round.template add<kernels::Accumulate>(round.view(y, {0, 1}, {4, 2}), y);
      if (what == 3) round.template add<kernels::Accumulate>(round.view(y, {1, 0}, {2, 4}), y);
      if (what == 4)
        round.template add<kernels::Count<CoreType::cube>>(Blocks{100}, round.template workspace<std::int32_t>({1}));
      if (what == 5) (void)round.view(y, {2, 0}, {3, 4});
      if (what == 6) {
        const auto deeper = [&](auto& self, int depth) -> void {
          const auto scope = round.scope();
          if (depth < 100) self(self, depth + 1);
        };
        deeper(deeper, 0);
      }
      if (what == 7) {
        round.template add<Plane>(round.template workspace<float>({4}));
      }
    });
    Floats hy(16);
    const Status failed = session.run_round(bind(y, hy));
    CHECK(failed.code() == Errc::orchestration_failed);
    CHECK_MESSAGE(contains(session.explain(failed), wrong.text), std::string(session.explain(failed).c_str()));
  }
}

TEST_CASE_TEMPLATE("a ring that nothing will free is a deadlock that names scope, ring and bytes", C, RONDO_ALL_CASES) {
  TaskGraph graph;
  const auto y = graph.inout<float>("y", {16});
  Options<C> options;
  options.orchestration.ring_bytes = Bytes{4096};
  auto session = open_case<C>(
      graph,
      [=](auto& round) {
        const auto scope = round.scope();
        for (int i = 0;; ++i) {
          const auto t = round.template workspace<float>({16});
          round.template add<kernels::Count<CoreType::vector>>(round.template workspace<std::int32_t>({4}));
          (void)t;
          if (i > 10'000) return;
        }
      },
      options);
  Floats hy(16);
  const Status failed = session.run_round(bind(y, hy));
  CHECK(failed.code() == Errc::deadlock);
  CHECK(failed.poisoned());
  const Error::Text text = session.explain(failed);
  INFO(std::string(text.c_str()));
  CHECK(contains(text, "scope 1 (depth 1) waits for room that nothing will free"));
  CHECK(contains(text, C::is_explicit ? "ring 0 holds 4096 bytes, and" : "ring 1 holds 4096 bytes, and"));
  CHECK(contains(text, "enlarge OrchestrationOptions::ring_bytes or end scopes earlier"));
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE("a scope with more tasks than the window publishes none: a deadlock", C, RONDO_AICPU_CASES) {
  TaskGraph graph;
  const auto y = graph.inout<float>("y", {16});
  Options<C> options;
  options.orchestration.window = 64;
  auto session = open_case<C>(
      graph,
      [=](auto& round) {
        for (int i = 0; i < 65; ++i) round.add_raw("none", CoreType::vector, +[](std::int64_t*) {}, updates(y));
      },
      options);
  Floats hy(16);
  const Status failed = session.run_round(bind(y, hy));
  CHECK(failed.code() == Errc::deadlock);
  CHECK(contains(session.explain(failed), "ring 0 holds 64 unfinished tasks, and 65 are needed"));
}

TEST_CASE("a slow kernel is no deadlock, however long the orchestration waits") {
  using C = On<A2A3SimOn<Pool>, TensorMapRingBuffer>;
  TaskGraph graph;
  const auto y = graph.inout<float>("y", {16});
  Options<C> options;
  options.orchestration.window = 4;
  options.orchestration.threads = 1;
  auto session = open_case<C>(
      graph,
      [=](auto& round) {
        for (int i = 0; i < 20; ++i) {
          round.add_raw(
              "slow", CoreType::vector,
              +[](std::int64_t*) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }, updates(y));
        }
      },
      options);
  Floats hy(16);
  CHECK(session.run_round(bind(y, hy)).ok());
}

TEST_CASE_TEMPLATE("256 readers and then a writer, again and again, with few edges to go round", C, RONDO_ALL_CASES) {
  TaskGraph graph;
  const auto n = graph.inout<std::int32_t>("n", {1});
  const auto sum = graph.inout<std::int32_t>("sum", {256});
  Options<C> options;
  options.orchestration.edges = C::is_explicit ? 2048 : 16;
  auto session = open_case<C>(
      graph,
      [=](auto& round) {
        runtime::TaskRef readers[256];
        runtime::TaskRef writer;
        for (int batch = 0; batch < 4; ++batch) {
          for (std::size_t i = 0; i < 256; ++i) {
            const auto task = round.template add<AddTo>(n, round.view(sum, {i}, {1}));
            if (batch > 0) {
              after(round, writer, task);
              after(round, readers[i], task);
            }
            readers[i] = task;
          }
          writer = round.template add<kernels::Count<CoreType::vector>>(n);
          for (const auto& reader : readers) after(round, reader, writer);
        }
      },
      options);
  for (int round = 0; round < scaled(100); ++round) {
    std::int32_t hn = 1;
    Ints hs(256);
    REQUIRE(session.run_round(bind(n, hn), bind(sum, hs)).ok());
    REQUIRE(hn == 5);
    REQUIRE(hs == Ints(256, 1 + 2 + 3 + 4));
  }
}

TEST_CASE("tasks of inner scopes come and go while one of an outer scope still runs") {
  // The outer task ends only when the inner ones, more than any window holds, have run: each depth has its own ring.
  using C = On<A2A3SimOn<Pool>, TensorMapRingBuffer>;
  static std::atomic<int> inner_runs;
  static std::atomic<bool> started, in_time;
  TaskGraph graph;
  const auto y = graph.inout<float>("y", {16});
  const auto z = graph.inout<float>("z", {16});
  Options<C> options;
  options.orchestration.window = 8;
  options.orchestration.threads = 2;
  options.orchestration.ring_bytes = Bytes{2048};
  auto session = open_case<C>(
      graph,
      [=](auto& round) {
        round.add_raw(
            "outer", CoreType::cube,
            +[](std::int64_t*) {
              started = true;
              await([] { return inner_runs >= 500; });
              in_time = true;
            },
            updates(z));
        await([] { return started.load(); });  // by a worker: this thread goes on adding
        for (int i = 0; i < 500; ++i) {
          const auto scope = round.scope();
          const auto t = round.template workspace<float>({16});
          round.add_raw(
              "inner", CoreType::vector, +[](std::int64_t*) { ++inner_runs; }, runtime::writes(t), updates(y));
        }
      },
      options);
  Floats hy(16), hz(16);
  for (int round = 0; round < 3; ++round) {
    inner_runs = 0;
    started = false;
    in_time = false;
    REQUIRE(session.run_round(bind(y, hy), bind(z, hz)).ok());
    CHECK(in_time);
    CHECK(inner_runs == 500);
  }
}

using MapOnPool = On<A2A3SimOn<Pool>, TensorMapRingBuffer>;
using AicpuOnPool = On<A2A3SimOn<Pool>, AicpuBuildGraph>;

TEST_CASE_TEMPLATE("with more workers than cores every round comes to its end", C, MapOnPool, AicpuOnPool) {
  Doubling g;
  Options<C> options;
  options.orchestration.threads = 16;
  auto session = open_case<C>(g.graph, g.orchestration(), options);
  for (int round = 0; round < 200; ++round) check_doubling(session, g, round % 20);
}

TEST_CASE_TEMPLATE("tasks that do not depend on each other run at the same time", C, MapOnPool, AicpuOnPool) {
  static std::atomic<int> arrived;
  arrived = 0;
  TaskGraph graph;
  const auto a = graph.output<float>("a", {1});
  const auto b = graph.output<float>("b", {1});
  const auto meet = +[](std::int64_t*) {
    ++arrived;
    await([] { return arrived >= 2; });
  };
  Options<C> options;
  options.orchestration.threads = 2;
  auto session = open_case<C>(
      graph,
      [=](auto& round) {
        round.add_raw("meet_a", CoreType::vector, meet, writes(a));
        round.add_raw("meet_b", CoreType::cube, meet, writes(b));
      },
      options);
  float ha = 0, hb = 0;
  REQUIRE(session.run_round(bind(a, ha), bind(b, hb)).ok());
  CHECK(arrived == 2);
}

TEST_CASE_TEMPLATE("tasks are published when their scope ends, and not before", C, RONDO_AICPU_CASES) {
  static std::atomic<int> runs;
  static std::atomic<bool> early, late;
  TaskGraph graph;
  const auto y = graph.inout<float>("y", {16});
  auto session = open_case<C>(graph, [=](auto& round) {
    const auto count = +[](std::int64_t*) { ++runs; };
    {
      const auto scope = round.scope();
      for (int i = 0; i < 10; ++i) round.add_raw("count", CoreType::vector, count, updates(y));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      early = runs != 0;
    }
    if constexpr (C::is_pool) {
      await([] { return runs == 10; });
    } else {
      late = runs != 10;
    }
  });
  Floats hy(16);
  for (int round = 0; round < 5; ++round) {
    runs = 0;
    REQUIRE(session.run_round(bind(y, hy)).ok());
    CHECK_FALSE(early);
    CHECK_FALSE(late);
  }
}

TEST_CASE_TEMPLATE("edges lead forward to tasks that are not published, and may come from tasks long gone", C,
                   RONDO_AICPU_CASES) {
  TaskGraph graph;
  const auto y = graph.inout<float>("y", {16});
  Floats hy(16);
  static runtime::TaskRef kept;  // from round to round, which a user should not but may do
  const auto nothing = +[](std::int64_t*) {};
  auto session = open_case<C>(graph, [=](auto& round) {
    runtime::TaskRef gone;
    {
      const auto scope = round.scope();
      gone = round.add_raw("first", CoreType::vector, nothing, updates(y));
    }
    for (int i = 0; i < 200; ++i) {
      const auto scope = round.scope();
      const auto task = round.add_raw("next", CoreType::vector, nothing, updates(y));
      round.add_edge(gone, task);
      if (kept.number != 0) round.add_edge(kept, task);
    }
    kept = gone;
  });
  for (int round = 0; round < 10; ++round) REQUIRE(session.run_round(bind(y, hy)).ok());

  for (const bool backwards : {true, false}) {
    auto wrong = open_case<C>(graph, [=](auto& round) {
      const auto first = round.add_raw("first", CoreType::vector, nothing, updates(y));
      runtime::TaskRef second;
      {
        const auto scope = round.scope();
        second = round.add_raw("second", CoreType::vector, nothing, updates(y));
      }
      if (backwards) {
        round.add_edge(second, first);
      } else {
        round.add_edge(first, second);
      }
    });
    const Status failed = wrong.run_round(bind(y, hy));
    CHECK(failed.code() == Errc::orchestration_failed);
    CHECK(contains(wrong.explain(failed), backwards ? "from earlier to later" : "published already"));
  }
}

TEST_CASE("an interface holds tensors only, and none of them is a workspace") {
  const auto code_of = [](const TaskGraph& graph) {
    try {
      auto session = open<A2A3Sim, With<TensorMapRingBuffer>>(graph, [](auto&) {});
    } catch (const Error& e) {
      return e.code();
    }
    return Errc::ok;
  };
  TaskGraph good;
  const auto x = good.inout<float>("x", {4});
  CHECK(code_of(good) == Errc::ok);
  TaskGraph with_task = good;
  with_task.add<kernels::Scale>(x, with_task.output<float>("y", {4}), 1.0F);
  CHECK(code_of(with_task) == Errc::invalid_argument);
  TaskGraph with_workspace = good;
  (void)with_workspace.workspace<float>("t", {4});
  CHECK(code_of(with_workspace) == Errc::invalid_argument);
  // Tasks of the round would find no order between an output and the input whose memory it reuses.
  TaskGraph with_alias = good;
  with_alias.alias(with_alias.output<float>("y", {4}), with_alias.input<float>("a", {4}));
  CHECK(code_of(with_alias) == Errc::unsupported);
  TaskGraph with_symbol = good;
  (void)with_symbol.input<float>("a", {with_symbol.dim("n")});
  CHECK(code_of(with_symbol) == Errc::unsupported);
}

TEST_CASE("An interface may have tensors without elements") {
  TaskGraph symbolic;
  const Dim n = symbolic.dim("n");
  const auto x = symbolic.input<float>("x", {n});
  const auto y = symbolic.output<float>("y", {n});
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{3}}) {
    const std::int64_t values[] = {size};
    auto session = open<A2A3Sim, With<TensorMapRingBuffer>>(
        graph::instantiate(symbolic, values), [=](auto& round) { round.template add<kernels::Scale>(x, y, 2.0F); });
    const Floats hx(static_cast<std::size_t>(size), 3.0F);
    Floats hy(hx.size());
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    CHECK(hy == Floats(hx.size(), 6.0F));
  }
}

TEST_CASE_TEMPLATE("A task whose words no ring holds fails its round", P, HostOn<Inline>, HostOn<Pool>) {
  constexpr std::uint32_t blocks = 20'000;
  TaskGraph graph;
  const auto counts = graph.inout<std::int32_t>("counts", {blocks});
  auto session = open<P, With<TensorMapRingBuffer>>(
      graph, [=](auto& round) { round.template add<kernels::CountBlocks>(Blocks{blocks}, counts); });
  Ints host(blocks);
  const Status failed = session.run_round(bind(counts, host));
  CHECK(failed.code() == Errc::deadlock);
  CHECK_MESSAGE(contains(session.explain(failed), "words of arguments"), std::string(session.explain(failed).c_str()));
}

TEST_CASE("The least options of rings are raised to what a queue holds at least") {
  for (const bool of_tasks : {false, true}) {
    CAPTURE(of_tasks);
    TaskGraph graph;
    const auto x = graph.input<float>("x", {4});
    const auto y = graph.output<float>("y", {4});
    Options<On<A2A3SimOn<Pool>, TensorMapRingBuffer>> options;
    (of_tasks ? options.orchestration.window : options.orchestration.tensors) = 1;
    options.orchestration.threads = 1;
    auto session = open<A2A3SimOn<Pool>, With<TensorMapRingBuffer>>(
        graph,
        [=](auto& round) {
          const auto fill = [&] {  // a ring of each depth
            for (int i = 0; i < 2; ++i) round.template add<Slow>(x, round.template workspace<float>({4}));
          };
          fill();
          const auto one = round.scope();
          fill();
          const auto two = round.scope();
          fill();
          const auto three = round.scope();
          fill();
          round.template add<Slow>(x, y);
        },
        options);
    const Floats hx(4, 1.0F);
    Floats hy(4);
    const Status status = session.run_round(bind(x, hx), bind(y, hy));
    CHECK_MESSAGE(status.ok(), std::string(session.explain(status).c_str()));
    CHECK(hy == Floats(4, 2.0F));
  }
}

TEST_CASE("the rings are device memory: what is not there is an error at opening") {
  TaskGraph graph;
  (void)graph.inout<float>("x", {4});
  Options<On<A2A3Sim, TensorMapRingBuffer>> options;
  options.device_memory = Bytes{1U << 20};
  try {
    auto session = open<A2A3Sim, With<TensorMapRingBuffer>>(graph, [](auto&) {}, options);
    FAIL("opened");
  } catch (const Error& e) {
    CHECK(e.code() == Errc::out_of_memory);
  }
  options.orchestration.ring_bytes = Bytes{1U << 16};
  auto session = open<A2A3Sim, With<TensorMapRingBuffer>>(graph, [](auto&) {}, options);
  CHECK(session.close().ok());
}
