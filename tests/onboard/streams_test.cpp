// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Several streams in one captured graph: how long a round takes on the stand-in's virtual clock, what is asked of the
// runtime, and that no task runs too early, whatever the runtime has left.

#include "folder.hpp"
#include "onboard/fixture.hpp"
#include "scale.hpp"
#include "unit/graph/dealt_graphs.hpp"

#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/session/shared_shapes.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace rondo;
using namespace onboard_test;

namespace {

constexpr double task_ns = 100'000;
constexpr double wait_ns = 2'000;

/// The chip as the stand-in's virtual clock has it; its tasks run on cube cores.
template <class P>
std::uint32_t set_clock(double ns) {
  rondo_stand_in_cost("touch", ns);
  rondo_stand_in_cost("wait", wait_ns);
  rondo_stand_in_cores(P::Arch::max_blocks);
  return P::Arch::max_blocks;
}

struct Measured {
  double ns = 0;
  std::uint32_t streams = 0;
};
/// What a steady round of a graph takes on the virtual clock.
template <class P>
Measured measure(const TaskGraph& graph, std::span<const double> costs, std::uint32_t streams) {
  typename P::Options options;
  options.task_ns = costs;
  options.streams = streams;
  auto session = open<P>(graph, options);
  REQUIRE(session.run_round().ok());
  const double before = rondo_stand_in_device_ns();
  REQUIRE(session.run_round().ok());
  return {rondo_stand_in_device_ns() - before, session.platform().streams()};
}

/// No round can be shorter than its longest chain of tasks, or than its work spread over all cores.
double lower_bound(const TaskGraph& graph, std::uint32_t cores) {
  const FrozenGraph frozen = freeze(graph);
  const graph::GraphView view = frozen.view();
  std::vector<double> to_end(view.tasks.size(), 0.0);
  double longest = 0;
  for (std::size_t t = view.tasks.size(); t-- > 0;) {
    for (const std::uint32_t s : view.successors_of(t)) to_end[t] = std::max(to_end[t], to_end[s]);
    longest = std::max(longest, to_end[t] += task_ns);
  }
  return std::max(longest, task_ns * static_cast<double>(view.tasks.size()) / cores);
}

/// What it states is enough to spread such tasks.
struct Slow {
  static constexpr std::string_view name = "touch";
  static constexpr auto core = CoreType::cube;
  static void run(In<float> x, Out<float> y) noexcept { y[0] = x[0]; }
  static double cost(In<float>, Out<float>) noexcept { return task_ns; }
};

/// Six branches x → a → b that share nothing, summed one after the other into y. A workspace of one branch may lie
/// where another's was.
struct Branches {
  static constexpr std::size_t n = 16;
  static constexpr std::uint32_t branches = 6;
  Branches() {
    Workspace<float> sum{};
    for (std::uint32_t i = 0; i < branches; ++i) {
      const auto a = graph.workspace<float>("a" + std::to_string(i), {n});
      const auto b = graph.workspace<float>("b" + std::to_string(i), {n});
      graph.add<kernels::Scale>(x, a, static_cast<float>(i + 1));
      graph.add<kernels::Scale>(a, b, 2.0F);
      if (i == 0) {
        sum = b;
        continue;
      }
      const auto next = graph.workspace<float>("s" + std::to_string(i), {n});
      graph.add<kernels::Add>(sum, b, next);
      sum = next;
    }
    graph.add<kernels::Scale>(sum, y, 1.0F);
  }
  template <class Session>
  void check(Session& session, int rounds = 4) const {
    for (int r = 1; r <= rounds; ++r) {
      Floats in(n, static_cast<float>(r)), out(n, -1);
      const Status status = session.run_round(bind(x, in), bind(y, out));
      const std::string said = session.explain(status).c_str();
      REQUIRE_MESSAGE(status.ok(), said);
      REQUIRE(out == Floats(n, 42.0F * static_cast<float>(r)));
    }
  }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {n});
  Output<float> y = graph.output<float>("y", {n});
};
const std::vector<double> long_tasks(64, task_ns);

template <class P>
typename P::Options on_streams(std::uint32_t streams) {
  typename P::Options options;
  options.streams = streams;
  options.task_ns = long_tasks;
  return options;
}

bool captures() {
  for (const char* const call : {"aclrtLaunchKernelV2", "aclmdlRICaptureBegin", "aclmdlRICaptureEnd",
                                 "aclmdlRIExecuteAsync", "aclmdlRIDestroy"}) {
    if (lacks(call)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE_TEMPLATE("Rounds of 100 µs tasks come within a tenth of what their chip allows", P, A2A3OverStandIn,
                   A5OverStandIn) {
  if (!captures()) return;
  const std::pair<std::string, TaskGraph> graphs[] = {{"wavefront 24 x 24", dealt::wavefront(24)},
                                                      {"wavefront 32 x 32", dealt::wavefront(32)},
                                                      {"tree of 2048 leaves", dealt::tree(2048)},

                                                      {"random, 1000 tasks", dealt::random(1000, 3, 1)},
                                                      {"random, 1000 tasks, sparse", dealt::random(1000, 1, 2)},
                                                      {"random, 300 tasks, dense", dealt::random(300, 6, 3)},
                                                      {"480 independent tasks", dealt::independent(480)},
                                                      {"1000 independent tasks", dealt::independent(1000)}};
  for (const auto& [name, graph] : graphs) {
    const Clean clean;
    const std::uint32_t cores = set_clock<P>(task_ns);
    const std::vector<double> costs(graph.tasks().size(), task_ns);
    const double bound = lower_bound(graph, cores);
    const Measured took = measure<P>(graph, costs, 0);
    INFO(name, " on ", cores, " cores: ", took.ns / 1000, " µs on ", took.streams, " streams, bound ", bound / 1000,
         " µs, ", took.ns / bound);
    CHECK(took.ns <= 1.10 * bound);
    CHECK(took.streams > 1);
  }
}

TEST_CASE_TEMPLATE("No round takes longer than it would on one stream", P, A2A3OverStandIn, A5OverStandIn) {
  if (!captures()) return;
  auto random = rondo::test::make_random(5);
  int several = 0;
  for (int c = 0; c < scaled(40); ++c) {
    CAPTURE(c);
    const auto tasks = static_cast<std::uint32_t>(2 + random() % 60);
    const TaskGraph graph =
        dealt::random(tasks, static_cast<std::uint32_t>(random() % 4), static_cast<std::uint32_t>(random()));
    const double ns = static_cast<double>(500 + random() % 20'000);
    const std::vector<double> costs(tasks, ns);
    const Clean clean;
    set_clock<P>(ns);
    const Measured chosen = measure<P>(graph, costs, 0);
    const Measured one = measure<P>(graph, costs, 1);
    REQUIRE(one.streams == 1);
    REQUIRE(one.ns == doctest::Approx(ns * tasks));
    REQUIRE(chosen.ns <= 1.01 * one.ns);
    several += chosen.streams > 1 ? 1 : 0;
  }
  CHECK(several > scaled(10));
  for (const TaskGraph& graph : {dealt::chain(100), dealt::independent(1)}) {
    const Clean clean;
    set_clock<P>(task_ns);
    const std::vector<double> costs(graph.tasks().size(), task_ns);
    const Measured took = measure<P>(graph, costs, 0);
    CHECK(took.streams == 1);
    CHECK(took.ns == doctest::Approx(task_ns * static_cast<double>(graph.tasks().size())));
  }
}

TEST_CASE_TEMPLATE("A graph is captured on several streams, and a steady round makes the calls that it made on one", P,
                   A2A3OverStandIn, A5OverStandIn) {
  if (!captures()) return;
  const Clean clean;
  const Branches g;
  auto session = open<P>(g.graph, on_streams<P>(3));
  CHECK(session.platform().streams() == 0);  // nothing was launched yet
  g.check(session, 2);
  CHECK(session.platform().is_captured());
  CHECK(session.platform().streams() == 3);
  CHECK(rondo_stand_in_live("streams") == 1);  // those of the capture are gone
  CHECK(rondo_stand_in_live("events") == 0);
  const std::vector<std::string> opening = log();
  const auto begin = std::find(opening.begin(), opening.end(), "aclmdlRICaptureBegin");
  const auto end = std::find(opening.begin(), opening.end(), "aclmdlRICaptureEnd");
  REQUIRE(end - begin > 0);
  CHECK(std::find(end, opening.end(), "aclmdlRICaptureBegin") == opening.end());
  CHECK(std::count(begin, end, "aclrtLaunchKernelV2") == 18);
  CHECK(std::count(begin, end, "aclrtStreamWaitEvent") > 2);
  CHECK(std::count(begin, end, "aclrtStreamWaitEvent") <= 10);
  CHECK(std::count(begin, end, "aclrtRecordEvent") <= std::count(begin, end, "aclrtStreamWaitEvent"));
  rondo_stand_in_reset();
  g.check(session, 10);
  CHECK(counted() == std::map<std::string, std::uint64_t>{{"aclrtMemcpyAsync", 20},
                                                          {"aclmdlRIExecuteAsync", 10},
                                                          {"aclrtSynchronizeStreamWithTimeout", 10}});
}

TEST_CASE("Costs that kernels state spread tasks over streams without an option; the options' costs count more") {
  if (!captures()) return;
  using P = A5OverStandIn;
  const Clean clean;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {1});
  for (int t = 0; t < 8; ++t) graph.add<Slow>(x, graph.workspace<float>("t" + std::to_string(t), {1}));
  const auto streams_of = [&](const typename P::Options& options) {
    auto session = open<P>(graph, options);
    const Floats one(1, 1);
    REQUIRE(session.run_round(bind(x, one)).ok());
    return session.platform().streams();
  };
  CHECK(streams_of({}) == 8);
  P::Options options;
  options.costs.stream_wait_ns = 10 * task_ns;
  CHECK(streams_of(options) == 1);
  const std::vector<double> quick(8, 100);
  options = {};
  options.task_ns = quick;
  CHECK(streams_of(options) == 1);
  options = {};
  options.wait_after_each_task = true;
  CHECK(streams_of(options) == 1);
}

TEST_CASE_TEMPLATE("However the streams of a graph take turns, its results are right", P, A2A3OverStandIn,
                   A5OverStandIn) {
  for (const char* const order : {"any", "first_stream_first", "last_stream_first"}) {
    CAPTURE(order);
    const Clean clean;
    rondo_stand_in_replay_order(order);
    const Branches g;
    for (std::uint32_t streams = 1; streams <= 7; ++streams) {
      CAPTURE(streams);
      auto session = open<P>(g.graph, on_streams<P>(streams));
      g.check(session, 20);
    }
  }
}

TEST_CASE_TEMPLATE("Rounds in flight and shapes run on several streams", P, A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  const Branches g;
  {
    auto session = open_pipelined<P, 3>(g.graph, on_streams<P>(3));
    std::vector<Floats> in, out(12, Floats(Branches::n, -1));
    for (int r = 0; r < 12; ++r) in.emplace_back(Branches::n, static_cast<float>(r));
    for (std::size_t r = 0; r < 12; ++r) REQUIRE(session.submit_round(bind(g.x, in[r]), bind(g.y, out[r])));
    REQUIRE(session.wait_all().ok());
    for (std::size_t r = 0; r < 12; ++r) CHECK(out[r] == Floats(Branches::n, 42.0F * static_cast<float>(r)));
  }
  TaskGraph shaped;
  const Dim n = shaped.dim("n");
  const auto x = shaped.input<float>("x", {n});
  const auto y = shaped.output<float>("y", {n});
  const auto z = shaped.output<float>("z", {n});
  const auto a = shaped.workspace<float>("a", {n});
  const auto b = shaped.workspace<float>("b", {n});
  shaped.add<kernels::Scale>(x, a, 2.0F);
  shaped.add<kernels::Scale>(x, b, 3.0F);
  shaped.add<kernels::Scale>(a, y, 2.0F);
  shaped.add<kernels::Scale>(b, z, 3.0F);
  const auto check = [&](auto& session, std::uint32_t streams) {
    for (const std::size_t size : {8U, 32U, 8U}) {
      Floats in(size, 1), out(size), more(size);
      REQUIRE(session.run_round(bind(x, in), bind(y, out), bind(z, more)).ok());
      CHECK(out == Floats(size, 4));
      CHECK(more == Floats(size, 9));
      if (captures()) CHECK(session.platform().streams() == streams);
    }
  };
  auto own = open_shaped<P>(shaped, on_streams<P>(0));
  check(own, 2);
  // Shapes that sessions share are dealt once; a session may use fewer streams, never others.
  const auto shapes = share_shapes<P>(shaped, on_streams<P>(0));
  auto two = open_shaped(shapes, on_streams<P>(4));
  check(two, 2);
  auto one = open_shaped(shapes, on_streams<P>(1));
  check(one, 1);
}

TEST_CASE_TEMPLATE("A file belongs to a graph whose tasks are dealt to streams in the same way", P, A2A3OverStandIn,
                   A5OverStandIn) {
  if (!captures()) return;
  const Clean clean;
  const Branches g;
  const test::Folder folder;
  const std::string path = folder / "session";
  open<P>(g.graph, on_streams<P>(3)).save(path.c_str());
  auto options = on_streams<P>(3);
  options.saved = path.c_str();
  {
    auto session = open<P>(g.graph, options);
    CHECK(session.is_restored());
    g.check(session, 2);
  }
  const std::vector<double> others(64, task_ns / 100);  // too short to be worth a second stream
  options.task_ns = others;
  CHECK_THROWS_AS((void)open<P>(g.graph, options), Error);
}

TEST_CASE("With fewer streams, queues or events than wanted a graph takes those that are left") {
  if (!captures()) return;
  using P = A2A3OverStandIn;
  const Branches g;
  const auto streams_with = [&](const char* what, std::uint64_t limit) {
    const Clean clean;
    rondo_stand_in_limit(what, limit);
    auto session = open<P>(g.graph, on_streams<P>(6));
    g.check(session);
    CHECK(session.platform().is_captured());
    std::string said;
    session.platform().remarks(Moment::closing, [&](const char* remark) { said = remark; });
    CHECK((said.find("of the 6 streams") != std::string::npos) == (session.platform().streams() != 6));
    return session.platform().streams();
  };
  CHECK(streams_with("streams", 6) == 6);
  CHECK(streams_with("streams", 5) == 3);
  CHECK(streams_with("streams", 1) == 1);
  CHECK(streams_with("queues", 6) == 6);
  CHECK(streams_with("queues", 4) == 3);
  CHECK(streams_with("queues", 1) == 1);
  CHECK(streams_with("events", 1) < 6);
  CHECK(streams_with("events", 0) == 1);
}

TEST_CASE("Whatever call of a capture on several streams is refused, the rounds are right and nothing is left over") {
  if (!captures()) return;
  using P = A2A3OverStandIn;
  const Branches g;
  for (const char* const call : {"aclrtCreateStreamWithConfig", "aclrtCreateEventExWithFlag", "aclmdlRICaptureBegin",
                                 "aclrtRecordEvent", "aclrtStreamWaitEvent", "aclmdlRICaptureEnd"}) {
    for (const int code : {207000, 207008}) {
      for (std::uint64_t k = 1; k <= 12; ++k) {
        CAPTURE(call);
        CAPTURE(code);
        CAPTURE(k);
        const Clean clean;
        // The device's own stream is made before any of the capture's.
        const bool is_first_stream = std::string(call) == "aclrtCreateStreamWithConfig" && k == 1;
        rondo_stand_in_fault(call, k + (is_first_stream ? 1 : 0), code);
        auto session = open<P>(g.graph, on_streams<P>(4));
        rondo_stand_in_clear_faults();
        g.check(session, 2);
        CHECK(session.platform().is_captured());
        CHECK(session.platform().streams() <= 4);
      }
    }
  }
}

TEST_CASE("A graph that is planned for several streams runs right where it can be captured on none") {
  // The chain is added between the writers and the readers of s, and is dealt first since it is the longest: in the
  // graph's own order it would run over what the last writers have left.
  constexpr std::size_t pairs = 8;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  std::vector<Workspace<float>> s;
  std::array<Output<float>, pairs> y;
  for (std::size_t i = 0; i < 2 * pairs; ++i) {
    s.push_back(graph.workspace<float>("s" + std::to_string(i), {16}));
    graph.add<kernels::Scale>(x, s.back(), static_cast<float>(i));
  }
  const auto end = graph.output<float>("end", {16});
  Workspace<float> link{};
  for (int i = 0; i < 8; ++i) {
    const auto next = graph.workspace<float>("c" + std::to_string(i), {16});
    i == 0 ? graph.add<kernels::Scale>(x, next, 2.0F) : graph.add<kernels::Scale>(link, next, 2.0F);
    link = next;
  }
  graph.add<kernels::Scale>(link, end, 2.0F);
  for (std::size_t i = 0; i < pairs; ++i) {
    y[i] = graph.output<float>("y" + std::to_string(i), {16});
    graph.add<kernels::Add>(s[2 * i], s[2 * i + 1], y[i]);
  }
  for (const bool is_refused : {true, false}) {
    const Clean clean;
    if (is_refused) rondo_stand_in_fault("aclmdlRICaptureBegin", 0, 207000);
    auto session = open<A2A3OverStandIn>(graph, on_streams<A2A3OverStandIn>(2));
    const Floats in(16, 1);
    Floats last(16);
    std::array<Floats, pairs> out;
    out.fill(Floats(16, -1));
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      REQUIRE(session.run_round(bind(x, in), bind(end, last), bind(y[I], out[I])...).ok());
    }(std::make_index_sequence<pairs>{});
    CHECK(last == Floats(16, 512));
    for (std::size_t i = 0; i < pairs; ++i) CHECK(out[i] == Floats(16, static_cast<float>(4 * i + 1)));
    if (captures()) CHECK(session.platform().streams() == (is_refused ? 1 : 2));
  }
}

TEST_CASE("One stream takes the memory that it took, several take what their overlap needs, and less than any order") {
  const Clean clean;
  const Branches g;
  const auto bytes = [&](std::uint32_t streams) {
    return open<A2A3OverStandIn>(g.graph, on_streams<A2A3OverStandIn>(streams)).arena_bytes().value;
  };
  const std::uint64_t one = bytes(1);
  CHECK(one == memory::Layout<FrozenGraph, arch::A2A3, memory::Greedy, memory::Concurrency::sequential>(freeze(g.graph))
                   .arena_bytes()
                   .value);
  const std::uint64_t any =
      memory::Layout<FrozenGraph, arch::A2A3, memory::Greedy, memory::Concurrency::parallel>(freeze(g.graph))
          .arena_bytes()
          .value;
  CHECK(one < bytes(2));
  CHECK(bytes(2) < any);
  CHECK(bytes(6) <= any);
}
