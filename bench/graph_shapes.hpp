// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

/// The graphs of graph_replay as plain edge lists, for Rondo and its rivals alike. Tasks are numbered in an order in
/// which each comes after its predecessors.
namespace graph_shapes {

struct Shape {
  const char* name;
  std::size_t tasks = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  std::vector<std::int64_t> costs{};  ///< of the tasks, in steps; empty: one each

  [[nodiscard]] std::int64_t cost(std::size_t task) const { return costs.empty() ? 1 : costs[task]; }
  [[nodiscard]] std::int64_t total_cost() const {
    std::int64_t total = 0;
    for (std::size_t t = 0; t < tasks; ++t) total += cost(t);
    return total;
  }
};

inline Shape chain1000() {
  Shape s{"chain1000", 1000, {}};
  for (std::uint32_t t = 1; t < s.tasks; ++t) s.edges.emplace_back(t - 1, t);
  return s;
}

/// Seven chains: on two threads a round has to move one of them half-way.
inline Shape chains7x143() {
  Shape s{"chains7x143", 7 * 143, {}};
  for (std::uint32_t t = 0; t < s.tasks; ++t) {
    if (t % 143 != 0) s.edges.emplace_back(t - 1, t);
  }
  return s;
}

inline Shape independent1000() { return {"independent1000", 1000, {}}; }

/// A binary tree, from the root to 512 leaves.
inline Shape tree1023() {
  Shape s{"tree1023", 1023, {}};
  for (std::uint32_t t = 1; t < s.tasks; ++t) s.edges.emplace_back((t - 1) / 2, t);
  return s;
}

/// A grid of 32 × 32 tasks, each after the one above and the one to the left.
inline Shape wavefront32() {
  Shape s{"wavefront32", 32 * 32, {}};
  for (std::uint32_t row = 0; row < 32; ++row) {
    for (std::uint32_t column = 0; column < 32; ++column) {
      const std::uint32_t t = row * 32 + column;
      if (row > 0) s.edges.emplace_back(t - 32, t);
      if (column > 0) s.edges.emplace_back(t - 1, t);
    }
  }
  return s;
}

/// 40 layers of 50 tasks, each after three different ones of the layer before.
inline Shape random2000() {
  Shape s{"random2000", 40 * 50, {}};
  std::mt19937 random{2026};
  for (std::uint32_t layer = 1; layer < 40; ++layer) {
    for (std::uint32_t i = 0; i < 50; ++i) {
      std::uint32_t before[3];
      for (int p = 0; p < 3; ++p) {
        do {
          before[p] = (layer - 1) * 50 + static_cast<std::uint32_t>(random() % 50);
        } while (std::find(before, before + p, before[p]) != before + p);
        s.edges.emplace_back(before[p], layer * 50 + i);
      }
    }
  }
  return s;
}

/// 100 times: one task, eight after it, one after those.
inline Shape fork_join100x8() {
  Shape s{"fork_join100x8", 100 * 10, {}};
  for (std::uint32_t stage = 0; stage < 100; ++stage) {
    const std::uint32_t first = stage * 10;
    if (stage != 0) s.edges.emplace_back(first - 1, first);
    for (std::uint32_t i = 1; i <= 8; ++i) {
      s.edges.emplace_back(first, first + i);
      s.edges.emplace_back(first + i, first + 9);
    }
  }
  return s;
}

/// 6 layers of 64, each cell after two of the layer before, as in a Fourier transform.
inline Shape butterfly64() {
  Shape s{"butterfly64", 7 * 64, {}};
  for (std::uint32_t layer = 1; layer <= 6; ++layer) {
    for (std::uint32_t i = 0; i < 64; ++i) {
      s.edges.emplace_back((layer - 1) * 64 + i, layer * 64 + i);
      s.edges.emplace_back((layer - 1) * 64 + (i ^ (1U << (layer - 1))), layer * 64 + i);
    }
  }
  return s;
}

/// One task before 400 others, and one after all of them.
inline Shape star402() {
  Shape s{"star402", 402, {}};
  for (std::uint32_t t = 1; t <= 400; ++t) {
    s.edges.emplace_back(0, t);
    s.edges.emplace_back(t, 401);
  }
  return s;
}

/// A binary tree, from 512 leaves to the root.
inline Shape in_tree1023() {
  Shape s{"in_tree1023", 1023, {}};
  for (std::uint32_t t = 0; t + 1 < s.tasks; ++t) s.edges.emplace_back(t, 512 + t / 2);
  return s;
}

inline Shape diamond5() { return {"diamond5", 5, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}}}; }

/// 40 layers of 20 tasks that take 1 to 8 steps, and some of them 40; each after three different ones of the layer
/// before.
inline Shape uneven800() {
  Shape s{"uneven800", 800, {}};
  std::mt19937 engine{1};
  const auto random = [&](std::uint32_t n) { return static_cast<std::uint32_t>(engine() % n); };
  for (std::uint32_t t = 0; t < s.tasks; ++t) {
    s.costs.push_back(random(50) == 0 ? 40 : 1 + random(8));
    const std::uint32_t first = random(20);
    for (std::uint32_t i = 0; t >= 20 && i < 3; ++i) s.edges.emplace_back((t / 20 - 1) * 20 + (first + 7 * i) % 20, t);
  }
  return s;
}

/// The number of steps of a round if each task takes one step and those with the longest path to the end run first, as
/// many at once as there are workers. For two workers this is the minimum on these graphs: a task runs alone only if
/// all others precede or follow it, or if it is the last one of an odd number. If the costs differ, no round takes less
/// than the result: the longest path, or what each worker has if all have the same.
inline std::size_t least_steps(const Shape& shape, std::size_t workers) {
  std::vector<std::size_t> to_end(shape.tasks, 1), waiting(shape.tasks);
  std::vector<std::vector<std::uint32_t>> successors(shape.tasks);
  for (const auto& [before, after] : shape.edges) {
    successors[before].push_back(after);
    ++waiting[after];
  }
  for (std::size_t t = shape.tasks; t-- > 0;) {
    const auto cost = static_cast<std::size_t>(shape.cost(t));
    to_end[t] = cost;
    for (const std::uint32_t s : successors[t]) to_end[t] = std::max(to_end[t], to_end[s] + cost);
  }
  if (!shape.costs.empty()) {
    const std::size_t share = (static_cast<std::size_t>(shape.total_cost()) + workers - 1) / workers;
    return std::max(share, *std::max_element(to_end.begin(), to_end.end()));
  }
  const auto later = [&](std::uint32_t a, std::uint32_t b) {
    return to_end[a] != to_end[b] ? to_end[a] < to_end[b] : a > b;
  };
  std::vector<std::uint32_t> ready;  // a heap, the next one on top
  const auto arrive = [&](std::uint32_t t) {
    ready.push_back(t);
    std::push_heap(ready.begin(), ready.end(), later);
  };
  for (std::uint32_t t = 0; t < shape.tasks; ++t) {
    if (waiting[t] == 0) arrive(t);
  }
  std::size_t steps = 0;
  for (; !ready.empty(); ++steps) {
    std::vector<std::uint32_t> now;
    while (now.size() < workers && !ready.empty()) {
      std::pop_heap(ready.begin(), ready.end(), later);
      now.push_back(ready.back());
      ready.pop_back();
    }
    for (const std::uint32_t t : now) {
      for (const std::uint32_t s : successors[t]) {
        if (--waiting[s] == 0) arrive(s);
      }
    }
  }
  return steps;
}

/// The graphs whose rounds leave threads idle at the beginning or the end.
inline std::vector<Shape> with_drain() { return {wavefront32(), tree1023(), chain1000(), chains7x143()}; }

inline std::vector<Shape> all() {
  return {chain1000(),   independent1000(), tree1023(),       wavefront32(), random2000(), diamond5(),
          chains7x143(), in_tree1023(),     fork_join100x8(), butterfly64(), star402(),    uneven800()};
}

}  // namespace graph_shapes
