// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/graph/name_index.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using rondo::graph::NameIndex;

namespace {

struct Names {
  std::vector<std::string> names;
  NameIndex index;
  [[nodiscard]] auto name_of() const {
    return [this](std::uint32_t number) { return std::string_view(names[number]); };
  }
  void add(std::string name) {
    index.reserve_one(name_of());
    names.push_back(std::move(name));
    index.add(names.back());
  }
  [[nodiscard]] std::uint32_t find(std::string_view name) const { return index.find(name, name_of()); }
};

constexpr bool finds_in_a_constant() {
  constexpr std::string_view all[]{"x", "y", "z"};
  const auto name_of = [&](std::uint32_t number) { return all[number]; };
  NameIndex index;
  for (const std::string_view name : all) {
    index.reserve_one(name_of);
    index.add(name);
  }
  return index.find("y", name_of) == 1 && index.find("w", name_of) == NameIndex::none;
}
static_assert(finds_in_a_constant());

}  // namespace

TEST_CASE("A name that nobody has is not found, in an empty index neither") {
  Names all;
  CHECK(all.find("x") == NameIndex::none);
  all.add("x");
  CHECK(all.find("y") == NameIndex::none);
  CHECK(all.find("") == NameIndex::none);
}

TEST_CASE("Thousands of names are each found by their number, also those that differ in one character") {
  Names all;
  for (int i = 0; i < 5000; ++i) all.add("t" + std::to_string(i));
  for (std::uint32_t i = 0; i < 5000; ++i) {
    if (all.find("t" + std::to_string(i)) != i) FAIL("t", i);
  }
  CHECK(all.find("t5000") == NameIndex::none);
}

TEST_CASE("A copy grows for itself") {
  Names one;
  for (int i = 0; i < 20; ++i) one.add("t" + std::to_string(i));
  Names other = one;
  other.add("new");
  CHECK(other.find("new") == 20);
  CHECK(one.find("new") == NameIndex::none);
}
