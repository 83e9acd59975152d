// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Loops on CUDA: who decides, which calls a round makes, and how it fails. Results are compared in conformance/loops.

#include "conformance/conditions_in_memory.hpp"
#include "conformance/counting_loop.hpp"
#include "cuda/fixture.hpp"
#include "open_in_time.hpp"

#include <rondo/platform/cuda/runtime.hpp>
#include <rondo/session/loop_report.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace rondo;
using namespace cuda_test;
using namespace counting;

namespace {

/// Why the host decides about a session's only loop; empty if the device does.
template <class Session>
[[nodiscard]] std::string why_host(const Session& session) {
  const std::vector<LoopReport> reports = session.explain_loops();
  REQUIRE(reports.size() == 1);
  CHECK((reports[0].decider == LoopReport::Decider::host) == !std::string(reports[0].why).empty());
  return reports[0].why;
}

}  // namespace

TEST_CASE("A graph with loops is one CUDA graph, and a round is one launch and one wait") {
  const Clean clean;
  Counting g;
  auto session = open<P>(g.graph);
  CHECK(why_host(session).empty());
  CHECK(calls("cuGraphInstantiateWithFlags") == 1);
  CHECK(calls("cuGraphAddNode") == 1);
  for (const Int wanted : {4, 1, 10, 11}) {
    CAPTURE(wanted);
    const std::uint64_t launched = calls("cuGraphLaunch"), made = calls(nullptr);
    CHECK(g.count_of(session, wanted) == (wanted < 10 ? wanted : 10));
    CHECK(calls("cuGraphLaunch") - launched == 1);
    CHECK(calls(nullptr) - made == 3);  // an input, the launch, an output
  }
  CHECK(session.platform().is_captured());
}

TEST_CASE("Loops in a loop start anew in each repetition of that loop") {
  const Clean clean;
  TaskGraph graph;
  const auto x = graph.input<Int>("x", {1}), outer = graph.input<Int>("outer", {1}),
             flag = graph.input<Int>("flag", {1});
  const auto count = graph.workspace<Int>("count", {1}), all = graph.workspace<Int>("all", {1});
  const auto done = graph.workspace<Int>("done", {1}), end = graph.workspace<Int>("end", {1});
  const auto y = graph.output<Int>("y", {1}), z = graph.output<Int>("z", {1});
  graph.add<Clear>(all);
  graph.add<Clear>(count);
  graph.repeat_until(end, 5, [&] {
    graph.when(flag, [&] {
      graph.add<Clear>(count);
      graph.repeat_until(done, 7, [&] { graph.add<Until>(x, count, done); });
    });
    graph.add<Until>(outer, all, end);
  });
  graph.add<Copy>(count, y);
  graph.add<Copy>(all, z);
  auto session = open<P>(graph);
  CHECK(calls("cuGraphAddNode") == 3);
  for (const Int wanted : {3, 9, 1}) {
    for (const Int repetitions : {2, 5, 8}) {
      for (const Int is_on : {0, 1}) {
        CAPTURE(wanted);
        CAPTURE(repetitions);
        CAPTURE(is_on);
        const Ints in{wanted}, times{repetitions}, on{is_on};
        Ints counts{-1}, rounds{-1};
        REQUIRE(
            session.run_round(bind(x, in), bind(outer, times), bind(flag, on), bind(y, counts), bind(z, rounds)).ok());
        CHECK(rounds[0] == (repetitions < 5 ? repetitions : 5));
        CHECK(counts[0] == (is_on == 0 ? 0 : wanted < 7 ? wanted : 7));
      }
    }
  }
}

TEST_CASE("Where the driver has no conditional nodes, each section of a graph with loops is one CUDA graph") {
  const Clean clean;
  Counting g;
  std::string why;
  SUBCASE("it does not compile the kernel") {
    rondo_cuda_stand_in_limit("version", 12020);
    why = "the driver does not compile the kernel rondo_decide";
  }
  SUBCASE("it refuses the node") {
    rondo_cuda_stand_in_fault("cuGraphAddNode", 1, 801);
    why = "the driver refused conditional nodes";
  }
  SUBCASE("it refuses the body") {
    rondo_cuda_stand_in_fault("cuGraphAddKernelNode", 3, 1);
    why = "the driver refused conditional nodes";
  }
  SUBCASE("it refuses to upload the graph") {
    rondo_cuda_stand_in_fault("cuGraphUpload", 1, 801);
    why = "the driver refused conditional nodes";
  }
  SUBCASE("it refuses the whole graph") {
    rondo_cuda_stand_in_fault("cuGraphInstantiateWithFlags", 1, 801);
    why = "the driver refused conditional nodes";
  }
  auto session = open<P>(g.graph);
  CHECK(rondo_cuda_stand_in_faults_left() == 0);
  CHECK(why_host(session) == why);
  const std::uint64_t made = calls("cuGraphInstantiateWithFlags");
  for (const Int wanted : {4, 1, 10, 11}) {
    CAPTURE(wanted);
    const std::uint64_t launched = calls("cuGraphLaunch"), copied = calls("cuMemcpyDtoHAsync");
    const Int repetitions = wanted < 10 ? wanted : 10;
    CHECK(g.count_of(session, wanted) == repetitions);
    CHECK(calls("cuGraphLaunch") - launched == 1 + static_cast<std::uint64_t>(repetitions) + 1);
    CHECK(calls("cuMemcpyDtoHAsync") - copied == static_cast<std::uint64_t>(wanted < 10 ? wanted : 9) + 1);
  }
  CHECK(session.platform().is_captured());
  CHECK(calls("cuGraphInstantiateWithFlags") == made);
  CHECK(rondo_cuda_stand_in_live("graphs") == 0);
}

TEST_CASE(
    "A loop about which the device decides can be enqueued on a caller's stream; another is refused by its name") {
  const Clean clean;
  Counting g;
  const P keeper{P::Options{}};
  const platform::cuda::Calls& driver = platform::cuda::Runtime::instance().calls();
  P::Options options;
  REQUIRE(driver.create_stream(&options.stream, platform::cuda::stream_non_blocking, 0) == 0);
  bool device_decides = true;
  SUBCASE("the device decides") {}
  SUBCASE("the host decides") { rondo_cuda_stand_in_limit("version", 12020), device_decides = false; }
  {
    auto session = open<P>(g.graph, options);
    PinnedArray<Int, P> out(session.platform(), 1);
    const Ints in{6};
    const Status status = session.enqueue_round(bind(g.x, snapshot(in)), bind(g.y, out));
    if (device_decides) {
      CHECK(status.ok());
      CHECK(session.wait_for_enqueued().ok());
      CHECK(out[0] == 6);
    } else {
      CHECK(status == Status::of_task(Errc::unsupported, index(g.loop)));
    }
  }
  CHECK(driver.destroy_stream(options.stream) == 0);
}

TEST_CASE("Without CUDA graphs the tasks of each section are launched one by one") {
  const Clean clean;
  Counting g;
  P::Options options;
  options.graph = false;
  auto session = open<P>(g.graph, options);
  CHECK(why_host(session) == "tasks are launched one by one");
  CHECK(g.count_of(session, 4) == 4);
  CHECK(calls("cuGraphLaunch") == 0);
  CHECK(calls("cuLaunchKernel") == 1 + 4 + 1);
}

TEST_CASE("A failure in a loop poisons, and waiting after each task names the task") {
  const Clean clean;
  Counting g;
  P::Options options;
  SUBCASE("nobody knows which task it was") {}
  SUBCASE("each was waited for") { options.wait_after_each_task = true; }
  auto session = open<P>(g.graph, options);
  CHECK(g.count_of(session, -3) == 0);
  CHECK(g.status.code() == Errc::device_failed);
  CHECK(g.status.poisoned());
  CHECK((g.status.subject() == Status::Subject::task && g.status.index() == index(g.body)) ==
        options.wait_after_each_task);
}

TEST_CASE("A loop on a device that hangs times out, and a stop request ends a round at the host's first decision") {
  const Clean clean;
  Counting g;
  P::Options options;
  SUBCASE("a stop request, which a device that decides does not see") {
    auto session = open<P>(g.graph);
    REQUIRE(g.count_of(session, 2) == 2);
    session.request_stop();
    CHECK(g.count_of(session, 9) == 9);
    REQUIRE(session.close().ok());
    options.graph = false;
    auto other = open<P>(g.graph, options);
    other.request_stop();
    CHECK(g.count_of(other, 9) == 0);
    CHECK(g.status == Status{Errc::stopped}.poisoning());
    CHECK(has(other.platform().failure_text().c_str(), "a stop request ended the round at loop 'until done'"));
  }
  SUBCASE("a hang") {
    options.timeout_ms = 200;
    auto session = test::open_in_time([&] { return open<P>(g.graph, options); });
    rondo_cuda_stand_in_hang();
    CHECK(g.count_of(session, 2) == 0);
    CHECK(g.status.code() == Errc::timed_out);
    CHECK(g.status.poisoned());
    rondo_cuda_stand_in_resume();
    rondo_cuda_stand_in_settle();  // so that closing it takes no time
    CHECK(session.close().ok());
  }
}

TEST_CASE("Conditions may be in memory of each kind, which does not move with the arena") {
  const Clean clean;
  for (const std::uint64_t newest : {12040U, 12020U}) {  // the device decides, the host does
    rondo_cuda_stand_in_limit("version", newest);
    for (const MemoryKind kind : {MemoryKind::device, MemoryKind::peer, MemoryKind::mapped_host}) {
      CAPTURE(newest);
      CAPTURE(kind);
      check_conditions_in<P>(kind);
    }
  }
}
