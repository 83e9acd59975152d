// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/detail/algorithm.hpp>
#include <rondo/list.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace {

namespace detail = rondo::detail;

std::vector<int> random_numbers(std::size_t count, int most, std::uint32_t seed) {
  std::mt19937 random{seed};
  std::vector<int> numbers(count);
  for (int& each : numbers) each = static_cast<int>(random() % static_cast<unsigned>(most));
  return numbers;
}

TEST_CASE("sort gives what std::sort gives, for few and many, for all alike and all different") {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 23U, 24U, 25U, 26U, 100U, 1000U, 20'000U}) {
    for (const int most : {1, 2, 10, 1'000'000}) {
      std::vector<int> numbers = random_numbers(count, most, static_cast<std::uint32_t>(count) + 7);
      std::vector<int> expected = numbers;
      std::sort(expected.begin(), expected.end());
      detail::sort(numbers);
      CHECK(numbers == expected);
      detail::sort(numbers);  // what is in order already
      CHECK(numbers == expected);
      std::reverse(numbers.begin(), numbers.end());
      detail::sort(numbers);
      CHECK(numbers == expected);
      detail::sort(numbers, [](int a, int b) { return a > b; });
      CHECK(std::is_sorted(numbers.rbegin(), numbers.rend()));
    }
  }
}

TEST_CASE("sorting takes n log n comparisons whatever the order, also for what splits badly") {
  constexpr std::size_t n = 1 << 14;
  std::vector<int> organ_pipe(n), saw(n);
  for (std::size_t i = 0; i < n; ++i) {
    organ_pipe[i] = static_cast<int>(std::min(i, n - i));
    saw[i] = static_cast<int>(i % 100);
  }
  // The adversary of median-of-three: it decides what is large only when it is asked.
  std::vector<int> killer(n);
  for (std::size_t i = 0; i < n; ++i) killer[i] = static_cast<int>(i % 2 == 0 ? i : n / 2 + i / 2);
  for (std::vector<int>* numbers : {&organ_pipe, &saw, &killer}) {
    std::size_t comparisons = 0;
    detail::sort(*numbers, [&](int a, int b) {
      ++comparisons;
      return a < b;
    });
    CHECK(std::is_sorted(numbers->begin(), numbers->end()));
    CHECK(comparisons < 6 * n * 14);
  }
}

TEST_CASE("a part that may not be split any more is sorted by a heap") {
  std::vector<int> numbers = random_numbers(1000, 500, 3);
  std::vector<int> expected = numbers;
  std::sort(expected.begin(), expected.end());
  detail::sort_part(numbers.data(), numbers.size(), detail::Less{}, 0);
  CHECK(numbers == expected);
}

TEST_CASE("a heap hands out what is in it from the largest to the smallest") {
  const std::vector<int> numbers = random_numbers(500, 100, 1);
  std::vector<int> heap;
  for (const int each : numbers) {
    heap.push_back(each);
    detail::push_heap(heap.data(), heap.size());
    CHECK(std::is_heap(heap.begin(), heap.end()));
  }
  std::vector<int> made = numbers;
  detail::make_heap(made.data(), made.size());
  CHECK(std::is_heap(made.begin(), made.end()));
  std::vector<int> expected = numbers;
  std::sort(expected.rbegin(), expected.rend());
  for (const int each : expected) {
    detail::pop_heap(heap.data(), heap.size());
    CHECK(heap.back() == each);
    heap.pop_back();
  }
}

TEST_CASE("bounds, unique and none_of are those of the standard library") {
  std::vector<int> sorted = random_numbers(200, 60, 2);
  detail::sort(sorted);
  for (int value = -1; value <= 61; ++value) {
    CHECK(detail::lower_bound(sorted, value) ==
          static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin()));
    CHECK(detail::upper_bound(sorted, value) ==
          static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), value) - sorted.begin()));
  }
  std::vector<int> expected = sorted;
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  detail::keep_unique(sorted);
  CHECK(sorted == expected);
  CHECK(detail::none_of(sorted, [](int n) { return n > 60; }));
  CHECK_FALSE(detail::none_of(sorted, [&](int n) { return n == sorted[3]; }));
  CHECK(detail::min(3, 2) == 2);
  CHECK(detail::max(3, 2) == 3);
}

constexpr int sorted_by_the_compiler(std::size_t at) {
  rondo::List<int> numbers;
  for (int i = 0; i < 50; ++i) numbers.push_back((i * 37) % 50);
  detail::sort(numbers);
  return numbers[at];
}
static_assert(sorted_by_the_compiler(0) == 0 && sorted_by_the_compiler(49) == 49);

}  // namespace
