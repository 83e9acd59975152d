// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/binding/ports.hpp>

#include <rondo/arch/a2a3.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/graph/static_graph.hpp>
#include <rondo/memory/lay_out.hpp>
#include <rondo/session/open_static.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Mark {
  static constexpr std::string_view name = "mark";
  static constexpr auto core = CoreType::cube;
  static void run(InOut<std::int8_t>) {}
};

constexpr auto build = [] {
  TaskGraph graph;
  const auto w = graph.resident<float>("w", {4});
  const auto x = graph.input<float>("x", {4});
  const auto t = graph.workspace<float>("t", {4});
  const auto y = graph.output<float>("y", {4});
  const auto z = graph.inout<std::int8_t>("z", {100});
  graph.add<Scale>(x, t, 2.0F);
  graph.add<Scale>(t, y, 2.0F);
  graph.add<Accumulate>(y, w);
  graph.add<Mark>(z);
  return graph;
};
constexpr auto& constant = static_graph<build>;
using Constant = graph::StaticGraphRef<constant>;

struct Expected {
  const char* name;
  std::size_t tensor;
  Direction direction;
  std::uint64_t bytes;
};
constexpr Expected expected[] = {
    {"x", 1, Direction::in, 16}, {"y", 3, Direction::out, 16}, {"z", 4, Direction::inout, 100}};

constexpr DevicePtr<std::byte> base_of_all{std::uint64_t{0x10000}};
constexpr detail::Placement place{base_of_all, base_of_all};

template <class Ports>
void check_ports(const Ports& view, const graph::GraphView& graph, std::span<const std::uint64_t> offsets,
                 std::uint64_t base) {
  REQUIRE(view.size() == std::size(expected));
  for (std::size_t p = 0; p < view.size(); ++p) {
    const detail::Port port = view[p];
    CAPTURE(expected[p].name);
    CHECK(port.key == graph.key(expected[p].tensor));
    CHECK(port.direction == expected[p].direction);
    CHECK(port.bytes == expected[p].bytes);
    CHECK(port.device.address() == base + offsets[expected[p].tensor]);
  }
}

}  // namespace

TEST_CASE("The ports are the tensors that a round binds, in the order of their declaration, with their places") {
  const FrozenGraph graph = freeze(build());
  const memory::Layout<FrozenGraph, arch::A2A3> layout{graph};
  const detail::Ports<FrozenGraph, memory::Layout<FrozenGraph, arch::A2A3>> ports{graph, layout, place};
  CHECK(detail::count_ports(graph.view()) == 3);
  check_ports(ports.view(), graph.view(), layout.offsets(), 0x10000);
}

TEST_CASE("The ports of a constant graph are the same, and nothing of them but their place is stored") {
  using Layout = memory::Layout<Constant, arch::A2A3>;
  using Ports = detail::Ports<Constant, Layout>;
  const Ports ports{Constant{}, Layout{}, place};
  check_ports(ports.view(), Constant::view(), Layout::offsets(), 0x10000);
  CHECK(sizeof(Ports) == sizeof(detail::Placement));
}

TEST_CASE("A graph that binds nothing has no ports") {
  const FrozenGraph graph = freeze(TaskGraph{});
  CHECK(detail::count_ports(graph.view()) == 0);
}
