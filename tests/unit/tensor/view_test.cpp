// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/tensor/view.hpp>

#include <doctest/doctest.h>

#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

using namespace rondo;

TEST_CASE("A view of two dimensions addresses its elements row by row") {
  std::vector<float> data(6);
  std::iota(data.begin(), data.end(), 0.0F);
  const std::int64_t extents[] = {2, 3};
  const InOut<float, 2> view{data.data(), extents};
  CHECK(view.extent(0) == 2);
  CHECK(view.extent(1) == 3);
  CHECK(view.size() == 6);
  CHECK(view(0, 0) == 0);
  CHECK(view(0, 2) == 2);
  CHECK(view(1, 0) == 3);
  CHECK(view(1, 2) == 5);
  view(1, 1) = 40;
  CHECK(data[4] == 40);
  CHECK(view[4] == 40);
}

TEST_CASE("A view of five dimensions addresses every element exactly once, the last index fastest") {
  const std::int64_t extents[] = {2, 3, 1, 4, 5};
  std::vector<std::int32_t> data(120);
  const Out<std::int32_t, 5> view{data.data(), extents};
  std::int32_t n = 0;
  for (std::size_t a = 0; a < 2; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      for (std::size_t d = 0; d < 4; ++d) {
        for (std::size_t e = 0; e < 5; ++e) view(a, b, 0U, d, e) = n++;
      }
    }
  }
  for (std::size_t i = 0; i < data.size(); ++i) CHECK(data[i] == static_cast<std::int32_t>(i));
}

TEST_CASE("A view is a range over its elements") {
  std::vector<float> data{1, 2, 3};
  const std::int64_t extents[] = {3};
  const In<float> view{data.data(), extents};
  CHECK(std::accumulate(view.begin(), view.end(), 0.0F) == 6);
  CHECK(view.end() - view.begin() == 3);
  CHECK(view.data() == data.data());
}

TEST_CASE("What an In shows cannot be written, what an Out or InOut shows can") {
  CHECK(std::is_same_v<decltype(std::declval<const In<float>&>()[0]), const float&>);
  CHECK(std::is_same_v<decltype(std::declval<const In<float, 2>&>()(0, 0)), const float&>);
  CHECK(std::is_same_v<decltype(std::declval<const Out<float>&>()[0]), float&>);
  CHECK(std::is_same_v<decltype(std::declval<const InOut<float>&>()[0]), float&>);
  CHECK(std::is_same_v<In<float>::value_type, float>);
}

TEST_CASE("A view takes as many indices as it has dimensions") {
  CHECK(std::is_invocable_v<In<float, 2>, int, int>);
  CHECK_FALSE(std::is_invocable_v<In<float, 2>, int>);
  CHECK_FALSE(std::is_invocable_v<In<float, 2>, int, int, int>);
  CHECK_FALSE(std::is_invocable_v<In<float, 2>, int, const char*>);
}
