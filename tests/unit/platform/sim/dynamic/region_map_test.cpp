// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/dynamic/region_map.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <vector>

using namespace rondo;
using namespace rondo::platform::sim::dynamic;
using platform::sim::TaskSlot;

namespace {

/// What the map must say, found by looking at every use.
struct Past {
  TaskSlot* task;
  const TensorState* tensor;
  Box box;
  bool write;
};

/// A box in the two rows in which a touch refers to it.
struct Rows {
  explicit Rows(const Box& box) {
    for (std::size_t d = 0; d < max_rank; ++d) {
      low[d] = box.sides[d].low;
      extents[d] = box.sides[d].extent;
    }
  }
  std::uint64_t low[max_rank];
  std::uint64_t extents[max_rank];
};

struct Case {
  explicit Case(std::uint32_t seed, std::size_t rank, std::uint64_t extent)
      : random{rondo::test::make_random<std::mt19937_64>(seed)}, map{seed % 2 == 0 ? 256U : 4096U, 64} {
    for (auto& tensor : tensors) {
      tensor.rank = static_cast<std::uint8_t>(rank);
      for (std::size_t d = 0; d < rank; ++d) tensor.extents[d] = extent;
    }
  }
  std::uint64_t pick(std::uint64_t n) { return random() % n; }

  Box any_box(const TensorState& tensor) {
    Box box{};
    const bool tiled = pick(2) == 0;
    for (std::size_t d = 0; d < tensor.rank; ++d) {
      const std::uint64_t size = tensor.extents[d];
      const std::uint64_t tile = 1 + size / 3;
      box.sides[d].low = tiled ? pick(size / tile) * tile : pick(size);
      box.sides[d].extent = tiled ? tile : 1 + pick(size - box.sides[d].low);
    }
    return box;
  }

  /// Unfinished tasks only: what the map reports of others is whoever links's to sort out.
  template <class F>
  void find(TensorState& tensor, const Box* box, Access access, F found) {
    const Rows rows(box != nullptr ? *box : Box{});
    Touch touch(&tensor, box != nullptr ? BoxView{rows.low, rows.extents} : BoxView{}, access);
    map.locate(touch);
    map.find(touch, [&](TaskSlot& task, std::uint64_t number) {
      if (task.number == number && !task.done()) found(task);
    });
  }
  void insert(TensorState& tensor, const Box* box, Access access, TaskSlot& task, RegionUse*& head) {
    const Rows rows(box != nullptr ? *box : Box{});
    Touch touch(&tensor, box != nullptr ? BoxView{rows.low, rows.extents} : BoxView{}, access);
    map.locate(touch);
    map.insert(touch, task, head);
  }

  std::mt19937_64 random;
  TensorState tensors[3];
  RegionMap map;  ///< of few cells: then many share a place
  std::vector<std::unique_ptr<TaskSlot>> tasks;
  std::vector<RegionUse*> uses;
  std::vector<Past> past;
};

/// One round: 150 tasks that touch anything, some of which are done in between. `first`: the number of the first.
void check_round(Case& c, std::uint64_t first) {
  c.tasks.clear(), c.uses.clear(), c.past.clear();
  // Who must go before whom, directly or through others: bit sets over tasks.
  std::vector<std::vector<bool>> before;
  for (std::size_t t = 0; t < 150; ++t) {
    c.tasks.push_back(std::make_unique<TaskSlot>());
    TaskSlot& task = *c.tasks.back();
    task.number = first + t;
    TensorState& tensor = c.tensors[c.pick(3)];
    const Box box = c.any_box(tensor);
    const bool whole = c.pick(6) == 0;
    Box full{};
    for (std::size_t d = 0; d < tensor.rank; ++d) full.sides[d].extent = tensor.extents[d];
    const Box used = whole ? full : box;
    const bool write = c.pick(3) == 0;
    const Box* const part = whole ? nullptr : &box;
    const Access access = write ? Access::write : Access::read;

    std::set<TaskSlot*> found;
    c.find(tensor, part, access, [&](TaskSlot& other) { found.insert(&other); });
    std::vector<bool> ordered(t + 1, false);
    for (std::size_t o = 0; o < t; ++o) {
      if (!found.contains(c.tasks[o].get())) continue;
      ordered[o] = true;
      for (std::size_t i = 0; i < o; ++i) ordered[i] = ordered[i] || before[o][i];
    }
    for (std::size_t o = 0; o < t; ++o) {
      const Past& p = c.past[o];
      const bool conflict = p.tensor == &tensor && (p.write || write) && overlap(p.box, used, tensor.rank);
      if (conflict && !p.task->done()) REQUIRE_MESSAGE(ordered[o], "task ", t, " does not wait for ", o);
      if (found.contains(p.task)) REQUIRE_MESSAGE(conflict, "task ", t, " waits for ", o, " for nothing");
      if (found.contains(p.task)) REQUIRE_FALSE(p.task->done());
    }
    before.push_back(ordered);
    RegionUse* head = nullptr;
    c.insert(tensor, part, access, task, head);
    c.uses.push_back(head);
    c.past.push_back({&task, &tensor, used, write});
    // A task is done only after all that it waits for.
    const std::size_t ends = c.pick(t + 1);
    bool may_end = c.pick(2) == 0;
    for (std::size_t i = 0; i < ends; ++i) may_end = may_end && (!before[ends][i] || c.tasks[i]->done());
    if (may_end) c.tasks[ends]->fan_out.store(TaskSlot::sealed());
  }
  for (RegionUse* head : c.uses) c.map.forget(head);
  CHECK(c.map.live() == 0);
}

}  // namespace

TEST_CASE("a region meets exactly the pending uses that overlap it, or tasks that waited for those") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Case c(seed, 1 + seed % 5, 4 + seed % 13);
    for (std::uint64_t round = 0; round < 4; ++round) {
      check_round(c, round * 150 + 1);
      c.map.set_frontier(round * 150 + 151);
      c.map.drop_grids(c.tensors[round % 3]);  // the others stay, and keep their cells
      c.map.rewind({c.tensors, 3});
    }
    for (TensorState& tensor : c.tensors) {
      c.map.drop_grids(tensor);
      CHECK(tensor.grids == nullptr);
      CHECK(tensor.whole.head[0] == 0);
      CHECK(tensor.whole.head[1] == 0);
    }
  }
}

TEST_CASE("rounds that are alike use the same cells; a tensor that stays keeps its own, unless there are too many") {
  Case c(2, 1, 100);  // 256 cells
  TaskSlot task;
  task.number = 1;
  RegionUse* head = nullptr;
  const auto touch = [&](TensorState& tensor, std::uint64_t extent) {
    const Box box{{{0, extent}}};
    c.insert(tensor, &box, Access::write, task, head);
    c.map.forget(head);
    head = nullptr;
  };
  const auto next_round = [&] {
    c.map.set_frontier(++task.number);
    c.map.drop_grids(c.tensors[1]);
    c.map.rewind({c.tensors, 1});
  };
  touch(c.tensors[0], 3);
  CHECK(c.tensors[0].grids->base == 0);
  CHECK(c.tensors[0].grids->end == 34);
  for (int round = 0; round < 3; ++round) {
    touch(c.tensors[1], 10);
    CHECK(c.tensors[1].grids->base == 34);
    CHECK(c.tensors[1].grids->end == 44);
    next_round();
  }
  CHECK(c.tensors[0].grids->base == 0);
  // The one grid of a tensor, unused, is taken for other boxes again and again, and gets further cells each time.
  for (const std::uint64_t extent : {1U, 2U, 1U}) {
    touch(c.tensors[0], extent);
    next_round();
  }
  CHECK(c.tensors[0].grids == nullptr);
  touch(c.tensors[0], 3);
  CHECK(c.tensors[0].grids->base == 0);
}

TEST_CASE("cells in a row lie together, and groups of them in the order of their first use") {
  CellTable cells(1 << 16);
  CHECK(cells.capacity() == 1 << 16);
  const Cell* first = nullptr;
  for (std::uint64_t group = 0; group < 5; ++group) {
    std::vector<const Cell*> all;
    for (std::uint64_t i = 0; i < 4096; ++i) {
      Cell& cell = cells.at(group << 34 | i);
      CHECK(cell.number == 0);
      CHECK(&cell == &cells.at(group << 34 | i));
      all.push_back(&cell);
    }
    std::ptrdiff_t jumps = 0;
    for (std::size_t i = 1; i < all.size(); ++i) jumps += all[i] - all[i - 1] != 1 ? 1 : 0;
    CHECK(jumps <= 1);  // from the group's end to its start
    std::sort(all.begin(), all.end());
    if (std::adjacent_find(all.begin(), all.end()) != all.end()) FAIL("two cells in one place");
    CHECK(all.back() - all.front() == 4095);
    if (group == 0) first = all.front();
    // Two groups may share their place.
    CHECK(all.front() >= first);
    CHECK((all.front() - first) % 4096 == 0);
    CHECK(all.front() - first <= static_cast<std::ptrdiff_t>(group * 4096));
  }
}

TEST_CASE("a tensor that another takes the place of is not confused with it") {
  // The record is used again for another tensor, of another shape; what its predecessor left must not be met.
  Case c(1, 1, 100);
  TensorState& tensor = c.tensors[0];
  TaskSlot first, second;
  first.number = 1;
  second.number = 2;
  const Box box{{{10, 20}}};
  RegionUse* head = nullptr;
  c.insert(tensor, &box, Access::write, first, head);
  c.map.forget(head);
  c.map.drop_grids(tensor);
  tensor.rank = 2;
  tensor.extents[0] = tensor.extents[1] = 10;
  const Box other{{{1, 3}, {2, 3}}};
  int found = 0;
  c.find(tensor, &other, Access::write, [&](TaskSlot&) { ++found; });
  CHECK(found == 0);
  head = nullptr;
  c.insert(tensor, &other, Access::write, second, head);
  const Box corner{{{3, 1}, {4, 1}}};
  c.find(tensor, &corner, Access::read, [&](TaskSlot& task) {
    ++found;
    CHECK(&task == &second);
  });
  CHECK(found == 1);
}

TEST_CASE("a covering write takes the place of what it covers") {
  Case c(1, 1, 100);
  TensorState& tensor = c.tensors[0];
  std::vector<std::unique_ptr<TaskSlot>> tasks;
  RegionUse* head = nullptr;
  for (std::uint64_t i = 0; i < 10; ++i) {
    tasks.push_back(std::make_unique<TaskSlot>());
    tasks.back()->number = i + 1;
    const Box box{{{i * 10, 10}}};
    c.insert(tensor, &box, i % 2 == 0 ? Access::read : Access::write, *tasks.back(), head);
  }
  TaskSlot whole;
  whole.number = 11;
  int found = 0;
  c.find(tensor, nullptr, Access::write, [&](TaskSlot&) { ++found; });
  CHECK(found == 10);
  c.insert(tensor, nullptr, Access::write, whole, head);
  found = 0;
  const Box box{{{35, 30}}};
  c.find(tensor, &box, Access::write, [&](TaskSlot& task) {
    ++found;
    CHECK(&task == &whole);
  });
  CHECK(found == 1);
}

TEST_CASE("tiles that are written over and over are found once each, one by one and all together") {
  for (const std::uint32_t seed : {1U, 2U}) {
    Case c(seed, 2, 12);
    TensorState& tensor = c.tensors[0];
    std::vector<std::unique_ptr<TaskSlot>> tasks;
    std::vector<RegionUse*> heads;
    std::vector<TaskSlot*> last(12);
    for (std::uint64_t i = 0; i < 60; ++i) {
      tasks.push_back(std::make_unique<TaskSlot>());
      tasks.back()->number = i + 1;
      const std::uint64_t tile = i * 5 % 12;
      const Box box{{{tile / 3 * 3, 3}, {tile % 3 * 4, 4}}};
      std::vector<TaskSlot*> found;
      c.find(tensor, &box, Access::read_write, [&](TaskSlot& task) { found.push_back(&task); });
      CHECK(found == (last[tile] == nullptr ? std::vector<TaskSlot*>{} : std::vector{last[tile]}));
      heads.push_back(nullptr);
      c.insert(tensor, &box, Access::read_write, *tasks.back(), heads.back());
      last[tile] = tasks.back().get();
    }
    std::vector<TaskSlot*> found;
    const auto note = [&](TaskSlot& task) { found.push_back(&task); };
    const auto sorted = [](std::vector<TaskSlot*> list) {
      std::sort(list.begin(), list.end());
      return list;
    };
    c.find(tensor, nullptr, Access::read, note);
    CHECK(sorted(found) == sorted(last));
    found.clear();
    const Box four{{{2, 2}, {3, 2}}};  // the corner where four tiles meet
    c.find(tensor, &four, Access::read, note);
    CHECK(sorted(found) == sorted({last[0], last[1], last[3], last[4]}));
    found.clear();
    c.find(tensor, nullptr, Access::write, note);
    CHECK(sorted(found) == sorted(last));
    found.clear();
    c.find(tensor, nullptr, Access::write, note);  // all of them were covered
    CHECK(found.empty());
    for (RegionUse* head : heads) c.map.forget(head);
    CHECK(c.map.live() == 0);
  }
}

TEST_CASE("what a reclaimed task wrote is not found, even when its place is another task's") {
  Case c(1, 1, 100);
  TensorState& tensor = c.tensors[0];
  const Box box{{{10, 10}}};
  const auto count = [&](const Box* part) {
    int found = 0;
    c.find(tensor, part, Access::read, [&](TaskSlot&) { ++found; });
    return found;
  };
  TaskSlot task;
  RegionUse* heads[2] = {};
  task.number = 5;
  c.insert(tensor, &box, Access::write, task, heads[0]);
  c.insert(c.tensors[1], nullptr, Access::write, task, heads[1]);
  CHECK(count(&box) == 1);
  CHECK(count(nullptr) == 1);
  c.map.forget(heads[0]);
  c.map.forget(heads[1]);
  SUBCASE("its place is another's") { task.number = 9; }
  SUBCASE("all tasks before a later one are reclaimed") { c.map.set_frontier(6); }
  CHECK(count(&box) == 0);
  CHECK(count(nullptr) == 0);
  int found = 0;
  c.find(c.tensors[1], nullptr, Access::write, [&](TaskSlot&) { ++found; });
  CHECK(found == 0);
}

TEST_CASE("dividing by a multiplication is exact, up to where it is used and beyond") {
  auto random = rondo::test::make_random<std::mt19937_64>(7);
  const std::uint64_t edge = 0xFFFF'FFFF;
  for (const std::uint64_t by : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{7},
                                 std::uint64_t{641}, std::uint64_t{65'536}, edge - 1, edge, edge + 1, edge * edge}) {
    const Divisor divisor(by);
    CHECK(divisor.value() == by);
    for (const std::uint64_t n : {std::uint64_t{0}, by - 1, by, by + 1, edge - 1, edge, edge + 1, ~std::uint64_t{0}}) {
      CHECK(divisor.divide(n) == n / by);
    }
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t n = random() >> random() % 64;
      const std::uint64_t multiple = (n & edge) / by * by;
      if (divisor.divide(n) != n / by) FAIL(n, " / ", by);
      if (multiple != 0 && divisor.divide(multiple - 1) != (multiple - 1) / by) FAIL(multiple, " - 1 / ", by);
    }
  }
}
