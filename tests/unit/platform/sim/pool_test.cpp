// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/pool.hpp>

#include <random.hpp>
#include <rondo/platform/sim/inline.hpp>
#include <unit/platform/sim/programs.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

using namespace rondo;
using namespace rondo::test;
using platform::sim::Inline;
using platform::sim::Pool;
using platform::sim::Scheduling;

namespace {

/// A schedule on as many threads as there are, from the first round on.
Pool::Options spread_over(std::uint32_t threads) {
  Pool::Options options;
  options.threads = threads;
  options.scheduling = Scheduling::uniform;
  options.costs = {.per_node = 1, .across_threads = 0, .per_round = 0};
  return options;
}

Pool::Options learning(std::uint32_t threads) {
  Pool::Options options;
  options.threads = threads;
  options.learning_rounds = 3;
  options.trial_rounds = 4;
  options.look_rounds = 2;
  options.costs = {.per_node = 1, .across_threads = 0, .per_round = 0};
  return options;
}

/// Plays the same rounds on the calling thread and on the pool, and compares all device memory after each.
/// @returns the most threads that the pool used
std::size_t compare_rounds(const RandomWork& work, const Pool::Options& options, int rounds) {
  Loaded<Inline> one{work.graph};
  Loaded<Pool> many{work.graph, options};
  auto one_program = one.engine.load(one.frozen, one.table);
  auto many_program = many.engine.load(many.frozen, many.table);
  fill(one, work, 77);
  fill(many, work, 77);
  std::size_t threads = 1;
  for (int round = 0; round < rounds; ++round) {
    REQUIRE(one.engine.launch(one_program).ok());
    REQUIRE(many.engine.launch(many_program).ok());
    REQUIRE(many.engine.wait().ok());
    threads = std::max(threads, many.engine.threads_used());
    for (const auto& t : work.tensors) {
      const std::size_t n = one.frozen.view().tensors[index(t.key.tensor())].count;
      for (std::size_t i = 0; i < n; ++i) REQUIRE(one.at(t)[i] == many.at(t)[i]);
    }
  }
  CHECK(many.engine.unload(many_program).ok());
  return threads;
}

struct ThrowsIfNegative {
  static constexpr std::string_view name = "picky";
  static constexpr auto core = CoreType::cube;
  static void run(In<std::int32_t> x, InOut<std::int32_t> y) {
    if (x[0] < 0) throw Fragile::Refusal{};
    ++y[0];
  }
};
struct CountUp {
  static constexpr std::string_view name = "count";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<std::int32_t> y) { ++y[0]; }
};

/// Each waits until all have arrived, so one thread alone would never finish.
std::atomic<int> arrived{0};
struct Meets {
  static constexpr std::string_view name = "meets";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<std::int32_t> y, std::int32_t how_many) {
    arrived.fetch_add(1);
    arrived.notify_all();
    for (int now = arrived.load(); now < how_many; now = arrived.load()) arrived.wait(now);
    ++y[0];
  }
};

struct StopsItself {
  static inline Pool* pool = nullptr;
  static constexpr std::string_view name = "stops";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<std::int32_t> y) {
    ++y[0];
    pool->request_stop();
  }
};

}  // namespace

TEST_CASE("On random graphs of kernels that must run exactly once, the pool ends where the calling thread does") {
  auto random = rondo::test::make_random(31);
  int parallel = 0;
  for (int g = 0; g < 40; ++g) {
    const RandomWork work{random, random() % 40, 2 + random() % 10, 1 + random() % 9};
    if (compare_rounds(work, spread_over(static_cast<std::uint32_t>(2 + random() % 3)), 25) > 1) ++parallel;
  }
  CHECK(parallel > 10);  // or the comparison says nothing
}

TEST_CASE("A pool that learns gives the right result in every round: while it learns, tries and has settled") {
  auto random = rondo::test::make_random(32);
  for (int g = 0; g < 15; ++g) {
    const RandomWork work{random, 5 + random() % 30, 2 + random() % 10, 1 + random() % 200};
    (void)compare_rounds(work, learning(static_cast<std::uint32_t>(1 + random() % 3)), 60);
  }
}

namespace {

/// Takes as long as it is told. Sleeping needs no core, so several do run at the same time, however busy the host is;
/// while the door is held, only one does.
struct Naps {
  static inline std::atomic<long> ns{0};
  static inline std::atomic<bool> one_at_a_time{false};
  static inline std::mutex door;
  static constexpr std::string_view name = "naps";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<std::int32_t> y) {
    ++y[0];
    if (ns == 0) return;
    std::unique_lock lock{door, std::defer_lock};
    if (one_at_a_time) lock.lock();
    const timespec nap{0, ns};
    (void)nanosleep(&nap, nullptr);
  }
};
/// Runs rounds until the pool has made a schedule and used so many threads in `in_a_row` rounds. What the clock says of
/// tasks depends on the host, so the pool may choose otherwise for a while; a test that never ends has failed.
/// @returns false if that was not so within `most_rounds`
bool run_until_on(Loaded<Pool>& loaded, Pool::Program& program, std::size_t threads, int in_a_row = 1,
                  std::uint64_t most_rounds = UINT64_MAX) {
  int found = 0;
  for (std::uint64_t round = 0; found < in_a_row && round < most_rounds; ++round) {
    REQUIRE(loaded.engine.launch(program).ok());
    REQUIRE(loaded.engine.wait().ok());
    const bool is_wanted = loaded.engine.searches() != 0 && loaded.engine.threads_used() == threads;
    found = is_wanted ? found + 1 : 0;
  }
  return found == in_a_row;
}

}  // namespace

TEST_CASE("One thread runs tasks that take less time than a round on several threads adds") {
  TaskGraph graph;
  for (int i = 0; i < 4; ++i) graph.add<Naps>(graph.inout<std::int32_t>("y" + std::to_string(i), {1}));
  Pool::Options options;
  options.threads = 2;
  options.costs.per_round = 1e15;  // more than any host takes for the tasks, however busy it is
  Loaded<Pool> loaded{graph, options};
  auto program = loaded.engine.load(loaded.frozen, loaded.table);
  Naps::ns = 0;
  for (int round = 1; round <= 400; ++round) {
    REQUIRE(loaded.engine.launch(program).ok());
    REQUIRE(loaded.engine.wait().ok());
    REQUIRE(loaded.engine.threads_used() == 1);
  }
  CHECK(loaded.engine.searches() != 0);
}

TEST_CASE("A pool goes on learning: tasks that grow take more threads, and where they shrink again one suffices") {
  TaskGraph graph;
  for (int i = 0; i < 4; ++i) graph.add<Naps>(graph.inout<std::int32_t>("y" + std::to_string(i), {1}));
  Pool::Options options;
  options.threads = 2;
  options.costs.per_round = 200'000;  // so that tasks without a nap stay on one thread under a sanitizer, too
  Loaded<Pool> loaded{graph, options};
  auto program = loaded.engine.load(loaded.frozen, loaded.table);
  Naps::ns = 0;
  run_until_on(loaded, program, 1);
  Naps::ns = 1'000'000;
  run_until_on(loaded, program, 2);
  Naps::ns = 0;
  run_until_on(loaded, program, 1);
}

TEST_CASE("Several threads that were no faster than one are tried again") {
  TaskGraph graph;
  for (int i = 0; i < 4; ++i) graph.add<Naps>(graph.inout<std::int32_t>("y" + std::to_string(i), {1}));
  Pool::Options options;
  options.threads = 2;
  options.look_rounds = 4;
  options.trial_rounds = 8;
  Naps::ns = 500'000;
  for (bool found_slower = false; !found_slower;) {
    Loaded<Pool> loaded{graph, options};
    auto program = loaded.engine.load(loaded.frozen, loaded.table);
    Naps::one_at_a_time = true;
    run_until_on(loaded, program, 2);
    // A pool whose tasks took too long while it learned takes two threads for faster, and waits for the door count as
    // costs from then on. Another pool learns anew.
    found_slower = run_until_on(loaded, program, 1, 1, 200);
    Naps::one_at_a_time = false;
    if (found_slower) run_until_on(loaded, program, 2, 40);  // longer than the trial
  }
}

TEST_CASE("Tasks that do not depend on each other run at the same time") {
  TaskGraph graph;
  const auto a = graph.inout<std::int32_t>("a", {1});
  const auto b = graph.inout<std::int32_t>("b", {1});
  const auto c = graph.inout<std::int32_t>("c", {1});
  graph.add<Meets>(a, 3);
  graph.add<Meets>(b, 3);
  graph.add<Meets>(c, 3);
  Loaded<Pool> loaded{graph, spread_over(3)};
  auto program = loaded.engine.load(loaded.frozen, loaded.table);
  for (int round = 1; round <= 5; ++round) {
    arrived = 0;
    CHECK(loaded.engine.launch(program).ok());
    CHECK(loaded.engine.wait().ok());
    CHECK(loaded.engine.threads_used() == 3);
    CHECK(*loaded.at(a) + *loaded.at(b) + *loaded.at(c) == 3 * round);
  }
}

TEST_CASE("A chain runs on one thread, however many there are") {
  TaskGraph graph;
  const auto y = graph.inout<std::int32_t>("y", {1});
  for (int i = 0; i < 20; ++i) graph.add<CountUp>(y);
  Loaded<Pool> loaded{graph, spread_over(4)};
  auto program = loaded.engine.load(loaded.frozen, loaded.table);
  for (int round = 1; round <= 10; ++round) {
    REQUIRE(loaded.engine.launch(program).ok());
    REQUIRE(loaded.engine.wait().ok());
    REQUIRE(*loaded.at(y) == 20 * round);
  }
  CHECK(loaded.engine.threads_used() == 1);
}

TEST_CASE("A pool takes no more threads than the chip has blocks") {
  TaskGraph graph;
  for (int i = 0; i < 8; ++i) graph.add<CountUp>(graph.inout<std::int32_t>("y" + std::to_string(i), {1}));
  const FrozenGraph frozen = freeze(graph);
  const memory::Layout<FrozenGraph, arch::A5> layout{frozen};
  std::vector<std::uint64_t> memory(layout.arena_bytes().value / 8);
  args::ArgsTable table = table_of(frozen, layout.offsets(), memory.data());
  arch::Chip small = arch::chip_of<arch::A5>;
  small.blocks = 2;
  Pool pool{spread_over(8), small};
  auto program = pool.load(frozen, table);
  CHECK(pool.launch(program).ok());
  CHECK(pool.wait().ok());
  CHECK(pool.threads_used() <= 2);
  CHECK(pool.unload(program).ok());
}

TEST_CASE("A core that no thread can have is refused at once, also by a pool that is still to learn") {
  for (Pool::Options options : {spread_over(2), learning(2)}) {
    options.team.cores = {0, 100'000};
    const Raised r = raised([&] { const Pool pool(options, arch::chip_of<arch::A5>); });
    CHECK(r.code == Errc::invalid_argument);
    CHECK(says(r.text, "cores[1] is core 100000"));
    // Only the second thread's core counts: the first thread is the caller, and there is no third one.
    options.team.cores = {100'000, static_cast<std::uint32_t>(::sched_getcpu()), 100'000};
    CHECK(raised([&] { const Pool pool(options, arch::chip_of<arch::A5>); }).code == Errc::ok);
  }
}

TEST_CASE("A kernel that throws fails the round by its task's number, with its text; later tasks are left out") {
  for (const bool spread : {false, true}) {
    CAPTURE(spread);
    TaskGraph graph;
    const auto x = graph.inout<std::int32_t>("x", {1});
    const auto y = graph.inout<std::int32_t>("y", {1});
    const auto z = graph.inout<std::int32_t>("z", {1});
    graph.add<CountUp>(y);
    const TaskId picky = graph.add<ThrowsIfNegative>(x, y);
    graph.add<CountUp>(y);
    graph.add<CountUp>(z);
    Loaded<Pool> loaded{graph, spread ? spread_over(2) : learning(1)};
    auto program = loaded.engine.load(loaded.frozen, loaded.table);
    CHECK(loaded.engine.launch(program).ok());
    CHECK(loaded.engine.wait().ok());
    CHECK(*loaded.at(y) == 3);
    *loaded.at(x) = -1;
    const Status launched = loaded.engine.launch(program);
    const Status status = loaded.engine.wait();
    CHECK((launched.ok() || launched == status));
    CHECK(status == Status::of_task(Errc::kernel_failed, index(picky)).poisoning());
    CHECK(std::string{loaded.engine.failure_text().c_str()} == "a negative element");
    CHECK(*loaded.at(y) == 4);  // the task before it ran, the one after it did not
    CHECK(loaded.engine.unload(program).code() == Errc::kernel_failed);
  }
}

TEST_CASE("A request to stop in the middle of a round leaves out what has not begun") {
  TaskGraph graph;
  const auto y = graph.inout<std::int32_t>("y", {1});
  graph.add<StopsItself>(y);
  graph.add<CountUp>(y);
  Loaded<Pool> loaded{graph, learning(1)};
  auto program = loaded.engine.load(loaded.frozen, loaded.table);
  StopsItself::pool = &loaded.engine;
  CHECK(loaded.engine.launch(program) == Status{Errc::stopped}.poisoning());
  CHECK(*loaded.at(y) == 1);
  (void)loaded.engine.unload(program);
}

TEST_CASE("A pool that was never launched waits for nothing and stops") {
  auto random = rondo::test::make_random(33);
  const RandomWork work{random, 20, 8, 4};
  Loaded<Pool> loaded{work.graph, spread_over(3)};
  auto program = loaded.engine.load(loaded.frozen, loaded.table);
  CHECK(loaded.engine.wait().ok());
  CHECK(loaded.engine.failure_text().empty());
  CHECK(loaded.engine.unload(program).ok());
}

TEST_CASE("A pool may be kept awake and let sleep between rounds") {
  TaskGraph graph;
  const auto a = graph.inout<std::int32_t>("a", {1});
  const auto b = graph.inout<std::int32_t>("b", {1});
  graph.add<CountUp>(a);
  graph.add<CountUp>(b);
  Loaded<Pool> loaded{graph, spread_over(2)};
  auto program = loaded.engine.load(loaded.frozen, loaded.table);
  for (int round = 1; round <= 20; ++round) {
    loaded.engine.keep_awake(round % 3 != 0);
    REQUIRE(loaded.engine.launch(program).ok());
    REQUIRE(loaded.engine.wait().ok());
    REQUIRE(*loaded.at(a) + *loaded.at(b) == 2 * round);
  }
  loaded.engine.keep_awake(false);
  CHECK(loaded.engine.unload(program).ok());
}

TEST_CASE("A graph without tasks runs") {
  Loaded<Pool> loaded{TaskGraph{}, spread_over(2)};
  auto program = loaded.engine.load(loaded.frozen, loaded.table);
  for (int round = 0; round < 3; ++round) {
    CHECK(loaded.engine.launch(program).ok());
    CHECK(loaded.engine.wait().ok());
  }
}
