// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/freeze.hpp>
#include <rondo/graph/task_graph.hpp>

#include <random.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// Graphs of many equal tasks, for tests of the code that spreads them over lanes.
namespace dealt {

/// Writes a tensor that no other task uses, so that only edges order the tasks.
struct Touch {
  static constexpr std::string_view name = "touch";
  static constexpr auto core = rondo::CoreType::cube;
  static void run(rondo::Out<float> x) noexcept { x[0] = 1; }
};

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

inline rondo::TaskGraph make(std::uint32_t tasks, const Edges& edges) {
  rondo::TaskGraph graph(rondo::Edges::explicit_);
  for (std::uint32_t t = 0; t < tasks; ++t) {
    const auto tensor = graph.workspace<float>("t" + std::to_string(t), {1});
    graph.keep(tensor);
    graph.add<Touch>(tensor);
  }
  for (const auto& [before, after] : edges) graph.add_edge(rondo::TaskId{before}, rondo::TaskId{after});
  return graph;
}

inline rondo::TaskGraph chain(std::uint32_t tasks) {
  Edges edges;
  for (std::uint32_t t = 1; t < tasks; ++t) edges.emplace_back(t - 1, t);
  return make(tasks, edges);
}
inline rondo::TaskGraph independent(std::uint32_t tasks) { return make(tasks, {}); }
/// Task (i, j) comes after (i − 1, j) and (i, j − 1); row by row.
inline rondo::TaskGraph wavefront(std::uint32_t side) {
  Edges edges;
  for (std::uint32_t i = 0; i < side; ++i) {
    for (std::uint32_t j = 0; j < side; ++j) {
      if (i != 0) edges.emplace_back((i - 1) * side + j, i * side + j);
      if (j != 0) edges.emplace_back(i * side + j - 1, i * side + j);
    }
  }
  return make(side * side, edges);
}
/// A reduction in pairs; the leaves come first.
inline rondo::TaskGraph tree(std::uint32_t leaves) {
  Edges edges;
  std::vector<std::uint32_t> level(leaves);
  for (std::uint32_t t = 0; t < leaves; ++t) level[t] = t;
  std::uint32_t tasks = leaves;
  while (level.size() > 1) {
    std::vector<std::uint32_t> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
      edges.emplace_back(level[i], tasks);
      edges.emplace_back(level[i + 1], tasks);
      next.push_back(tasks++);
    }
    if (level.size() % 2 != 0) next.push_back(level.back());
    level = std::move(next);
  }
  return make(tasks, edges);
}
/// Each task comes after up to `most` of the 60 before it.
inline rondo::TaskGraph random(std::uint32_t tasks, std::uint32_t most, std::uint32_t seed) {
  auto random = rondo::test::make_random(seed);
  Edges edges;
  for (std::uint32_t t = 1; t < tasks; ++t) {
    for (std::uint32_t e = static_cast<std::uint32_t>(random() % (most + 1)); e-- > 0;) {
      const std::uint32_t reach = t < 60 ? t : 60;
      edges.emplace_back(t - 1 - static_cast<std::uint32_t>(random() % reach), t);
    }
  }
  return make(tasks, edges);
}

}  // namespace dealt
