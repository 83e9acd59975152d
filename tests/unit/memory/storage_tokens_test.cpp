// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/memory/storage_tokens.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace rondo::memory;
using Offsets = std::vector<std::int64_t>;

TEST_CASE("elements take whole bytes: bits times lanes, rounded up") {
  static_assert(storage_bytes(10, 32) == 40);
  static_assert(storage_bytes(10, 1) == 10);
  static_assert(storage_bytes(3, 4, 3) == 6);
  static_assert(storage_bytes(0, 32) == 0);
}

TEST_CASE("a chain of equal buffers alternates between two tokens") {
  Problem chain;
  for (std::int64_t i = 0; i < 6; ++i) chain.buffers.push_back({.lower = i, .upper = i + 2, .size = 16});
  CHECK(StorageTokens{}(chain) == Offsets{0, 16, 0, 16, 0, 16});
}

TEST_CASE("the smallest free token that is large enough is taken, up to sixteen times the size") {
  const auto second = [](std::int64_t first, std::int64_t size) {
    // Two tokens of `first` and 40 bytes become free; then one of `size` asks.
    const Problem p{{{.lower = 0, .upper = 1, .size = first},
                     {.lower = 0, .upper = 1, .size = 40},
                     {.lower = 1, .upper = 2, .size = size}},
                    {}};
    return StorageTokens{}(p)[2];
  };
  CHECK(second(30, 20) == 0);
  CHECK(second(50, 20) == 50);
  CHECK(second(30, 35) == 30);
}

TEST_CASE("a token more than sixteen times too large is left alone, and one too small grows") {
  const Problem large{{{.lower = 0, .upper = 1, .size = 1700}, {.lower = 1, .upper = 2, .size = 100}}, {}};
  CHECK(StorageTokens{}(large)[1] == 1700);
  const Problem just_too_large{{{.lower = 0, .upper = 1, .size = 1601}, {.lower = 1, .upper = 2, .size = 100}}, {}};
  CHECK(StorageTokens{}(just_too_large)[1] == 1601);
  const Problem within{{{.lower = 0, .upper = 1, .size = 1600}, {.lower = 1, .upper = 2, .size = 100}}, {}};
  CHECK(StorageTokens{}(within)[1] == 0);
  const Problem grows{{{.lower = 0, .upper = 1, .size = 100},
                       {.lower = 0, .upper = 3, .size = 8},
                       {.lower = 1, .upper = 2, .size = 150}},
                      {}};
  CHECK(StorageTokens{}(grows) == Offsets{0, 150, 0});
  const Problem far_too_small{{{.lower = 0, .upper = 1, .size = 9}, {.lower = 1, .upper = 2, .size = 160}}, {}};
  CHECK(StorageTokens{}(far_too_small)[1] == 9);
}

TEST_CASE("an orphan, which nobody uses, gives its token back at once") {
  const Problem orphan{{{.lower = 3, .upper = 3, .size = 64}, {.lower = 3, .upper = 5, .size = 64}}, {}};
  CHECK(StorageTokens{}(orphan) == Offsets{0, 0});
}

TEST_CASE("tokens keep the largest alignment of their owners and lie above pinned buffers") {
  const Problem p{{{.lower = 0, .upper = 1, .size = 3},
                   {.lower = 0, .upper = 1, .size = 5, .alignment = 8},
                   {.lower = 0, .upper = 1, .size = 2, .pinned = 4}},
                  {}};
  CHECK(StorageTokens{}(p) == Offsets{6, 16, 4});
}

TEST_CASE("buffers that conflict explicitly never share a token") {
  const Problem p{{{.lower = 0, .upper = 1, .size = 8}, {.lower = 1, .upper = 2, .size = 8}}, {{0, 1}}};
  CHECK(StorageTokens{}(p) == Offsets{0, 8});
}
