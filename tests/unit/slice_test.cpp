// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/list.hpp>
#include <rondo/slice.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <vector>

namespace {

using rondo::Slice;

int sum(Slice<const int> values) {
  int total = 0;
  for (const int value : values) total += value;
  return total;
}

TEST_CASE("a slice is what lies side by side, whoever owns it") {
  const int plain[] = {1, 2, 3};
  CHECK(sum(plain) == 6);
  CHECK(sum({plain, 2}) == 3);
  CHECK(sum(std::array{4, 5}) == 9);
  CHECK(sum(std::vector{6, 7}) == 13);
  CHECK(sum(rondo::List<int>{8, 9}) == 17);
  CHECK(sum(std::span{plain}.last(2)) == 5);
  int changing[] = {1, 2};
  CHECK(sum(Slice<int>{changing}) == 3);
  CHECK(sum({}) == 0);
  CHECK(Slice<int>{}.empty());
}

TEST_CASE("a slice writes through, and only where its elements may change") {
  int numbers[] = {3, 1, 2};
  const Slice<int> slice{numbers};
  std::sort(slice.begin(), slice.end());
  slice[0] = 10;
  CHECK(numbers[0] == 10);
  CHECK(numbers[2] == 3);
  static_assert(!std::is_constructible_v<Slice<int>, Slice<const int>>);
  static_assert(!std::is_constructible_v<Slice<int>, const std::vector<int>&>);
  static_assert(std::is_trivially_copyable_v<Slice<int>>);
}

TEST_CASE("a slice of a slice is a part of it") {
  constexpr static int numbers[] = {0, 1, 2, 3, 4};
  constexpr Slice<const int> all{numbers};
  static_assert(all.size() == 5 && all.front() == 0 && all.back() == 4 && all.data() == numbers);
  static_assert(all.first(2).size() == 2 && all.first(2).back() == 1);
  static_assert(all.subspan(3).size() == 2 && all.subspan(3).front() == 3);
  static_assert(all.subspan(1, 2).size() == 2 && all.subspan(1, 2)[1] == 2);
  static_assert(all.subspan(5).empty() && all.first(0).empty());
  CHECK(sum(all.subspan(1, 3)) == 6);
}

TEST_CASE("a slice turns into a std::span of the same elements") {
  const int numbers[] = {1, 2, 3};
  const Slice<const int> slice{numbers};
  const std::span<const int> span = slice;
  CHECK(span.data() == numbers);
  CHECK(span.size() == 3);
  CHECK(std::ranges::equal(slice, numbers));
}

}  // namespace
