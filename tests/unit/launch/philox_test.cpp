// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/launch/philox.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace rondo;
using namespace rondo::launch;

using Block = Philox::Block;

// The known answers that the Random123 distribution publishes for philox4x32 of 10 rounds.
static_assert(Philox::bijection({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(Philox::bijection({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}) ==
              Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(Philox::bijection({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

TEST_CASE("seed and offset enter key and counter low word first") {
  constexpr std::uint64_t seed = 0x299f31d0'a4093822, offset = 0x85a308d3'243f6a88;
  const Block expected = Philox::bijection({0x243f6a88, 0x85a308d3, 0, 0}, {0xa4093822, 0x299f31d0});
  CHECK(Philox(seed, offset).block(0) == expected);
  CHECK(Philox(seed, offset - 5).block(5) == expected);
}

TEST_CASE("number i is word i mod 4 of block i / 4, whatever order they are asked in") {
  const Philox philox(42, 7);
  for (std::uint64_t i = 100; i-- > 0;) CHECK(philox[i] == philox.block(i / 4)[i % 4]);
  CHECK(philox[4] == Philox(42, 8)[0]);
}

TEST_CASE("the counter carries into its upper word") {
  const Philox philox(1, 0xffffffff);
  CHECK(philox.block(0) == Philox::bijection({0xffffffff, 0, 0, 0}, {1, 0}));
  CHECK(philox.block(1) == Philox::bijection({0, 1, 0, 0}, {1, 0}));
}

TEST_CASE("a uniform number reaches 0 and stays below 1") {
  static_assert(Philox::to_unit(0) == 0.0F);
  static_assert(Philox::to_unit(0xff) == 0.0F);
  static_assert(Philox::to_unit(0x100) == 0x1p-24F);
  static_assert(Philox::to_unit(0x80000000) == 0.5F);
  static_assert(Philox::to_unit(0xffffffff) == 1.0F - 0x1p-24F);
  static_assert(Philox::to_unit(0xffffffff) < 1.0F);
  double sum = 0, squares = 0;
  const Philox philox(2026, 0);
  constexpr int count = 100'000;
  for (int i = 0; i < count; ++i) {
    const double u = static_cast<double>(philox.uniform(static_cast<std::uint64_t>(i)));
    sum += u;
    squares += u * u;
  }
  CHECK(sum / count == doctest::Approx(0.5).epsilon(0.01));
  CHECK(squares / count == doctest::Approx(1.0 / 3).epsilon(0.01));
}

TEST_CASE("two rounds share no number, even where the declared count is no multiple of four") {
  for (const std::uint64_t numbers : {1U, 2U, 3U, 4U, 5U, 1000U, 1001U}) {
    RoundRandom random(3, numbers);
    std::set<std::uint64_t> blocks;
    std::size_t taken = 0;
    for (int round = 0; round < 20; ++round) {
      const RandomStart start = random.next();
      CHECK(start.seed == 3);
      // Blocks of one seed differ by their position alone, so it is enough to look at positions.
      for (std::uint64_t b = 0; b <= (numbers - 1) / 4; ++b, ++taken) blocks.insert(start.offset + b);
    }
    CHECK(blocks.size() == taken);
  }
}

TEST_CASE("two rounds have other numbers, and the same seed has the same numbers again") {
  RoundRandom random(5, 8), again(5, 8), other(6, 8);
  CHECK(other.seed() == 6);
  std::set<Block> seen;
  for (int round = 0; round < 100; ++round) {
    const RandomStart start = random.next();
    CHECK(start == again.next());
    seen.insert(start.philox().block(0));
    seen.insert(start.philox().block(1));
    const Philox others = other.next().philox();
    seen.insert(others.block(0));
    seen.insert(others.block(1));
  }
  CHECK(seen.size() == 400);
}

TEST_CASE("rounds go on where an earlier session stopped") {
  RoundRandom whole(5, 10);
  for (int round = 0; round < 7; ++round) static_cast<void>(whole.next());
  RoundRandom resumed(5, 10, 7);
  CHECK(whole.next() == resumed.next());
}

TEST_CASE("a round that declares no number uses none") {
  RoundRandom random(5, 0);
  CHECK(random.next() == random.next());
  CHECK(!random.exhausted());
}

TEST_CASE("the sequence of a seed ends before it would begin anew") {
  constexpr std::uint64_t rounds = (std::uint64_t{1} << 32) - 2;
  RoundRandom random(1, RoundRandom::most_numbers_per_round, rounds);
  CHECK(!random.exhausted());
  const RandomStart before_last = random.next();
  CHECK(before_last.offset == rounds << 32);
  CHECK(random.exhausted());

  CHECK_THROWS_AS(RoundRandom(1, RoundRandom::most_numbers_per_round + 1), Error);
  CHECK_THROWS_AS(RoundRandom(1, 8, std::uint64_t{1} << 63), Error);
  try {
    RoundRandom(1, 4000, std::uint64_t{1} << 60);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::overflow);
    CHECK(doctest::String(error.what()) ==
          "the random numbers of a seed do not last for 1152921504606846976 rounds of 4000; take another seed");
  }
}

}  // namespace
