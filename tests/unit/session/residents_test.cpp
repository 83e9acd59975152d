// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/residents.hpp>

#include <rondo/graph/freeze.hpp>
#include <rondo/graph/instantiate.hpp>
#include <rondo/graph/loops.hpp>
#include <rondo/graph/orchestrated.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/recoverable.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>
#include <vector>

using namespace rondo;
using namespace rondo::test;
using detail::residents_read_first;
using Tensors = std::vector<std::uint32_t>;

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

  CHECK(residents_read_first(frozen.view(), false) == Tensors{2, 3, 4});
}

TEST_CASE("A number that a task takes is no read of a tensor") {
  TaskGraph graph;
  const auto kept = graph.resident<float>("kept", {4});  // number 0, as in the record of a number
  const auto x = graph.input<float>("x", {4});
  const auto scaled = graph.workspace<float>("scaled", {4});
  graph.add<Scale>(x, scaled, 2.0F);
  graph.add<Scale>(scaled, kept, 2.0F);
  CHECK(residents_read_first(freeze(graph).view(), false).empty());
}

TEST_CASE("A resident that only tasks of a 'when' write before it is read waits for its upload") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto flag = graph.input<std::int32_t>("flag", {1});
  const auto perhaps = graph.resident<float>("perhaps", {4});
  const auto within = graph.resident<float>("within", {4});
  const auto certain = graph.resident<float>("certain", {4});
  const auto seen = graph.resident<float>("seen", {4});
  const auto y = graph.output<float>("y", {4});
  const auto z = graph.output<float>("z", {4});
  const auto shown = graph.output<float>("shown", {4});
  graph.when(flag, [&] {
    graph.add<Scale>(x, perhaps, 2.0F);
    graph.add<Scale>(x, within, 2.0F);
    graph.add<Scale>(within, certain, 2.0F);
    graph.add<Scale>(x, seen, 2.0F);
  });
  graph.make_view(shown, seen);
  graph.add<Scale>(x, certain, 2.0F);
  graph.add<Scale>(certain, y, 2.0F);
  graph.add<Scale>(perhaps, z, 2.0F);
  const FrozenGraph frozen = freeze(graph);

  CHECK(residents_read_first(frozen.view(), false) == Tensors{index(perhaps.key.tensor()), index(seen.key.tensor())});
}

TEST_CASE("Where an orchestration adds the tasks every resident waits, and nothing else does") {
  TaskGraph graph;
  (void)graph.input<float>("x", {4});
  (void)graph.resident<float>("r", {4});
  (void)graph.resident<float>("s", {4});
  const auto frozen = freeze_interface(graph);
  CHECK(residents_read_first(frozen.view(), true) == Tensors{1, 2});
  CHECK(residents_read_first(frozen.view(), false).empty());
}

TEST_CASE("A resident without elements is uploaded, read and kept as any other") {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto w = graph.resident<float>("w", {n});
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  graph.add_raw("first", CoreType::vector, +[](ArgWord*) {}, reads(w), reads(x), writes(y));
  const std::int64_t values[] = {0};
  Recoverable session(
      [&](const A2A3Sim::Options& options) { return open<A2A3Sim>(instantiate(graph, values), options); },
      A2A3Sim::Options{});
  std::vector<float> none, hx(2), hy(2);
  REQUIRE(session->run_round(bind(x, hx), bind(y, hy)).code() == Errc::uninitialized_read);
  CHECK(session->upload(w, none).ok());
  CHECK(session->run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(session->download(w, none).ok());
  CHECK(session.checkpoint().ok());
}

namespace {
struct CountUp {
  static constexpr std::string_view name = "count_up";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<std::uint8_t> count) noexcept { ++count[0]; }
};
}  // namespace

TEST_CASE("A resident of one byte is uploaded and downloaded") {
  TaskGraph graph;
  const auto count = graph.resident<std::uint8_t>("count", {1});
  graph.add<CountUp>(count);
  auto session = open<A2A3Sim>(graph);
  const std::vector<std::uint8_t> five{5};
  std::vector<std::uint8_t> seen{0};
  REQUIRE(session.upload(count, five).ok());
  REQUIRE(session.run_round().ok());
  REQUIRE(session.download(count, seen).ok());
  CHECK(seen[0] == 6);
}
