// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

//   x (in) ──▶ [ saxpy: y += a·x ] ──▶ y (inout)

#include <rondo/rondo.hpp>

#include <cstdio>
#include <vector>

struct Saxpy {
  static constexpr std::string_view name = "saxpy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
  }
};

int main() {
  rondo::TaskGraph graph;
  auto x = graph.input<float>("x", {1024});
  auto y = graph.inout<float>("y", {1024});
  graph.add<Saxpy>(x, y, 2.0F);

  auto session = rondo::open<rondo::SelectedPlatform>(graph);
  std::vector<float> hx(1024), hy(1024);
  for (int round = 1; round <= 100; ++round) {
    hx.assign(1024, static_cast<float>(round));
    if (auto status = session.run_round(bind(x, hx), bind(y, hy)); !status) {
      std::fprintf(stderr, "%s\n", session.explain(status).c_str());
      return 1;
    }
  }
  std::printf("%s: y[0] = %.0f after %llu rounds\n", rondo::SelectedPlatform::name, static_cast<double>(hy[0]),
              static_cast<unsigned long long>(session.rounds()));
}
