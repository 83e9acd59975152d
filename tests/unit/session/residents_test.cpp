// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/residents.hpp>

#include <rondo/graph/freeze.hpp>
#include <rondo/graph/orchestrated.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

using namespace rondo;
using namespace rondo::test;
using detail::Residents;

TEST_CASE("A resident that is read before any task writes it waits for its upload, the first one first") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto written = graph.resident<float>("written", {4});
  const auto read = graph.resident<float>("read", {4});
  const auto summed = graph.resident<float>("summed", {4});
  const auto apart = graph.resident<float>("apart", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<Scale>(x, written, 2.0F);
  graph.add<Scale>(written, y, 2.0F);
  graph.add<Accumulate>(read, summed);
  graph.add<Accumulate>(apart, summed);
  graph.in_memory(apart, MemoryKind::mapped_host);
  const FrozenGraph frozen = freeze(graph);

  Residents residents(frozen.view(), false);
  CHECK(residents.first_awaited() == 2);
  residents.note_upload(2);
  CHECK(residents.first_awaited() == 3);
  residents.note_upload(3);
  CHECK(residents.first_awaited() == 4);
  residents.note_upload(4);
  CHECK(residents.first_awaited() == Residents::none);
  residents.forget_arena(frozen.view());
  CHECK(residents.first_awaited() == 2);
  residents.note_upload(2);
  residents.note_upload(3);
  CHECK(residents.first_awaited() == Residents::none);  // what is not in the arena keeps its contents
}

TEST_CASE("Where an orchestration adds the tasks every resident waits, and nothing else does") {
  TaskGraph graph;
  (void)graph.input<float>("x", {4});
  (void)graph.resident<float>("r", {4});
  (void)graph.resident<float>("s", {4});
  const auto frozen = freeze_interface(graph);
  Residents residents(frozen.view(), true);
  CHECK(residents.first_awaited() == 1);
  residents.note_upload(1);
  CHECK(residents.first_awaited() == 2);
  residents.note_upload(2);
  CHECK(residents.first_awaited() == Residents::none);
  Residents known(frozen.view(), false);
  CHECK(known.first_awaited() == Residents::none);
}
