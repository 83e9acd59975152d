// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/launch/shape_key.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace {

using namespace rondo;
using namespace rondo::launch;

using Words = std::vector<std::uint64_t>;

TEST_CASE("keys are the same if every word is, at every length and place of the difference") {
  auto random = rondo::test::make_random<std::mt19937_64>(5);
  for (std::size_t count = 0; count <= 70; ++count) {
    // Words beyond the end differ: they must not be looked at.
    Words a(count + 1), b(count + 1);
    for (std::size_t i = 0; i < count; ++i) a[i] = b[i] = random();
    a[count] = 1;
    REQUIRE(same_words(a.data(), b.data(), count));
    for (std::size_t i = 0; i < count; ++i) {
      for (const int bit : {0, 31, 32, 63}) {
        b[i] ^= std::uint64_t{1} << bit;
        REQUIRE(!same_words(a.data(), b.data(), count));
        b[i] = a[i];
      }
    }
  }
}

constexpr std::uint64_t hash(const Words& words) { return hash_of(words.data(), words.size()); }

constexpr std::uint64_t two_words[] = {3, 4};
static_assert(hash_of(two_words, 2) != hash_of(two_words, 1), "it is constexpr");

TEST_CASE("the hash depends on every word, on its place, and on their number") {
  for (std::size_t count = 1; count <= 40; ++count) {
    std::set<std::uint64_t> seen;
    const Words zeros(count, 0);
    seen.insert(hash(zeros));
    for (std::size_t i = 0; i < count; ++i) {
      Words words = zeros;
      words[i] = 1;
      seen.insert(hash(words));
    }
    CHECK(seen.size() == count + 1);
  }
  std::set<std::uint64_t> seen;
  for (std::size_t count = 0; count <= 40; ++count) seen.insert(hash(Words(count, 0)));
  CHECK(seen.size() == 41);
}

TEST_CASE("a changed bit of a word changes each bit of the hash about every second time") {
  auto random = rondo::test::make_random<std::mt19937_64>(9);
  for (const std::size_t count : {1U, 2U, 3U, 4U, 7U, 8U, 16U, 64U}) {
    for (std::size_t i = 0; i < count; ++i) {
      int flips[64] = {};
      constexpr int trials = 1024;
      for (int t = 0; t < trials; ++t) {
        Words words(count);
        for (auto& word : words) word = random() % 4096;  // as extents are
        const std::uint64_t before = hash(words);
        words[i] ^= std::uint64_t{1} << (random() % 12);
        const std::uint64_t changed = before ^ hash(words);
        for (int bit = 0; bit < 64; ++bit) flips[bit] += static_cast<int>((changed >> bit) & 1);
      }
      for (const int f : flips) {
        REQUIRE(f > trials * 2 / 5);
        REQUIRE(f < trials * 3 / 5);
      }
    }
  }
}

TEST_CASE("neighbouring shapes spread over a small table as by chance") {
  for (const std::size_t count : {1U, 4U, 16U, 64U}) {
    for (const std::size_t place : {std::size_t{0}, count / 2, count - 1}) {
      for (const std::uint64_t step : {1U, 8U, 64U, 4096U}) {
        int load[512] = {};
        for (std::uint64_t n = 1; n <= 256; ++n) {
          Words words(count, 64);
          words[place] = n * step;
          ++load[hash(words) % 512];
        }
        int most = 0, empty = 0;
        for (const int l : load) most = l > most ? l : most, empty += l == 0;
        CHECK(most <= 8);
        // 512 * exp(-1/2) = 310 are expected.
        CHECK(empty > 280);
        CHECK(empty < 340);
      }
    }
  }
}

}  // namespace
