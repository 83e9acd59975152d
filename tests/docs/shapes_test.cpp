// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The program that docs/shapes.md shows.

#include "docs/blocks.hpp"

#include <rondo/rondo.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>
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

/// Where x is, as hardware would want it told.
struct TileMap {
  std::uint64_t address = 0;
  std::uint64_t elements = 0;
  static TileMap make(std::uint64_t address, const rondo::Shape& shape) noexcept {
    return {address, static_cast<std::uint64_t>(shape.extent(0))};
  }
};
/// y = x + rate * a random number of this step
struct Noise {
  static constexpr std::string_view name = "noise";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::launch::RandomStart random, rondo::launch::Step step,
                  rondo::launch::HostScalar<float> rate, rondo::launch::Descriptor<TileMap> map, rondo::Out<float> y) {
    const rondo::launch::Philox numbers = random.philox();
    for (std::size_t i = 0; i < map.elements; ++i) y[i] = x[i] + rate.value * numbers.uniform(i);
    y[0] = static_cast<float>(step.number);
  }
};
/// Leaves its flags as it found them.
struct Count {
  static constexpr std::string_view name = "count";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> counts, rondo::InOut<float> flags, rondo::Out<float> y) {
    for (std::size_t i = 0; i < x.size(); ++i) counts[i % counts.size()] += 1 + flags[0];
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = counts[i];
  }
};
struct WithValues : rondo::DefaultPolicies {
  using Values = rondo::launch::RoundValues<>;
};

}  // namespace

TEST_CASE("The page on shapes: sizes follow from what is bound, or are said") {
  const std::size_t rows = 300;
  std::vector<float> hx(64 * rows, 0.5F), hy(rows);

  rondo::TaskGraph graph;
  const auto n = graph.dim("n");  // a symbol
  const auto x = graph.input<float>("x", {n, 64});
  const auto t = graph.workspace<float>("t", {n * 2, 64});  // sizes are expressions of symbols
  const auto y = graph.output<float>("y", {n});
  graph.add<RowSums>(rondo::Blocks{min(ceil_div(n, 128), 24)}, x, t, y);  // so are blocks

  auto session = rondo::open_shaped<rondo::A2A3Sim>(graph);
  rondo::Status status = session.run_round(bind(x, hx), bind(y, hy));  // n follows from the number of elements
  status = session.run_round(bind(x, hx, {rows, 64}), bind(y, hy));    // or is stated, if that is not enough
  REQUIRE(status.ok());
  CHECK(hy == std::vector<float>(rows, 32.0F));
  for (const std::size_t more : {5U, 300U, 5U}) {
    std::vector<float> gx(64 * more, 0.5F), gy(more);
    REQUIRE(session.run_round(bind(x, gx), bind(y, gy)));
    REQUIRE(session.run_round(bind(x, gx, {more, 64}), bind(y, gy)));
    CHECK(gy == std::vector<float>(more, 32.0F));
  }
  CHECK(session.entries() == 4);  // two shapes, each bound in two ways
}

TEST_CASE("The page on shapes: sessions share shapes, and outputs may be views") {
  rondo::TaskGraph graph;
  const auto n = graph.dim("n");
  const auto x = graph.input<float>("x", {n, 64});
  const auto t = graph.workspace<float>("t", {n});
  const auto y = graph.output<float>("y", {n * 64});
  const auto same = graph.output<float>("same", {n, 64});
  const auto tail = graph.output<float>("tail", {64});
  graph.add_raw(
      "copy", rondo::CoreType::vector,
      +[](rondo::ArgWord* args) {
        for (int i = 0; i < 128 * 64; ++i) reinterpret_cast<float*>(args[1])[i] = reinterpret_cast<float*>(args[0])[i];
      },
      reads(x), writes(y));
  (void)t;
  graph.make_view(same, x);               // an input, forwarded
  graph.make_view(tail, y, n * 64 - 64);  // a part of another output; where it starts may depend on the shape

  const auto shapes = rondo::share_shapes<rondo::A2A3Sim>(graph);
  shapes.prepare({{n, 128}});
  auto first = rondo::open_shaped(shapes);
  auto second = rondo::open_shaped(shapes);  // for another thread, say
  std::vector<float> hx(128 * 64), hy(hx.size()), hsame(hx.size()), htail(64);
  for (std::size_t i = 0; i < hx.size(); ++i) hx[i] = static_cast<float>(i);
  for (auto* session : {&first, &second}) {
    REQUIRE(session->run_round(bind(x, hx), bind(y, hy), bind(same, hsame), bind(tail, htail)));
    CHECK(hsame == hx);
    CHECK(htail[63] == hx.back());
  }
}

TEST_CASE("The page on shapes: workspaces of zeros, and values that the session writes") {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  const auto z = graph.output<float>("z", {4});
  const auto counts = graph.workspace<float>("counts", {4});
  const auto flags = graph.workspace<float>("flags", {4});
  graph.zero(counts);                                                    // zero at the start of each round
  graph.zero(flags, rondo::Zeroed::once);                                // tasks that use it leave zeros
  const auto random = rondo::launch::random(graph, "random", 42, 1024);  // the seed is 42; each round has 1024 numbers
  const auto step = rondo::launch::step(graph, "step");
  const auto rate = rondo::launch::scalar(graph, "rate", 0.1F);
  const auto map = rondo::launch::descriptor<TileMap>(graph, "map", x);
  graph.add<Noise>(x, random, step, rate, map, y);
  graph.add<Count>(x, counts, flags, z);

  auto session = rondo::open<rondo::A2A3Sim, WithValues>(graph);
  const std::vector<float> hx(8, 1);
  std::vector<float> hy(8), hz(4);
  for (int round = 0; round < 3; ++round) {
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy), bind(z, hz)));
    CHECK(hy[0] == static_cast<float>(round));
    CHECK((hy[1] >= 1.0F && hy[1] < 1.5F));
    CHECK(hz == std::vector<float>(4, 2));
    CHECK(session.values().set(rate, 0.5F).ok());
  }
}

TEST_CASE("The page on shapes shows what stands here") {
  docs::check_blocks("docs/shapes.md", "tests/docs/shapes_test.cpp", 5);
}
