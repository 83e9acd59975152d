// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/arguments.hpp>

#include <rondo/rondo.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

/// y = sum of each row of x
struct SumRows {
  static constexpr std::string_view name = "sum_rows";
  static constexpr auto core = CoreType::vector;
  static void run(In<float, 2> x, Out<float> y) noexcept {
    for (std::size_t r = 0; r < x.extent(0); ++r) {
      y[r] = 0;
      for (std::size_t c = 0; c < x.extent(1); ++c) y[r] += x(r, c);
    }
  }
};

}  // namespace

TEST_CASE("A reshaped tensor is the same memory under another shape") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {6});
  const auto t = graph.workspace<float>("t", {6});
  const auto two = graph.output<float>("two", {2});
  const auto three = graph.output<float>("three", {3});
  graph.add<Scale>(x, t, 2.0F);
  graph.add<SumRows>(reshape(t, {2, 3}), two);
  graph.add<SumRows>(reshape(t, {3, 2}), three);
  CHECK(graph.tensors().size() == 4);
  auto session = open<A2A3Sim>(graph);
  std::vector<float> hx{1, 2, 3, 4, 5, 6}, h2(2), h3(3);
  REQUIRE(session.run_round(bind(x, hx), bind(two, h2), bind(three, h3)));
  CHECK(h2 == std::vector<float>{12, 30});
  CHECK(h3 == std::vector<float>{6, 14, 22});
}

TEST_CASE("A shape that does not hold the tensor's elements is refused, the graph unchanged") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {6});
  const auto y = graph.output<float>("y", {2});
  const auto most = std::numeric_limits<std::int64_t>::max();
  for (const Shape& shape : {Shape{2, 2}, Shape{0, 6}, Shape{-2, -3}, Shape{most, 6}, Shape{1, 1, 1, 1, 1, 6}}) {
    const Raised r = raised([&] { graph.add<SumRows>(reshape(x, shape), y); });
    CAPTURE(r.text);
    CHECK(r.code == Errc::wrong_size);
    CHECK(says(r.text, "'sum_rows'", "'x'", "6 elements"));
  }
  const Raised r = raised([&] { graph.add<SumRows>(reshape(x, {6}), y); });
  CHECK(r.code == Errc::invalid_argument);
  CHECK(says(r.text, "2 dimensions"));
  CHECK(graph.tasks().empty());
}
