// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The program that bench/compile_time compares examples/01_saxpy.cpp with: the same task on a oneTBB flow graph.

#include <tbb/flow_graph.h>

#include <cstddef>
#include <cstdio>
#include <string_view>
#include <vector>

struct Saxpy {
  static constexpr std::string_view name = "saxpy";
  const std::vector<float>& x;
  std::vector<float>& y;
  float a;
  tbb::flow::continue_msg operator()(tbb::flow::continue_msg message) const noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
    return message;
  }
};

int main() {
  std::vector<float> x(1024), y(1024);
  tbb::flow::graph graph;
  tbb::flow::broadcast_node<tbb::flow::continue_msg> start(graph);
  tbb::flow::continue_node<tbb::flow::continue_msg> saxpy(graph, Saxpy{x, y, 2.0F});
  tbb::flow::make_edge(start, saxpy);

  unsigned long long rounds = 0;
  for (int round = 1; round <= 100; ++round, ++rounds) {
    x.assign(1024, static_cast<float>(round));
    start.try_put(tbb::flow::continue_msg());
    graph.wait_for_all();
    if (graph.is_cancelled()) {
      std::fprintf(stderr, "round %d was cancelled\n", round);
      return 1;
    }
  }
  std::printf("%s: y[0] = %.0f after %llu rounds\n", Saxpy::name.data(), static_cast<double>(y[0]), rounds);
  return y[0] == 10100.0F ? 0 : 1;
}
