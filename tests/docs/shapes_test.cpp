// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The program that docs/shapes.md shows.

#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace {

/// y = the sums of the rows of x, by way of t.
struct RowSums {
  static constexpr std::string_view name = "row_sums";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::Block b, rondo::In<float, 2> x, rondo::Scratch<float> t, rondo::Out<float> y) {
    for (std::size_t r = b.index; r < y.size(); r += b.count) {
      t[r] = 0;
      for (std::size_t c = 0; c < x.extent(1); ++c) t[r] += x(r, c);
      y[r] = t[r];
    }
  }
};

}  // namespace

TEST_CASE("The page on shapes: sizes follow from what is bound, or are said") {
  rondo::TaskGraph graph;
  const auto n = graph.dim("n");  // a symbol
  const auto x = graph.input<float>("x", {n, 64});
  const auto t = graph.workspace<float>("t", {n * 2, 64});  // sizes are expressions of symbols
  const auto y = graph.output<float>("y", {n});
  graph.add<RowSums>(rondo::Blocks{min(ceil_div(n, 128), 24)}, x, t, y);  // so are blocks

  auto session = rondo::open_shaped<rondo::A2A3Sim>(graph);
  for (const std::size_t rows : {5U, 300U, 5U}) {
    std::vector<float> hx(64 * rows, 0.5F), hy(rows);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)));              // n follows from the number of elements
    REQUIRE(session.run_round(bind(x, hx, {rows, 64}), bind(y, hy)));  // or is said, where that is not enough
    CHECK(hy == std::vector<float>(rows, 32.0F));
  }
  CHECK(session.entries() == 4);  // two shapes, each bound in two ways
}
