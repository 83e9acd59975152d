// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The second file that includes Rondo: what is not inline would be defined twice.
#include "negate.hpp"

#include <utility>

Negation make_negation() {
  rondo::TaskGraph graph;
  const auto x = graph.input<int>("x", {4});
  const auto y = graph.output<int>("y", {4});
  graph.add<Negate>(x, y);
  return {std::move(graph), x, y};
}
