// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The second file that includes Rondo: what is not inline would be defined twice. With rondo::compiled, the compiler
// can build graphs in this file only.
#include <rondo/static_graph.hpp>

#include "negate.hpp"

#include <utility>

constexpr auto build = [] {
  rondo::TaskGraph graph;
  graph.add<Negate>(graph.input<int>("x", {4}), graph.output<int>("y", {4}));
  return graph;
};
static_assert(rondo::static_graph<build>.view().tensors.size() == 2);

Negation make_negation() {
  rondo::TaskGraph graph;
  const auto x = graph.input<int>("x", {4});
  const auto y = graph.output<int>("y", {4});
  graph.add<Negate>(x, y);
  return {std::move(graph), x, y};
}
