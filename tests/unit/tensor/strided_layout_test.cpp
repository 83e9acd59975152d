// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/tensor/strided_layout.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <cstring>
#include <random>
#include <vector>

using namespace rondo;

namespace {

using Numbers = std::vector<std::int64_t>;

StridedLayout layout(std::size_t element, const Numbers& extents, const Numbers& strides) {
  return {element, extents.data(), strides.data(), extents.size()};
}

/// The byte offset of each element, in row-major order, one index at a time.
Numbers offsets_of(const Numbers& extents, const Numbers& strides) {
  Numbers offsets{0};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    Numbers next;
    for (const std::int64_t offset : offsets) {
      for (std::int64_t i = 0; i < extents[d]; ++i) next.push_back(offset + i * strides[d]);
    }
    offsets = next;
  }
  return offsets;
}

}  // namespace

TEST_CASE("Layouts without gaps are packed, whatever the strides of dimensions of one element") {
  CHECK(layout(4, {}, {}).is_packed());
  CHECK(layout(4, {}, {}).bytes() == 4);
  CHECK(layout(4, {3, 5}, {20, 4}).is_packed());
  CHECK(layout(4, {3, 1, 5}, {20, 999, 4}).is_packed());
  CHECK(layout(4, {1, 1}, {-8, 0}).is_packed());
  CHECK(layout(4, {3, 0}, {8, 8}).is_packed());
  CHECK(layout(4, {3, 0}, {8, 8}).bytes() == 0);
  CHECK_FALSE(layout(4, {3, 5}, {24, 4}).is_packed());
  CHECK_FALSE(layout(4, {3, 5}, {4, 12}).is_packed());
  CHECK_FALSE(layout(4, {3}, {-4}).is_packed());
  CHECK_FALSE(layout(4, {3}, {0}).is_packed());
}

TEST_CASE("Elements that share bytes are found") {
  CHECK(layout(4, {3}, {0}).may_overlap());
  CHECK(layout(4, {3}, {3}).may_overlap());
  CHECK(layout(4, {3, 3}, {4, 8}).may_overlap());
  CHECK(layout(4, {2, 3}, {-8, 4}).may_overlap());
  CHECK_FALSE(layout(4, {2, 3}, {-12, 4}).may_overlap());
  CHECK_FALSE(layout(4, {3, 2}, {5, 15}).may_overlap());
  CHECK_FALSE(layout(4, {1, 1}, {0, 0}).may_overlap());
}

TEST_CASE("Layouts that no memory can have are not valid") {
  CHECK_FALSE(layout(4, {-1}, {4}).is_valid());
  CHECK_FALSE(layout(4, {2, 2, 2, 2, 2, 2}, {4, 4, 4, 4, 4, 4}).is_valid());
  CHECK_FALSE(layout(4, {INT64_MAX, 2}, {0, 0}).is_valid());
  CHECK_FALSE(layout(4, {3}, {INT64_MAX}).is_valid());
  CHECK_FALSE(layout(4, {2, 2}, {INT64_MIN, -1}).is_valid());
  CHECK_FALSE(layout(0, {2}, {4}).is_valid());
  CHECK(layout(4, {INT64_MAX, 0}, {INT64_MAX, 4}).is_valid());
}

TEST_CASE("Random layouts are packed and scattered as one element after the other would be") {
  std::mt19937 random = test::make_random(1);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  int written = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto element = static_cast<std::size_t>(draw(1, 17));
    const auto rank = static_cast<std::size_t>(draw(0, 5));
    Numbers extents(rank), strides(rank);
    for (std::int64_t& e : extents) e = draw(0, 9) == 0 ? 0 : draw(1, 4);
    // Half of the time the strides of a permuted array, which are likely to be joined.
    std::int64_t step = static_cast<std::int64_t>(element);
    const bool is_permuted = draw(0, 1) == 0;
    for (std::size_t d = rank; d-- > 0;) {
      const std::size_t at = is_permuted ? (d + 1) % rank : d;
      strides[at] = draw(0, 5) == 0 ? -step : step;
      step *= extents[at] + (draw(0, 3) == 0 ? 1 : 0);
      if (!is_permuted && draw(0, 2) == 0) strides[at] = draw(-40, 40);
    }
    const StridedLayout l = layout(element, extents, strides);
    REQUIRE(l.is_valid());
    const Numbers offsets = offsets_of(extents, strides);
    REQUIRE(l.bytes() == offsets.size() * element);
    std::vector<std::byte> memory(l.bytes_before() + l.bytes_after());
    for (std::byte& b : memory) b = static_cast<std::byte>(draw(0, 255));
    std::byte* const first = memory.data() + l.bytes_before();

    std::vector<std::byte> expected(l.bytes()), packed(l.bytes());
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      std::memcpy(expected.data() + i * element, first + offsets[i], element);
    }
    l.pack(packed.data(), first);
    CHECK(packed == expected);
    if (l.is_packed() && l.bytes() != 0) CHECK(std::memcmp(first, expected.data(), expected.size()) == 0);

    std::vector<char> touched(memory.size(), 0);
    bool overlaps = false;
    for (const std::int64_t offset : offsets) {
      for (std::size_t b = 0; b < element; ++b) {
        char& at = touched[l.bytes_before() + static_cast<std::size_t>(offset) + b];
        overlaps = overlaps || at != 0;
        at = 1;
      }
    }
    if (overlaps) CHECK(l.may_overlap());
    if (l.may_overlap()) continue;
    ++written;
    std::vector<std::byte> after = memory;
    for (std::byte& b : packed) b = ~b;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      std::memcpy(after.data() + l.bytes_before() + offsets[i], packed.data() + i * element, element);
    }
    l.scatter(first, packed.data());
    CHECK(memory == after);
  }
  CHECK(written > 200);
}
