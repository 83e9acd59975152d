// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Outputs and workspaces that are evaluated instead of computed: views of inputs, outputs, workspaces and residents.

#include "kernels.hpp"
#include "platforms.hpp"

#include <rondo/graph/instantiate.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/open_static.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace rondo;

namespace {

using Floats = std::vector<float>;

struct Scale {
  static constexpr std::string_view name = "scale";
  static constexpr auto core = CoreType::vector;
  static constexpr InPlace in_place{.out = 1, .in = 0};
  static void run(In<float> x, Out<float> y, float a) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = a * x[i];
  }
};
struct Overwrite {
  static constexpr std::string_view name = "overwrite";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<float> x) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = -x[i];
  }
};

constexpr std::int64_t n = 32;

/// y = 2 x through a workspace t = x; and without a task: `forwarded` is x, `part` the second half of t, `twin` is y
/// and `middle` some of it, `weights` a resident. z = 3 (the first half of x), read through a view.
struct Viewing {
  constexpr Viewing() {
    graph.add<Scale>(x, t, 1.0F);
    graph.add<Scale>(t, y, 2.0F);
    graph.make_view(forwarded, x);
    graph.make_view(part, t, n / 2);
    graph.make_view(twin, y);
    graph.make_view(middle, y, 16);
    graph.make_view(weights, w);
    graph.make_view(half, x);
    graph.add<Scale>(half, z, 3.0F);
  }
  TaskGraph graph;
  // Outputs that are views stand before, between and after those that are none.
  Output<float> forwarded = graph.output<float>("forwarded", {n});
  Input<float> x = graph.input<float>("x", {n});
  Output<float> part = graph.output<float>("part", {n / 2});
  Output<float> y = graph.output<float>("y", {n});
  Output<float> twin = graph.output<float>("twin", {4, n / 4});
  Output<float> z = graph.output<float>("z", {n / 2});
  Output<float> middle = graph.output<float>("middle", {3});
  Output<float> weights = graph.output<float>("weights", {2});
  Workspace<float> t = graph.workspace<float>("t", {n});
  Workspace<float> half = graph.workspace<float>("half", {n / 2});
  Resident<float> w = graph.resident<float>("w", {2});
};

struct Result {
  Floats forwarded = Floats(n, -1), part = Floats(n / 2, -1), y = Floats(n, -1), twin = Floats(n, -1),
         z = Floats(n / 2, -1), middle = Floats(3, -1), weights = Floats(2, -1);
};
Floats input_of(int round) {
  Floats x(n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(100 * round + static_cast<int>(i));
  return x;
}
bool is_right(const Floats& x, const Result& r) {
  bool right = r.forwarded == x && r.twin == r.y && r.weights == Floats{7, 8};
  for (std::size_t i = 0; i < n; ++i) right = right && r.y[i] == 2 * x[i];
  for (std::size_t i = 0; i < n / 2; ++i) right = right && r.part[i] == x[n / 2 + i] && r.z[i] == 3 * x[i];
  for (std::size_t i = 0; i < 3; ++i) right = right && r.middle[i] == 2 * x[16 + i];
  return right;
}

template <class Planner>
struct PlannedBy : DefaultPolicies {
  using Plan = Planner;
};

/// What a call threw.
template <class F>
std::string refused(F&& call, Errc code = Errc::invalid_argument) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  FAIL("was not refused");
  return {};
}
bool says(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE_TEMPLATE("Views are delivered without a task, on every engine", P, A2A3Sim, A5SimOn<Pool>, A2A3SimOn<Model>,
                   A2A3SimOn<platform::sim::Checked<Pool>>, A2A3OverStandIn, A5OverStandIn) {
  const Viewing g;
  CHECK(g.graph.tasks().size() == 3);
  auto session = open<P>(g.graph, busy_options<P>());
  const Floats none(n), w{7, 8};
  {
    Result r;
    CHECK(session
              .run_round(bind(g.forwarded, r.forwarded), bind(g.x, none), bind(g.part, r.part), bind(g.y, r.y),
                         bind(g.twin, r.twin), bind(g.z, r.z), bind(g.middle, r.middle), bind(g.weights, r.weights))
              .code() == Errc::uninitialized_read);  // a view delivers the resident
  }
  REQUIRE(session.upload(g.w, w).ok());
  for (int round = 0; round < 4; ++round) {
    const Floats x = input_of(round);
    Result r;
    const Status status =
        session.run_round(bind(g.forwarded, r.forwarded), bind(g.x, x), bind(g.part, r.part), bind(g.y, r.y),
                          bind(g.twin, r.twin), bind(g.z, r.z), bind(g.middle, r.middle), bind(g.weights, r.weights));
    CAPTURE(std::string(session.explain(status).c_str()));
    REQUIRE(status.ok());
    CHECK(is_right(x, r));
  }
}

TEST_CASE_TEMPLATE("What a view shows outlives the round, however tight the plan", Planner, memory::Greedy,
                   memory::PortsLast<memory::Greedy>) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto out = graph.output<float>("out", {n});
  const auto t = graph.workspace<float>("t", {n});
  graph.add<Scale>(x, t, 2.0F);
  const auto shown = graph.output<float>("shown", {n});
  graph.make_view(shown, t);
  auto before = t;
  for (int i = 0; i < 4; ++i) {
    const auto next = graph.workspace<float>("t" + std::to_string(i), {n});
    graph.add<Scale>(before, next, 1.0F);
    before = next;
  }
  graph.add<Scale>(before, out, 1.0F);
  auto session = open<A2A3Sim, PlannedBy<Planner>>(graph);
  const Floats hx = input_of(1);
  Floats a(n), b(n);
  REQUIRE(session.run_round(bind(x, hx), bind(out, a), bind(shown, b)));
  CHECK(a == b);
  CHECK(a[1] == 2 * hx[1]);
}

TEST_CASE("A graph of nothing but views launches nothing") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.make_view(y, x);
  CHECK(freeze(graph).view().tasks.empty());
  const Floats hx = input_of(2);
  Floats hy(n);
  auto session = open<A2A3OverStandIn>(graph);
  rondo_stand_in_reset();
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)));
  CHECK(hy == hx);
  CHECK(rondo_stand_in_calls("aclmdlRIExecuteAsync") == 0);
  CHECK(rondo_stand_in_calls("aclrtLaunchKernelV2") == 0);
}

TEST_CASE_TEMPLATE("Views follow device memory that a round binds, in every way to run one", P, A2A3Sim,
                   A2A3OverStandIn) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const auto same = graph.output<float>("same", {n});
  const auto tail = graph.output<float>("tail", {n / 2});
  const auto half = graph.workspace<float>("half", {n / 2});
  graph.make_view(half, x, n / 2);
  const auto z = graph.output<float>("z", {n / 2});
  graph.add<Scale>(half, z, 1.0F);
  graph.add<Scale>(x, y, 2.0F);
  graph.make_view(same, y);
  graph.make_view(tail, x, n / 2);
  auto session = open<P>(graph);
  const Bytes bytes{sizeof(float) * n};
  const auto block = session.platform().allocate(Bytes{3 * bytes.value}, Bytes{512});
  const DeviceSpan<const float> dx{block.template as<const float>(), n};
  const DeviceSpan<float> dy{block.offset(bytes).template as<float>(), n};
  const DeviceSpan<float> elsewhere{block.offset(Bytes{2 * bytes.value}).template as<float>(), n};
  const DeviceSpan<float> dx_tail{block.offset(Bytes{bytes.value / 2}).template as<float>(), n / 2};
  const Floats at_device = input_of(5), at_host = input_of(6);
  REQUIRE(session.platform().copy_in(block, at_device.data(), bytes).ok());
  REQUIRE(session.platform().wait().ok());
  Floats hy(n), hsame(n), htail(n / 2), hz(n / 2);
  const auto right_for = [&](const Floats& from) {
    bool right = hsame[3] == 2 * from[3];
    for (std::size_t i = 0; i < n / 2; ++i) right = right && htail[i] == from[n / 2 + i] && hz[i] == htail[i];
    hsame.assign(n, -1), htail.assign(n / 2, -1), hz.assign(n / 2, -1);
    return right;
  };

  // Device memory in, host memory out.
  REQUIRE(session.run_round(bind(x, dx), bind(y, hy), bind(same, hsame), bind(tail, htail), bind(z, hz)));
  CHECK(right_for(at_device));
  // The source of a view at the device, the view to the host.
  REQUIRE(session.run_round(bind(x, dx), bind(y, dy), bind(same, hsame), bind(tail, htail), bind(z, hz)));
  CHECK(right_for(at_device));
  // Back to the host.
  REQUIRE(session.run_round(bind(x, at_host), bind(y, hy), bind(same, hsame), bind(tail, htail), bind(z, hz)));
  CHECK(right_for(at_host));
  // Step by step, and prebound.
  {
    auto bound = session.begin_round(bind(x, dx), bind(y, dy), bind(same, hsame), bind(tail, htail), bind(z, hz));
    REQUIRE(std::move(bound).launch().finish().status().ok());
    CHECK(right_for(at_device));
  }
  const auto prebound = session.prebind(bind(x, dx), bind(y, dy), bind(same, hsame), bind(tail, htail), bind(z, hz));
  REQUIRE(session.run_round(prebound));
  CHECK(right_for(at_device));
  // The view's own device memory must be its source's.
  CHECK(session.run_round(bind(x, dx), bind(y, dy), bind(same, dy), bind(tail, dx_tail), bind(z, hz)).ok());
  CHECK(session.run_round(bind(x, dx), bind(y, dy), bind(same, elsewhere), bind(tail, htail), bind(z, hz)).code() ==
        Errc::alias_broken);
  CHECK(session.run_round(bind(x, at_host), bind(y, dy), bind(same, dy), bind(tail, dx_tail), bind(z, hz)).code() ==
        Errc::alias_broken);
  // A held input stays where it was.
  REQUIRE(session.run_round(bind(x, dx), bind(y, hy), bind(same, hsame), bind(tail, htail), bind(z, hz)));
  REQUIRE(session.hold(x).ok());
  REQUIRE(session.run_round(bind(x, at_host), bind(y, hy), bind(same, hsame), bind(tail, htail), bind(z, hz)));
  CHECK(right_for(at_device));
  REQUIRE(session.close().ok());
  CHECK(session.platform().release(block).ok());
}

TEST_CASE_TEMPLATE("Views move with the arena", P, A2A3Sim, A2A3OverStandIn) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const auto t = graph.workspace<float>("t", {n});
  const auto part = graph.output<float>("part", {n / 2});
  const auto head = graph.output<float>("head", {2});
  graph.add<Scale>(x, t, 2.0F);
  graph.add<Scale>(t, y, 2.0F);
  graph.make_view(part, t, n / 2);
  graph.make_view(head, x);
  auto session = open<P>(graph);
  DevicePtr<std::byte> block;
  Floats hy(n), hpart(n / 2), hhead(2);
  for (int round = 0; round < 4; ++round) {
    const Floats hx = input_of(round);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy), bind(part, hpart), bind(head, hhead)));
    CHECK(hy[5] == 4 * hx[5]);
    CHECK(hpart[3] == 2 * hx[n / 2 + 3]);
    CHECK(hhead[1] == hx[1]);
    if (round != 1) continue;
    const Bytes bytes = session.arena_bytes();
    block = session.platform().allocate(bytes, Bytes{P::Arch::arena_alignment});
    REQUIRE(session.move_arena({block, bytes.value}).ok());
  }
  REQUIRE(session.close().ok());
  CHECK(session.platform().release(block).ok());
}

TEST_CASE_TEMPLATE("Rounds in flight each deliver their own views", P, A2A3Sim, A5SimOn<Pool>, A2A3OverStandIn) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto t = graph.workspace<float>("t", {n});
  const auto y = graph.output<float>("y", {n});
  const auto part = graph.output<float>("part", {n / 2});
  const auto forwarded = graph.output<float>("forwarded", {n});
  graph.add<Scale>(x, t, 2.0F);
  graph.add<Scale>(t, y, 2.0F);
  graph.make_view(part, t, n / 2);
  graph.make_view(forwarded, x);
  auto session = open_pipelined<P, 3>(graph, busy_options<P>());
  constexpr std::size_t rounds = 12;
  std::vector<Floats> hx, hy(rounds, Floats(n)), hpart(rounds, Floats(n / 2)), hforwarded(rounds, Floats(n));
  for (std::size_t r = 0; r < rounds; ++r) hx.push_back(input_of(static_cast<int>(r)));
  for (std::size_t r = 0; r < rounds; ++r) {
    (void)session.submit_round(bind(x, hx[r]), bind(y, hy[r]), bind(part, hpart[r]), bind(forwarded, hforwarded[r]));
  }
  REQUIRE(session.wait_all().ok());
  for (std::size_t r = 0; r < rounds; ++r) {
    CHECK(hforwarded[r] == hx[r]);
    CHECK(hy[r][5] == 4 * hx[r][5]);
    CHECK(hpart[r][3] == 2 * hx[r][n / 2 + 3]);
  }
}

namespace {

std::atomic<int> doubled{0};  ///< the number of tasks that are done

struct Double {
  static constexpr std::string_view name = "double";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
    ++doubled;
  }
};

}  // namespace

TEST_CASE_TEMPLATE("A view of device memory that a round binds is delivered before a later round writes it", P, A2A3Sim,
                   A5SimOn<Pool>, A2A3OverStandIn) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const auto tail = graph.output<float>("tail", {n / 2});
  const auto forwarded = graph.output<float>("forwarded", {n});
  graph.add<Double>(x, y);
  graph.make_view(tail, y, n / 2);
  graph.make_view(forwarded, x);
  auto session = open_pipelined<P, 3>(graph, busy_options<P>());
  auto a = session.allocate(x);
  auto b = session.allocate(y);
  const Floats first = input_of(1), second = input_of(2);
  doubled = 0;
  Floats tails[3] = {Floats(n / 2), Floats(n / 2), Floats(n / 2)}, all[3] = {Floats(n), Floats(n), Floats(n)};
  REQUIRE(session.upload(a, first).ok());
  const auto submit = [&](auto& from, auto& to, int round) {
    REQUIRE(session.submit_round(bind(x, from), bind(y, to), bind(tail, tails[round]), bind(forwarded, all[round])));
  };
  submit(a, b, 0);
  submit(b, a, 1);       // writes what the first round forwards
  submit(second, b, 2);  // writes what the second round forwards, and the first one's tail
  // Nothing that is still to be delivered may be lost when all rounds have run.
  if constexpr (!requires { P::runs_over_stand_in; }) {
    for (int i = 0; doubled.load() < 3 && i < 1'000'000; ++i) std::this_thread::yield();
  }
  REQUIRE(session.wait_all().ok());
  CHECK(all[0] == first);
  CHECK(tails[0][3] == 2 * first[n / 2 + 3]);
  CHECK(all[1][5] == 2 * first[5]);
  CHECK(tails[1][3] == 4 * first[n / 2 + 3]);
  CHECK(all[2] == second);
  CHECK(tails[2][3] == 2 * second[n / 2 + 3]);
}

TEST_CASE("Several rounds are in flight again after one that delivers a view of memory that it binds") {
  TaskGraph graph;
  const Dim size = graph.dim("size");
  const auto x = graph.input<float>("x", {size});
  const auto y = graph.output<float>("y", {size});
  const auto forwarded = graph.output<float>("forwarded", {size});
  graph.add<Scale>(x, y, 2.0F);
  graph.make_view(forwarded, x);
  auto session = open_shaped<A2A3Sim, DefaultPolicies, launch::Lru<8>, 3>(graph);
  Floats in(n, 1), out(n), shown(n);
  const auto most_of = [&](auto&& from, auto&& to) {
    std::size_t most = 0;
    for (int i = 0; i < 8; ++i) {
      REQUIRE(session.submit_round(bind(x, from), bind(y, out), bind(forwarded, to)));
      most = std::max(most, session.in_flight());
    }
    REQUIRE(session.wait_all().ok());
    return most;
  };
  CHECK(most_of(in, shown) == 3);
  auto array = session.allocate(x, Shape{n});
  REQUIRE(session.upload(array, in).ok());
  CHECK(most_of(array, shown) == 1);
  CHECK(most_of(array, array) == 3);
  CHECK(most_of(in, shown) == 3);
}

TEST_CASE("Several rounds are in flight as soon as what views show is in the arena again") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const auto forwarded = graph.output<float>("forwarded", {n});
  graph.add<Scale>(x, y, 2.0F);
  graph.make_view(forwarded, x);
  auto session = open_pipelined<A2A3Sim, 2>(graph);
  auto array = session.allocate(x);
  const Floats in(n, 1);
  Floats out(n), shown(n);
  REQUIRE(session.upload(array, in).ok());
  const auto submit_two = [&](auto& from) {
    for (int round = 0; round < 2; ++round) {
      REQUIRE(session.submit_round(bind(x, from), bind(y, out), bind(forwarded, shown)));
    }
    const std::size_t in_flight = session.in_flight();
    CHECK(session.wait_all().ok());
    CHECK(shown == in);
    return in_flight;
  };
  CHECK(submit_two(array) == 1);
  CHECK(submit_two(in) == 2);
}

TEST_CASE_TEMPLATE("Rounds in flight deliver views of a resident and of zeroed workspace as each round leaves them", P,
                   A2A3Sim, A5SimOn<Pool>, A2A3SimOn<Model>, A2A3SimOn<platform::sim::Checked<Pool>>, A2A3OverStandIn,
                   A5OverStandIn) {
  const Viewing g;
  auto session = open_pipelined<P, 3>(g.graph, busy_options<P>());
  REQUIRE(session.upload(g.w, Floats{7, 8}).ok());
  constexpr std::size_t rounds = 12;
  std::vector<Floats> x;
  std::vector<Result> results(rounds);
  for (std::size_t i = 0; i < rounds; ++i) x.push_back(input_of(static_cast<int>(i)));
  for (std::size_t i = 0; i < rounds; ++i) {
    Result& r = results[i];
    REQUIRE(session.submit_round(bind(g.forwarded, r.forwarded), bind(g.x, x[i]), bind(g.part, r.part), bind(g.y, r.y),
                                 bind(g.twin, r.twin), bind(g.z, r.z), bind(g.middle, r.middle),
                                 bind(g.weights, r.weights)));
  }
  REQUIRE(session.wait_all().ok());
  for (std::size_t i = 0; i < rounds; ++i) CHECK(is_right(x[i], results[i]));

  // Each round changes both: a round that came too early would deliver the next one's.
  TaskGraph graph;
  const auto in = graph.input<float>("in", {n});
  const auto r = graph.resident<float>("r", {n});
  const auto shown = graph.output<float>("shown", {n});
  const auto z = graph.workspace<float>("z", {n});
  const auto zero_shown = graph.output<float>("zero_shown", {n});
  graph.add<kernels::Accumulate>(in, r);
  graph.make_view(shown, r);
  graph.zero(z);
  graph.add<kernels::Accumulate>(in, z);
  graph.make_view(zero_shown, z);
  auto changing = open_pipelined<P, 3>(graph, busy_options<P>());
  REQUIRE(changing.upload(r, Floats(n, 0)).ok());
  std::vector<Floats> sums(rounds, Floats(n)), ins(rounds, Floats(n));
  for (std::size_t i = 0; i < rounds; ++i) {
    const Floats value(n, static_cast<float>(i + 1));
    REQUIRE(changing.submit_round(bind(in, value), bind(shown, sums[i]), bind(zero_shown, ins[i])));
  }
  REQUIRE(changing.wait_all().ok());
  float sum = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    sum += static_cast<float>(i + 1);
    CHECK(sums[i] == Floats(n, sum));
    CHECK(ins[i] == Floats(n, static_cast<float>(i + 1)));
  }
}

TEST_CASE_TEMPLATE("A view whose place depends on the shape is found with the shape", P, A2A3Sim, A5SimOn<Pool>,
                   A2A3OverStandIn) {
  TaskGraph graph;
  const Dim rows = graph.dim("rows");
  const auto x = graph.input<float>("x", {rows, 16});
  const auto y = graph.output<float>("y", {rows, 16});
  const auto last = graph.output<float>("last", {min(rows, 2), 16});
  const auto half = graph.workspace<float>("half", {rows - rows / 2, 16});
  const auto z = graph.output<float>("z", {rows - rows / 2, 16});
  graph.add<Scale>(x, y, 2.0F);
  graph.make_view(last, y, (rows - min(rows, 2)) * 16);
  graph.make_view(half, x, rows / 2 * 16);
  graph.add<Scale>(half, z, 3.0F);
  auto session = open_shaped<P>(graph, busy_options<P>());
  for (const std::size_t count : {6U, 2U, 1U, 33U, 6U, 2U, 33U}) {
    const std::size_t shown = count < 2 ? count : 2;
    const std::size_t rest = count - count / 2;
    Floats hx(16 * count), hy(16 * count), hlast(16 * shown, -1), hz(16 * rest, -1);
    for (std::size_t i = 0; i < hx.size(); ++i) hx[i] = static_cast<float>(i + count);
    const Status status = session.run_round(bind(x, hx), bind(y, hy), bind(last, hlast), bind(z, hz));
    CAPTURE(std::string(session.explain(status).c_str()));
    REQUIRE(status.ok());
    for (std::size_t i = 0; i < hlast.size(); ++i) CHECK(hlast[i] == 2 * hx[hx.size() - hlast.size() + i]);
    for (std::size_t i = 0; i < hz.size(); ++i) CHECK(hz[i] == 3 * hx[16 * (count / 2) + i]);
  }
  CHECK(session.entries() == 4);
}

TEST_CASE("A view beyond the end of its source is refused, where the sizes are known by name and values") {
  TaskGraph graph;
  const Dim a = graph.dim("a");
  const Dim b = graph.dim("b");
  const auto x = graph.input<float>("x", {a});
  const auto y = graph.output<float>("y", {4});
  graph.make_view(y, x, b);
  const auto z = graph.output<float>("z", {b});
  graph.add<Scale>(graph.input<float>("w", {b}), z, 1.0F);
  const auto with = [&](std::int64_t va, std::int64_t vb) {
    const std::int64_t values[] = {va, vb};
    (void)freeze(instantiate(graph, values));
  };
  with(8, 4);
  const std::string text = refused([&] { with(8, 5); });
  CHECK(says(text, "'y'"));
  CHECK(says(text, "a = 8, b = 5"));
  TaskGraph plain;
  const auto px = plain.input<float>("x", {8});
  const auto py = plain.output<float>("y", {4});
  CHECK(says(refused([&] { plain.make_view(py, px, 5); }), "beyond the 8 of 'x'"));
  CHECK(says(refused([&] { plain.make_view(py, px, -1); }), "negative"));
  plain.make_view(py, px, 4);
}

TEST_CASE("A source that is written later, or a view that is written at all, is refused with view and task") {
  {
    TaskGraph graph;
    const auto s = graph.inout<float>("s", {n});
    const auto early = graph.output<float>("early", {n});
    graph.make_view(early, s);
    graph.add<Overwrite>(s);
    const std::string text = refused([&] { (void)freeze(graph); });
    CHECK(says(text, "'early' is a view of 's'"));
    CHECK(says(text, "'overwrite' writes that later"));
  }
  {
    TaskGraph graph;
    const auto s = graph.inout<float>("s", {n});
    const auto late = graph.output<float>("late", {n});
    graph.add<Overwrite>(s);
    graph.make_view(late, s);
    auto session = open<A2A3Sim>(graph);
    Floats hs(n, 3), hl(n);
    REQUIRE(session.run_round(bind(s, hs), bind(late, hl)));
    CHECK(hl == Floats(n, -3));
  }
  {  // an output that reuses the input's memory writes it
    TaskGraph graph;
    const auto x = graph.input<float>("x", {n});
    const auto y = graph.output<float>("y", {n});
    const auto shown = graph.output<float>("shown", {n});
    graph.alias(y, x);
    graph.make_view(shown, x);
    graph.add<Scale>(x, y, 2.0F);
    CHECK(says(refused([&] { (void)freeze(graph); }), "'shown' is a view of 'x'"));
  }
  {
    TaskGraph graph;
    const auto x = graph.input<float>("x", {n});
    const auto y = graph.output<float>("y", {n});
    graph.make_view(y, x);
    graph.add<Scale>(x, y, 2.0F);
    CHECK(says(refused([&] { (void)freeze(graph); }), "writes it"));
  }
  {
    TaskGraph graph;
    const auto t = graph.workspace<float>("t", {n});
    const auto y = graph.output<float>("y", {n});
    graph.make_view(y, t);
    CHECK(says(refused([&] { (void)freeze(graph); }), "'y'"));  // nobody writes t
  }
}

TEST_CASE("What cannot be a view is refused where it is declared") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const auto z = graph.output<float>("z", {n});
  const auto u = graph.output<float>("u", {n});
  const auto w = graph.workspace<float>("w", {n});
  graph.add<Scale>(x, y, 2.0F);
  CHECK(says(refused([&] { graph.make_view(y, x); }), "a task uses tensor 'y' already"));
  graph.make_view(z, x);
  CHECK(says(refused([&] { graph.make_view(z, y); }), "'z' is a view already"));
  CHECK(says(refused([&] { graph.make_view(u, u); }), "of itself"));
  CHECK(says(refused([&] { graph.alias(z, x); }), "is a view"));
  graph.zero(w);
  CHECK(says(refused([&] { graph.make_view(w, x); }), "memory of its own"));
  TaskGraph other;
  const auto foreign = other.output<float>("foreign", {n});
  CHECK(says(refused([&] { graph.make_view(foreign, x); }), "another graph"));
  // A view of a view is one of what that shows.
  graph.make_view(u, z);
  CHECK(graph.tensors()[index(u.key.tensor())].view_of == index(x.key.tensor()));
  // Copies and kernels take what starts where tensors do.
  TaskGraph odd;
  const auto ox = odd.input<float>("x", {n});
  const auto ow = odd.workspace<float>("w", {2});
  odd.make_view(ow, ox, 1);
  odd.add<Scale>(ow, odd.output<float>("y", {2}), 1.0F);
  CHECK(says(refused([&] { (void)open<A2A3Sim>(odd); }, Errc::misaligned), "starts at byte 4 of 'x'"));
}

namespace {
constexpr auto build_viewing = [] {
  Viewing g;
  return g.graph;
};
constexpr auto& viewing = static_graph<build_viewing>;
}  // namespace

TEST_CASE("Views of a graph that the compiler knows are constants") {
  auto session = open<A2A3Sim, viewing>();
  const Floats w{7, 8};
  REQUIRE(session.upload(viewing.resident<float>("w"), w).ok());
  for (int round = 0; round < 3; ++round) {
    const Floats x = input_of(round);
    Result r;
    REQUIRE(session.run_round(bind(viewing.output<float>("forwarded"), r.forwarded), bind(viewing.input<float>("x"), x),
                              bind(viewing.output<float>("part"), r.part), bind(viewing.output<float>("y"), r.y),
                              bind(viewing.output<float>("twin"), r.twin), bind(viewing.output<float>("z"), r.z),
                              bind(viewing.output<float>("middle"), r.middle),
                              bind(viewing.output<float>("weights"), r.weights)));
    CHECK(is_right(x, r));
  }
}
