// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/observe/histogram.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using rondo::observe::Histogram;

namespace {

/// The number that at least `share` of the sorted ones do not exceed.
std::uint64_t exact(const std::vector<std::uint64_t>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void check_against(std::vector<std::uint64_t> numbers) {
  Histogram histogram;
  for (const std::uint64_t n : numbers) histogram.add(n);
  std::sort(numbers.begin(), numbers.end());
  CHECK(histogram.count() == numbers.size());
  CHECK(histogram.greatest() == numbers.back());
  for (const double share : {0.0, 0.001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
    const auto wanted = static_cast<double>(exact(numbers, share));
    const auto got = static_cast<double>(histogram.percentile(share));
    CAPTURE(share);
    CHECK(got >= wanted);
    CHECK(got <= wanted * (1 + Histogram::precision));
  }
}

}  // namespace

TEST_CASE("Percentiles are those of the sorted numbers within the stated precision") {
  auto random = rondo::test::make_random<std::mt19937_64>(5);
  for (const double spread : {0.1, 1.0, 3.0}) {
    std::lognormal_distribution<double> times(10, spread);
    std::vector<std::uint64_t> numbers(20'000);
    for (std::uint64_t& n : numbers) n = static_cast<std::uint64_t>(std::min(times(random), 1e11));
    check_against(numbers);
  }
  std::vector<std::uint64_t> small(1000);
  for (std::uint64_t& n : small) n = random() % 256;
  check_against(small);
  check_against({7});
  check_against({255, 256, 257, 511, 512, 1023, 1024});
}

TEST_CASE("Numbers below 256 have a bucket each") {
  Histogram histogram;
  for (std::uint64_t n = 0; n < 256; ++n) histogram.add(n);
  std::uint64_t next = 0;
  histogram.for_each([&](std::uint64_t begin, std::uint64_t end, std::uint64_t count) {
    CHECK(begin == next);
    CHECK(end == ++next);
    CHECK(count == 1);
  });
  CHECK(next == 256);
}

TEST_CASE("Buckets follow each other without a gap, and each holds its numbers") {
  Histogram histogram;
  std::uint64_t last_end = 0;
  for (std::uint64_t n = 1; n < Histogram::end_of_range; n = n + n / 300 + 1) {
    histogram.clear();
    histogram.add(n);
    histogram.for_each([&](std::uint64_t begin, std::uint64_t end, std::uint64_t count) {
      CHECK(count == 1);
      CHECK(begin <= n);
      CHECK(n < end);
      CHECK(begin <= std::max<std::uint64_t>(last_end, 1));  // no number between this bucket and the one before
      last_end = end;
    });
  }
}

TEST_CASE("One outlier shows in the greatest number and in no percentile below it") {
  Histogram histogram;
  for (int i = 0; i < 9999; ++i) histogram.add(100);
  histogram.add(std::uint64_t{1} << 50);  // beyond the range: the last bucket
  CHECK(histogram.percentile(0.5) == 100);
  CHECK(histogram.percentile(0.999) == 100);
  CHECK(histogram.percentile(0.9999) == 100);
  CHECK(histogram.percentile(1) == std::uint64_t{1} << 50);
  CHECK(histogram.greatest() == std::uint64_t{1} << 50);
}

TEST_CASE("A histogram of nothing says 0, and so does a cleared one") {
  Histogram histogram;
  for (int i = 0; i < 2; ++i) {
    CHECK(histogram.count() == 0);
    CHECK(histogram.greatest() == 0);
    for (const double share : {0.0, 0.5, 1.0}) CHECK(histogram.percentile(share) == 0);
    histogram.for_each([](auto, auto, auto) { FAIL("a bucket of nothing"); });
    histogram.add(5);
    CHECK(histogram.percentile(0.5) == 5);
    histogram.clear();
  }
}
