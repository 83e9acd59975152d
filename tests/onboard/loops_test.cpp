// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Loops on an onboard platform: which calls a round makes, and what happens where the runtime refuses or the device
// fails. Their results are compared in conformance/loops.

#include "conformance/conditions_in_memory.hpp"
#include "conformance/counting_loop.hpp"
#include "onboard/fixture.hpp"
#include "open_in_time.hpp"

#include <rondo/graph/instantiate.hpp>
#include <rondo/observe/device_dump.hpp>
#include <rondo/observe/device_tasks.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace rondo;
using namespace onboard_test;
using namespace counting;
using P = A2A3OverStandIn;

namespace {

using Counts = std::map<std::string, std::uint64_t>;

[[nodiscard]] bool is_without() { return std::getenv("RONDO_TEST_WITHOUT") != nullptr; }

}  // namespace

TEST_CASE("Each section of a graph with loops is captured once, and a decision is one copy and one wait") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  auto session = open<P>(g.graph);
  CHECK(calls("aclmdlRICaptureEnd") == 3);
  REQUIRE(g.count_of(session, 4) == 4);
  CHECK(session.platform().is_captured());
  rondo_stand_in_reset();
  REQUIRE(g.count_of(session, 4) == 4);
  CHECK(counted() == Counts{{"aclmdlRIExecuteAsync", 1 + 4 + 1},
                            {"aclrtMemcpyAsync", 1 + 4 + 1},
                            {"aclrtSynchronizeStreamWithTimeout", 4 + 1}});
  rondo_stand_in_reset();
  REQUIRE(g.count_of(session, 99) == 10);  // after the last repetition there is nothing to decide
  CHECK(counted() == Counts{{"aclmdlRIExecuteAsync", 1 + 10 + 1},
                            {"aclrtMemcpyAsync", 1 + 9 + 1},
                            {"aclrtSynchronizeStreamWithTimeout", 9 + 1}});
}

TEST_CASE("Where a section is not captured, or its replay is refused, its tasks are launched one by one") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  P::Options options;
  std::uint64_t launches = 0;
  SUBCASE("nothing is to be captured") {
    options.capture = false;
    launches = 1 + 4 + 1;
  }
  SUBCASE("each task is waited for") {
    options.wait_after_each_task = true;
    launches = 1 + 4 + 1;
  }
  SUBCASE("the second capture is refused") {
    rondo_stand_in_fault("aclmdlRICaptureEnd", 2, 207000);
    launches = 4;
  }
  auto session = open<P>(g.graph, options);
  const std::uint64_t before = calls("aclrtLaunchKernelV2");
  CHECK(g.count_of(session, 4) == 4);
  CHECK(!session.platform().is_captured());
  CHECK(calls("aclrtLaunchKernelV2") - before == launches);
}

TEST_CASE("A replay of a section that is refused is never tried again") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  auto session = open<P>(g.graph);
  REQUIRE(g.count_of(session, 2) == 2);
  rondo_stand_in_fault("aclmdlRIExecuteAsync", 2, 207000);
  CHECK(g.count_of(session, 4) == 4);
  rondo_stand_in_reset();
  CHECK(g.count_of(session, 4) == 4);
  CHECK(calls("aclmdlRIExecuteAsync") == 2);
  CHECK(calls("aclrtLaunchKernelV2") == 4);
}

TEST_CASE_TEMPLATE("A task of a loop that fails is named, in a round alone and in flight", P, A2A3OverStandIn,
                   A2A3ThatComputes) {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  typename P::Options options;
  SUBCASE("in a replay") {}
  SUBCASE("in plain launches") { options.capture = false; }
  const Status expected = Status::of_task(Errc::device_failed, index(g.body)).poisoning();
  {
    auto session = open<P>(g.graph, options);
    CHECK(g.count_of(session, -3) == 0);
    CHECK(g.status == expected);
  }
  auto session = open_pipelined<P, 2>(g.graph, options);
  const Ints good{3}, bad{-3};
  Ints first{0}, second{0};
  const auto before = session.submit_round(bind(g.x, good), bind(g.y, first));
  const auto failed = session.submit_round(bind(g.x, bad), bind(g.y, second));
  CHECK(session.wait(before).ok());
  CHECK(first[0] == 3);
  CHECK(session.wait(failed) == expected);
  CHECK(session.poisoned());
}

TEST_CASE_TEMPLATE("A loop on a device that hangs times out and poisons", P, A2A3OverStandIn, A2A3ThatComputes) {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  typename P::Options options;
  options.timeout_ms = 300;
  auto session = test::open_in_time([&] { return open<P>(g.graph, options); });
  rondo_stand_in_hold();
  CHECK(g.count_of(session, 2) == 0);
  CHECK(g.status.code() == Errc::timed_out);
  CHECK(g.status.poisoned());
  rondo_stand_in_resume();
  (void)session.close();
}

TEST_CASE("A failed call in the middle of a round with loops leaves the session usable") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  auto session = open<P>(g.graph);
  REQUIRE(g.count_of(session, 2) == 2);
  rondo_stand_in_fault("aclrtMemcpyAsync", 3, 207005);  // after the input, the second look at the condition
  CHECK(g.count_of(session, 4) == 0);
  CHECK(g.status.code() == Errc::out_of_resources);
  CHECK(!g.status.poisoned());
  CHECK(g.count_of(session, 4) == 4);
}

TEST_CASE("A stop request between rounds ends the next round at its first decision") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  auto session = open<P>(g.graph);
  REQUIRE(g.count_of(session, 2) == 2);
  session.request_stop();
  CHECK(g.count_of(session, 9) == 0);
  CHECK(g.status == Status{Errc::stopped}.poisoning());
  CHECK(std::string(session.platform().failure_text().c_str()) ==
        "a stop request ended the round at loop 'until done'");
}

TEST_CASE("A device on which a stop request ended a round has not failed, and is not reset") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  P::Options options;
  options.reset_failed_device = true;
  auto session = open<P>(g.graph, options);
  session.request_stop();
  CHECK(g.count_of(session, 9) == 0);
  CHECK(g.status == Status{Errc::stopped}.poisoning());
  CHECK(session.close().ok());
  CHECK(calls("aclrtResetDeviceForce") == 0);
}

TEST_CASE("A round with loops is not put on a caller's stream; rounds that wait run there") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  platform::onboard::Calls c;
  platform::onboard::open_library(c);
  REQUIRE(c.init(nullptr) == 0);
  REQUIRE(c.set_device(0) == 0);
  P::Options options;
  REQUIRE(c.create_stream(&options.stream, 0, 0) == 0);
  stand_in::live_of_others() = 3;
  {
    auto session = open<P>(g.graph, options);
    CHECK(rondo_stand_in_synchronised(options.stream) == 0);
    const auto x = session.platform().allocate(Bytes{64}, Bytes{64});
    const auto y = session.platform().allocate(Bytes{64}, Bytes{64});
    rondo_stand_in_reset();
    const Status status =
        session.enqueue_round(bind(g.x, DeviceSpan<Int>{x.as<Int>(), 1}), bind(g.y, DeviceSpan<Int>{y.as<Int>(), 1}));
    CHECK(status == Status::of_task(Errc::unsupported, index(g.loop)));
    CHECK(log().empty());
    const std::string text(session.explain(status).c_str());
    CHECK_MESSAGE(text.find("'until done'") != std::string::npos, text);
    CHECK(g.count_of(session, 3) == 3);
    (void)session.platform().release(x);
    (void)session.platform().release(y);
  }
  stand_in::live_of_others() = 0;
  CHECK(c.destroy_stream(options.stream) == 0);
  CHECK(c.reset_device(0) == 0);
  CHECK(c.finalize() == 0);
}

namespace {

/// done += x[0], in as many blocks as there are rows.
struct Parallel {
  static constexpr std::string_view name = "parallel";
  static constexpr auto core = CoreType::vector;
  static void run(Block b, In<Int> x, InOut<Int> done) noexcept {
    if (b.index == 0) done[0] += x[0];
  }
};

}  // namespace

TEST_CASE("Loops whose tasks have nothing to do give back the memory of their decisions") {
  if (is_without()) return;
  const Clean clean;
  TaskGraph graph;
  const Dim rows = graph.dim("rows");
  const auto x = graph.input<Int>("x", {rows});
  const auto done = graph.inout<Int>("done", {1});
  graph.repeat_until(done, 3, [&] { graph.add<Parallel>(Blocks{rows}, x, done); });
  const std::int64_t no_rows[] = {0};
  auto session = open<P>(instantiate(graph, no_rows));
  const Ints none;
  Ints is_done{1};
  const Status status = session.run_round(bind(x, none), bind(done, is_done));
  REQUIRE_MESSAGE(status.ok(), std::string(session.explain(status).c_str()));
  CHECK(session.close().ok());
  CHECK(rondo_stand_in_live("pinned") == 0);
}

TEST_CASE("A round with loops can be launched task by task, and is not dumped") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  auto session = open<P>(g.graph);
  {
    observe::DeviceTasks tasks(session);
    CHECK(g.count_of(session, 4) == 4);
    CHECK(tasks.spans().size() == 1 + 4 + 1);
  }
  CHECK(g.count_of(session, 3) == 3);
  CHECK_THROWS_WITH_AS(observe::DeviceDumping dumping(session),
                       "a dump holds each task once, and loop 'until done' may repeat its tasks; unroll it", Error);
}

TEST_CASE_TEMPLATE("Conditions may be in memory of each kind, which does not move with the arena", P, A2A3OverStandIn,
                   A2A3ThatComputes) {
  if (is_without()) return;
  const Clean clean;
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::peer, MemoryKind::mapped_host}) {
    CAPTURE(kind);
    check_conditions_in<P>(kind);
  }
}
