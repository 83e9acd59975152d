// expect: a descriptor is made from an address and a shape
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/launch/round_values.hpp>

struct Map {
  std::uint64_t address = 0;
};
void declare(rondo::TaskGraph& graph) {
  const auto x = graph.input<float>("x", {4});
  (void)rondo::launch::descriptor<Map>(graph, "map", x);
}
