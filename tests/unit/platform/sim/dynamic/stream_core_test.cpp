// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Orchestrators without a session: what a round leaves behind, what the order of reclamation is, and how a round ends
// for which there is no room.

#include <rondo/arch/a2a3.hpp>
#include <rondo/graph/orchestrated.hpp>
#include <rondo/platform/sim/dynamic/aicpu_build_graph.hpp>
#include <rondo/platform/sim/dynamic/tensormap_and_ringbuffer.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::platform::sim::dynamic;

namespace {

struct Nothing {
  static constexpr std::string_view name = "nothing";
  static constexpr auto core = CoreType::vector;
  static void run(In<float>, InOut<float>) noexcept {}
};

template <class Orchestrator>
struct Bench {
  explicit Bench(OrchestrationOptions options, std::uint32_t threads = 0)
      : round(options, threads, arch::limits_of<arch::A2A3>, interface.view()), heaps(round.heap_bytes().value) {
    round.place_heaps(reinterpret_cast<std::uint64_t>(heaps.data()));
    round.place_interface(0, reinterpret_cast<std::uint64_t>(memory));
    round.place_interface(1, reinterpret_cast<std::uint64_t>(memory + 16));
  }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {16});
  InputOutput<float> y = graph.inout<float>("y", {16});
  FrozenGraph interface = freeze_interface(graph);
  Orchestrator round;
  std::vector<std::byte> heaps;
  float memory[32] = {};
};

OrchestrationOptions small() {
  OrchestrationOptions options;
  options.ring_bytes = Bytes{64 * 1024};
  options.window = 64;
  options.tensors = 64;
  options.late = true;
  return options;
}

}  // namespace

TEST_CASE_TEMPLATE("a round leaves nothing behind, and the next finds the same addresses", O, RegionOrchestrator,
                   EdgeOrchestrator) {
  for (const std::uint32_t threads : {0U, 2U}) {
    Bench<O> b(small(), threads);
    std::uint64_t first = 0;
    for (int round = 0; round < 50; ++round) {
      b.round.begin_round();
      const int tasks = round % 2 == 0 ? 40 : 3;
      for (int i = 0; i < tasks; ++i) {
        const auto scope = b.round.scope();
        const auto t = b.round.template workspace<float>({16});
        if (i == 0 && round == 0) first = b.round.held();
        const auto part = b.round.view(t, {2}, {5});
        b.round.template add<Nothing>(part, b.y);
        b.round.template add<Nothing>(b.x, t);
      }
      REQUIRE(b.round.finish_round().ok());
      REQUIRE(b.round.held() == 0);
      REQUIRE(b.round.tasks() == static_cast<std::uint64_t>(2 * tasks));
    }
    CHECK(first > 0);
  }
}

TEST_CASE("a region of an earlier round, or of the tensor before in the same memory, is refused") {
  Bench<RegionOrchestrator> b(small());
  b.round.begin_round();
  const auto old_view = b.round.view(b.y, {0}, {4});
  auto stale = b.round.workspace<float>({16});
  REQUIRE(b.round.finish_round().ok());
  b.round.begin_round();
  const auto fresh = b.round.workspace<float>({16});  // the same memory, the same record
  CHECK_THROWS_AS(b.round.add<Nothing>(b.x, stale), Error);
  CHECK_THROWS_AS(b.round.add<Nothing>(old_view, fresh), Error);
  b.round.add<Nothing>(b.x, fresh);
  CHECK(b.round.finish_round().ok());
  CHECK(b.round.tasks() == 1);
}

TEST_CASE("an add that is refused takes nothing, and the round goes on") {
  Bench<RegionOrchestrator> b(small());
  b.round.begin_round();
  for (int i = 0; i < 1000; ++i) CHECK_THROWS_AS(b.round.add<Nothing>(b.y, b.y), Error);
  b.round.add<Nothing>(b.x, b.y);
  CHECK(b.round.finish_round().ok());
  CHECK(b.round.tasks() == 1);
  CHECK(b.round.held() == 0);
}

namespace {

int tasks_run = 0;
void count_task(std::int64_t*) { ++tasks_run; }

/// Adds a task whose blocks have `words` words each.
template <std::size_t words>
TaskRef add_words(EdgeOrchestrator& round, std::uint32_t blocks) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return round.add_raw("words", CoreType::vector, Blocks{blocks}, &count_task, I...);
  }(std::make_index_sequence<words>{});
}
/// Adds seven tasks, and edges from the first six to the last one, whose slot has room for two.
void add_edges(EdgeOrchestrator& round) {
  TaskRef before[6];
  for (TaskRef& task : before) task = add_words<1>(round, 1);
  const TaskRef last = add_words<1>(round, 1);
  for (const TaskRef& task : before) round.add_edge(task, last);
}
/// Adds a task that reads `y` `uses` times.
template <std::size_t uses>
void add_reads(Bench<RegionOrchestrator>& b) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    b.round.add_raw("reads", CoreType::vector, &count_task, ((void)I, reads(b.y))...);
  }(std::make_index_sequence<uses>{});
}

/// Runs a round, which must fail for want of room, and returns why.
template <class O, class Orchestration>
std::string why_stuck(Bench<O>& b, Orchestration orchestration) {
  tasks_run = 0;
  const Status status = orchestrate_round(b.round, [&](O&) { orchestration(); });
  CHECK(status.code() == Errc::deadlock);
  CHECK(status.poisoned());
  CHECK(b.round.held() == 0);
  return b.round.stream().failure_text().c_str();
}
/// Runs a round, which must succeed, and returns the number of tasks that were run.
template <class O, class Orchestration>
int tasks_of(Bench<O>& b, Orchestration orchestration) {
  tasks_run = 0;
  const Status status = orchestrate_round(b.round, [&](O&) { orchestration(); });
  CHECK_MESSAGE(status.ok(), std::string(b.round.stream().failure_text().c_str()));
  CHECK(b.round.held() == 0);
  return tasks_run;
}

}  // namespace

TEST_CASE("pending edges become free as tasks end; if no task can end, the failure says how many are needed") {
  OrchestrationOptions options = small();
  options.edges = 9;
  Bench<EdgeOrchestrator> b(options);
  const auto add_in_scopes = [&] {
    for (int i = 0; i < 4; ++i) {
      const auto scope = b.round.scope();
      add_edges(b.round);
    }
  };
  CHECK(tasks_of(b, add_in_scopes) == 4 * 7);
  CHECK(why_stuck(b,
                  [&] {
                    const auto outer = b.round.scope();
                    const auto inner = b.round.scope();
                    add_in_scopes();
                    for (int i = 0; i < 3; ++i) add_edges(b.round);
                  }) ==
        "scope 2 (depth 2) waits for room that nothing will free: all rings together hold 9 pending edges, and 10 are "
        "needed; enlarge OrchestrationOptions::edges or end scopes earlier");
  CHECK(tasks_of(b, add_in_scopes) == 4 * 7);
}

TEST_CASE("words of arguments become free as tasks end; if no task can end, the failure says how many are needed") {
  OrchestrationOptions options = small();
  options.window = 128;
  Bench<EdgeOrchestrator> b(options);
  const auto add_in_scopes = [&] {
    for (int i = 0; i < 100; ++i) {
      const auto scope = b.round.scope();
      (void)add_words<16>(b.round, 24);
    }
  };
  CHECK(tasks_of(b, add_in_scopes) == 100 * 24);
  CHECK(why_stuck(b,
                  [&] {
                    {
                      const auto scope = b.round.scope();
                      (void)add_words<16>(b.round,
                                          4);  // it ends, and its 64 words at the beginning of the ring become free
                    }
                    for (int i = 0; i < 85; ++i) (void)add_words<16>(b.round, 24);
                    (void)add_words<16>(b.round, 6);  // 64 words are free at the end, too; it needs 96 in a row
                  }) ==
        "scope 0 (depth 0) waits for room that nothing will free: ring 0 holds 32768 words of arguments, and 32800 are "
        "needed; end scopes earlier");
  CHECK(tasks_of(b, add_in_scopes) == 100 * 24);
}

TEST_CASE("uses of tensors become free as tasks end; if one task has too many, the failure says how many are needed") {
  OrchestrationOptions options = small();
  options.regions = 256;
  Bench<RegionOrchestrator> b(options);
  CHECK(tasks_of(b, [&] {
          for (int i = 0; i < 20; ++i) add_reads<32>(b);
        }) == 20);

  struct Core : StreamCore {  // tasks of the chips have fewer uses
    using StreamCore::prepare_slot;
    using StreamCore::StreamCore;
  };
  Core core(options, 0, 1, arch::limits_of<arch::A2A3>, b.interface.view());
  core.begin_round();
  (void)core.prepare_slot(1, 256);
  CHECK_THROWS_AS((void)core.prepare_slot(1, 257), Stopped);
  CHECK(core.end_round().code() == Errc::deadlock);
  CHECK(std::string(core.stream().failure_text().c_str()) ==
        "scope 0 (depth 0) waits for room that nothing will free: all rings together hold 256 uses of tensors, and 257 "
        "are needed; enlarge OrchestrationOptions::regions or end scopes earlier");
}
