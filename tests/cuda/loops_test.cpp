// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Loops on CUDA: which calls a round makes, and how it fails. Their results are compared in conformance/loops.

#include "conformance/conditions_in_memory.hpp"
#include "conformance/counting_loop.hpp"
#include "cuda/fixture.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace rondo;
using namespace cuda_test;
using namespace counting;

TEST_CASE("Each section of a graph with loops is one CUDA graph, which is instantiated once") {
  const Clean clean;
  Counting g;
  auto session = open<P>(g.graph);
  CHECK(calls("cuGraphInstantiateWithFlags") == 3);
  for (const Int wanted : {4, 1, 10, 11}) {
    CAPTURE(wanted);
    const std::uint64_t launched = calls("cuGraphLaunch"), copied = calls("cuMemcpyDtoHAsync");
    const Int repetitions = wanted < 10 ? wanted : 10;
    CHECK(g.count_of(session, wanted) == repetitions);
    CHECK(calls("cuGraphLaunch") - launched == 1 + static_cast<std::uint64_t>(repetitions) + 1);
    CHECK(calls("cuMemcpyDtoHAsync") - copied == static_cast<std::uint64_t>(wanted < 10 ? wanted : 9) + 1);
  }
  CHECK(session.platform().is_captured());
  CHECK(calls("cuGraphInstantiateWithFlags") == 3);
}

TEST_CASE("Without CUDA graphs the tasks of each section are launched one by one") {
  const Clean clean;
  Counting g;
  P::Options options;
  options.graph = false;
  auto session = open<P>(g.graph, options);
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

TEST_CASE("A loop on a device that hangs times out, and a stop request ends the next round at its first decision") {
  const Clean clean;
  Counting g;
  P::Options options;
  options.timeout_ms = 200;
  auto session = open<P>(g.graph, options);
  REQUIRE(g.count_of(session, 2) == 2);
  SUBCASE("a stop request") {
    session.request_stop();
    CHECK(g.count_of(session, 9) == 0);
    CHECK(g.status == Status{Errc::stopped}.poisoning());
    CHECK(has(session.platform().failure_text().c_str(), "a stop request ended the round at loop 'until done'"));
  }
  SUBCASE("a hang") {
    rondo_cuda_stand_in_hang();
    CHECK(g.count_of(session, 2) == 0);
    CHECK(g.status.code() == Errc::timed_out);
    CHECK(g.status.poisoned());
    rondo_cuda_stand_in_resume();
    CHECK(session.close().ok());
  }
}

TEST_CASE("Conditions may be in memory of each kind, which does not move with the arena") {
  const Clean clean;
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::peer, MemoryKind::mapped_host}) {
    CAPTURE(kind);
    check_conditions_in<P>(kind);
  }
}
