// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Orchestrators without a session: what a round leaves behind, and what the order of reclamation is.

#include <rondo/arch/a2a3.hpp>
#include <rondo/graph/orchestrated.hpp>
#include <rondo/platform/sim/dynamic/aicpu_build_graph.hpp>
#include <rondo/platform/sim/dynamic/tensormap_and_ringbuffer.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
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
  explicit Bench(StreamOptions options, std::uint32_t threads = 0)
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

StreamOptions small() {
  StreamOptions options;
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
