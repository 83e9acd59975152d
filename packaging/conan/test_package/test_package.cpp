// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/rondo.hpp>

#include <cstdio>

struct Double {
  static constexpr std::string_view name = "double";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::InOut<float> x) noexcept { x[0] *= 2; }
};

int main() {
  rondo::TaskGraph graph;
  const auto x = graph.inout<float>("x", {1});
  graph.add<Double>(x);
  auto session = rondo::open<rondo::A2A3Sim>(graph);
  float value = 1;
  for (int round = 0; round < 3; ++round) {
    if (!session.run_round(bind(x, value))) return 1;
  }
  std::printf("rondo %d.%d.%d: %g\n", rondo::version.major, rondo::version.minor, rondo::version.patch,
              static_cast<double>(value));
  return value == 8 ? 0 : 1;
}
