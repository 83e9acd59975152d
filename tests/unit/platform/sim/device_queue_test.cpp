// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/device_queue.hpp>

#include <rondo/platform/select.hpp>
#include <rondo/rondo.hpp>
#include <unit/platform/sim/programs.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

using namespace rondo;

namespace {

struct Count {
  static constexpr std::string_view name = "count";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<std::int32_t> x) noexcept { ++x[0]; }
};
struct Fail {
  static constexpr std::string_view name = "fail";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<std::int32_t> x) {
    if (x[0] < 0) throw std::runtime_error("as asked");
  }
};

/// A bus on which each copy takes the time that a test sets. It notes the copies out for whose time it is asked.
struct NotedBus {
  struct Options {};
  NotedBus(const Options&, const arch::Chip&) noexcept {}
  static std::uint64_t in_ns(Bytes) noexcept { return each_ns; }
  static std::uint64_t out_ns(Bytes size) noexcept {
    asked_for.push_back(size.value);
    return each_ns;
  }
  static inline std::uint64_t each_ns = 0;
  void copied_in(Bytes) noexcept {}
  void copied_out(Bytes) noexcept {}
  void carried(Bytes) noexcept {}
  void computed(std::uint64_t) noexcept {}
  static inline std::vector<std::uint64_t> asked_for;
};

/// A graph of one kernel, loaded over memory that the tests look at.
template <class P, class Kernel = Count>
struct OneTask {
  TaskGraph graph;
  Resident<std::int32_t> x = graph.resident<std::int32_t>("x", {1});
  FrozenGraph frozen = [this] {
    graph.add<Kernel>(x);
    return freeze(graph);
  }();
  std::vector<std::int32_t> memory = std::vector<std::int32_t>(1024);
  P platform{{}};
  args::ArgsTable table = test::table_of(frozen, std::vector<std::uint64_t>{0}, memory.data());
  decltype(platform.load(frozen, table)) program = platform.load(frozen, table);

  [[nodiscard]] DevicePtr<std::byte> at(std::size_t word) const {
    return DevicePtr<std::byte>{reinterpret_cast<std::uintptr_t>(&memory[word])};
  }
  ~OneTask() { (void)platform.unload(program); }
};

}  // namespace

TEST_CASE("A queue that is closed right after a commit has run all committed rounds") {
  OneTask<A2A3Sim> one;
  for (int rounds = 0; rounds < 600; ++rounds) {
    one.memory[0] = 0;
    const auto committed = static_cast<std::uint32_t>(rounds % 3);
    {
      auto queue = one.platform.open_queue(3, 1, Bytes{64});
      // At another moment of the thread that begins to wait for rounds each time.
      for (std::atomic<int> i = 0; i < rounds * 50; ++i) continue;
      for (std::uint32_t slot = 0; slot < committed; ++slot) {
        REQUIRE(queue.launch(slot, one.program).ok());
        REQUIRE(queue.commit(slot).ok());
      }
      CHECK(queue.close().ok());
      CHECK(one.memory[0] == static_cast<std::int32_t>(committed));
    }
  }
}

TEST_CASE("Each round delivers its own outputs, and none of an earlier round in its slot") {
  OneTask<A2A3Sim> one;
  auto queue = one.platform.open_queue(1, 2, Bytes{64});
  std::int32_t first = -1, second = -1;
  const auto run = [&](bool with_second) {
    REQUIRE(queue.launch(0, one.program).ok());
    REQUIRE(queue.copy_out(0, &first, one.at(0), Bytes{4}).ok());
    if (with_second) REQUIRE(queue.copy_out(0, &second, one.at(0), Bytes{4}).ok());
    REQUIRE(queue.commit(0).ok());
    queue.await(0);
    CHECK(queue.is_done(0));
    REQUIRE(queue.deliver(0).ok());
  };
  run(true);
  CHECK(first == 1);
  CHECK(second == 1);
  run(false);
  CHECK(first == 2);
  CHECK(second == 1);
}

TEST_CASE("The outputs of a round that failed or was cancelled are delivered by no later round") {
  OneTask<A2A3Sim, Fail> one;
  auto queue = one.platform.open_queue(1, 2, Bytes{64});
  std::int32_t lost = -1, kept = -1, more = -1;
  const auto run = [&](std::int32_t& out, std::size_t word) {
    REQUIRE(queue.launch(0, one.program).ok());
    REQUIRE(queue.copy_out(0, &out, one.at(word), Bytes{4}).ok());
    REQUIRE(queue.copy_out(0, &more, one.at(9), Bytes{4}).ok());
    REQUIRE(queue.commit(0).ok());
    queue.await(0);
    return queue.deliver(0).code();
  };
  REQUIRE(queue.launch(0, one.program).ok());
  REQUIRE(queue.copy_out(0, &lost, one.at(0), Bytes{4}).ok());
  queue.cancel(0);
  CHECK(run(kept, 8) == Errc::ok);
  CHECK(kept == 0);
  CHECK(lost == -1);
  one.memory[0] = -5;
  CHECK(run(lost, 0) == Errc::kernel_failed);
  one.memory[0] = one.memory[8] = 7;
  CHECK(run(kept, 8) == Errc::poisoned);
  CHECK(kept == 0);
  CHECK(lost == -1);
}

TEST_CASE("On a bus that takes time a round ends no sooner than its copies one after the other") {
  OneTask<A2A3SimOn<Inline, NotedBus>> one;
  auto queue = one.platform.open_queue(2, 2, Bytes{64});
  NotedBus::each_ns = 5'000'000;
  std::int32_t in = 0, first = -1, second = -1;
  const std::uint64_t start = platform::sim::now_ns();
  // Both rounds share the program's memory, so the outputs are words that no task writes.
  for (std::uint32_t slot = 0; slot < 2; ++slot) {  // the copies in of both, then the copies out of each
    REQUIRE(queue.copy_in(slot, one.at(8), &in, Bytes{4}).ok());
    REQUIRE(queue.copy_in(slot, one.at(9), &in, Bytes{4}).ok());
    REQUIRE(queue.launch(slot, one.program).ok());
    REQUIRE(queue.copy_out(slot, &first, one.at(10), Bytes{4}).ok());
    REQUIRE(queue.copy_out(slot, &second, one.at(11), Bytes{4}).ok());
    REQUIRE(queue.commit(slot).ok());
  }
  queue.await(0);
  CHECK(platform::sim::now_ns() - start >= 4 * NotedBus::each_ns);
  CHECK(queue.deliver(0).ok());
  queue.await(1);
  CHECK(platform::sim::now_ns() - start >= 6 * NotedBus::each_ns);
  CHECK(queue.deliver(1).ok());
  NotedBus::each_ns = 0;
}

TEST_CASE("A bus that takes time is asked for the time of each output of a round, once") {
  OneTask<A2A3SimOn<Inline, NotedBus>> one;
  auto queue = one.platform.open_queue(2, 3, Bytes{64});
  std::array<std::int32_t, 8> out{};
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    REQUIRE(queue.launch(slot, one.program).ok());
    for (std::uint64_t bytes : {4U, 8U, 16U}) REQUIRE(queue.copy_out(slot, &out, one.at(8), Bytes{bytes + slot}).ok());
  }
  NotedBus::asked_for.clear();
  REQUIRE(queue.commit(0).ok());
  CHECK(NotedBus::asked_for == std::vector<std::uint64_t>{4, 8, 16});
  NotedBus::asked_for.clear();
  REQUIRE(queue.commit(1).ok());
  CHECK(NotedBus::asked_for == std::vector<std::uint64_t>{5, 9, 17});
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    queue.await(slot);
    CHECK(queue.deliver(slot).ok());
  }
}
