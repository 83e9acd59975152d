// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What an onboard round asks of the runtime: as little as it can, in the right order; and what it computes, whatever
// the runtime is able to do.

#include "conformance/counting_loop.hpp"
#include "onboard/fixture.hpp"

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/session/memory_report.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>

using namespace rondo;
using namespace onboard_test;

namespace {

template <class P, class... Rest>
Status round(RoundSession<P, Rest...>& session, const Graph& g, float value, Floats& y, Floats& s) {
  Floats x(Graph::n, value), w(Graph::n, 1);
  y.assign(Graph::n, -1);
  s.assign(Graph::n, 10);
  return session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s));
}
template <class P, class... Rest>
void check_rounds(RoundSession<P, Rest...>& session, const Graph& g, int rounds = 5) {
  Floats y, s;
  for (int r = 1; r <= rounds; ++r) {
    const auto value = static_cast<float>(r);
    const Status status = round(session, g, value, y, s);
    const std::string said = session.explain(status).c_str();
    REQUIRE_MESSAGE(status.ok(), said);
    REQUIRE(y == Floats(Graph::n, 3 * (value + 1)));
    REQUIRE(s == Floats(Graph::n, 10 + value));
  }
}

struct Timed : DefaultPolicies {
  using Time = DeviceTime;
};

/// Takes as many milliseconds as it is told.
struct Sleep {
  static constexpr std::string_view name = "sleep_ms";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> ms, Out<float> out) {
    std::this_thread::sleep_for(std::chrono::duration<float, std::milli>(ms[0]));
    out[0] = ms[0];
  }
};
struct Sleeping {
  Sleeping() { graph.add<Sleep>(ms, out); }
  TaskGraph graph;
  Input<float> ms = graph.input<float>("ms", {1});
  Output<float> out = graph.output<float>("out", {1});
  float shortly = 1;
  float long_time = 20;
  float result = 0;
};

/// Adds the first number to `sum`, and remembers it and the sum before.
struct AddFirst {
  static constexpr std::string_view name = "add_first";
  static constexpr auto core = CoreType::vector;
  static inline Floats seen, before;
  static void run(In<float> x, InOut<float> sum) {
    seen.push_back(x[0]);
    before.push_back(sum[0]);
    sum[0] += x[0] + 1;
  }
};
struct Adding {
  explicit Adding(MemoryKind kind) {
    graph.add<AddFirst>(x, sum);
    graph.in_memory(sum, kind);
    AddFirst::seen.clear();
    AddFirst::before.clear();
  }
  TaskGraph graph;
  Dim n = graph.dim("n");
  Input<float> x = graph.input<float>("x", {n});
  Resident<float> sum = graph.resident<float>("sum", {1});
};
/// Remembers the sum of what it reads, and fills `y`.
struct Fill {
  static constexpr std::string_view name = "fill";
  static constexpr auto core = CoreType::vector;
  static inline Floats seen;
  static void run(In<float> a, In<float> b, Out<float> y) {
    seen.push_back(std::accumulate(a.begin(), a.end(), std::accumulate(b.begin(), b.end(), 0.0F)));
    std::fill(y.begin(), y.end(), 7.0F);
  }
};
template <class Session>
float sum_of(Session& session, const Adding& a) {
  Floats sum(1);
  REQUIRE(session.download(a.sum, sum).ok());
  return sum[0];
}

using Counts = std::map<std::string, std::uint64_t>;

}  // namespace

TEST_CASE_TEMPLATE("A first run is over zeros, and only while the memory holds nothing that it would change", P,
                   A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  SUBCASE("shapes that are set up one after another, while the arena grows") {
    for (const MemoryKind kind : {MemoryKind::huge_pages, MemoryKind::mapped_host}) {
      const Adding a(kind);
      auto session = open_shaped<P>(a.graph);
      for (const std::int64_t n : {4, 4000, 400000}) session.prepare({{a.n, n}});
      CHECK(AddFirst::seen == Floats(3, 0));
      CHECK(AddFirst::before == Floats(3, 0));
    }
  }
  SUBCASE("shapes of which a later one reads where an earlier one wrote") {
    TaskGraph graph;
    const Dim n = graph.dim("n"), m = graph.dim("m");
    const auto a = graph.input<float>("a", {n});
    const auto count = graph.workspace<float>("count", {1});
    graph.add<Fill>(a, graph.input<float>("b", {m}), graph.output<float>("y", {m}));
    graph.add<Fill>(a, count, graph.output<float>("z", {m}));
    graph.zero(count);
    Fill::seen.clear();
    auto session = open_shaped<P>(graph);
    session.reserve(Bytes{65536});
    session.prepare({{n, 8}, {m, 8}});
    const std::uint64_t copies = calls("aclrtMemcpyAsync");
    session.prepare({{n, 8192}, {m, 8}});
    CHECK(Fill::seen == Floats(4, 0));
    CHECK(calls("aclrtMemcpyAsync") < copies + 8);  // each memory is cleared by one call, however large
  }
  SUBCASE("a resident that the host wrote in place") {
    const Adding a(MemoryKind::mapped_host);
    auto session = open_shaped<P>(a.graph);
    REQUIRE(session.upload(a.sum, Floats{7}).ok());
    session.prepare({{a.n, 4}});
    CHECK(sum_of(session, a) == 7);
  }
  SUBCASE("a resident in which rounds in flight add up") {
    const Adding a(MemoryKind::mapped_host);
    auto session = open_shaped<P, DefaultPolicies, launch::Lru<4>, 2>(a.graph);
    REQUIRE(session.upload(a.sum, Floats{7}).ok());
    const Floats few(4, 2), many(4000, 3);
    REQUIRE(session.submit_round(bind(a.x, few)));
    REQUIRE(session.submit_round(bind(a.x, many)));
    REQUIRE(session.wait_all().ok());
    CHECK(sum_of(session, a) == 7 + 3 + 4);
    CHECK(AddFirst::seen == Floats{2, 3});
  }
}

TEST_CASE_TEMPLATE("A steady round is its copies, one replay and one wait", P, A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  Graph g;
  auto session = open<P>(g.graph);
  check_rounds(session, g, 2);
  rondo_stand_in_reset();
  check_rounds(session, g, 10);
  CHECK(counted() ==
        Counts{{"aclrtMemcpyAsync", 20}, {"aclmdlRIExecuteAsync", 10}, {"aclrtSynchronizeStreamWithTimeout", 10}});
  // x, w and s lie one after the other and travel together; y and s out together.
  CHECK(log()[0] == "aclrtMemcpyAsync");
  CHECK(log()[1] == "aclmdlRIExecuteAsync");
  CHECK(log()[2] == "aclrtMemcpyAsync");
  CHECK(log()[3] == "aclrtSynchronizeStreamWithTimeout");
  CHECK(calls("pageable") == 0);
  CHECK(session.platform().is_captured());
}

TEST_CASE_TEMPLATE("With DeviceTime a session tells how long its rounds ran, for two records and a question each", P,
                   A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  Sleeping g;
  {
    auto session = open<P, Timed>(g.graph);
    CHECK(session.run_round(bind(g.ms, g.shortly), bind(g.out, g.result)).ok());
    rondo_stand_in_reset();
    CHECK(session.run_round(bind(g.ms, g.long_time), bind(g.out, g.result)).ok());
    CHECK(counted() == Counts{{"aclrtMemcpyAsync", 2},
                              {"aclmdlRIExecuteAsync", 1},
                              {"aclrtRecordEvent", 2},
                              {"aclrtEventElapsedTime", 1},
                              {"aclrtSynchronizeStreamWithTimeout", 1}});
    // Sleeping takes no less than it was told, and on a busy machine as much more as it likes.
    const double longer = session.last_round_ns();
    CHECK(longer >= 20e6);
    CHECK(session.run_round(bind(g.ms, g.shortly), bind(g.out, g.result)).ok());
    CHECK(session.last_round_ns() >= 1e6);
    CHECK(session.last_round_ns() != longer);
    rondo_stand_in_fault("aclrtEventElapsedTime", 1, 107000);
    CHECK(session.run_round(bind(g.ms, g.shortly), bind(g.out, g.result)).ok());
    CHECK(session.last_round_ns() == 0);
  }
  auto session = open_pipelined<P, 2, Timed>(g.graph);
  CHECK(session.last_round_ns() == 0);
  CHECK(session.submit_round(bind(g.ms, g.shortly), bind(g.out, g.result)));
  CHECK(session.submit_round(bind(g.ms, g.long_time), bind(g.out, g.result)));
  CHECK(session.wait_all().ok());
  CHECK(session.last_round_ns() >= 20e6);
}

TEST_CASE_TEMPLATE("Device memory costs no copy: one refresh of the args table where it changed, none where it did not",
                   P, A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  Graph g;
  auto session = open<P>(g.graph);
  {
    DeviceFloats<P> x(session.platform(), Graph::n, 2), w(session.platform(), Graph::n, 1);
    DeviceFloats<P> y(session.platform(), Graph::n), s(session.platform(), Graph::n, 10);
    DeviceFloats<P> other(session.platform(), Graph::n, 5);
    const auto run = [&](DeviceFloats<P>& in) {
      return session.run_round(bind(g.x, in.span()), bind(g.w, w.span()), bind(g.y, y.span()), bind(g.s, s.span()))
          .ok();
    };
    REQUIRE(run(x));
    CHECK(y.values() == Floats(Graph::n, 9));
    rondo_stand_in_reset();
    REQUIRE(run(x));
    CHECK(counted() == Counts{{"aclmdlRIExecuteAsync", 1}, {"aclrtSynchronizeStreamWithTimeout", 1}});
    rondo_stand_in_reset();
    REQUIRE(run(other));
    CHECK(counted() ==
          Counts{{"aclrtMemcpyAsync", 1}, {"aclmdlRIExecuteAsync", 1}, {"aclrtSynchronizeStreamWithTimeout", 1}});
    CHECK(y.values() == Floats(Graph::n, 18));
    CHECK(s.values() == Floats(Graph::n, 10 + 2 + 2 + 5));
  }
  check_rounds(session, g);
}

TEST_CASE_TEMPLATE("Rounds queue up without the host waiting, each with its own addresses and inputs", P,
                   A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  Graph g;
  const FrozenGraph frozen = freeze(g.graph);
  P platform({});
  constexpr std::size_t tensors = 5, room = 64 * Graph::n;
  const auto arena = platform.allocate(Bytes{tensors * room}, Bytes{1024});
  const auto outputs = platform.allocate(Bytes{8 * room}, Bytes{1024});
  {
    // What a session does, with the refresh of one round right after the launch of the last.
    std::vector<args::Source> sources(tensors);
    std::vector<std::uint64_t> addresses{0, 0, arena.address(), 0, 0, 0, 0};
    std::uint32_t io = 3;
    for (std::size_t t = 0; t < tensors; ++t) {
      const bool bound = is_bound_each_round(frozen.view().tensors[t].direction);
      sources[t] = bound ? args::Source{io, 0} : args::Source{2, t * room};
      if (bound) addresses[io++] = arena.address() + t * room;
    }
    std::uint32_t y = 3;
    const auto tensor_named = [&](std::string_view wanted) {
      std::size_t t = 0;
      while (frozen.view().name(frozen.view().tensors[t].name) != wanted) ++t;
      return t;
    };
    y = sources[tensor_named("y")].base;
    update::Refresher<P> refresher(platform, frozen.view(), {{3, 7}, sources, addresses});
    auto program = platform.load(frozen, refresher.table());
    REQUIRE(platform.wait().ok());
    const Floats one(Graph::n, 1), ten(Graph::n, 10);
    REQUIRE(platform.copy_in(arena.offset(Bytes{tensor_named("w") * room}), one.data(), Bytes{4 * Graph::n}).ok());
    REQUIRE(platform.copy_in(arena.offset(Bytes{tensor_named("s") * room}), ten.data(), Bytes{4 * Graph::n}).ok());
    REQUIRE(platform.wait().ok());
    rondo_stand_in_reset();
    rondo_stand_in_hold();  // the device is slow, the host is not
    Floats x(Graph::n);
    for (int r = 0; r < 8; ++r) {
      x.assign(Graph::n, static_cast<float>(r));
      REQUIRE(platform.copy_in(arena.offset(Bytes{tensor_named("x") * room}), x.data(), Bytes{4 * Graph::n}).ok());
      refresher.set_base(y, outputs.address() + static_cast<std::uint64_t>(r) * room);
      REQUIRE(refresher.refresh().ok());
      REQUIRE(platform.launch(program).ok());
    }
    CHECK(counted() == Counts{{"aclrtMemcpyAsync", 16}, {"aclmdlRIExecuteAsync", 8}});
    rondo_stand_in_resume();
    REQUIRE(platform.wait().ok());
    for (int r = 0; r < 8; ++r) {
      Floats out(Graph::n);
      REQUIRE(rondo_stand_in_peek(outputs.address() + static_cast<std::uint64_t>(r) * room, out.data(), 4 * Graph::n));
      CHECK(out == Floats(Graph::n, 3 * static_cast<float>(r + 1)));
    }
    REQUIRE(platform.unload(program).ok());
    REQUIRE(refresher.release().ok());
  }
  REQUIRE(platform.release(outputs).ok());
  REQUIRE(platform.release(arena).ok());
  REQUIRE(platform.close().ok());
}

TEST_CASE_TEMPLATE("Pinned memory travels directly, snapshots are taken at once", P, A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  Graph g;
  auto session = open<P>(g.graph);
  PinnedArray<float, P> x(session.platform(), Graph::n), y(session.platform(), Graph::n);
  PinnedArray<float, P> s(session.platform(), Graph::n);
  Floats w(Graph::n, 1);
  for (int r = 0; r < 5; ++r) {
    const auto value = static_cast<float>(r);
    for (std::size_t i = 0; i < Graph::n; ++i) x[i] = value, s[i] = 10;
    w.assign(Graph::n, 1);
    auto bound = session.begin_async_round(bind(g.x, x), bind(g.w, snapshot(w)), bind(g.y, y), bind(g.s, s));
    w.assign(Graph::n, 1000);
    REQUIRE(std::move(bound).launch().finish().status().ok());
    for (std::size_t i = 0; i < Graph::n; ++i) {
      REQUIRE(y[i] == 3 * (value + 1));
      REQUIRE(s[i] == 10 + value);
    }
  }
  CHECK(calls("pageable") == 0);
}

TEST_CASE_TEMPLATE("Host inputs, held inputs, scalars and a moved arena work as in simulation", P, A2A3OverStandIn,
                   A5OverStandIn) {
  const Clean clean;
  Graph g;
  g.graph.keep(g.w);
  auto session = open<P>(g.graph);
  check_rounds(session, g, 2);
  REQUIRE(session.hold(g.w).ok());
  check_rounds(session, g, 2);
  REQUIRE(session.release_hold(g.w).ok());
  REQUIRE(session.set_scalar(g.scale, 0, 4.0F).ok());
  Floats y, s;
  REQUIRE(round(session, g, 2, y, s).ok());
  CHECK(y == Floats(Graph::n, 12));
  REQUIRE(session.set_scalar(g.scale, 0, 3.0F).ok());
  DeviceFloats<P> elsewhere(session.platform(), session.arena_bytes().value / 4 + 256);
  const std::uint64_t base = align_up(elsewhere.span().data().address(), 1024);
  REQUIRE(session.move_arena({DevicePtr<std::byte>{base}, session.arena_bytes().value}).ok());
  check_rounds(session, g, 3);

  TaskGraph graph;
  const auto position = graph.host_input<float>("position", {4});
  const auto sum = graph.inout<float>("sum", {4});
  graph.add<kernels::Accumulate>(position, sum);
  auto other = open<P>(graph);
  Floats total(4);
  for (int r = 0; r < 5; ++r) {
    const Floats p(4, static_cast<float>(r));
    REQUIRE(other.run_round(bind(position, p), bind(sum, total)).ok());
  }
  CHECK(total == Floats(4, 10));
}

TEST_CASE_TEMPLATE("Whatever the runtime can, or refuses, results are the same", P, A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  Graph g;
  typename P::Options options;
  SUBCASE("no capture is wanted") { options.capture = false; }
  SUBCASE("a capture may not begin") { rondo_stand_in_fault("aclmdlRICaptureBegin", 0, 207000); }
  SUBCASE("a launch is refused in the capture") { rondo_stand_in_fault("aclrtLaunchKernelV2", 2, 107030); }
  SUBCASE("a capture ends without a graph") { rondo_stand_in_fault("aclmdlRICaptureEnd", 0, 107025); }
  SUBCASE("replays are refused") { rondo_stand_in_fault("aclmdlRIExecuteAsync", 0, 207000); }
  SUBCASE("there are no snapshot copies") { rondo_stand_in_limit("snapshot_copies", 0); }
  SUBCASE("there is virtual memory") { rondo_stand_in_limit("virtual_memory", 1); }
  SUBCASE("there is virtual memory, but no address") {
    rondo_stand_in_limit("virtual_memory", 1);
    rondo_stand_in_fault("aclrtReserveMemAddress", 0, 207001);
  }
  SUBCASE("there is virtual memory, and it is not wanted") {
    rondo_stand_in_limit("virtual_memory", 1);
    options.virtual_memory = false;
  }
  SUBCASE("no warm-up") { options.warm_up = false; }
  SUBCASE("waiting after each task") { options.wait_after_each_task = true; }
  SUBCASE("an event says that it is over") { options.completion = Completion::event; }
  SUBCASE("a host func says that it is over") { options.completion = Completion::host_func; }
  SUBCASE("hardly any staging") { options.staging = Bytes{1}; }
  SUBCASE("marks for the profiler") { options.profiler_ranges = true; }
  SUBCASE("the runtime lets pass what it finds later") { rondo_stand_in_limit("strict", 0); }
  SUBCASE("copies of ordinary memory are asynchronous") { rondo_stand_in_limit("old_driver", 1); }
  auto session = open<P>(g.graph, options);
  {
    DeviceFloats<P> x(session.platform(), Graph::n, 5), y(session.platform(), Graph::n);
    check_rounds(session, g);
    Floats w(Graph::n, 1), s(Graph::n, 10);
    REQUIRE(session.run_round(bind(g.x, x.span()), bind(g.w, w), bind(g.y, y.span()), bind(g.s, s)).ok());
    CHECK(y.values() == Floats(Graph::n, 18));
    CHECK(s == Floats(Graph::n, 15));
    check_rounds(session, g);
  }
  REQUIRE(session.close().ok());
}

TEST_CASE_TEMPLATE("A graph is replayed once when its session opens, unless its residents were uploaded before", P,
                   A2A3OverStandIn, A2A3ThatComputes, A5ThatComputes) {
  const Clean clean;
  const Graph g;
  auto session = open<P>(g.graph);
  CHECK(calls("aclmdlRIExecuteAsync") == 1);
  check_rounds(session, g);
  rondo_stand_in_reset();
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const auto w = graph.resident<float>("w", {4});
  graph.add<kernels::Scale>(x, y, 2.0F);
  graph.add<kernels::Scale>(w, graph.workspace<float>("t", {4}), 2.0F);
  auto shaped = open_shaped<P>(graph);
  REQUIRE(shaped.upload(w, Floats(4, 1)).ok());
  Floats hx(3, 1), hy(3);
  REQUIRE(shaped.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(calls("aclmdlRIExecuteAsync") == 1);
}

TEST_CASE_TEMPLATE("Zeros come from the device's own memory, not over the bus", P, A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  const auto sum = graph.workspace<float>("sum", {8});
  graph.add<kernels::Accumulate>(x, sum);
  graph.add<kernels::Scale>(sum, y, 2.0F);
  graph.zero(sum);
  auto session = open<P>(graph);
  const Floats hx(8, 3);
  Floats hy(8);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  rondo_stand_in_reset();
  for (int round = 0; round < 4; ++round) {
    hy.assign(8, 0);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    CHECK(hy == Floats(8, 6));
  }
  CHECK(calls("set_through_host") == 0);
  CHECK(rondo_stand_in_calls(nullptr) == 4 * 5);  // in, zeros, replay, out, wait
}

TEST_CASE_TEMPLATE("Kernels whose blocks meet have all of them begin together", P, A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  Graph g;
  typename P::Options options;
  const char* const names[] = {"add", "another"};
  options.cooperative_kernels = names;
  options.capture = false;
  auto session = open<P>(g.graph, options);
  rondo_stand_in_reset();
  check_rounds(session, g, 3);
  CHECK(calls("all_at_once") == 3);
}

TEST_CASE("Ranges for the profiler come from its own library") {
  const Clean clean;
  Graph g;
  A2A3OverStandIn::Options options;
  options.profiler_ranges = true;
  auto session = open<A2A3OverStandIn>(g.graph, options);
  rondo_stand_in_reset();
  check_rounds(session, g, 3);
  CHECK(calls("mstxRangeStartA") == 3);
  CHECK(calls("mstxRangeEnd") == 3);
}

TEST_CASE_TEMPLATE("What a runtime has no virtual memory for, it is asked once", P, A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  Graph g;
  rondo_stand_in_limit("virtual_memory", 1);
  rondo_stand_in_fault("aclrtReserveMemAddress", 0, 207000);
  auto session = open<P>(g.graph);
  check_rounds(session, g);
  CHECK(calls("aclrtReserveMemAddress") == 1);
  CHECK_FALSE(session.platform().has_virtual_memory());
}

TEST_CASE_TEMPLATE("The report on memory counts what is pinned for staging", P, A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  Graph g;
  auto session = open<P>(g.graph);
  CHECK(session.memory_report().bytes(MemoryKind::pinned_host) == Bytes{65536});
  auto in_flight = open_pipelined<P, 3>(g.graph);
  CHECK(in_flight.memory_report().bytes(MemoryKind::pinned_host) > Bytes{65536});
}

TEST_CASE_TEMPLATE("The lines of the report on memory sum up to what the runtime gave out", P, A2A3OverStandIn,
                   A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  for (const bool has_pages : {false, true}) {
    CAPTURE(has_pages);
    const Clean clean;
    rondo_stand_in_limit("virtual_memory", has_pages ? 1 : 0);
    Graph g;
    const auto t = g.graph.workspace<float>("t", {100});
    const auto z = g.graph.workspace<float>("z", {100});
    g.graph.add<kernels::Scale>(g.x, t, 1.0F);
    g.graph.add<kernels::Accumulate>(g.w, z);
    g.graph.zero(z);
    g.graph.in_memory(t, MemoryKind::peer);
    g.graph.in_memory(g.x, MemoryKind::mapped_host);
    const auto check = [](const memory::Report& report) {
      std::ostringstream table;
      table << report;
      CAPTURE(table.str());
      std::uint64_t of_device = 0;
      for (auto kind = MemoryKind::device; kind < MemoryKind::mapped_host; kind = MemoryKind(int(kind) + 1)) {
        of_device += report.bytes(kind).value;
      }
      CHECK(of_device == rondo_stand_in_bytes("memory"));
      CHECK(report.bytes(MemoryKind::mapped_host).value + report.bytes(MemoryKind::pinned_host).value ==
            rondo_stand_in_bytes("pinned"));
      for (const auto& line : report.holdings) {
        CHECK_FALSE((line.what == "allocated by the program" && line.bytes.value != 5000));
      }
      return table.str();
    };
    const auto check_session = [&](auto& session) {
      (void)check(session.memory_report());
      auto in = session.allocate(g.x);
      auto out = session.allocate(g.y);
      const PinnedArray<float, P> pinned(session.platform(), 1000);
      const auto mine = session.platform().allocate(Bytes{5000}, Bytes{1024});
      const Floats one(Graph::n, 1);
      Floats y(Graph::n), s(Graph::n);
      REQUIRE(session.run_round(bind(g.x, one), bind(g.w, one), bind(g.y, y), bind(g.s, s)).ok());
      const std::string table = check(session.memory_report());
      for (const char* const line :
           {"peer: ", "mapped host: ", "pinned host: 4000 bytes, pinned by the program",
            "pinned host: 65536 bytes, staging", "device: 5000 bytes, allocated by the program", "an array", "a tensor",
            "tensors", "args"}) {
        CAPTURE(line);
        CHECK(table.find(line) != std::string::npos);
      }
      CHECK(session.platform().release(mine).ok());
    };
    {
      auto session = open<P>(g.graph);
      check_session(session);
    }
    {
      auto in_flight = open_pipelined<P, 3>(g.graph);
      check_session(in_flight);
    }
    counting::check_reports<P>(
        [&](const memory::Report& report, const char* line) { CHECK(check(report).find(line) != std::string::npos); },
        "pinned host: 128 bytes, conditions of loops", "pinned host: 384 bytes, conditions of loops");
  }
}

TEST_CASE_TEMPLATE("Rounds in flight of any shape are staged whole, within the limit, and what is pinned is told", P,
                   A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<kernels::Scale>(x, y, 3.0F);
  typename P::Options options;
  options.staging = Bytes{32U << 20};
  auto session = open_shaped<P, DefaultPolicies, launch::Lru<4>, 3>(graph, options);
  const auto pinned = [&] {
    std::uint64_t sum = 0;
    for (const memory::Report::Holding& h : session.memory_report().holdings) {
      if (h.what == "staging of rounds in flight") sum += h.bytes.value;
    }
    return sum;
  };
  CHECK(pinned() == 0);
  struct Case {
    std::size_t n;
    bool is_staged;
  };
  std::uint64_t before = 0;
  for (const Case c : {Case{1'000, true}, Case{600'000, true}, Case{100, true}, Case{2'000'000, false}}) {
    CAPTURE(c.n);
    std::vector<Floats> in, out(6, Floats(c.n, -1));
    for (std::size_t i = 0; i < out.size(); ++i) in.emplace_back(c.n, static_cast<float>(i + 1));
    for (std::size_t i = 0; i < 3; ++i) REQUIRE(session.submit_round(bind(x, in[i]), bind(y, out[i])));
    REQUIRE(session.wait_all().ok());
    rondo_stand_in_reset();
    for (std::size_t i = 3; i < 6; ++i) REQUIRE(session.submit_round(bind(x, in[i]), bind(y, out[i])));
    CHECK((calls("aclrtMemcpy") == 0) == c.is_staged);
    REQUIRE(session.wait_all().ok());
    for (std::size_t i = 0; i < 6; ++i) CHECK(out[i] == Floats(c.n, 3.0F * static_cast<float>(i + 1)));
    CHECK(pinned() >= (c.is_staged ? 3 * 2 * 8 * c.n : 0));
    CHECK(pinned() >= before);
    CHECK(pinned() <= options.staging.value);
    before = pinned();
  }
  CHECK(before > (31U << 20));
  const memory::Report report = session.memory_report();
  CHECK(report.bytes(MemoryKind::device).value > session.arena_bytes().value);  // args of four shapes, too
  CHECK(report.bytes(MemoryKind::pinned_host).value > before);
}

namespace {
struct Logging : DefaultPolicies {
  static inline std::string text;
  static void log(LogEvent, const char* line) noexcept { text.append(line).append("\n"); }
};
}  // namespace

TEST_CASE("A refused capture is counted and logged, and rounds are plain launches") {
  const Clean clean;
  Graph g;
  rondo_stand_in_fault("aclmdlRICaptureEnd", 1, 107038);
  Logging::text.clear();
  auto session = open<A2A3OverStandIn, Logging>(g.graph);
  check_rounds(session, g, 1);
  rondo_stand_in_reset();
  check_rounds(session, g, 10);
  CHECK_FALSE(session.platform().is_captured());
  CHECK(session.platform().refused_captures() == 1);
  CHECK(calls("aclrtLaunchKernelV2") == 30);
  CHECK(calls("aclmdlRIExecuteAsync") == 0);
  CHECK(session.close().ok());
  CHECK(Logging::text.find("the runtime refused 1 captures; tasks were launched one by one") != std::string::npos);
}

TEST_CASE("A refused capture is logged also if all rounds were in flight") {
  const Clean clean;
  Graph g;
  rondo_stand_in_fault("aclmdlRICaptureEnd", 1, 107038);
  Logging::text.clear();
  auto session = open_pipelined<A2A3OverStandIn, 2, Logging>(g.graph);
  const Floats x(Graph::n, 1), w(Graph::n, 1);
  Floats y(Graph::n), s(Graph::n, 10);
  CHECK(session.wait(session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s))).ok());
  CHECK(session.close().ok());
  CHECK(Logging::text.find("the runtime refused 1 captures; tasks were launched one by one") != std::string::npos);
}

TEST_CASE_TEMPLATE("A round may part from what the rounds before it moved at any of its steps", P, A2A3OverStandIn,
                   A5OverStandIn) {
  const Clean clean;
  TaskGraph graph;
  constexpr std::size_t n = 24, ports = 4;
  const auto r = graph.resident<float>("r", {n});
  std::vector<Input<float>> in;
  std::vector<Output<float>> out;
  for (std::size_t i = 0; i < ports; ++i) in.push_back(graph.input<float>("x" + std::to_string(i), {n}));
  for (std::size_t i = 0; i < ports; ++i) out.push_back(graph.output<float>("y" + std::to_string(i), {n}));
  bool is_one_run = false;
  SUBCASE("which is two runs") {
    is_one_run = true;
    // One task, so that all are there at once, and lie in the order in which they are declared.
    graph.add_raw(
        "add_each", CoreType::vector,
        +[](ArgWord* args) {
          const auto at = [&](std::size_t arg) { return reinterpret_cast<float*>(args[arg]); };
          for (std::size_t i = 0; i < ports; ++i) {
            for (std::size_t e = 0; e < n; ++e) at(ports + 1 + i)[e] = at(i)[e] + at(ports)[e];
          }
        },
        reads(in[0]), reads(in[1]), reads(in[2]), reads(in[3]), reads(r), writes(out[0]), writes(out[1]),
        writes(out[2]), writes(out[3]));
  }
  SUBCASE("which is many runs") {
    for (std::size_t i = 0; i < ports; ++i) graph.add<kernels::Add>(in[i], r, out[i]);
  }
  auto session = open<P>(graph);
  P& platform = session.platform();
  Floats weights(n, 100);
  REQUIRE(session.upload(r, weights).ok());
  float last = 0;
  std::array<Floats, ports> x, y;
  // Calls that a round begins and ends with, or breaks off from, in every mixture of host and device memory.
  const auto run = [&](unsigned device_in, unsigned device_out, int how) {
    std::array<std::unique_ptr<DeviceFloats<P>>, ports> dx, dy;
    for (std::size_t i = 0; i < ports; ++i) {
      const float value = ++last;
      x[i].assign(n, value);
      y[i].assign(n, -1);
      if ((device_in >> i & 1U) != 0) dx[i] = std::make_unique<DeviceFloats<P>>(platform, n, value);
      if ((device_out >> i & 1U) != 0) dy[i] = std::make_unique<DeviceFloats<P>>(platform, n);
    }
    DynamicBindings bindings{session};
    for (std::size_t i = 0; i < ports; ++i) {
      const auto bind_one = [&](TensorKey key, Floats& host, const std::unique_ptr<DeviceFloats<P>>& device) {
        if (device == nullptr) return bindings.bind(key.tensor(), host.data(), Bytes{4 * n}).ok();
        const DevicePtr<std::byte> at{device->span().data().address()};
        return bindings.bind(key.tensor(), at, Bytes{4 * n}).ok();
      };
      REQUIRE(bind_one(in[i].key, x[i], dx[i]));
      REQUIRE(bind_one(out[i].key, y[i], dy[i]));
    }
    Floats back(n);
    Status status;
    if (how == 0) {
      status = session.run_round(bindings);
    } else {
      auto bound = session.begin_round(bind(in[0], x[0]), bind(in[1], x[1]), bind(in[2], x[2]), bind(in[3], x[3]),
                                       bind(out[0], y[0]), bind(out[1], y[1]), bind(out[2], y[2]), bind(out[3], y[3]));
      if (how == 1) return (void)bound;  // dropped before it was launched
      auto launched = std::move(bound).launch();
      if (how == 2) return (void)launched;
      status = std::move(launched).finish().status();
    }
    REQUIRE(status.ok());
    for (std::size_t i = 0; i < ports; ++i) {
      REQUIRE((dy[i] ? dy[i]->values() : y[i]) == Floats(n, x[i][0] + weights[0]));
    }
    if (static_cast<int>(last) % 3 == 0) {
      weights.assign(n, last);
      REQUIRE(session.upload(r, weights).ok());
    } else if (static_cast<int>(last) % 5 == 0) {
      REQUIRE(session.download(r, back).ok());
      REQUIRE(back == weights);
    }
  };
  for (unsigned device_in = 0; device_in < 16; ++device_in) {
    for (const unsigned device_out : {0U, 1U, 8U, 6U, 15U}) {
      run(0, 0, 0);
      run(0, 0, 0);
      run(device_in, device_out, 0);
      run(0, 0, static_cast<int>(device_in % 4));
    }
  }
  // All on the plan again: one copy in, one replay, one copy out, one wait.
  for (int i = 0; i < 3; ++i) run(0, 0, 0);
  last = 6;
  weights.assign(n, 6);
  REQUIRE(session.upload(r, weights).ok());
  rondo_stand_in_reset();
  last = 0;
  run(0, 0, 0);
  const std::uint64_t copies = calls("aclrtMemcpyAsync");
  CHECK((copies == 2) == is_one_run);
  CHECK(copies <= 2 * ports);
  CHECK(counted() ==
        Counts{{"aclrtMemcpyAsync", copies}, {"aclmdlRIExecuteAsync", 1}, {"aclrtSynchronizeStreamWithTimeout", 1}});
}

TEST_CASE("More than the staging holds goes through it in parts") {
  const Clean clean;
  TaskGraph graph;
  constexpr std::size_t n = 100'003;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const auto r = graph.resident<float>("r", {n});
  graph.add<kernels::Add>(x, r, y);
  A5OverStandIn::Options options;
  options.staging = Bytes{70'000};
  auto session = open<A5OverStandIn>(graph, options);
  Floats hx(n), hr(n), hy(n), back(n);
  for (std::size_t i = 0; i < n; ++i) hx[i] = static_cast<float>(i), hr[i] = static_cast<float>(3 * i);
  REQUIRE(session.upload(r, hr).ok());
  for (int round = 0; round < 3; ++round) {
    hy.assign(n, 0);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    bool right = true;
    for (std::size_t i = 0; i < n; ++i) right = right && hy[i] == hx[i] + hr[i];
    REQUIRE(right);
  }
  REQUIRE(session.download(r, back).ok());
  CHECK(back == hr);
}

TEST_CASE("A session may go from thread to thread, and threads may have sessions of their own") {
  const Clean clean;
  Graph g;
  auto session = open<A2A3OverStandIn>(g.graph);
  check_rounds(session, g, 1);
  // Each takes the device for itself: without that, the runtime knows of no context there.
  for (int i = 0; i < 3; ++i) std::thread{[&] { check_rounds(session, g, 2); }}.join();
  {
    std::vector<std::thread> threads;
    std::vector<int> good(4);
    for (std::size_t t = 0; t < good.size(); ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 5; ++i) {
          auto own = open<A2A3OverStandIn>(g.graph);
          Floats y, s;
          for (int r = 1; r < 20; ++r) {
            if (round(own, g, static_cast<float>(r), y, s).ok() && y == Floats(Graph::n, static_cast<float>(3 * r + 3)))
              ++good[t];
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(good == std::vector<int>(4, 95));
  }
  std::thread{[&] { CHECK(session.close().ok()); }}.join();
}

TEST_CASE_TEMPLATE("A copy after one in parts does not use its staging, whatever earlier rounds copied", P,
                   A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  constexpr std::size_t many = 100'000, few = 16;
  TaskGraph graph;
  const auto big = graph.input<float>("big", {many});
  const auto small = graph.input<float>("small", {few});
  const auto y = graph.output<float>("y", {many});
  const auto z = graph.output<float>("z", {few});
  graph.add<kernels::Scale>(big, y, 3.0F);
  graph.add<kernels::Scale>(small, z, 2.0F);
  typename P::Options options;
  options.staging = Bytes{65536};
  auto session = open<P>(graph, options);
  {
    DeviceFloats<P> in_place(session.platform(), many, 1);
    DeviceFloats<P> out(session.platform(), many);
    const Floats ones(few, 1);
    Floats hz(few), hy(many), hbig(many);
    for (std::size_t i = 0; i < many; ++i) hbig[i] = static_cast<float>(i % 1000);
    for (int round = 0; round < 3; ++round) {
      REQUIRE(session.run_round(bind(big, in_place.span()), bind(small, ones), bind(y, out.span()), bind(z, hz)).ok());
    }
    const Floats fives(few, 5);
    for (int round = 0; round < 3; ++round) {
      REQUIRE(session.run_round(bind(big, hbig), bind(small, fives), bind(y, out.span()), bind(z, hz)).ok());
      CHECK(hz == Floats(few, 10));
      hy = out.values();
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < many; ++i) wrong += hy[i] != 3 * hbig[i] ? 1 : 0;
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("An input cannot be held after a round in flight that the device refused") {
  using P = A2A3OverStandIn;
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  Graph g;
  auto session = open_pipelined<P, 2>(g.graph);
  const Floats one(Graph::n, 1), two(Graph::n, 2);
  Floats hy(Graph::n), hs(Graph::n, 0);
  REQUIRE(session.run_round(bind(g.x, one), bind(g.w, one), bind(g.y, hy), bind(g.s, hs)).ok());
  rondo_stand_in_fault("aclmdlRIExecuteAsync", 1, 207005);
  const auto ticket = session.submit_round(bind(g.x, two), bind(g.w, one), bind(g.y, hy), bind(g.s, hs));
  CHECK(!ticket);
  CHECK(!session.poisoned());
  rondo_stand_in_reset();
  CHECK(session.hold(g.x) == Status::of_tensor(Errc::unbound_tensor, index(g.x.key.tensor())));
  REQUIRE(session.run_round(bind(g.x, one), bind(g.w, one), bind(g.y, hy), bind(g.s, hs)).ok());
  REQUIRE(session.hold(g.x).ok());
  REQUIRE(session.run_round(bind(g.x, two), bind(g.w, one), bind(g.y, hy), bind(g.s, hs)).ok());
  CHECK(hy == Floats(Graph::n, 6));
}

TEST_CASE("A shape that cannot be set up leaves the zeros and the staging of the others") {
  using P = A2A3OverStandIn;
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  TaskGraph graph;
  const Dim size = graph.dim("n");
  const auto x = graph.input<float>("x", {size});
  const auto y = graph.output<float>("y", {size});
  const auto sum = graph.workspace<float>("sum", {size});
  graph.zero(sum);
  graph.add<kernels::Accumulate>(x, sum);
  graph.add<kernels::Scale>(sum, y, 3.0F);
  auto session = open_shaped<P>(graph);
  const auto run = [&](std::size_t n) {
    const Floats hx(n, 2);
    Floats hy(n, 0);
    const std::uint64_t copies = calls("aclrtMemcpyAsync");
    const Status status = session.run_round(bind(x, hx), bind(y, hy));
    if (status.ok()) CHECK(hy == Floats(n, 6));
    return status.ok() ? calls("aclrtMemcpyAsync") - copies : 0;
  };
  REQUIRE(run(40'000) != 0);
  const std::uint64_t copies = run(40'000);
  std::size_t larger = 40'000;
  for (const std::string call : {"aclrtMemsetAsync", "aclrtMallocHost"}) {
    CAPTURE(call);
    larger *= 2;
    rondo_stand_in_fault(call.c_str(), 1, 207001);
    CHECK(run(larger) == 0);
    CHECK(!session.poisoned());
    rondo_stand_in_reset();
    CHECK(run(40'000) != 0);
    CHECK(run(40'000) == copies);
  }
  CHECK(run(larger) != 0);
}

TEST_CASE_TEMPLATE("Rounds in flight, and zeroing, take the device on a thread that is new to it", P, A2A3OverStandIn,
                   A5OverStandIn) {
  const Clean clean;
  TaskGraph graph;
  constexpr std::size_t n = 8;
  const auto a = graph.input<float>("a", {n}), b = graph.input<float>("b", {n}), c = graph.input<float>("c", {n});
  const auto once = graph.workspace<float>("once", {n}), sum = graph.workspace<float>("sum", {n});
  const auto y = graph.output<float>("y", {n});
  graph.zero(once, Zeroed::once);
  graph.add<kernels::Add>(a, b, sum);
  graph.add<kernels::Accumulate>(once, sum);
  graph.add<kernels::Add>(sum, c, y);
  auto session = open_pipelined<P, 2>(graph);
  const Floats ha(n, 1), hb(n, 2), hc(n, 3);
  Floats hy(n);
  const auto submit = [&] { return session.submit_round(bind(a, ha), bind(b, hb), bind(c, hc), bind(y, hy)); };
  REQUIRE(submit());
  REQUIRE(session.hold(b).ok());  // so that what is copied does not lie together
  for (int i = 0; i < 3; ++i) {
    std::thread{[&] {
      hy.assign(n, 0);
      CHECK(submit());
      CHECK(session.wait_all().ok());
      CHECK(hy == Floats(n, 6));
    }}.join();
  }
  DeviceFloats<P> elsewhere(session.platform(), session.arena_bytes().value / 4 + 256);
  const DevicePtr<std::byte> base{align_up(elsewhere.span().data().address(), 1024)};
  std::thread{[&] { CHECK(session.move_arena({base, session.arena_bytes().value}).ok()); }}.join();
  std::thread{[&] { CHECK(session.run_round(bind(a, ha), bind(b, hb), bind(c, hc), bind(y, hy)).ok()); }}.join();
  CHECK(hy == Floats(n, 6));
  CHECK(session.close().ok());
}

TEST_CASE("The device is given back once, after the last session, and everything in order") {
  const Clean clean;
  Graph g;
  {
    auto first = open<A2A3OverStandIn>(g.graph);
    auto second = open<A2A3OverStandIn>(g.graph);
    REQUIRE(first.close().ok());
    CHECK(calls("aclrtResetDevice") == 0);
    CHECK(calls("aclFinalize") == 0);
    check_rounds(second, g);
    rondo_stand_in_reset();
  }
  const std::vector<std::string> expected{"aclmdlRIDestroy",    "aclrtBinaryUnLoad", "aclrtBinaryUnLoad",
                                          "aclrtDestroyStream", "aclrtFree",         "aclrtFree",
                                          "aclrtFreeHost",      "aclrtResetDevice",  "aclFinalize"};
  std::string made;
  for (const std::string& call : log()) made += call + ' ';
  CAPTURE(made);
  CHECK(log() == expected);
  CHECK(rondo_stand_in_live(nullptr) == 0);
}

TEST_CASE("A runtime that somebody else initialised stays so") {
  const Clean clean;
  Graph g;
  void* const library = dlopen("libacl_rt.so", RTLD_NOW);
  REQUIRE(library != nullptr);
  const auto init = reinterpret_cast<int (*)(const char*)>(dlsym(library, "aclInit"));
  const auto finalize = reinterpret_cast<int (*)()>(dlsym(library, "aclFinalize"));
  REQUIRE(init(nullptr) == 0);
  {
    // Not one that ends the process for what is live at its end.
    rondo_stand_in_chip("a2a3");
    TaskGraph nothing;
    auto session = open<A2A3Onboard>(nothing);
    CHECK(session.run_round().ok());
    CHECK(session.close().ok());
  }
  CHECK(rondo_stand_in_live("inits") == 1);
  CHECK(finalize() == 0);
}

TEST_CASE_TEMPLATE("Rounds bind memory of each kind, and host memory that is mapped is not copied", P, A2A3OverStandIn,
                   A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<kernels::Scale>(x, y, 2.0F);
  typename P::Options options;
  options.device_memory = Bytes{1 << 26};
  auto session = open<P>(graph, options);
  auto& platform = session.platform();
  for (const MemoryKind kind :
       {MemoryKind::huge_pages, MemoryKind::normal_pages, MemoryKind::task_scheduler, MemoryKind::mapped_host}) {
    CAPTURE(static_cast<int>(kind));
    const auto in = platform.allocate(kind, Bytes{16});
    const auto out = platform.allocate(kind, Bytes{16}, Bytes{256});
    const bool is_host = kind == MemoryKind::mapped_host;
    CHECK((platform.host_address(in) != nullptr) == is_host);
    CHECK(out.address() % 256 == 0);
    const Floats values{1, 2, 3, static_cast<float>(kind)};
    if (is_host) {
      std::copy(values.begin(), values.end(), static_cast<float*>(platform.host_address(in)));
    } else {
      CHECK(rondo_stand_in_poke(in.address(), values.data(), 16));
    }
    const std::uint64_t copies = calls("aclrtMemcpyAsync");
    REQUIRE(session
                .run_round(bind(x, DeviceSpan<float>{in.template as<float>(), 4}),
                           bind(y, DeviceSpan<float>{out.template as<float>(), 4}))
                .ok());
    CHECK(calls("aclrtMemcpyAsync") <= copies + 1);  // the addresses, if they are others
    Floats got(4);
    if (is_host) {
      const auto* const at = static_cast<const float*>(platform.host_address(out));
      std::copy(at, at + 4, got.begin());
    } else {
      CHECK(rondo_stand_in_peek(out.address(), got.data(), 16));
    }
    CHECK(got == Floats{2, 4, 6, 2 * values[3]});
    CHECK(platform.release(in).ok());
    CHECK(platform.release(out).ok());
  }
  CHECK(calls("huge_pages") == 2);
  CHECK(calls("normal_pages") == 2);
  // What is refused leaves nothing behind.
  for (const char* const call : {"aclrtMallocHost", "aclrtHostRegisterV2", "aclrtHostGetDevicePointer"}) {
    rondo_stand_in_fault(call, 1, 207001);
    CHECK_THROWS_AS((void)platform.allocate(MemoryKind::mapped_host, Bytes{16}), Error);
  }
  CHECK(rondo_stand_in_live("mapped host") == 0);
  const auto refusal = [&](MemoryKind kind, Bytes size, Bytes alignment) {
    try {
      (void)platform.allocate(kind, size, alignment);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string too_much = refusal(MemoryKind::huge_pages, Bytes{1 << 27}, Bytes{64});
  CHECK(too_much.find("134217728 bytes of device memory were asked for") != std::string::npos);
  const std::string too_far_apart = refusal(MemoryKind::mapped_host, Bytes{16}, Bytes{8192});
  CHECK(too_far_apart.find("mapped host memory is aligned to 4096 bytes, not to 8192") != std::string::npos);
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE("Memory that nobody released goes with the platform", P, A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  Graph g;
  auto session = open<P>(g.graph);
  (void)session.platform().allocate(Bytes{64}, Bytes{64});
  (void)session.platform().allocate_pinned(Bytes{64});
  CHECK(session.close().ok());
}
