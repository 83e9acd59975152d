// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What fails on the platform Cuda: devices that fail, time that runs out, memory that runs out, and every call of the
// driver's in turn.

#include "conformance/counting_loop.hpp"
#include "cuda/fixture.hpp"
#include "open_in_time.hpp"

#include <rondo/platform/cuda/runtime.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>

#include <utility>

using namespace rondo;
using namespace cuda_test;

namespace {

struct Picky {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {4});
  Output<float> y = graph.output<float>("y", {4});
  Workspace<float> t = graph.workspace<float>("t", {4});
  TaskId first = graph.add<kernels::Scale>(x, t, 1.0F);
  TaskId picky = graph.add<kernels::Picky>(t, y);
};

/// Opens, runs rounds and closes. @returns everything that was told, and whether good rounds were right
struct Life {
  std::vector<Errc> told;
  int good_rounds = 0;
  bool right = true;
};
enum class Kind { one_at_a_time, in_flight, with_library_call, with_loop };
Life live(Kind kind) {
  Life life;
  const auto note = [&](Status status) {
    if (!status.ok()) life.told.push_back(status.code());
  };
  Graph g;
  if (kind == Kind::with_library_call) {
    const auto copy = g.graph.workspace<float>("copy", {Graph::n});
    g.graph.add_call("copy", {reads(g.w), writes(copy)}, [](const LibraryCall& call) {
      return P::enqueue_copy(call.stream(), call.data<float>(1), call.data<float>(0), Graph::n * sizeof(float));
    });
  }
  if (kind == Kind::with_loop) {
    const auto never = g.graph.workspace<counting::Int>("never", {1});
    const auto copy = g.graph.workspace<float>("copy", {Graph::n});
    g.graph.repeat_until(never, 2, [&] {
      g.graph.add<counting::Clear>(never);
      g.graph.add<kernels::Scale>(g.w, copy, 1.0F);
    });
  }
  const P::Options options;
  try {
    if (kind == Kind::in_flight) {
      auto session = open_pipelined<P, 2>(g.graph, options);
      const Floats x(Graph::n, 1), w(Graph::n, 1);
      Floats y[3], s[3];
      for (int i = 0; i < 3; ++i) {
        y[i].assign(Graph::n, -1);
        s[i].assign(Graph::n, 10);
        const auto ticket = session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, y[i]), bind(g.s, s[i]));
        const Status status = session.wait(ticket);
        note(status);
        if (status.ok()) ++life.good_rounds;
        if (status.ok()) life.right = life.right && y[i] == Floats(Graph::n, 6) && s[i] == Floats(Graph::n, 11);
      }
      note(session.close());
    } else {
      auto session = open<P>(g.graph, options);
      for (int i = 0; i < 3; ++i) {
        const auto [status, right] = run(session, g, static_cast<float>(i));
        note(status);
        if (status.ok()) ++life.good_rounds;
        if (status.ok()) life.right = life.right && right;
      }
      note(session.close());
    }
  } catch (const Error& e) {
    life.told.push_back(e.code());
  }
  return life;
}

struct Logging : DefaultPolicies {
  static inline std::string lines;
  static void log(LogEvent, const char* text) noexcept { lines.append(text).append("\n"); }
};

}  // namespace

TEST_CASE("a kernel that fails loses the context: the session is poisoned, and so is every other on the device") {
  const Clean clean;
  const Picky g;
  auto session = open<P>(g.graph);
  auto other = open<P>(g.graph);
  Floats x(4, 1), y(4);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
  x[0] = -1;
  const Status status = session.run_round(bind(g.x, x), bind(g.y, y));
  CHECK(status.code() == Errc::device_failed);
  CHECK(status.poisoned());
  CHECK(status.subject() == Status::Subject::none);
  CHECK(has(session.explain(status).c_str(), "719 (CUDA_ERROR_LAUNCH_FAILED)"));
  CHECK(session.run_round(bind(g.x, x), bind(g.y, y)).code() == Errc::poisoned);
  x[0] = 1;
  CHECK(other.run_round(bind(g.x, x), bind(g.y, y)).poisoned());
  CHECK(refusal(g.graph).first == Errc::device_failed);
  CHECK(session.close().ok());
  CHECK(other.close().ok());
}

TEST_CASE("waiting after each task names the task that failed") {
  const Clean clean;
  const Picky g;
  P::Options options;
  options.wait_after_each_task = true;
  auto session = open<P>(g.graph, options);
  Floats x(4, -1), y(4);
  const Status status = session.run_round(bind(g.x, x), bind(g.y, y));
  CHECK(status.code() == Errc::device_failed);
  CHECK(status.subject() == Status::Subject::task);
  CHECK(status.index() == index(g.picky));
  CHECK(has(session.explain(status).c_str(), "'picky'"));
}

TEST_CASE("rounds in flight when the device fails fail with it, the first as such and the later ones as poisoned") {
  const Clean clean;
  const Picky g;
  auto session = open_pipelined<P, 3>(g.graph);
  Floats x[3] = {Floats(4, 1), Floats(4, -1), Floats(4, 1)}, y[3] = {Floats(4), Floats(4), Floats(4)};
  REQUIRE(session.wait(session.submit_round(bind(g.x, x[0]), bind(g.y, y[0]))).ok());
  const auto bad = session.submit_round(bind(g.x, x[1]), bind(g.y, y[1]));
  const auto later = session.submit_round(bind(g.x, x[2]), bind(g.y, y[2]));
  CHECK(session.wait(bad).code() == Errc::device_failed);
  CHECK(session.wait(later).poisoned());
  CHECK(session.poisoned());
  const Status closed = session.close();
  CHECK(closed.ok());
}

TEST_CASE("a failure that no round in flight has met is told once: closing the session succeeds") {
  const auto fails_once = [](auto& session, const Picky& g, auto& other) {
    Floats x(4, 1), y(4);
    REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
    REQUIRE(other.run_round(bind(g.x, x), bind(g.y, y)).ok());
    x[0] = -1;
    CHECK(session.run_round(bind(g.x, x), bind(g.y, y)).code() == Errc::device_failed);
    CHECK(session.close().ok());
    CHECK(other.run_round(bind(g.x, x), bind(g.y, y)).code() == Errc::device_failed);
    CHECK(other.close().ok());
  };
  const Picky g;
  {
    const Clean clean;
    auto session = open_pipelined<P, 2>(g.graph), other = open_pipelined<P, 2>(g.graph);
    fails_once(session, g, other);
  }
  const Clean clean;
  ShapedSession<P, DefaultPolicies, launch::Lru<4>, 2> session(g.graph), other(g.graph);
  fails_once(session, g, other);
}

TEST_CASE("a session of shapes that loses the device while its arena grows tells what the driver reports") {
  const Clean clean;
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const auto weights = graph.resident<float>("weights", {4});
  const auto copy = graph.workspace<float>("copy", {4});
  graph.add<kernels::Scale>(x, y, 1.0F);
  graph.add<kernels::Scale>(weights, copy, 1.0F);
  auto session = open_shaped<P>(graph);
  const Floats small(4, 1), large(100'000, 1);
  Floats result(4), large_result(large.size());
  REQUIRE(session.upload(weights, std::span(small)).ok());
  REQUIRE(session.run_round(bind(x, small), bind(y, result)).ok());
  rondo_cuda_stand_in_fault("device", 1, 719);
  const Status status = session.run_round(bind(x, large), bind(y, large_result));
  CHECK(status.poisoned());
  const Status later = session.run_round(bind(x, small), bind(y, result));
  CHECK(later.code() == Errc::poisoned);
  for (const Status each : {status, later}) {
    const std::string text = session.explain(each).c_str();
    CAPTURE(text);
    CHECK(has(text, "moving the arena: "));
    CHECK(has(text, "719"));
  }
}

TEST_CASE("a failure that the submission of a later round meets first is that of the round that failed") {
  for (int i = 0; i < 20; ++i) {
    const Clean clean;
    const Picky g;
    auto session = open_pipelined<P, 3>(g.graph);
    const Floats good(4, 1), negative(4, -1);
    Floats y[3] = {Floats(4), Floats(4), Floats(4)};
    const auto before = session.submit_round(bind(g.x, good), bind(g.y, y[0]));
    const auto bad = session.submit_round(bind(g.x, negative), bind(g.y, y[1]));
    if (i % 2 == 0) rondo_cuda_stand_in_settle();  // the device has failed by then; else it may fail at any moment
    const auto later = session.submit_round(bind(g.x, good), bind(g.y, y[2]));
    CHECK(session.wait(before).code() != Errc::poisoned);  // the context may be lost before its outputs are fetched
    const Status status = session.wait(bad);
    CHECK(!status.ok());
    CHECK(status.poisoned());
    CHECK(!session.wait(later).ok());
    CHECK(!session.wait_all().ok());
    (void)session.close();
  }
}

TEST_CASE("a device that does not finish in time poisons, and closing does not wait for ever") {
  const Clean clean;
  const Graph g;
  P::Options options;
  options.timeout_ms = 300;
  options.spins = 3;
  {
    auto session = test::open_in_time([&] { return open<P>(g.graph, options); });
    rondo_cuda_stand_in_hang();
    const Status status = run(session, g, 2.0F).first;
    CHECK(status.code() == Errc::timed_out);
    CHECK(status.poisoned());
    CHECK(has(session.platform().failure_text().c_str(), "Options::timeout_ms"));
    CHECK(!session.close().ok());
    rondo_cuda_stand_in_end_process();  // what the device holds is left to it
  }
  CHECK(misuses().empty());
}

TEST_CASE("the time limit of a round holds however often the thread asks before it sleeps") {
  const Clean clean;
  const Graph g;
  P::Options options;
  options.timeout_ms = 100;
  options.spins = 1U << 24U;
  {
    auto session = test::open_in_time([&] { return open<P>(g.graph, options); });
    rondo_cuda_stand_in_hang();
    const auto asked = calls("cuStreamQuery");
    CHECK(run(session, g, 2.0F).first.code() == Errc::timed_out);
    CHECK(calls("cuStreamQuery") - asked < options.spins);
    CHECK(!session.close().ok());
    rondo_cuda_stand_in_end_process();
  }
}

TEST_CASE("rounds in flight on a device that does not finish fail in time") {
  const Clean clean;
  const Graph g;
  P::Options options;
  options.timeout_ms = 300;
  options.spins = 3;
  {
    auto session = test::open_in_time([&] { return open_pipelined<P, 2>(g.graph, options); });
    const Floats x(Graph::n, 1), w(Graph::n, 1);
    Floats y(Graph::n), s(Graph::n, 10);
    rondo_cuda_stand_in_hang();
    const auto ticket = session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s));
    CHECK(session.wait(ticket).code() == Errc::timed_out);
    CHECK(session.poisoned());
    (void)session.close();
    rondo_cuda_stand_in_end_process();
  }
  CHECK(misuses().empty());
}

TEST_CASE("a device without enough memory is an error that says so, and holds nothing afterwards") {
  const Clean clean;
  const Graph g;
  rondo_cuda_stand_in_limit("memory", 256);
  CHECK(refusal(g.graph).first == Errc::out_of_memory);
  rondo_cuda_stand_in_reset();
  P::Options options;
  options.device_memory = Bytes{256};
  const auto [code, text] = refusal(g.graph, options);
  CHECK(code == Errc::out_of_memory);
  CHECK(has(text, "256 are free"));
}

TEST_CASE("where the driver cannot capture a library call, tasks are launched one by one") {
  for (const char* const refuses : {"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphAddChildGraphNode"}) {
    CAPTURE(refuses);
    const Clean clean;
    Graph g;
    int calls_made = 0;
    const auto count = [&](const LibraryCall&) { ++calls_made; };
    g.graph.add_call("count", {reads(g.w)}, count);
    rondo_cuda_stand_in_fault(refuses, 1, 801);
    auto session = open<P, Logging>(g.graph);
    calls_made = 0;
    for (int round = 0; round < 3; ++round) CHECK(run(session, g, static_cast<float>(round)).second);
    CHECK(calls_made == 3);
    CHECK(!session.platform().is_captured());
    Logging::lines.clear();
    CHECK(session.close().ok());
    CHECK(has(Logging::lines, "while it was captured; tasks were launched one by one"));
  }
}

TEST_CASE("the log says that a library call was not captured, also if all rounds were in flight") {
  const Clean clean;
  Graph g;
  g.graph.add_call("count", {reads(g.w)}, [](const LibraryCall&) {});
  rondo_cuda_stand_in_fault("cuStreamBeginCapture", 0, 801);
  auto session = open_pipelined<P, 2, Logging>(g.graph);
  const Floats x(Graph::n, 1), w(Graph::n, 1);
  Floats y(Graph::n), s(Graph::n, 10);
  CHECK(session.wait(session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s))).ok());
  Logging::lines.clear();
  CHECK(session.close().ok());
  CHECK(has(Logging::lines, "cuStreamBeginCapture returned 801 for the library call of task 'count' while it was"));
}

TEST_CASE("whichever call of the driver fails, and whenever, it is told, no result is wrong, and nothing is left") {
  const Clean clean;
  platform::cuda::Calls table;
  std::vector<std::string> names{"device"};
  const auto take = [&](const char* name, const char*, auto&) { names.emplace_back(name); };
  visit_required(table, take);
  visit_optional(table, take);
  int injected = 0;
  for (const Kind kind : {Kind::one_at_a_time, Kind::in_flight, Kind::with_library_call, Kind::with_loop}) {
    for (const std::string& name : names) {
      const bool is_asked_for_long = name == "cuStreamQuery" || name == "cuCtxGetCurrent" || name == "cuEventQuery";
      for (const int code : {2, 700, 801}) {
        if (name == "device" && code != 700) continue;  // the device's own failures lose the context
        for (std::uint64_t k = 1; k < (is_asked_for_long ? 5 : 60); ++k) {
          CAPTURE(kind);
          CAPTURE(name);
          CAPTURE(code);
          CAPTURE(k);
          rondo_cuda_stand_in_reset();
          rondo_cuda_stand_in_fault(name.c_str(), k, code);
          const Life life = live(kind);
          const bool happened = rondo_cuda_stand_in_faults_left() == 0;
          CHECK(life.right);
          // A lost context is told by the wait; what is given back afterwards has nothing to add.
          const bool is_of_the_end = life.good_rounds == 3;
          if (happened && !is_of_the_end) CHECK(!life.told.empty());
          if (!happened) CHECK(life.told.empty());
          CHECK(rondo_cuda_stand_in_live(nullptr) == 0);
          CHECK(misuses() == "");
          injected += happened ? 1 : 0;
          if (rondo_cuda_stand_in_live(nullptr) != 0) rondo_cuda_stand_in_end_process();
          if (!happened) break;
        }
      }
    }
  }
  CHECK(injected > 200);
}
