// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

//   x (in) ──▶ [ scale: t = 3·x ] ──▶ t ──▶ [ add: y += t ] ──▶ y (inout)     on a platform of your own

#include "toy_platform.hpp"

#include <rondo/rondo.hpp>

#include <cstdio>
#include <utility>
#include <vector>

struct Scale {
  static constexpr std::string_view name = "scale";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> t, float a) noexcept {
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = a * x[i];
  }
};

struct Add {
  static constexpr std::string_view name = "add";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> t, rondo::InOut<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += t[i];
  }
};

int main() {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {256});
  const auto t = graph.workspace<float>("t", {256});
  const auto y = graph.inout<float>("y", {256});
  graph.add<Scale>(x, t, 3.0F);
  graph.add<Add>(t, y);

  auto session = rondo::open<toy::ToyPlatform>(graph, {.device_memory = rondo::Bytes{1 << 20}});
  std::vector<float> hx(256), hy(256);
  for (int n = 1; n <= 10; ++n) {
    hx.assign(256, static_cast<float>(n));
    auto launched = session.begin_round(bind(x, hx), bind(y, hy)).launch();
    const std::size_t queued = session.platform().queued();
    const rondo::Status status = std::move(launched).finish().status();
    if (!status) {
      std::fprintf(stderr, "%s\n", session.explain(status).c_str());
      return 1;
    }
    if (n == 1) std::printf("%s: %zu commands waited after the launch\n", toy::ToyPlatform::name, queued);
  }
  std::printf("y[0] = %.0f after %llu rounds\n", static_cast<double>(hy[0]),
              static_cast<unsigned long long>(session.rounds()));
  return hy[0] == 165 ? 0 : 1;
}
