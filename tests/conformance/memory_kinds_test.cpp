// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Tensors in memory of other kinds than the arena's: the same results on every platform that has the kind, and a clear
// refusal on every other.

#include "device_floats.hpp"
#include "kernels.hpp"
#include "platforms.hpp"

#include <rondo/rondo.hpp>
#include <rondo/session/memory_report.hpp>
#include <rondo/session/open_static.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

using namespace rondo;

namespace {

using Floats = std::vector<float>;
using A5SimPool = platform::Sim<arch::A5, platform::sim::Pool>;

#define PLATFORMS A2A3Sim, A5SimPool, Host, A2A3OverStandIn

constexpr MemoryKind kinds[] = {MemoryKind::huge_pages, MemoryKind::normal_pages, MemoryKind::task_scheduler,
                                MemoryKind::peer, MemoryKind::mapped_host};

/// y = 3 (x + w), s += x: a resident, a kept resident sum and a workspace, of which the first and last are in `kind`.
struct Graph {
  static constexpr std::size_t n = 300;
  constexpr explicit Graph(MemoryKind kind) {
    graph.add<kernels::Add>(x, w, t);
    graph.add<kernels::Scale>(t, y, 3.0F);
    graph.add<kernels::Accumulate>(x, s);
    graph.in_memory(w, kind);
    graph.in_memory(t, kind);
  }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {n});
  Resident<float> w = graph.resident<float>("w", {n});
  Workspace<float> t = graph.workspace<float>("t", {n});
  Resident<float> s = graph.resident<float>("s", {n});
  Output<float> y = graph.output<float>("y", {n});
};

template <class Session>
void upload(Session& session, const Graph& g) {
  Floats w(Graph::n), s(Graph::n, 100);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i);
  REQUIRE(session.upload(g.w, w).ok());
  REQUIRE(session.upload(g.s, s).ok());
}
/// `sum`: the sum of the values of all rounds, this one included.
template <class Session>
void check_round(Session& session, const Graph& g, float value, float sum) {
  const Floats x(Graph::n, value);
  Floats y(Graph::n), w(Graph::n), s(Graph::n);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
  REQUIRE(session.download(g.w, w).ok());
  REQUIRE(session.download(g.s, s).ok());
  for (std::size_t i = 0; i < w.size(); ++i) {
    CHECK(w[i] == static_cast<float>(i));
    CHECK(y[i] == 3 * (value + static_cast<float>(i)));
  }
  CHECK(s == Floats(Graph::n, 100 + sum));
}
/// The error of a call, and its text; Errc::ok if there is none.
template <class F>
std::pair<Errc, std::string> error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {Errc::ok, {}};
}

}  // namespace

TEST_CASE_TEMPLATE("Residents and workspaces are in the memory that the graph asks for", P, PLATFORMS) {
  const std::uint64_t all = open<P>(Graph(MemoryKind::device).graph).arena_bytes().value;
  for (const MemoryKind kind : kinds) {
    if (!memory_kinds_of<P>().has(kind)) continue;
    CAPTURE(std::string(to_string(kind)));
    const Graph g(kind);
    SUBCASE("in one round after another, while the arena moves") {
      auto session = open<P>(g.graph, busy_options<P>());
      CHECK(session.arena_bytes().value <= all - 4 * Graph::n);
      const auto arena_of = [&](const auto& pair) { return pair.device().address(); };
      const std::uint64_t at = arena_of(session.pair(g.w));
      upload(session, g);
      check_round(session, g, 1, 1);
      check_round(session, g, 2, 3);
      const memory::Report report = session.memory_report();
      CHECK(report.bytes(kind).value >= 8 * Graph::n);
      std::ostringstream table;
      table << report;
      CHECK(table.str().find("  w: 1200 bytes of " + std::string(to_string(kind))) != std::string::npos);

      auto& platform = session.platform();
      const auto arena = platform.allocate(session.arena_bytes(), Bytes{P::Arch::arena_alignment});
      REQUIRE(session.move_arena({arena, session.arena_bytes().value}).ok());
      CHECK(arena_of(session.pair(g.w)) == at);
      Floats w(Graph::n);
      REQUIRE(session.download(g.w, w).ok());
      CHECK(w[7] == 7);  // what is not in the arena keeps its contents
      upload(session, g);
      check_round(session, g, 5, 5);
      CHECK(session.close().ok());
      CHECK(platform.release(arena).ok());
    }
    SUBCASE("in rounds in flight") {
      auto session = open_pipelined<P, 3>(g.graph, busy_options<P>());
      upload(session, g);
      std::vector<Floats> in, out(12, Floats(Graph::n));
      for (std::size_t r = 0; r < out.size(); ++r) in.emplace_back(Graph::n, static_cast<float>(r));
      for (std::size_t r = 0; r < out.size(); ++r) {
        REQUIRE(session.submit_round(bind(g.x, in[r]), bind(g.y, out[r])));
      }
      REQUIRE(session.wait_all().ok());
      for (std::size_t r = 0; r < out.size(); ++r) CHECK(out[r][9] == 3 * (static_cast<float>(r) + 9));
      check_round(session, g, 1, 67);
      CHECK(session.close().ok());
    }
  }
}

TEST_CASE_TEMPLATE("allocate() returns memory of the kind that the graph or the call asks for", P, PLATFORMS) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<kernels::Scale>(x, y, 2.0F);
  graph.in_memory(x, MemoryKind::mapped_host);
  auto session = open<P>(graph);
  auto in = session.allocate(x);
  auto out = session.template allocate<MemoryKind::mapped_host>(y);
  auto copied = session.template allocate<MemoryKind::device>(x, {4});
  REQUIRE(in.host().size() == 4);
  REQUIRE(out.host().size() == 4);
  CHECK(copied.host().empty());
  for (float value = 1; value < 4; ++value) {
    std::fill(in.host().begin(), in.host().end(), value);
    REQUIRE(session.run_round(bind(x, in), bind(y, out)).ok());
    CHECK(out.host()[3] == 2 * value);
    const Floats host(4, value);
    Floats result(4);
    REQUIRE(session.upload(in, host).ok());
    REQUIRE(session.run_round(bind(x, in), bind(y, result)).ok());  // host memory is copied as ever
    CHECK(result == Floats(4, 2 * value));
    REQUIRE(session.download(out, result).ok());
    CHECK(result == Floats(4, 2 * value));
  }
  CHECK(session.close().ok());
  CHECK(in.host().empty());
}

TEST_CASE_TEMPLATE("A kind that the platform lacks is refused with the names of all that matters", P, PLATFORMS,
                   toy::ToyPlatform) {
  for (const MemoryKind kind : kinds) {
    if (memory_kinds_of<P>().has(kind)) continue;
    const auto [code, text] = error_of([&] { (void)open<P>(Graph(kind).graph); });
    CAPTURE(text);
    CHECK(code == Errc::unsupported);
    const std::string known = std::string(P::name) + " has device";
    for (const char* const word : {"'w'", to_string(kind), known.c_str()}) {
      CHECK(text.find(word) != std::string::npos);
    }
  }
  const auto refused = [](auto&& ask) {
    TaskGraph graph;
    const auto x = graph.input<float>("x", {8});
    const auto w = graph.resident<float>("w", {8});
    const auto t = graph.workspace<float>("t", {8});
    const auto y = graph.output<float>("y", {8});
    graph.add<kernels::Add>(x, w, t);
    graph.add<kernels::Scale>(t, y, 1.0F);
    ask(graph, x, w, t);
    return error_of([&] { (void)open<P>(graph); });
  };
  for (const MemoryKind kind : {MemoryKind::pinned_host, MemoryKind::host}) {
    const auto [code, text] = refused([&](auto& g, auto x, auto, auto) { g.in_memory(x, kind); });
    CHECK(code == Errc::invalid_argument);
    CHECK(text.find("'x'") != std::string::npos);
  }
  if (!memory_kinds_of<P>().has(MemoryKind::mapped_host)) return;
  const auto zeroed = refused([](auto& g, auto, auto, auto t) {
    g.in_memory(t, MemoryKind::mapped_host);
    g.zero(t);
  });
  CHECK(zeroed.first == Errc::invalid_argument);
  CHECK(zeroed.second.find("zero it with a task") != std::string::npos);
  const auto shown = refused([](auto& g, auto, auto w, auto) {
    const auto part = g.template output<float>("part", {2});
    g.make_view(part, w);
    g.in_memory(w, MemoryKind::mapped_host);
  });
  CHECK(shown.first == Errc::invalid_argument);
  CHECK(shown.second.find("copy it with a task") != std::string::npos);
  const auto of_input = refused([](auto& g, auto x, auto, auto) {
    const auto part = g.template output<float>("part", {2});
    g.make_view(part, x);
    g.in_memory(x, MemoryKind::mapped_host);
  });
  CHECK(of_input.first == Errc::ok);
  const auto view = refused([](auto& g, auto, auto w, auto) {
    const auto part = g.template workspace<float>("part", {2});
    g.make_view(part, w);
    g.in_memory(part, MemoryKind::mapped_host);
  });
  CHECK(view.first == Errc::invalid_argument);
  CHECK(view.second.find("its source") != std::string::npos);
  const auto strange = error_of([] {
    TaskGraph one, other;
    one.in_memory(other.input<float>("x", {4}), MemoryKind::mapped_host);
  });
  CHECK(strange.first == Errc::invalid_argument);
}

TEST_CASE_TEMPLATE("A view of a tensor outside the arena is there, too", P, PLATFORMS) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  const auto w = graph.resident<float>("w", {128});
  const auto half = graph.workspace<float>("half", {64});
  const auto y = graph.output<float>("y", {64});
  graph.make_view(half, w, 64);
  graph.add<kernels::Add>(x, half, y);
  graph.in_memory(w, MemoryKind::mapped_host);
  auto session = open<P>(graph);
  Floats values(128), result(64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  REQUIRE(session.upload(w, values).ok());
  const Floats ones(64, 1);
  REQUIRE(session.run_round(bind(x, ones), bind(y, result)).ok());
  CHECK(result[0] == 65);
  CHECK(result[63] == 128);
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE("A platform refuses a block whose size it cannot round up", P, PLATFORMS) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  const auto y = graph.output<float>("y", {64});
  graph.add<kernels::Add>(x, x, y);
  auto session = open<P>(graph);
  constexpr Bytes most{~std::uint64_t{0}};
  P& platform = session.platform();
  CHECK(error_of([&] { (void)platform.allocate(most, Bytes{512}); }).first == Errc::out_of_memory);
  if constexpr (memory_kinds_of<P>().has(MemoryKind::mapped_host)) {
    CHECK(error_of([&] { (void)platform.allocate(MemoryKind::mapped_host, most, Bytes{512}); }).first ==
          Errc::out_of_memory);
  }
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE("A session of many shapes has other kinds of memory for what rounds bind", P, PLATFORMS) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<kernels::Scale>(x, y, 2.0F);
  graph.in_memory(x, MemoryKind::mapped_host);
  auto session = open_shaped<P>(graph);
  for (const std::int64_t size : {5, 9}) {
    auto in = session.allocate(x, {size});
    std::fill(in.host().begin(), in.host().end(), 4.0F);
    Floats result(static_cast<std::size_t>(size));
    REQUIRE(session.run_round(bind(x, in), bind(y, result)).ok());
    CHECK(result == Floats(static_cast<std::size_t>(size), 8));
  }
}

namespace {
template <MemoryKind kind>
constexpr auto build = [] {
  TaskGraph g;
  const auto x = g.input<float>("x", {4});
  const auto w = g.resident<float>("w", {4});
  const auto y = g.output<float>("y", {4});
  g.add<kernels::Add>(x, w, y);
  g.in_memory(w, kind);
  return g;
};
constexpr auto& constant = static_graph<build<MemoryKind::mapped_host>>;
constexpr auto& plain = static_graph<build<MemoryKind::device>>;
}  // namespace

TEST_CASE("The compiler plans a graph with memory of another kind") {
  static_assert(arena_bytes<A5Sim, constant> < arena_bytes<A5Sim, plain>);
  auto session = open<A5Sim, constant>();
  const graph::GraphView view = session.interface();
  Floats w{1, 2, 3, 4}, y(4);
  REQUIRE(session.upload(view.find<float, Direction::resident>("w"), w).ok());
  REQUIRE(
      session.run_round(bind(view.find<float, Direction::in>("x"), w), bind(view.find<float, Direction::out>("y"), y))
          .ok());
  CHECK(y == Floats{2, 4, 6, 8});
}

TEST_CASE("Memory that a device hands out is zeroed when allocate() returns, whoever uses it next") {
  using P = A2A3OverStandIn;
  rondo_stand_in_reset();
  P platform{P::Options{}};
  rondo_stand_in_hold_until_awaited();
  std::vector<float> data(256, 7);
  const auto block = platform.allocate(Bytes{data.size() * sizeof(float)}, Bytes{P::Arch::arena_alignment});
  rondo_stand_in_poke(block.address(), data.data(), data.size() * sizeof(float));  // as work on another stream would
  std::vector<float> found(data.size());
  REQUIRE(platform.copy_out(found.data(), block, Bytes{data.size() * sizeof(float)}).ok());
  REQUIRE(platform.wait().ok());
  CHECK(found == data);
  CHECK(platform.release(block).ok());
  CHECK(platform.close().ok());
}
