// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/launch/solve.hpp>

#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace rondo;
using namespace rondo::test;

TEST_CASE("Shapes that are bound give the symbols their values, unless they contradict the declared shapes") {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  (void)graph.input<float>("x", {n, 4});
  const auto solve = [&](const Shape& shape, std::uint64_t count) {
    const launch::BoundSize size{0, count, &shape};
    return launch::solve(graph, {&size, 1});
  };
  CHECK(solve(Shape{3, 4}, 12) == std::vector<std::int64_t>{3});

  Raised r = raised([&] { (void)solve(Shape{3, 5}, 15); });
  CHECK(r.code == Errc::wrong_size);
  CHECK(says(r.text, "tensor 'x': extent 1 is 4, 5 was bound; n = 3"));
  r = raised([&] { (void)solve(Shape{-3, 4}, 12); });
  CHECK(r.code == Errc::invalid_argument);
  CHECK(says(r.text, "tensor 'x': extent 0 is negative"));
}
