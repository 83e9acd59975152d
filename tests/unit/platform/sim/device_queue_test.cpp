// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/device_queue.hpp>

#include <rondo/platform/select.hpp>
#include <rondo/rondo.hpp>
#include <unit/platform/sim/programs.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

using namespace rondo;

namespace {

struct Count {
  static constexpr std::string_view name = "count";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<std::int32_t> x) noexcept { ++x[0]; }
};

}  // namespace

TEST_CASE("A queue that is closed right after a commit has run all committed rounds") {
  TaskGraph graph;
  const auto x = graph.resident<std::int32_t>("x", {1});
  graph.add<Count>(x);
  const FrozenGraph frozen = freeze(graph);
  std::vector<std::int32_t> memory(1024);
  A2A3Sim platform{{}};
  args::ArgsTable table = test::table_of(frozen, std::vector<std::uint64_t>{0}, memory.data());
  auto program = platform.load(frozen, table);
  for (int rounds = 0; rounds < 600; ++rounds) {
    memory[0] = 0;
    const auto committed = static_cast<std::uint32_t>(rounds % 3);
    {
      auto queue = platform.open_queue(3, 1, Bytes{64});
      // At another moment of the thread that begins to wait for rounds each time.
      for (std::atomic<int> i = 0; i < rounds * 50; ++i) continue;
      for (std::uint32_t slot = 0; slot < committed; ++slot) {
        REQUIRE(queue.launch(slot, program).ok());
        REQUIRE(queue.commit(slot).ok());
      }
      CHECK(queue.close().ok());
      CHECK(memory[0] == static_cast<std::int32_t>(committed));
    }
  }
  CHECK(platform.unload(program).ok());
}
