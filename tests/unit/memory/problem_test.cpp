// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/memory/problem.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace rondo::memory;

namespace {

std::string refusal(const Problem& problem) {
  try {
    validate(problem);
  } catch (const rondo::Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("lifetimes are half-open: those that only touch do not overlap") {
  const auto overlap = [](Span a, Span b) {
    return in_use_together({.lower = a.lower, .upper = a.upper}, {.lower = b.lower, .upper = b.upper});
  };
  static_assert(overlap({0, 2}, {1, 3}));
  static_assert(!overlap({0, 2}, {2, 3}));
  static_assert(!overlap({0, 5}, {2, 2}));
  static_assert(overlap({-5, -1}, {-2, 4}));
}

TEST_CASE("a gap frees the bytes of a buffer for as long as it lasts") {
  const Buffer with_gap{.lower = 0, .upper = 10, .size = 8, .gaps = {{2, 4}, {5, 5}, {6, 9}}};
  std::vector<Span> uses;
  for_each_use(with_gap, [&](Span use) { uses.push_back(use); });
  CHECK(uses == std::vector<Span>{{0, 2}, {4, 6}, {9, 10}});
  CHECK_FALSE(in_use_together(with_gap, {.lower = 2, .upper = 4, .size = 1}));
  CHECK(in_use_together(with_gap, {.lower = 2, .upper = 5, .size = 1}));
  CHECK(in_use_together(with_gap, {.lower = 9, .upper = 20, .size = 1}));
  CHECK_FALSE(in_use_together(with_gap, {.lower = 6, .upper = 20, .size = 1, .gaps = {{9, 12}}}));
}

TEST_CASE("a gap at the very start or end leaves no empty use behind") {
  const Buffer b{.lower = 0, .upper = 10, .size = 8, .gaps = {{0, 3}, {7, 10}}};
  std::vector<Span> uses;
  for_each_use(b, [&](Span use) { uses.push_back(use); });
  CHECK(uses == std::vector<Span>{{3, 7}});
}

TEST_CASE("legal oddities are accepted: no bytes, no lifetime, negative times, huge alignments") {
  CHECK(refusal({{{.lower = -7, .upper = -7, .size = 5}, {.lower = -3, .upper = 4, .size = 0}}, {}}) == "accepted");
  CHECK(refusal({{{.lower = 0, .upper = 1, .size = 5, .alignment = std::int64_t{1} << 40}}, {}}) == "accepted");
  CHECK(refusal({}) == "accepted");
}

TEST_CASE("what cannot be planned is refused with the buffer's number") {
  CHECK(refusal({{{.upper = 1, .size = 1}, {.upper = 1, .size = -1}}, {}}) == "buffer 1: the size is negative");
  CHECK(refusal({{{.lower = 2, .upper = 1}}, {}}) == "buffer 0: the lifetime ends before it starts");
  for (const std::int64_t alignment : {0, -8, 3, 96}) {
    CHECK(refusal({{{.upper = 1, .size = 1, .alignment = alignment}}, {}}).find("power of two") != std::string::npos);
  }
  CHECK(refusal({{{.upper = 1, .size = 1, .alignment = 8, .fixed_offset = 12}}, {}}).find("multiple") !=
        std::string::npos);
  CHECK(refusal({{{.upper = 1, .size = 1, .fixed_offset = -2}}, {}}).find("negative") != std::string::npos);
  CHECK(refusal({{{.upper = 9, .size = 1, .gaps = {{4, 6}, {5, 8}}}}, {}}).find("gaps") != std::string::npos);
  CHECK(refusal({{{.upper = 9, .size = 1, .gaps = {{4, 10}}}}, {}}).find("gaps") != std::string::npos);
  CHECK(refusal({{{.upper = 9, .size = 1, .gaps = {{5, 4}}}}, {}}).find("gap") != std::string::npos);
  CHECK(refusal({{{.upper = 1, .size = 1}}, {{0, 1}}}).find("conflict") != std::string::npos);
  CHECK(refusal({{{.upper = 1, .size = 1}}, {{0, 0}}}).find("conflict") != std::string::npos);
}

TEST_CASE("sizes and fixed offsets whose sum leaves 62 bits are refused before any sum overflows") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(refusal({{{.upper = 1, .size = most}}, {}}).find("2^62") != std::string::npos);
  CHECK(refusal({{{.upper = 1, .size = most / 3}, {.upper = 1, .size = most / 3}}, {}}).find("2^62") !=
        std::string::npos);
  CHECK(refusal({{{.upper = 1, .size = 1, .fixed_offset = most - 1}}, {}}).find("2^62") != std::string::npos);
  CHECK(refusal({{{.upper = 1, .size = most / 4}}, {}}) == "accepted");
}
