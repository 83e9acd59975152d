// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

/// The graphs of graph_replay as plain edge lists, for Rondo and its rivals alike. Tasks are numbered in an order in
/// which each comes behind its predecessors.
namespace graph_shapes {

struct Shape {
  const char* name;
  std::size_t tasks = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
};

inline Shape chain1000() {
  Shape s{"chain1000", 1000, {}};
  for (std::uint32_t t = 1; t < s.tasks; ++t) s.edges.emplace_back(t - 1, t);
  return s;
}

inline Shape independent1000() { return {"independent1000", 1000, {}}; }

/// From the root to 512 leaves.
inline Shape tree1023() {
  Shape s{"tree1023", 1023, {}};
  for (std::uint32_t t = 1; t < s.tasks; ++t) s.edges.emplace_back((t - 1) / 2, t);
  return s;
}

/// Each cell behind the one above and the one to the left.
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

/// 40 layers of 50 tasks, each behind three different ones of the layer before.
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

inline Shape diamond5() { return {"diamond5", 5, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}}}; }

inline std::vector<Shape> all() {
  return {chain1000(), independent1000(), tree1023(), wavefront32(), random2000(), diamond5()};
}

}  // namespace graph_shapes
