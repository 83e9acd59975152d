// expect: rondo: add<K> takes one argument for each parameter of K::run except rondo::Block
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/task_graph.hpp>

struct Scale {
  static constexpr std::string_view name = "scale";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::Block, rondo::In<float> x, rondo::Out<float> y, float a) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = a * x[i];
  }
};

void build(rondo::TaskGraph& graph) {
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<Scale>(rondo::Block{}, x, y, 2.0F);
}
