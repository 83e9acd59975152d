// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Workspaces that are zero when a round's tasks begin: zeroed by one fill each round, or once where kernels leave
// zeros.

#include "kernels.hpp"
#include "platforms.hpp"

#include <rondo/graph/instantiate.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/in_flight.hpp>
#include <rondo/session/open_static.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace rondo;

namespace {

using Floats = std::vector<float>;

/// Counts into bins that must be zero, and leaves them as they are.
struct Bins {
  static constexpr std::string_view name = "bins";
  static constexpr auto core = CoreType::vector;
  static constexpr Zeros zeros{.parameter = 2};
  static void run(In<float> x, Out<float> y, Scratch<float> bins) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) bins[i % bins.size()] += x[i];
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = bins[i % bins.size()];
  }
};
/// The same, but puts the zeros back.
struct TidyBins {
  static constexpr std::string_view name = "tidy_bins";
  static constexpr auto core = CoreType::vector;
  static constexpr Zeros zeros{.parameter = 2, .when = Zeroed::once};
  static void run(In<float> x, Out<float> y, Scratch<float> bins) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) bins[i % bins.size()] += x[i];
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = bins[i % bins.size()];
    for (std::size_t i = 0; i < bins.size(); ++i) bins[i] = 0;
  }
};
/// The same with a single byte, which is added to x.
struct TidyByte {
  static constexpr std::string_view name = "tidy_byte";
  static constexpr auto core = CoreType::vector;
  static void run(In<std::uint8_t> x, InOut<std::uint8_t> byte, Out<std::uint8_t> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<std::uint8_t>(x[i] + byte[0]);
    byte[0] = 0;
  }
};
struct AddTo {
  static constexpr std::string_view name = "add_to";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> sum) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] += x[i];
  }
};
struct Copy {
  static constexpr std::string_view name = "copy";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};

constexpr std::size_t size = 24;
constexpr std::int64_t bins = 7;

/// x goes through a plain workspace into sums and bins of all kinds; s = 2 x, and y and z hold what the bins hold.
struct Counting {
  explicit constexpr Counting(Edges edges = Edges::derived) : graph{edges} {
    const TaskId copied = graph.add<Copy>(x, plain);
    const TaskId once = graph.add<AddTo>(x, sum);
    const TaskId twice = graph.add<AddTo>(plain, sum);
    const TaskId delivered = graph.add<Copy>(sum, s);
    const TaskId counted = graph.add<Bins>(plain, y, dirty);
    const TaskId tidied = graph.add<TidyBins>(plain, z, tidy);
    graph.zero(sum);
    graph.add_edge(copied, twice);
    graph.add_edge(once, twice);
    graph.add_edge(twice, delivered);
    graph.add_edge(copied, counted);
    graph.add_edge(copied, tidied);
  }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {size});
  Workspace<float> plain = graph.workspace<float>("plain", {size});
  Workspace<float> sum = graph.workspace<float>("sum", {size});
  Workspace<float> dirty = graph.workspace<float>("dirty", {bins});
  Workspace<float> tidy = graph.workspace<float>("tidy", {bins});
  Output<float> s = graph.output<float>("s", {size});
  Output<float> y = graph.output<float>("y", {size});
  Output<float> z = graph.output<float>("z", {size});
};

struct Result {
  Floats s = Floats(size, -1), y = Floats(size, -1), z = Floats(size, -1);
};
Floats input_of(int round) {
  Floats x(size);
  for (std::size_t i = 0; i < size; ++i) x[i] = static_cast<float>(round + static_cast<int>(i % 5));
  return x;
}
bool is_right(const Floats& x, const Result& r) {
  Floats expected(static_cast<std::size_t>(bins));
  for (std::size_t i = 0; i < size; ++i) expected[i % expected.size()] += x[i];
  for (std::size_t i = 0; i < size; ++i) {
    if (r.s[i] != 2 * x[i] || r.y[i] != expected[i % expected.size()] || r.z[i] != r.y[i]) return false;
  }
  return true;
}
template <class Session>
bool round_is_right(Session& session, const Counting& g, int round) {
  const Floats x = input_of(round);
  Result r;
  const Status status = session.run_round(bind(g.x, x), bind(g.s, r.s), bind(g.y, r.y), bind(g.z, r.z));
  CAPTURE(std::string(session.explain(status).c_str()));
  CHECK(status.ok());
  return status.ok() && is_right(x, r);
}

template <class Planner>
struct PlannedBy : DefaultPolicies {
  using Plan = Planner;
};

/// y = 2 x + z, where z is zeroed once, and no task writes it.
struct AddFirst {
  static constexpr std::string_view name = "add_first";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> z, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + z[0];
  }
};
struct TidyCounting {
  static constexpr std::size_t n = 500;
  TidyCounting() {
    graph.zero(z, Zeroed::once);
    graph.add<kernels::Scale>(x, doubled, 2.0F);
    graph.add<AddFirst>(doubled, z, y);
  }
  TaskGraph graph;
  Dim rows = graph.dim("rows");
  Input<float> x = graph.input<float>("x", {rows, n});
  Output<float> y = graph.output<float>("y", {rows, n});
  Workspace<float> z = graph.workspace<float>("z", {16});
  Workspace<float> doubled = graph.workspace<float>("doubled", {rows, n});
};

}  // namespace

TEST_CASE_TEMPLATE("Zeroed workspaces are zero at the start of each round, on every engine", P, A2A3Sim, A5SimOn<Pool>,
                   A2A3SimOn<Model>, A2A3SimOn<platform::sim::Checked<Pool>>, A2A3OverStandIn, A5OverStandIn) {
  for (const Edges edges : {Edges::derived, Edges::explicit_}) {
    const Counting g(edges);
    auto session = open<P>(g.graph, busy_options<P>());
    for (int round = 0; round < 6; ++round) CHECK(round_is_right(session, g, round));
  }
}

TEST_CASE_TEMPLATE("One fill over one stretch of memory, whoever plans", Planner, memory::Greedy, memory::Disjoint,
                   memory::PortsLast<memory::Greedy>, memory::ResidentsFirst<memory::Greedy>) {
  const Counting g;
  const FrozenGraph frozen = freeze(g.graph);
  const graph::GraphView view = frozen.view();
  REQUIRE(view.tasks.size() == 7);
  CHECK(view.tasks[0].fills);
  CHECK(std::count_if(view.tasks.begin(), view.tasks.end(), [](const auto& task) { return task.fills; }) == 1);
  const auto check = [&](auto layout) {
    const auto place = [&](auto tensor) { return layout.offsets()[index(tensor.key.tensor())]; };
    const std::uint64_t block = arch::block_bytes<arch::A2A3>(sizeof(float) * size);
    CHECK(place(g.dirty) == align_up(place(g.sum) + block, arch::A2A3::tensor_alignment));
    const std::uint64_t end = place(g.dirty) + sizeof(float) * bins;
    const std::uint64_t kept_end = place(g.tidy) + sizeof(float) * bins;
    for (std::size_t t = 0; t < view.tensors.size(); ++t) {
      const std::uint64_t offset = layout.offsets()[t];
      const bool is_zeroed = view.tensors[t].zeroed == Zeroed::each_round;
      const bool lives_beside = view.name(view.tensors[t].name) == "plain" || view.name(view.tensors[t].name) == "x";
      if (!is_zeroed && lives_beside) CHECK((offset + view.tensors[t].bytes <= place(g.sum) || end <= offset));
      if (view.name(view.tensors[t].name) != "tidy") {
        CHECK((offset + view.tensors[t].bytes <= place(g.tidy) || kept_end <= offset));  // shared with nothing
      }
    }
  };
  check(memory::Layout<FrozenGraph, arch::A2A3, Planner, memory::Concurrency::sequential>(frozen));
  check(memory::Layout<FrozenGraph, arch::A2A3, Planner, memory::Concurrency::parallel>(frozen));
  check(memory::Layout<FrozenGraph, arch::A2A3, Planner, memory::Concurrency::unordered>(frozen));
  auto session = open<A2A3Sim, PlannedBy<Planner>>(g.graph);
  for (int round = 0; round < 3; ++round) CHECK(round_is_right(session, g, round));
}

TEST_CASE("Who asks for no zeros gets no fill") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {size});
  const auto y = graph.output<float>("y", {size});
  const auto t = graph.workspace<float>("t", {size});
  graph.add<Copy>(x, t);
  graph.add<Copy>(t, y);
  CHECK(freeze(graph).view().tasks.size() == 2);
}

TEST_CASE("Tasks that only read zeros are readers of them, and nothing else") {
  for (const Zeroed when : {Zeroed::each_round, Zeroed::once}) {
    TaskGraph graph(Edges::explicit_);
    const auto zeros = graph.workspace<float>("zeros", {4});
    const auto a = graph.output<float>("a", {4});
    const auto b = graph.output<float>("b", {4});
    const auto shown = graph.output<float>("shown", {4});
    graph.zero(zeros, when);
    graph.make_view(shown, zeros);
    const TaskId first = graph.add<kernels::Scale>(zeros, a, 2.0F);
    graph.add<kernels::Scale>(zeros, b, 3.0F);
    auto session = open<A2A3Sim>(graph);
    const graph::GraphView view = session.interface();
    for (std::size_t t = 0; t < view.tasks.size(); ++t) {
      if (!view.tasks[t].fills) CHECK(view.successors_of(t).empty());
      if (view.tasks[t].added_as == index(first)) CHECK(view.predecessor_count[t] == (when == Zeroed::once ? 0 : 1));
    }
    Floats ha(4, 1), hb(4, 1), hs(4, 1);
    REQUIRE(session.run_round(bind(a, ha), bind(b, hb), bind(shown, hs)).ok());
    for (const Floats& each : {ha, hb, hs}) CHECK(each == Floats(4, 0));
  }
}

TEST_CASE("What kernels clean up themselves is zeroed when the session opens, and by no round") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {size});
  const auto y = graph.output<float>("y", {size});
  const auto tidy = graph.workspace<float>("tidy", {bins});
  graph.add<TidyBins>(x, y, tidy);
  CHECK(freeze(graph).view().tasks.size() == 1);
  auto session = open<A2A3Sim>(graph);
  const auto* seen = reinterpret_cast<const float*>(session.pair(tidy).device().address());
  for (std::int64_t i = 0; i < bins; ++i) CHECK(seen[i] == 0);
  const Floats hx(size, 1);
  Floats hy(size);
  for (int round = 0; round < 3; ++round) {
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)));
    CHECK(hy[0] == 4);
    CHECK(hy[bins - 1] == 3);
  }
  // No round zeroes it: what somebody leaves there is seen.
  const_cast<float*>(seen)[0] = 100;
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)));
  CHECK(hy[0] == 104);
}

TEST_CASE_TEMPLATE("Zeroed memory moves with the arena", P, A2A3Sim, A5SimOn<Pool>, A2A3OverStandIn) {
  const Counting g;
  auto session = open<P>(g.graph, busy_options<P>());
  CHECK(round_is_right(session, g, 1));
  const Bytes bytes = session.arena_bytes();
  const auto block = session.platform().allocate(bytes, Bytes{P::Arch::arena_alignment});
  const Floats junk(bytes.value / sizeof(float), 9);
  REQUIRE(session.platform().copy_in(block, junk.data(), bytes).ok());
  REQUIRE(session.platform().wait().ok());
  REQUIRE(session.move_arena({block, bytes.value}).ok());
  for (int round = 0; round < 3; ++round) CHECK(round_is_right(session, g, round));
  REQUIRE(session.close().ok());
  CHECK(session.platform().release(block).ok());
}

TEST_CASE("A move to memory that cannot be zeroed leaves the session where it was") {
  rondo_stand_in_reset();
  const TidyCounting g;
  const std::int64_t rows[] = {2};
  auto session = open<A2A3OverStandIn>(graph::instantiate(g.graph, rows));
  const auto check_round = [&] {
    const Floats x(2 * TidyCounting::n, 1);
    Floats y(x.size());
    REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
    CHECK(y == Floats(x.size(), 2));
  };
  const Bytes bytes = session.arena_bytes();
  const auto block = session.platform().allocate(bytes, Bytes{arch::A2A3::arena_alignment});
  const Floats junk(bytes.value / sizeof(float), 9);
  rondo_stand_in_poke(block.address(), junk.data(), bytes.value);
  check_round();
  rondo_stand_in_fault("aclrtMemsetAsync", 1, 107000);
  CHECK_FALSE(session.move_arena({block, bytes.value}).ok());
  CHECK(rondo_stand_in_faults_left() == 0);
  rondo_stand_in_clear_faults();
  check_round();
  REQUIRE(session.move_arena({block, bytes.value}).ok());
  check_round();
  REQUIRE(session.close().ok());
  CHECK(session.platform().release(block).ok());
}

TEST_CASE("A shape whose workspace could not be zeroed is zeroed by its next round") {
  rondo_stand_in_reset();
  TidyCounting g;
  auto session = open_shaped<A2A3OverStandIn>(g.graph);
  const auto run = [&](int rows) {
    const Floats x(static_cast<std::size_t>(rows) * TidyCounting::n, 1);
    Floats y(x.size());
    const Status status = session.run_round(bind(g.x, x), bind(g.y, y));
    if (status.ok()) CHECK(y == Floats(x.size(), 2));
    return status;
  };
  for (const int rows : {3, 1, 3, 1, 3}) REQUIRE(run(rows).ok());
  rondo_stand_in_fault("aclrtMemsetAsync", 1, 107000);
  CHECK_FALSE(run(1).ok());
  CHECK(rondo_stand_in_faults_left() == 0);
  rondo_stand_in_clear_faults();
  for (const int rows : {1, 3}) CHECK(run(rows).ok());
}

TEST_CASE_TEMPLATE("Rounds in flight find their zeros, though they share the workspace", P, A2A3Sim, A5SimOn<Pool>,
                   A2A3OverStandIn) {
  const Counting g;
  auto session = open_pipelined<P, 3>(g.graph, busy_options<P>());
  constexpr int rounds = 12;
  std::vector<Floats> x;
  std::vector<Result> results(rounds);
  for (int round = 0; round < rounds; ++round) x.push_back(input_of(round));
  for (std::size_t r = 0; r < rounds; ++r) {
    (void)session.submit_round(bind(g.x, x[r]), bind(g.s, results[r].s), bind(g.y, results[r].y),
                               bind(g.z, results[r].z));
  }
  REQUIRE(session.wait_all().ok());
  for (std::size_t r = 0; r < rounds; ++r) CHECK(is_right(x[r], results[r]));
}

TEST_CASE_TEMPLATE("Onboard the fill is one call of the runtime's in front of one replay", P, A2A3OverStandIn,
                   A5OverStandIn) {
  const Counting g;
  auto session = open<P>(g.graph);
  CHECK(round_is_right(session, g, 0));
  CHECK(session.platform().is_captured());
  rondo_stand_in_reset();
  for (int round = 0; round < 5; ++round) CHECK(round_is_right(session, g, round));
  // The runtime of an a2a3 sends what it sets over the bus, so zeros are copied from a block on the device there.
  CHECK(rondo_stand_in_calls("aclrtMemsetAsync") == (std::is_same_v<P, A5OverStandIn> ? 5 : 0));
  CHECK(rondo_stand_in_calls("set_through_host") == 0);
  CHECK(rondo_stand_in_calls("aclmdlRIExecuteAsync") == 5);
  CHECK(rondo_stand_in_calls("aclrtLaunchKernelV2") == 0);
}

TEST_CASE("Onboard a refused capture or replay leaves the zeros right") {
  for (const char* call : {"aclmdlRICaptureBegin", "aclmdlRIExecuteAsync"}) {
    const Counting g;
    rondo_stand_in_reset();
    rondo_stand_in_fault(call, 1, 207000);
    {
      auto session = open<A2A3OverStandIn>(g.graph);
      for (int round = 0; round < 3; ++round) CHECK(round_is_right(session, g, round));
      CHECK_FALSE(session.platform().is_captured());
    }
    rondo_stand_in_clear_faults();
  }
}

TEST_CASE_TEMPLATE("Shapes that take turns find their zeros, though each writes over the others' memory", P, A2A3Sim,
                   A5SimOn<Pool>, A2A3OverStandIn) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto t = graph.workspace<float>("t", {n * 4});
  const auto y = graph.output<float>("y", {n});
  const auto z = graph.output<float>("z", {n});
  const auto dirty = graph.workspace<float>("dirty", {n});
  const auto tidy = graph.workspace<float>("tidy", {ceil_div(n, 2)});
  graph.add_raw(
      "spread", CoreType::vector,
      +[](ArgWord* args) {
        for (std::int64_t i = 0; i < 4 * args[2]; ++i) reinterpret_cast<float*>(args[1])[i] = 5;
        (void)args[0];
      },
      reads(x), writes(t), std::int64_t{4});
  graph.add<Bins>(x, y, dirty);
  graph.add<TidyBins>(x, z, tidy);
  auto session = open_shaped<P>(graph, busy_options<P>());
  for (int round = 0; round < 24; ++round) {
    const std::size_t count = std::size_t{4} << (round % 3 + round / 12);
    Floats hx(count, 1), hy(count, -1), hz(count, -1);
    const bool shaped = round % 2 == 0;
    const auto extent = static_cast<std::int64_t>(count);
    const Status status = shaped ? session.run_round(bind(x, hx, {extent}), bind(y, hy, {extent}), bind(z, hz))
                                 : session.run_round(bind(x, hx), bind(y, hy), bind(z, hz));
    REQUIRE(status.ok());
    CHECK(hy == Floats(count, 1));
    CHECK(hz == Floats(count, 2));
  }
}

TEST_CASE("A prepared shape's self-resetting workspace is zero when its first round comes") {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const auto tidy = graph.workspace<float>("tidy", {n});
  graph.add<TidyBins>(x, y, tidy);
  auto session = open_shaped<A2A3Sim>(graph);
  session.prepare({{n, 8}});
  session.prepare({{n, 640}});
  for (const std::size_t count : {640U, 8U, 640U, 8U}) {
    Floats hx(count, 3), hy(count, -1);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    CHECK(hy == hx);
  }
}

TEST_CASE("A workspace of one byte is zeroed as well when its shape returns") {
  using Bytes8 = std::vector<std::uint8_t>;
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<std::uint8_t>("x", {n});
  const auto y = graph.output<std::uint8_t>("y", {n});
  const auto byte = graph.workspace<std::uint8_t>("byte", {1});
  graph.zero(byte, Zeroed::once);
  graph.add<TidyByte>(x, byte, y);
  auto session = open_shaped<A2A3Sim>(graph);
  for (const std::size_t count : {640U, 8U, 640U, 8U}) {
    const Bytes8 hx(count, 3);
    Bytes8 hy(count);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    CHECK(hy == hx);
  }
}

TEST_CASE("Zeros that cannot be had are refused where they are asked for, by name") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {size});
  const auto y = graph.output<float>("y", {size});
  const auto z = graph.output<float>("z", {size});
  const auto w = graph.workspace<float>("w", {bins});
  const auto refused = [&](auto call, std::string_view a, std::string_view b) {
    const std::size_t tasks = graph.tasks().size();
    try {
      call();
      FAIL("was not refused");
    } catch (const Error& error) {
      CHECK(error.code() == Errc::invalid_argument);
      CHECK(std::string_view(error.what()).find(a) != std::string_view::npos);
      CHECK(std::string_view(error.what()).find(b) != std::string_view::npos);
    }
    CHECK(graph.tasks().size() == tasks);
  };
  refused([&] { graph.add<Bins>(x, y, z); }, "'z'", "no workspace");
  graph.add<Bins>(x, y, w);
  refused([&] { graph.add<Bins>(x, z, w); }, "'w'", "of its own");
  refused([&] { graph.add<TidyBins>(x, z, w); }, "'w'", "each round and once");
  refused([&] { graph.zero(w, Zeroed::once); }, "'w'", "each round and once");
  TaskGraph other;
  const auto v = other.workspace<float>("v", {1});
  (void)other.workspace<float>("u", {1});
  refused([&] { graph.zero(v); }, "another graph", "zero");
}

namespace {
constexpr auto build_counting = [] {
  Counting g;
  return g.graph;
};
constexpr auto& counting = static_graph<build_counting>;
}  // namespace

TEST_CASE("A graph that the compiler knows has its fill as a constant") {
  static_assert(counting.view().tasks.size() == 7 && counting.view().tasks[0].fills);
  auto session = open<A2A3Sim, counting>();
  for (int round = 0; round < 4; ++round) {
    const Floats x = input_of(round);
    Result r;
    REQUIRE(session.run_round(bind(counting.input<float>("x"), x), bind(counting.output<float>("s"), r.s),
                              bind(counting.output<float>("y"), r.y), bind(counting.output<float>("z"), r.z)));
    CHECK(is_right(x, r));
  }
}

namespace {
/// Counts in three workspaces that must be zero.
struct CountInEach {
  static constexpr std::string_view name = "count_in_each";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<std::uint8_t> first, InOut<float> middle, InOut<std::uint8_t> last, Out<float> y) noexcept {
    y[0] = ++first[0];
    y[1] = middle[0] += 1;
    y[2] = ++last[0];
  }
};
}  // namespace

TEST_CASE("Workspaces of one byte are zeroed beside larger ones") {
  TaskGraph graph;
  const auto first = graph.workspace<std::uint8_t>("first", {1});
  const auto middle = graph.workspace<float>("middle", {1});
  const auto last = graph.workspace<std::uint8_t>("last", {1});
  const auto y = graph.output<float>("y", {3});
  for (const auto& tensor : {first, last}) graph.zero(tensor);
  graph.zero(middle);
  graph.add<CountInEach>(first, middle, last, y);
  auto session = open<A2A3Sim>(graph);
  for (int round = 0; round < 3; ++round) {
    Floats counts(3);
    REQUIRE(session.run_round(bind(y, counts)).ok());
    CHECK(counts == Floats(3, 1));
  }
}
