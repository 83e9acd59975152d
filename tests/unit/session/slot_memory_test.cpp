// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/arch/a5.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/memory/lay_out.hpp>
#include <rondo/session/slot_memory.hpp>

#include <doctest/doctest.h>

#include <utility>
#include <vector>

using namespace rondo;

namespace {

struct Pass {
  static constexpr std::string_view name = "pass";
  static constexpr auto core = CoreType::vector;
  static void run(In<float>, Out<float>) noexcept {}
};

using Layout =
    memory::Layout<FrozenGraph, arch::A5, memory::PortsLast<memory::Greedy>, memory::Concurrency::sequential>;

}  // namespace

TEST_CASE("Slots share nothing but what the plan has before the first port") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {100});
  const auto t = graph.workspace<float>("t", {1000});
  const auto r = graph.resident<float>("r", {7});
  const auto y = graph.output<float>("y", {50});
  graph.add<Pass>(x, t);
  graph.add<Pass>(t, r);
  graph.add<Pass>(r, y);
  const FrozenGraph frozen = freeze(graph);
  const Layout layout(frozen);
  const detail::SlotMemory<arch::A5> memory(frozen.view(), layout.offsets(), layout.arena_bytes());
  constexpr std::uint32_t slots = 4;

  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
  const auto take = [&](std::size_t tensor, std::uint64_t displacement) {
    const std::uint64_t begin = layout.offsets()[tensor] + displacement;
    const std::uint64_t end = begin + arch::block_bytes<arch::A5>(frozen.view().tensors[tensor].bytes);
    CHECK(begin % arch::A5::tensor_alignment == 0);
    CHECK(end <= memory.whole(layout.arena_bytes(), slots).value);
    for (const auto& other : taken) CHECK((end <= other.first || other.second <= begin));
    taken.emplace_back(begin, end);
  };
  take(2, 0);  // the resident; the workspace is nobody's by then
  for (std::uint32_t s = 0; s < slots; ++s) {
    take(0, memory.displacement(s).value);
    take(3, memory.displacement(s).value);
  }
  CHECK(memory.displacement(0).value == 0);
  CHECK(memory.whole(layout.arena_bytes(), 1) == layout.arena_bytes());
  CHECK(memory.whole(layout.arena_bytes(), slots).value == memory.plan_bytes + 3 * memory.stride);
}

TEST_CASE("A slot with its own workspace has no place for one that is outside the arena") {
  TaskGraph graph;
  const auto r = graph.resident<float>("r", {7});
  const auto x = graph.input<float>("x", {100});
  const auto t = graph.workspace<float>("t", {1000});
  const auto y = graph.output<float>("y", {50});
  graph.in_memory(t, MemoryKind::mapped_host);
  graph.add<Pass>(x, t);
  graph.add<Pass>(t, r);
  graph.add<Pass>(r, y);
  const FrozenGraph frozen = freeze(graph);
  const Layout layout(frozen);
  const detail::SlotMemory<arch::A5> shared(frozen.view(), layout.offsets(), layout.arena_bytes());
  const detail::SlotMemory<arch::A5> own(frozen.view(), layout.offsets(), layout.arena_bytes(), true);
  CHECK(own.first == shared.first);
  CHECK(own.stride == shared.stride);
}

TEST_CASE("A graph that binds nothing has slots of nothing") {
  TaskGraph graph;
  const auto a = graph.resident<float>("a", {8});
  const auto b = graph.resident<float>("b", {8});
  graph.add<Pass>(a, b);
  const FrozenGraph frozen = freeze(graph);
  const Layout layout(frozen);
  const detail::SlotMemory<arch::A5> memory(frozen.view(), layout.offsets(), layout.arena_bytes());
  CHECK(memory.stride == 0);
  CHECK(memory.displacement(3).value == 0);
  CHECK(memory.whole(layout.arena_bytes(), 4).value == memory.plan_bytes);
}

TEST_CASE("The memory of slots that no address reaches is the largest number") {
  TaskGraph graph;
  const auto x = graph.input<std::uint8_t>("x", {std::int64_t{1} << 60});
  const auto y = graph.output<std::uint8_t>("y", {std::int64_t{1} << 60});
  graph.add_raw("pass", CoreType::vector, +[](ArgWord*) {}, reads(x), writes(y));
  const FrozenGraph frozen = freeze(graph);
  const std::uint64_t offsets[] = {0, std::uint64_t{1} << 60U};
  const detail::SlotMemory<arch::A5> memory(frozen.view(), offsets, Bytes{std::uint64_t{1} << 61U});
  CHECK(memory.whole(Bytes{std::uint64_t{1} << 61U}, 1) == Bytes{std::uint64_t{1} << 61U});
  CHECK(memory.whole(Bytes{std::uint64_t{1} << 61U}, 8) == Bytes{~std::uint64_t{0}});
  CHECK(memory.whole(Bytes{std::uint64_t{1} << 61U}, 16) == Bytes{~std::uint64_t{0}});
}
