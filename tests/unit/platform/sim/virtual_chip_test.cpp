// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/virtual_chip.hpp>

#include <random.hpp>
#include <rondo/arch/a2a3.hpp>
#include <rondo/graph/freeze.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;
using platform::sim::VirtualChip;

namespace {

/// A chip of few numbers.
struct Parts {
  std::uint32_t cores[2];  ///< by CoreType
  std::uint32_t schedulers = 1;
  double dispatch_ns = 0;
  double retire_ns = 0;
  double start_block_ns = 0;
  double notice_block_ns = 0;
  double stream_wait_ns = 0;
};

/// A graph by its edges, and its play on a virtual chip. Each task costs what it was given, per block.
class Play {
 public:
  void add(CoreType core, double cost, std::uint32_t blocks = 1) {
    graph_.add_raw("task", core, Blocks{blocks}, no_kernel);
    for (std::uint32_t b = 0; b < blocks; ++b) costs_.push_back(cost);
  }
  void edge(std::uint32_t before, std::uint32_t after) { graph_.add_edge(TaskId{before}, TaskId{after}); }

  /// Tasks must have been added in an order that obeys the edges, so that positions are the numbers of add().
  [[nodiscard]] VirtualChip on(const Parts& parts) {
    frozen_.push_back(freeze(graph_));
    const arch::Costs costs{.dispatch_ns = parts.dispatch_ns,
                            .retire_ns = parts.retire_ns,
                            .start_block_ns = parts.start_block_ns,
                            .notice_block_ns = parts.notice_block_ns,
                            .stream_wait_ns = parts.stream_wait_ns};
    VirtualChip chip{frozen_.back().view(), {"", 0, parts.cores[0], parts.cores[1], parts.schedulers, costs}};
    std::ranges::copy(costs_, chip.costs().begin());
    chip.run();
    return chip;
  }

 private:
  TaskGraph graph_{Edges::explicit_};
  std::vector<double> costs_;
  std::vector<FrozenGraph> frozen_;  // views into it stay valid when it moves
};

constexpr auto cube = CoreType::cube;
constexpr auto vector = CoreType::vector;

std::span<const double> busy(const VirtualChip& chip, CoreType core) {
  const std::span<const double> all = chip.times().busy;
  const std::size_t cubes = chip.chip().cube_cores;
  return core == cube ? all.first(cubes) : all.subspan(cubes);
}
double total(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

TEST_CASE("A chain takes the sum of its tasks, and each its dispatch and retirement") {
  Play play;
  play.add(cube, 100);
  play.add(vector, 200);
  play.add(cube, 300);
  play.edge(0, 1);
  play.edge(1, 2);
  const VirtualChip chip = play.on({{4, 8}, 3, 7, 5});
  CHECK(chip.makespan() == 600 + 3 * 12);
  CHECK(chip.critical_path_ns() == chip.makespan());
  CHECK(chip.times().tasks[0].start == 7);
  CHECK(chip.times().tasks[0].end == 107);
  CHECK(chip.times().tasks[1].start == 119);
  CHECK(chip.times().tasks[2].end == 631);
  CHECK(chip.times().scheduler_busy == 36);
  CHECK(chip.times().critical_path == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("Independent tasks on k cores take as many waves as it needs") {
  for (const std::uint32_t cores : {1U, 2U, 3U, 7U, 10U, 50U}) {
    CAPTURE(cores);
    Play play;
    for (int i = 0; i < 20; ++i) play.add(vector, 50);
    const VirtualChip chip = play.on({{1, cores}, 100, 0, 0});
    CHECK(chip.makespan() == 50 * ((20 + cores - 1) / cores));
    CHECK(busy(chip, vector).size() == cores);
    CHECK(total(busy(chip, vector)) == 1000);
    CHECK(total(busy(chip, cube)) == 0);
    CHECK(chip.critical_path_ns() == 50);
  }
}

TEST_CASE("A diamond takes its longer side, if there are two cores, and both without") {
  Play play;
  play.add(vector, 10);
  play.add(vector, 100);
  play.add(vector, 30);
  play.add(vector, 20);
  play.edge(0, 1);
  play.edge(0, 2);
  play.edge(1, 3);
  play.edge(2, 3);
  const VirtualChip wide = play.on({{1, 2}, 2, 0, 0});
  CHECK(wide.makespan() == 130);
  CHECK(wide.critical_path_ns() == 130);
  CHECK(wide.times().critical_path == std::vector<std::uint32_t>{0, 1, 3});
  CHECK(play.on({{1, 1}, 2, 0, 0}).makespan() == 160);
}

TEST_CASE("Cube and vector tasks do not wait for each other's cores") {
  Play play;
  play.add(cube, 100);
  play.add(vector, 80);
  play.add(cube, 100);
  const VirtualChip chip = play.on({{1, 1}, 2, 0, 0});
  CHECK(chip.makespan() == 200);
  CHECK(busy(chip, cube)[0] == 200);
  CHECK(busy(chip, vector)[0] == 80);
}

TEST_CASE("A task of n blocks takes n cores, in waves if there are fewer, and ends with its last block") {
  Play play;
  play.add(cube, 10);
  play.add(vector, 40, 6);
  play.add(vector, 25);
  play.add(cube, 5);
  play.edge(0, 1);
  play.edge(0, 2);
  play.edge(1, 3);
  play.edge(2, 3);
  // 6 blocks and one more task on 4 cores: the task and 3 blocks, a block where the task was, then 2 blocks.
  const VirtualChip four = play.on({{1, 4}, 10, 0, 0});
  CHECK(four.times().tasks[1].start == 10);
  CHECK(four.times().tasks[1].end == 90);
  CHECK(four.times().tasks[2].start == 10);
  CHECK(four.makespan() == 95);
  CHECK(four.critical_path_ns() == 55);
  const VirtualChip seven = play.on({{1, 7}, 10, 0, 0});
  CHECK(seven.makespan() == 55);
  CHECK(std::ranges::count(busy(seven, vector), 40) == 6);
}

TEST_CASE(
    "Schedulers are a resource: they start one block at a time, and see that it is done before starting another") {
  Play play;
  for (int i = 0; i < 6; ++i) play.add(vector, 0);
  // One scheduler, dispatch 4, retire 3. Starts #0 at 4; sees it at 7; and so on.
  CHECK(play.on({{1, 6}, 1, 4, 3}).makespan() == 6 * 7);
  CHECK(play.on({{1, 6}, 2, 4, 3}).makespan() == 3 * 7);
  CHECK(play.on({{1, 6}, 6, 4, 3}).makespan() == 7);
  // A core is taken until its block was seen to be done.
  CHECK(play.on({{1, 1}, 6, 4, 3}).makespan() == 6 * 7);
}

TEST_CASE("A task is dispatched once: each further block costs a scheduler little to start and to notice") {
  Play play;
  play.add(vector, 1000, 24);
  play.add(vector, 1000);
  play.edge(0, 1);
  // One scheduler: 100 for the first block, 3 for each other. They end in that order, and the last pays for the task.
  const VirtualChip chip = play.on({{1, 48}, 1, 100, 50, 3, 2});
  CHECK(chip.times().blocks[0].start == 100);
  CHECK(chip.times().blocks[23].start == 100 + 23 * 3);
  CHECK(chip.times().tasks[1].start == 100 + 23 * 3 + 1000 + 50 + 100);
  CHECK(chip.times().scheduler_busy == 100 + 23 * 3 + 23 * 2 + 50 + 100 + 50);
  CHECK(chip.critical_path_ns() == 100 + 3 + 1000 + 50 + 100 + 1000 + 50);
  // Schedulers share the blocks, but wait for the first one.
  const VirtualChip shared = play.on({{1, 48}, 3, 100, 50, 3, 2});
  CHECK(shared.times().blocks[1].start == 103);
  CHECK(shared.times().blocks[3].start == 103);
  CHECK(shared.times().blocks[4].start == 106);
  CHECK(shared.times().scheduler_busy == chip.times().scheduler_busy);
}

TEST_CASE("On lanes nothing but waits is added to the tasks, and blocks take the cores of their task in turn") {
  Play play;
  play.add(cube, 10, 6);
  play.add(vector, 25);
  play.add(cube, 5);
  VirtualChip chip = play.on({.cores = {4, 2}, .stream_wait_ns = 3});
  graph::Lanes one;
  chip.run_on_lanes(one);
  CHECK(chip.makespan() == 20 + 25 + 5);
  CHECK(chip.lane_busy() == chip.makespan());
  CHECK(chip.times().scheduler_busy == 0);
  CHECK(chip.times().blocks[4].start == 10);
  CHECK(chip.times().blocks[4].core == chip.times().blocks[0].core);
  CHECK(chip.times().blocks[6].core >= 4);
  CHECK(total(busy(chip, cube)) == 65);

  graph::Lanes two{.count = 2, .order = {0, 1, 2}, .lane_of = {0, 1, 0}};
  two.waits = {{1, graph::Lanes::none}};
  two.joins = {{0, 1}};
  chip.run_on_lanes(two);
  CHECK(chip.times().tasks[1].start == 3);
  CHECK(chip.times().tasks[2].start == 20);
  CHECK(chip.makespan() == 3 + 25 + 3);
  CHECK(chip.lane_busy() == 25);
  chip.run();
  CHECK(chip.lane_busy() == 0);
}

TEST_CASE("What is ready first is started first, whatever its type") {
  Play play;
  play.add(vector, 10);
  play.add(cube, 10);
  play.add(vector, 10);
  const VirtualChip chip = play.on({{1, 2}, 1, 1, 0});
  CHECK(chip.times().tasks[0].start == 1);
  CHECK(chip.times().tasks[1].start == 2);
  CHECK(chip.times().tasks[2].start == 3);
}

TEST_CASE("A graph without tasks takes no time") {
  Play play;
  const VirtualChip chip = play.on({{1, 1}, 1, 4, 3});
  CHECK(chip.makespan() == 0);
  CHECK(chip.times().critical_path.empty());
}

TEST_CASE("On random graphs the makespan keeps to its bounds, no core does two things at once, and edges hold") {
  auto random = rondo::test::make_random(11);
  for (int g = 0; g < 400; ++g) {
    CAPTURE(g);
    Play play;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    std::vector<std::uint32_t> blocks;
    std::vector<CoreType> types;
    const std::uint32_t tasks = 1 + static_cast<std::uint32_t>(random() % 60);
    for (std::uint32_t t = 0; t < tasks; ++t) {
      blocks.push_back(random() % 4 == 0 ? 1 + static_cast<std::uint32_t>(random() % 8) : 1);
      types.push_back(random() % 2 == 0 ? cube : vector);
      play.add(types.back(), static_cast<double>(random() % 1000), blocks.back());
      for (std::uint32_t e = 0; t > 0 && e < random() % 4; ++e) {
        edges.push_back({static_cast<std::uint32_t>(random() % t), t});
        play.edge(edges.back().first, t);
      }
    }
    const bool free = random() % 2 == 0;  // of any cost but the kernels'
    const Parts parts{{1 + static_cast<std::uint32_t>(random() % 5), 1 + static_cast<std::uint32_t>(random() % 9)},
                      1 + static_cast<std::uint32_t>(random() % 4),
                      free ? 0 : static_cast<double>(50 + random() % 50),
                      free ? 0 : static_cast<double>(50 + random() % 50),
                      free ? 0 : static_cast<double>(random() % 50),
                      free ? 0 : static_cast<double>(random() % 50)};
    VirtualChip chip = play.on(parts);

    const double cube_work = total(busy(chip, cube)) / parts.cores[0];
    const double vector_work = total(busy(chip, vector)) / parts.cores[1];
    CHECK(total(busy(chip, cube)) + total(busy(chip, vector)) == total(chip.costs()));
    CHECK(chip.makespan() >= chip.critical_path_ns());
    CHECK(chip.makespan() >= cube_work - 1e-6);
    CHECK(chip.makespan() >= vector_work - 1e-6);
    CHECK(chip.makespan() >= chip.times().scheduler_busy / parts.schedulers - 1e-6);
    // List scheduling is never idle without reason: whenever the critical chain does not advance, one kind of core or
    // the schedulers are all busy. With schedulers that cost nothing that bounds it from above.
    if (free) CHECK(chip.makespan() <= chip.critical_path_ns() + cube_work + vector_work + 1e-6);
    for (const auto& [before, after] : edges) CHECK(chip.times().tasks[after].start >= chip.times().tasks[before].end);
    for (const double each : busy(chip, cube)) CHECK(each <= chip.makespan());
    for (const double each : busy(chip, vector)) CHECK(each <= chip.makespan());
    double last = 0;
    for (const auto& times : chip.times().tasks) last = std::max(last, times.end);
    CHECK(last + parts.retire_ns <= chip.makespan());

    // At no time do more blocks of single-block tasks run than there are cores.
    for (std::uint32_t t = 0; t < tasks; ++t) {
      std::uint32_t running = 0;
      for (std::uint32_t u = 0; u < tasks; ++u) {
        if (types[u] == types[t] && blocks[u] == 1 && chip.times().tasks[u].start <= chip.times().tasks[t].start &&
            chip.times().tasks[t].start < chip.times().tasks[u].end) {
          ++running;
        }
      }
      CHECK(running <= parts.cores[static_cast<std::size_t>(types[t])]);
    }

    const double once = chip.makespan();
    chip.run();
    CHECK(chip.makespan() == once);  // nothing is left over from one play to the next
  }
}

TEST_CASE("With cores and schedulers in plenty the makespan is the critical path") {
  auto random = rondo::test::make_random(12);
  for (int g = 0; g < 100; ++g) {
    Play play;
    for (std::uint32_t t = 0; t < 40; ++t) {
      play.add(random() % 2 == 0 ? cube : vector, static_cast<double>(random() % 100));
      if (t > 0) play.edge(static_cast<std::uint32_t>(random() % t), t);
    }
    const VirtualChip chip = play.on({{40, 40}, 80, 3, 2});
    CHECK(chip.makespan() == chip.critical_path_ns());
  }
}
