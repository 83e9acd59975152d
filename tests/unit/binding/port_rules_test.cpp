// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/binding/port_rules.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

struct Arch {
  static constexpr std::uint32_t block_granule = 512;
};
using Rules = rondo::detail::PortRules<Arch, false>;

struct Port {
  std::uint64_t bytes = 0;
};
using Begins = std::vector<std::uint64_t>;

/// The rules for so many inputs.
Rules rules_for(std::size_t ports) {
  rondo::graph::GraphView view;
  const std::vector<rondo::graph::TensorRecord> inputs(ports);
  view.tensors = inputs;
  return Rules(view);
}
bool are_apart(Rules& rules, const Begins& begins, const std::vector<Port>& ports) {
  return rules.may_move(ports, begins);
}
bool all_pairs_are_apart(const Begins& begins, const std::vector<Port>& ports) {
  for (std::size_t i = 0; i < begins.size(); ++i) {
    if (begins[i] % 512 != 0) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (begins[i] == 0 || begins[j] == 0) continue;
      if (begins[i] < begins[j] + ports[j].bytes && begins[j] < begins[i] + ports[i].bytes) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("Stretches that touch are apart, those that share a byte are not, in whatever order they come") {
  const std::vector<Port> ports = {{512}, {1024}, {1}};
  Rules order = rules_for(3);
  CHECK(are_apart(order, {512, 1024, 2048}, ports));
  CHECK(are_apart(order, {2048, 1024, 512}, ports));
  CHECK(are_apart(order, {1024, 1536, 512}, ports));
  CHECK_FALSE(are_apart(order, {1024, 512, 4096}, ports));
  CHECK_FALSE(are_apart(order, {512, 512, 4096}, ports));
  CHECK_FALSE(are_apart(order, {4096, 1024, 1536}, ports));
  CHECK(are_apart(order, {4096, 1024, 2048}, ports));
}

TEST_CASE("What is not there is in nobody's way") {
  const std::vector<Port> ports = {{1 << 20}, {512}, {1 << 20}, {512}};
  Rules order = rules_for(4);
  CHECK(are_apart(order, {0, 512, 0, 1024}, ports));
  CHECK(are_apart(order, {0, 0, 0, 0}, ports));
  CHECK_FALSE(are_apart(order, {0, 512, 0, 512}, ports));
  Rules none = rules_for(0);
  CHECK(are_apart(none, {}, {}));
}

TEST_CASE("One at an odd address is told, wherever it stands") {
  const std::vector<Port> ports = {{8}, {8}, {8}};
  for (std::size_t odd = 0; odd < 3; ++odd) {
    Rules order = rules_for(3);
    Begins begins = {1024, 2048, 4096};
    begins[odd] += 256;
    CHECK_FALSE(are_apart(order, begins, ports));
  }
}

TEST_CASE("It says what looking at all pairs says, from one time to the next") {
  auto random = rondo::test::make_random(3);
  for (int life = 0; life < 200; ++life) {
    const std::size_t count = random() % 20;
    Rules order = rules_for(count);
    std::vector<Port> ports(count);
    for (Port& port : ports) port.bytes = 512 * (1 + random() % 4) - random() % 3;
    Begins begins(count);
    int apart = 0;
    for (int time = 0; time < 200; ++time) {
      // Far enough from each other that they are apart about half of the times.
      for (std::uint64_t& begin : begins) {
        if (random() % 3 == 0) begin = random() % 8 == 0 ? 0 : 512 * (1 + random() % (8 * count * count));
        if (random() % 500 == 0) begin += 8;
      }
      if (count > 1 && random() % 4 == 0) std::swap(begins[random() % count], begins[random() % count]);
      const bool expected = all_pairs_are_apart(begins, ports);
      REQUIRE(are_apart(order, begins, ports) == expected);
      apart += expected ? 1 : 0;
    }
    CHECK(apart > 20);
  }
}
