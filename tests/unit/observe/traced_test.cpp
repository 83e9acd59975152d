// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/observe/traced.hpp>

#include <rondo/graph/loops.hpp>
#include <rondo/graph/static_graph.hpp>
#include <rondo/observe/task_events.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/open_static.hpp>
#include <rondo/session/pipelined_session.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

using namespace rondo;
using namespace rondo::test;
using observe::Traced;

namespace {

using OnInline = A2A3SimOn<Traced<Inline>>;
using OnPool = A2A3SimOn<Traced<Pool>>;

/// y = x, each block its share.
struct CopyShare {
  static constexpr std::string_view name = "copy_share";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y, Block block) noexcept {
    for (std::size_t i = block.index; i < y.size(); i += block.count) y[i] = x[i];
  }
};

constexpr auto build = [] {
  TaskGraph g;
  auto x = g.input<float>("x", {16});
  auto t = g.workspace<float>("t", {16});
  auto y = g.output<float>("y", {16});
  g.add<Scale>(x, t, 2.0F);
  g.add<CopyShare>(Blocks{4}, t, y);
  return g;
};

}  // namespace

TEST_CASE("Each call of a kernel leaves a span with its task, block and launch, and results are the same") {
  const TaskGraph graph = build();
  const FrozenGraph frozen = freeze(graph);
  const auto x = frozen.input<float>("x");
  const auto y = frozen.output<float>("y");
  auto session = open<OnInline>(graph);
  std::vector<float> hx(16, 3), hy(16);
  CHECK(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy == std::vector<float>(16, 6));
  const auto& recorder = session.platform().engine().recorder();
  CHECK(recorder.threads() == 1);
  const observe::SpanRing& spans = recorder.spans(0);
  REQUIRE(spans.size() == 10);
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(spans[i].round == 1 + i / 5);
    CHECK(spans[i].what == (i % 5 == 0 ? 0U : 1U));
    CHECK(spans[i].detail == (i % 5 == 0 ? 0U : i % 5 - 1));
    CHECK(spans[i].start <= spans[i].end);
    if (i != 0) CHECK(spans[i - 1].end <= spans[i].start);
  }
  REQUIRE(recorder.launch_spans().size() == 2);
  CHECK(recorder.launch_spans()[1].start <= spans[5].start);
  CHECK(recorder.launch_spans()[1].end >= spans[9].end);
}

TEST_CASE("A graph that the compiler knows is traced too") {
  static constexpr auto& known = static_graph<build>;
  auto session = open<OnInline, known>();
  std::vector<float> hx(16, 3), hy(16);
  CHECK(session.run_round(bind(known.input<float>("x"), hx), bind(known.output<float>("y"), hy)).ok());
  CHECK(hy == std::vector<float>(16, 6));
  CHECK(session.platform().engine().recorder().spans(0).size() == 5);
}

TEST_CASE("A kernel that throws leaves a span, and fails its round as it would without") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  graph.add<Fragile>(x, y);
  auto session = open<OnInline>(graph);
  std::vector<float> hx{-1, 0}, hy(2);
  const Status status = session.run_round(bind(x, hx), bind(y, hy));
  CHECK(status.code() == Errc::kernel_failed);
  CHECK(says(std::string_view{session.explain(status).c_str()}, "fragile"));
  CHECK(session.platform().engine().recorder().spans(0).size() == 1);
}

TEST_CASE("Rounds on two threads lose no call, whoever ran it") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  const auto y = graph.output<float>("y", {64});
  graph.add<CopyShare>(Blocks{16}, x, y);
  OnPool::Options options{};
  options.engine.inner = {.threads = 2, .scheduling = platform::sim::Scheduling::uniform};
  auto session = open<OnPool>(graph, options);
  std::vector<float> hx(64, 5), hy(64);
  for (int i = 0; i < 200; ++i) CHECK(session.run_round(bind(x, hx), bind(y, hy)).ok());
  const auto& recorder = session.platform().engine().recorder();
  const auto calls = observe::traced_calls(recorder);
  REQUIRE(calls.size() == 200 * 16);
  for (std::size_t launch = 0; launch < 200; ++launch) {
    const std::span<const observe::TracedCall> one{calls.data() + launch * 16, 16};
    CHECK(one.front().launch == launch + 1);
    CHECK(one.back().launch == launch + 1);
    CHECK(observe::is_whole(recorder.graph(), observe::traced_tasks(recorder.graph(), one)));
  }
}

TEST_CASE("Two sessions that take turns on one thread keep their spans apart") {
  const TaskGraph graph = build();
  const FrozenGraph frozen = freeze(graph);
  const auto x = frozen.input<float>("x");
  const auto y = frozen.output<float>("y");
  auto a = open<OnInline>(graph);
  auto b = open<OnInline>(graph);
  std::vector<float> hx(16, 3), hy(16);
  for (int i = 0; i < 10; ++i) {
    CHECK(a.run_round(bind(x, hx), bind(y, hy)).ok());
    if (i % 2 == 0) CHECK(b.run_round(bind(x, hx), bind(y, hy)).ok());
  }
  CHECK(a.platform().engine().recorder().spans(0).size() == 50);
  CHECK(b.platform().engine().recorder().spans(0).size() == 25);
  CHECK(a.platform().engine().recorder().dropped() == 0);
}

TEST_CASE("Each thread that runs tasks keeps its spans, also beyond the threads of the engine") {
  const TaskGraph graph = build();
  const FrozenGraph frozen = freeze(graph);
  const auto x = frozen.input<float>("x");
  const auto y = frozen.output<float>("y");
  auto session = open<OnInline>(graph);
  std::vector<float> hx(16, 3), hy(16);
  const auto run_below = [&](const auto& self, int depth) -> void {  // each thread lives as long as those below it
    CHECK(session.run_round(bind(x, hx), bind(y, hy)).ok());
    if (depth != 0) std::thread([&] { self(self, depth - 1); }).join();
  };
  run_below(run_below, 4);
  CHECK(hy == std::vector<float>(16, 6));
  const auto& recorder = session.platform().engine().recorder();
  REQUIRE(recorder.threads() == 5);
  for (std::size_t thread = 0; thread < 5; ++thread) CHECK(recorder.spans(thread).size() == 5);
  CHECK(recorder.dropped() == 0);
}

TEST_CASE("Rounds in flight lose no call, although each slot has threads of its own") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  const auto y = graph.output<float>("y", {64});
  graph.add<CopyShare>(Blocks{16}, x, y);
  OnPool::Options options{};
  options.engine.inner = {.threads = 3, .scheduling = platform::sim::Scheduling::uniform};
  auto session = open_pipelined<OnPool, 3>(graph, options);
  std::vector<float> hx(64, 5), hy[3];
  for (auto& each : hy) each.resize(64);
  for (std::size_t round = 0; round < 300; ++round) {
    CHECK(session.submit_round(bind(x, hx), bind(y, hy[round % 3])).submitted().ok());
  }
  CHECK(session.wait_all().ok());
  const auto& recorder = session.platform().engine().recorder();
  CHECK(recorder.dropped() == 0);
  CHECK(observe::traced_calls(recorder).size() == 300 * 16);
}

namespace {

struct CountDown {
  static constexpr std::string_view name = "count_down";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<std::int32_t> n, Out<std::int32_t> done) noexcept { done[0] = --n[0] == 0 ? 1 : 0; }
};

}  // namespace

TEST_CASE("Each repetition of a loop leaves spans, around which the loop has one of its own") {
  TaskGraph graph;
  const auto n = graph.inout<std::int32_t>("n", {1});
  const auto done = graph.workspace<std::int32_t>("done", {1});
  graph.repeat_until(done, 100, [&] { graph.add<CountDown>(n, done); });
  graph.when(done, [&] { graph.add<CountDown>(n, done); });
  auto session = open<OnInline>(graph);
  std::vector<std::int32_t> hn{7};
  REQUIRE(session.run_round(bind(n, hn)).ok());
  CHECK(hn[0] == -1);
  const auto& recorder = session.platform().engine().recorder();
  CHECK(recorder.spans(0).size() == 7 * 2 + 2);
  const auto calls = observe::traced_calls(recorder);
  const auto tasks = observe::traced_tasks(recorder.graph(), calls);
  CHECK(observe::is_whole(recorder.graph(), tasks));
  CHECK(tasks[0].end <= calls[2].start);  // of the first repetition

  observe::TraceEvents events;
  observe::add_tasks<arch::A2A3>(events, 1, recorder, memory::Concurrency::sequential);
  std::vector<const observe::TraceEvent*> loops;
  for (const observe::TraceEvent& event : events.events) {
    if (event.name.starts_with("loop ")) loops.push_back(&event);
  }
  REQUIRE(loops.size() == 2);
  CHECK(loops[0]->name == "loop until done");
  std::size_t within = 0;
  for (const observe::TraceEvent& event : events.events) {
    const bool is_task = event.name == "count_down" && event.track == loops[0]->track;
    if (is_task && event.ns >= loops[0]->ns && event.ns + event.took_ns <= loops[0]->ns + loops[0]->took_ns) ++within;
  }
  CHECK(within == 7);
  CHECK(loops[0]->numbers[2].second == 7);
  CHECK(loops[1]->name == "loop when done");
}
