// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The program that docs/performance.md shows.

#include <rondo/platform/host/host.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

struct Relu {
  static constexpr std::string_view name = "relu";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] > 0 ? x[i] : 0;
  }
};

TEST_CASE("What performance.md shows runs") {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto y = graph.output<float>("y", {16});
  graph.add<Relu>(x, y);
  auto session = rondo::open<rondo::A2A3Sim>(graph);
  std::vector<float> hx(16, 2.0F), hy(16);
  const auto binding = session.prebind(bind(x, hx), bind(y, hy));  // once
  const rondo::Status status = session.run_round(binding);         // often
  CHECK(status.ok());
  CHECK(hy[3] == 2);

  std::remove("relu.rondo");
  for (const bool is_saved : {false, true}) {
    using P = rondo::HostOn<rondo::Pool>;
    auto later = rondo::open<P>(graph, {.saved = {"relu.rondo", rondo::IfUnusable::ignore}});
    CHECK(later.is_restored() == is_saved);
    if (!later.is_restored()) later.save("relu.rondo");
  }
  std::remove("relu.rondo");
}

}  // namespace
