// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/frozen_graph.hpp>

#include <rondo/graph/freeze.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <type_traits>
#include <utility>

using namespace rondo;
using namespace rondo::test;

namespace {

TaskGraph sample() {
  TaskGraph graph;
  const auto a = graph.input<float>("a", {4});
  const auto b = graph.output<float>("b", {4});
  (void)graph.inout<std::int32_t>("c", {4});
  (void)graph.resident<bool>("d", {4});
  graph.add<Scale>(a, b, 2.0F);
  return graph;
}

}  // namespace

TEST_CASE("A frozen graph gives out the handles that its source gave out") {
  const TaskGraph source = sample();
  const FrozenGraph frozen = freeze(source);
  CHECK(frozen.input<float>("a").key == TensorKey{TensorId{0}, source.tag()});
  CHECK(frozen.output<float>("b").key == TensorKey{TensorId{1}, source.tag()});
  CHECK(frozen.inout<std::int32_t>("c").key == TensorKey{TensorId{2}, source.tag()});
  CHECK(frozen.resident<bool>("d").key == TensorKey{TensorId{3}, source.tag()});
}

TEST_CASE("A frozen graph refuses a handle of the wrong kind, naming the tensor") {
  const FrozenGraph frozen = freeze(sample());
  const Raised r = raised([&] { (void)frozen.resident<float>("a"); });
  CAPTURE(r.text);
  CHECK(r.code == Errc::invalid_argument);
  CHECK(says(r.text, "'a'", "in of float32", "resident of float32"));
  CHECK(says(raised([&] { (void)frozen.output<float>("z"); }).text, "'z'"));
}

TEST_CASE("Views of a frozen graph stay valid when it moves") {
  FrozenGraph frozen = freeze(sample());
  const graph::GraphView view = frozen.view();
  const FrozenGraph moved = std::move(frozen);
  CHECK(moved.view().tasks.data() == view.tasks.data());
  CHECK(view.name(view.tensors[3].name) == "d");
}

TEST_CASE("A frozen graph is only made by freezing, moves, and does not copy") {
  CHECK_FALSE(std::is_default_constructible_v<FrozenGraph>);
  CHECK_FALSE(std::is_copy_constructible_v<FrozenGraph>);
  CHECK(std::is_nothrow_move_constructible_v<FrozenGraph>);
  CHECK_FALSE(FrozenGraph::is_static);
  // Whoever has a view cannot write through it.
  CHECK(std::is_const_v<std::remove_reference_t<decltype(std::declval<graph::GraphView&>().tasks[0])>>);
  CHECK(std::is_const_v<std::remove_reference_t<decltype(std::declval<graph::GraphView&>().args[0])>>);
}
