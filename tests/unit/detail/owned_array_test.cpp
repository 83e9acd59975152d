// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/detail/owned_array.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

using rondo::detail::OwnedArray;

TEST_CASE("An array starts with each element value-initialised") {
  const OwnedArray<int> array(100);
  CHECK(array.size() == 100);
  for (const int value : array) CHECK(value == 0);
}

TEST_CASE("A copy of a range holds its values, apart from the range") {
  std::vector<int> source{3, 1, 2};
  const auto array = OwnedArray<int>::copy_of(source);
  source[0] = 99;
  CHECK(std::vector<int>(array.begin(), array.end()) == std::vector<int>{3, 1, 2});
  CHECK(array.slice().size() == 3);
  CHECK(OwnedArray<int>::copy_of(std::vector<int>{}).data() == nullptr);
}

TEST_CASE("Moving an array hands on its memory; every element is destroyed once") {
  const auto alive = std::make_shared<int>(0);
  {
    OwnedArray<std::shared_ptr<int>> a(2);
    a[0] = alive;
    const std::shared_ptr<int>* place = a.data();
    OwnedArray<std::shared_ptr<int>> b{std::move(a)};
    CHECK(b.data() == place);
    CHECK(a.size() == 0);  // NOLINT(bugprone-use-after-move): documented
    OwnedArray<std::shared_ptr<int>> c(1);
    c[0] = alive;
    c = std::move(b);
    CHECK(c.data() == place);
    CHECK(c.size() == 2);
    CHECK(alive.use_count() == 3);  // c's, what the assignment swapped into b, and alive
  }
  CHECK(alive.use_count() == 1);
}

TEST_CASE("An array of no elements allocates nothing and may be walked") {
  const OwnedArray<int> array(0);
  CHECK(array.data() == nullptr);
  CHECK(array.begin() == array.end());
  CHECK_FALSE(std::is_copy_constructible_v<OwnedArray<int>>);
}
