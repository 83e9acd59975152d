// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/memory_report.hpp>

#include <random.hpp>
#include <rondo/orchestrated.hpp>
#include <rondo/platform/pinned.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/search/plan_svg.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/open_static.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

constexpr auto build = [] {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto t = graph.workspace<float>("t", {16});
  const auto u = graph.workspace<float>("u", {16});
  const auto y = graph.output<float>("y", {16});
  const auto h = graph.host_input<float>("h", {16});
  const auto r = graph.resident<float>("r", {16});
  graph.add<Scale>(x, t, 2.0F);
  graph.add<Scale>(t, u, 2.0F);
  graph.add<Scale>(u, y, 3.0F);
  graph.add<Accumulate>(h, r);
  return graph;
};
constexpr auto& constant = static_graph<build>;
static_assert(arena_bytes<A5Sim, constant> == Bytes{192});

struct Apart : DefaultPolicies {
  using Plan = memory::Disjoint;
};
static_assert(arena_bytes<A5Sim, constant, Apart> == Bytes{5 * 64});

/// Workspaces of random sizes, 1 to 12 MiB, each written once and read once some tasks later.
TaskGraph make_hard_graph(std::uint32_t seed) {
  auto random = rondo::test::make_random(seed);
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto y = graph.inout<float>("y", {16});
  std::vector<Workspace<float>> waiting;
  for (int step = 0; step < 24; ++step) {
    const std::string name = "t" + std::to_string(step);
    waiting.push_back(graph.workspace<float>(name, {(1 << 18) * (1 + random() % 12)}));
    graph.add<Scale>(x, waiting.back(), 2.0F);
    while (waiting.size() > 2 + random() % 4) {
      const auto chosen = waiting.begin() + static_cast<std::ptrdiff_t>(random() % waiting.size());
      graph.add<Accumulate>(*chosen, y);
      waiting.erase(chosen);
    }
  }
  for (const auto& left : waiting) graph.add<Accumulate>(left, y);
  return graph;
}

}  // namespace

TEST_CASE("The report says what a search may save; the compiled library has searched already") {
#ifdef RONDO_COMPILED
  constexpr bool searches = true;
#else
  constexpr bool searches = false;
#endif
  REQUIRE((memory::detail::linked_search != nullptr) == searches);
  int hard = 0;
  std::uint64_t saved = 0;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const auto session = open<A5Sim>(make_hard_graph(seed));
    const memory::Report report = session.memory_report();
    const memory::Plan greedy = memory::Greedy::plan(report.problem);
    std::ostringstream table;
    table << report;
    CHECK(says(table.str(), "a search may save up to") == (report.arena() != report.lower_bound()));
    CHECK(report.possible_saving().value == report.arena().value - report.lower_bound().value);
    REQUIRE(report.arena().value <= static_cast<std::uint64_t>(greedy.arena));
    if (greedy.optimal()) continue;
    ++hard;
    saved += static_cast<std::uint64_t>(greedy.arena) - report.arena().value;
  }
  CHECK(hard > 3);
  CHECK((saved != 0) == searches);
}

TEST_CASE("The report says what lies where, who shares, and what sharing saves") {
  const auto session = open<A5Sim>(build());
  const memory::Report report = session.memory_report();
  CHECK(report.arena() == session.arena_bytes());
  CHECK(report.arena() == Bytes{192});
  CHECK(report.lower_bound() == Bytes{192});
  CHECK(report.apart == Bytes{320});
  CHECK(report.reuse() == doctest::Approx(320.0 / 192));
  CHECK(report.bytes(MemoryKind::device) == Bytes{192});  // simulated kernels read their args in host memory
  CHECK(report.bytes(MemoryKind::host) == Bytes{session.args().image().size()});
  REQUIRE(report.tensors.size() == 6);
  CHECK(report.tensors[0].name == "x");
  CHECK(report.tensors[0].shares_with == std::vector<std::uint32_t>{2});
  CHECK(report.tensors[2].shares_with == std::vector<std::uint32_t>{0});
  CHECK(report.tensors[1].shares_with == std::vector<std::uint32_t>{3});
  CHECK(report.tensors[4].buffer == memory::Lifetimes::no_buffer);
  CHECK(report.tensors[5].shares_with.empty());
  for (const auto& tensor : report.tensors) CHECK(tensor.bytes == Bytes{64});
}

TEST_CASE("A view moves neither its source nor the end of the arena in the report") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {32});
  const auto half = graph.workspace<float>("half", {16});
  const auto y = graph.output<float>("y", {16});
  graph.make_view(half, x, 16);
  graph.add<Scale>(half, y, 2.0F);
  const auto session = open<A5Sim>(graph);
  const memory::Report report = session.memory_report();
  CHECK(report.arena() == session.arena_bytes());
  CHECK(report.tensors[1].offset == report.tensors[0].offset + 64);
  CHECK(report.plan.offsets[report.tensors[0].buffer] == static_cast<std::int64_t>(report.tensors[0].offset));
}

namespace {

/// A simulated chip that counts what its allocator gives out.
struct Counting : A2A3Sim {
  using A2A3Sim::A2A3Sim;
  static inline std::map<std::uint64_t, std::pair<MemoryKind, std::uint64_t>> held;

  DevicePtr<std::byte> allocate(Bytes size, Bytes alignment) {
    return counted(MemoryKind::device, size, A2A3Sim::allocate(size, alignment));
  }
  DevicePtr<std::byte> allocate(MemoryKind kind, Bytes size, Bytes alignment) {
    return counted(kind, size, A2A3Sim::allocate(kind, size, alignment));
  }
  void* allocate_pinned(Bytes size) {
    void* const memory = A2A3Sim::allocate_pinned(size);
    (void)counted(MemoryKind::pinned_host, size, DevicePtr<std::byte>{reinterpret_cast<std::uintptr_t>(memory)});
    return memory;
  }
  Status release(DevicePtr<std::byte> block) noexcept {
    CHECK(held.erase(block.address()) == 1);
    return A2A3Sim::release(block);
  }
  void release_pinned(void* memory) noexcept {
    CHECK(held.erase(reinterpret_cast<std::uintptr_t>(memory)) == 1);
    A2A3Sim::release_pinned(memory);
  }
  static DevicePtr<std::byte> counted(MemoryKind kind, Bytes size, DevicePtr<std::byte> block) {
    held[block.address()] = {kind, size.value};
    return block;
  }
  static std::uint64_t bytes(MemoryKind kind) {
    std::uint64_t sum = 0;
    for (const auto& [at, block] : held) sum += block.first == kind ? block.second : 0;
    return sum;
  }
};

/// Whether each kind in the report has as many bytes as the allocator gave out; the image of the args is the host's.
template <class Session>
bool is_complete(Session& session) {
  const memory::Report report = session.memory_report();
  std::ostringstream table;
  table << report;
  INFO(table.str());
  bool same = true;
  for (auto kind = MemoryKind::device; kind < MemoryKind::host; kind = MemoryKind(int(kind) + 1)) {
    same = same && report.bytes(kind).value == Counting::bytes(kind);
  }
  return same;
}

}  // namespace

TEST_CASE("The report has a line for all that the platform's allocator gave out, by kind") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {100});
  const auto w = graph.resident<float>("w", {100});
  const auto y = graph.output<float>("y", {100});
  graph.add<Accumulate>(x, w);
  graph.add<Scale>(w, y, 1.0F);
  graph.in_memory(w, MemoryKind::mapped_host);
  const auto check = [&](auto& session, auto&&... shape) {
    CHECK(is_complete(session));
    std::optional array(session.allocate(x, shape...));
    auto peer = session.template allocate<MemoryKind::peer>(y, shape...);
    std::optional<PinnedArray<float, Counting>> pinned(std::in_place, session.platform(), 30);
    const auto mine = session.platform().allocate(MemoryKind::huge_pages, Bytes{77}, Bytes{64});
    CHECK(Counting::bytes(MemoryKind::pinned_host) == 120);
    CHECK(Counting::bytes(MemoryKind::huge_pages) == 77);
    CHECK(is_complete(session));
    array.reset();
    pinned.reset();
    CHECK(is_complete(session));
    CHECK(session.platform().release(mine).ok());
    CHECK(session.close().ok());
    CHECK(Counting::held.empty());
  };
  {
    auto session = open<Counting>(graph);
    check(session);
  }
  {
    auto session = open_pipelined<Counting, 3>(graph);
    check(session);
  }
  graph.in_memory(w, MemoryKind::device);
  auto session = open_shaped<Counting>(graph);
  const std::vector<float> ones(100, 1);
  std::vector<float> result(100);
  REQUIRE(session.upload(w, ones).ok());
  REQUIRE(session.run_round(bind(x, ones), bind(y, result)).ok());
  check(session, Shape{100});
}

TEST_CASE("Apart nobody shares") {
  const auto session = open<A5Sim, Apart>(build());
  const memory::Report report = session.memory_report();
  CHECK(report.arena() == report.apart);
  for (const auto& tensor : report.tensors) CHECK(tensor.shares_with.empty());
}

TEST_CASE("The report reads as a table and draws as a map, names on it") {
  const auto session = open<A5Sim>(build());
  std::ostringstream table, map;
  table << session.memory_report();
  CAPTURE(table.str());
  const std::string image = std::to_string(session.args().image().size());
  CHECK(table.str().starts_with("device: 192 bytes, tensors\ndevice: 0 bytes, args\nhost: " + image +
                                " bytes, args image\narena 192 bytes"));
  CHECK(says(table.str(), "lower bound 192", "x: 64 bytes at ", "shares with u", "h: 64 bytes in the args table"));
  search::write_memory_map(map, session.memory_report());
  CHECK(says(map.str(), "<svg", "<title>u: [", "<title>x: [", "192 bytes (lower bound 192)"));
}

TEST_CASE("The rings of a graph that is built in each round come after the args") {
  struct Policies : DefaultPolicies {
    using Runtime = runtime::TensorMapRingBuffer;
  };
  TaskGraph interface;
  const auto x = interface.input<float>("x", {16});
  const auto w = interface.resident<float>("w", {16});
  runtime::OrchestratedOptions<A2A3Sim> options;
  options.orchestration.ring_bytes = Bytes{1 << 20};
  const auto session =
      open<A2A3Sim, Policies>(interface, [=](auto& round) { round.template add<Accumulate>(x, w); }, options);
  std::vector<std::string> names;
  const memory::Report report = session.memory_report();
  for (const auto& holding : report.holdings) names.push_back(holding.what);
  CHECK(names == std::vector<std::string>{"tensors", "args", "args image", "rings"});
  CHECK(report.holdings.back().bytes == Bytes{4 << 20});  // the chips have four rings
}

TEST_CASE("A static graph's report is that of the same graph at run time") {
  const auto session = open<A5Sim, constant>();
  CHECK(session.memory_report().arena() == Bytes{192});
  CHECK(session.memory_report().plan.offsets == open<A5Sim>(build()).memory_report().plan.offsets);
}
