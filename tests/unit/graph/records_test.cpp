// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/records.hpp>

#include <rondo/graph/freeze.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

using namespace rondo;
using namespace rondo::test;

namespace {

TaskGraph sample() {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  const auto w = graph.resident<float>("weights", {4});
  const auto z = graph.inout<std::int32_t>("z", {2, 3});
  graph.add<Scale>(x, y, 2.0F);
  graph.add_raw("first", CoreType::cube, no_kernel, reads(w), updates(z));
  graph.add_raw("second", CoreType::vector, no_kernel, reads(z));
  return graph;
}

}  // namespace

TEST_CASE("A tensor is found by its name, element type and direction") {
  const FrozenGraph frozen = freeze(sample());
  const graph::GraphView view = frozen.view();
  CHECK(view.find<float, Direction::in>("x").key == view.key(0));
  CHECK(view.find<float, Direction::resident>("weights").key == view.key(2));
  CHECK(view.find<std::int32_t, Direction::inout>("z").key == view.key(3));
  CHECK(view.key(3).tensor() == TensorId{3});
  CHECK(view.key(3).graph() == view.tag);
}

TEST_CASE("Asking for a tensor that is not there names it") {
  const FrozenGraph frozen = freeze(sample());
  const Raised r = raised([&] { (void)frozen.view().find<float, Direction::in>("weight"); });
  CAPTURE(r.text);
  CHECK(r.code == Errc::invalid_argument);
  CHECK(says(r.text, "'weight'"));
}

TEST_CASE("Asking for a tensor by the wrong type or direction says what it is and what was asked") {
  const FrozenGraph frozen = freeze(sample());
  const Raised type = raised([&] { (void)frozen.view().find<std::int32_t, Direction::in>("x"); });
  CAPTURE(type.text);
  CHECK(type.code == Errc::invalid_argument);
  CHECK(says(type.text, "'x'", "in of float32", "in of int32"));
  const Raised direction = raised([&] { (void)frozen.view().find<float, Direction::out>("x"); });
  CAPTURE(direction.text);
  CHECK(direction.code == Errc::invalid_argument);
  CHECK(says(direction.text, "'x'", "in of float32", "out of float32"));
}

TEST_CASE("The words, name and successors of a task are its own") {
  const FrozenGraph frozen = freeze(sample());
  const graph::GraphView view = frozen.view();
  REQUIRE(view.tasks.size() == 3);
  CHECK(view.name(view.tasks[0].name) == "scale");
  CHECK(view.name(view.tasks[1].name) == "first");
  CHECK(view.name(view.tasks[2].name) == "second");
  CHECK(view.args_of(view.tasks[0]).size() == 5);  // two addresses, a scalar, two extents
  CHECK(view.args_of(view.tasks[1]).size() == 2);
  REQUIRE(view.args_of(view.tasks[2]).size() == 1);
  CHECK(view.args_of(view.tasks[2])[0].tensor == 3);
  CHECK(view.successors_of(0).empty());
  REQUIRE(view.successors_of(1).size() == 1);
  CHECK(view.successors_of(1)[0] == 2);
  CHECK(view.successors_of(2).empty());
}

TEST_CASE("Records and views are plain values") {
  CHECK(std::is_trivially_copyable_v<graph::GraphView>);
  CHECK(std::is_trivially_copyable_v<graph::TensorRecord>);
  CHECK(std::is_trivially_copyable_v<graph::TaskRecord>);
  CHECK(std::is_trivially_copyable_v<graph::ArgRecord>);
}
