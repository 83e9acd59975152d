// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Addresses that change between rounds, as a user meets them: device memory bound for a round, host inputs inside the
// args table, held inputs, declared aliases, an arena that moves; with every mechanism, on each chip and engine.

#include "conformance/device_floats.hpp"
#include "conformance/kernels.hpp"
#include "conformance/platforms.hpp"
#include "unit/support.hpp"

#include <rondo/observe/counters.hpp>
#include <rondo/platform/sim/pool.hpp>

#include <by_cost_on_device.hpp>
#include <count_traffic.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace rondo;
using update::Mechanism;

namespace {

using Traffic = test::CountTraffic;
using Floats = std::vector<float>;

template <class Choice, class Strategy = update::Auto>
struct By : DefaultPolicies {
  using Update = Strategy;
  using Refresh = Choice;
};
template <class Platform, class Pol>
struct On {
  using P = Platform;
  using Policies = Pol;
};
#define RONDO_TEST_ROUNDS                                                                             \
  On<A2A3SimOn<Inline, Traffic>, DefaultPolicies>,                                                    \
      On<A2A3SimOn<Inline, Traffic>, By<update::Always<Mechanism::segment_copy>>>,                    \
      On<A5SimOn<Inline, Traffic>, By<update::Always<Mechanism::device_op>>>,                         \
      On<A5SimOn<Pool, Traffic>, By<update::Always<Mechanism::in_launch>>>,                           \
      On<A5SimOn<Inline, Traffic>, By<test::ByCostOnDevice<>, update::InitOnce>>,                     \
      On<A2A3SimOn<Pool, Traffic>, By<test::ByCostOnDevice<>>>, On<A2A3OverStandIn, DefaultPolicies>, \
      On<A5OverStandIn, By<update::Always<Mechanism::segment_copy>>>,                                 \
      On<A5OverStandIn, By<update::Always<Mechanism::segment_copy>, update::InitOnce>>,               \
      On<A2A3ThatComputes, By<update::Always<Mechanism::device_op>>>,                                 \
      On<A5ThatComputes, By<update::Always<Mechanism::device_op>>>,                                   \
      On<A2A3ThatComputes, By<update::Always<Mechanism::in_launch>>>,                                 \
      On<A5ThatComputes, By<update::Always<Mechanism::in_launch>>>, On<A2A3ThatComputes, By<update::ByCost<>>>

/// y = 3 (x + w), s += x, through a workspace.
struct Graph {
  Graph() {
    const auto sum = graph.workspace<float>("sum", {n});
    graph.add<kernels::Add>(x, w, sum);
    scale = graph.add<kernels::Scale>(sum, y, 3.0F);
    graph.add<kernels::Accumulate>(x, s);
  }
  static constexpr std::size_t n = 8;
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {n});
  Input<float> w = graph.input<float>("w", {n});
  Output<float> y = graph.output<float>("y", {n});
  InputOutput<float> s = graph.inout<float>("s", {n});
  TaskId scale{};
};

/// z[0] = y[position[0]]
struct Pick {
  static constexpr std::string_view name = "pick";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> y, In<std::int32_t> position, Out<float> z) noexcept {
    z[0] = y[static_cast<std::size_t>(position[0])];
  }
};

}  // namespace

TEST_CASE_TEMPLATE("Rounds bind host and device memory in any mixture, each with its own result", T,
                   RONDO_TEST_ROUNDS) {
  Graph g;
  auto session = open<typename T::P, typename T::Policies>(g.graph, busy_options<typename T::P>());
  std::vector<DeviceFloats<typename T::P>> device;
  for (int i = 0; i < 8; ++i) device.emplace_back(session.platform(), Graph::n);
  for (int round = 0; round < 200; ++round) {
    const auto value = static_cast<float>(round);
    Floats x(Graph::n, value), w(Graph::n, 1), y(Graph::n, -1), s(Graph::n, 10);
    const auto r = static_cast<std::size_t>(round);
    DeviceFloats<typename T::P>&dx = device[r % 2], &dy = device[2 + r % 3], &ds = device[5 + r % 3];
    dx.fill(value);
    dy.fill(-1);
    ds.fill(10);
    Status status;
    switch (round % 7) {
      case 0: status = session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)); break;
      case 1: status = session.run_round(bind(g.x, dx.span()), bind(g.w, w), bind(g.y, y), bind(g.s, s)); break;
      case 2: status = session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, dy.span()), bind(g.s, s)); break;
      case 3: status = session.run_round(bind(g.s, ds.span()), bind(g.y, dy.span()), bind(g.w, w), bind(g.x, x)); break;
      case 4: {
        const auto bound = session.prebind(bind(g.x, dx.span()), bind(g.w, w), bind(g.y, dy.span()), bind(g.s, s));
        status = session.run_round(bound);
        break;
      }
      case 5: {
        const auto bound = session.prebind(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s));
        status = session.run_round(bound);
        break;
      }
      default:
        status = session.begin_round(bind(g.x, dx.span()), bind(g.w, w), bind(g.y, y), bind(g.s, ds.span()))
                     .launch()
                     .finish()
                     .status();
        break;
    }
    REQUIRE(status.ok());
    const bool device_y = round % 7 == 2 || round % 7 == 3 || round % 7 == 4;
    const bool device_s = round % 7 == 3 || round % 7 == 6;
    REQUIRE((device_y ? dy.values() : y) == Floats(Graph::n, 3 * (value + 1)));
    REQUIRE((device_s ? ds.values() : s) == Floats(Graph::n, 10 + value));
    REQUIRE((device_y ? y : dy.values()) == Floats(Graph::n, -1));
  }
}

TEST_CASE("Device memory is not copied, and a round that repeats it refreshes nothing") {
  Graph g;
  auto session = open<A2A3SimOn<Inline, Traffic>, By<update::Always<Mechanism::segment_copy>>>(g.graph);
  CHECK(session.refreshed().level == UpdateLevel::init);
  auto& p = session.platform();
  DeviceFloats x(p, Graph::n, 2), w(p, Graph::n, 1), y(p, Graph::n), s(p, Graph::n), other(p, Graph::n, 5);
  const auto run = [&](auto& in) {
    return session.run_round(bind(g.x, in.span()), bind(g.w, w.span()), bind(g.y, y.span()), bind(g.s, s.span()));
  };
  REQUIRE(run(x).ok());
  CHECK(session.refreshed().level == UpdateLevel::model_io);
  CHECK(session.refreshed().slots == 5);  // x twice, w, y, s
  const auto before = session.platform().traffic();
  REQUIRE(run(x).ok());
  CHECK(session.refreshed().level == UpdateLevel::none);
  CHECK(session.platform().traffic().bytes_in == before.bytes_in);
  CHECK(session.platform().traffic().copies_in == before.copies_in);
  CHECK(session.platform().traffic().bytes_out == 0);
  REQUIRE(run(other).ok());
  CHECK(session.refreshed().slots == 2);
  CHECK(session.refreshed().bytes == 64);  // the two tasks that use x stand together
  CHECK(session.platform().traffic().bytes_in == before.bytes_in + session.refreshed().bytes);
  CHECK(y.values() == Floats(Graph::n, 18));
}

TEST_CASE_TEMPLATE("Device memory that cannot be bound is refused, and nothing has changed", T, RONDO_TEST_ROUNDS) {
  Graph g;
  auto session = open<typename T::P, typename T::Policies>(g.graph, busy_options<typename T::P>());
  Floats x(Graph::n, 2), w(Graph::n, 1), y(Graph::n), s(Graph::n);
  DeviceFloats d(session.platform(), 2 * Graph::n);
  const auto refused = [&](DeviceSpan<float> dy) {
    return session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, dy), bind(g.s, s)).code();
  };
  const auto at = [&](std::size_t i) { return DevicePtr<float>{d.span().data().address() + 4 * i}; };
  CHECK(refused({at(0), Graph::n - 1}) == Errc::wrong_size);
  CHECK(refused({at(0), sizeof(float) * sizeof(float) * Graph::n}) == Errc::wrong_size);
  CHECK(refused({at(0), (std::uint64_t{1} << 62) + Graph::n}) == Errc::wrong_size);  // as many bytes, were they to wrap
  CHECK(refused({at(1), Graph::n}) == Errc::misaligned);
  CHECK(refused({DevicePtr<float>{}, Graph::n}) == Errc::null_memory);
  const DeviceSpan<float> front{at(0), Graph::n};
  CHECK(session.run_round(bind(g.x, front), bind(g.w, w), bind(g.y, front), bind(g.s, s)).code() == Errc::overlapping);
  CHECK(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, front)).code() == Errc::unbound_tensor);
  CHECK(session.prebind(bind(g.x, x), bind(g.w, w), bind(g.y, front), bind(g.s, front)).status().code() ==
        Errc::overlapping);
  CHECK(d.values() == Floats(2 * Graph::n, 0));
  CHECK(session.run_round(bind(g.x, front), bind(g.w, front), bind(g.y, y), bind(g.s, s)).ok());  // both only read
  CHECK(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
  CHECK(y == Floats(Graph::n, 9));
}

TEST_CASE_TEMPLATE("A host input rides in the args table: no copy of its own, the value of its round", T,
                   RONDO_TEST_ROUNDS) {
  TaskGraph graph;
  const auto y = graph.input<float>("y", {16});
  const auto position = graph.host_input<std::int32_t>("position", {1});
  const auto z = graph.output<float>("z", {1});
  graph.add<Pick>(y, position, z);
  auto session = open<typename T::P, typename T::Policies>(graph, busy_options<typename T::P>());
  Floats values(16);
  for (std::size_t i = 0; i < 16; ++i) values[i] = static_cast<float>(100 + i);
  float picked = 0;
  const std::int32_t three = 3;
  const auto bound = session.prebind(bind(y, values), bind(position, three), bind(z, picked));
  REQUIRE(bound);
  for (std::int32_t round = 0; round < 100; ++round) {
    const std::int32_t p = round * 5 % 16;
    REQUIRE(session.run_round(bind(y, values), bind(position, p), bind(z, picked)).ok());
    REQUIRE(picked == static_cast<float>(100 + p));
    if (round % 10 == 0) {
      REQUIRE(session.run_round(bound).ok());
      REQUIRE(picked == 103);
    }
  }
}

TEST_CASE("Host inputs alone cost their own partition, in the launch or beside it") {
  TaskGraph graph;
  const auto y = graph.input<float>("y", {16});
  const auto position = graph.host_input<std::int32_t>("position", {1});
  const auto z = graph.output<float>("z", {1});
  graph.add<Pick>(y, position, z);
  using P = A5SimOn<Inline, Traffic>;
  P memory({});  // simulated devices read each other's memory
  DeviceFloats dy(memory, 16, 4), dz(memory, 8);
  const DeviceSpan<float> one{dz.span().data(), 1};
  const auto round = [&](auto& session, std::int32_t p) {
    return session.run_round(bind(y, dy.span()), bind(position, p), bind(z, one)).ok();
  };
  {
    auto session = open<P, By<update::Always<Mechanism::segment_copy>>>(graph);
    REQUIRE(round(session, 1));
    REQUIRE(round(session, 2));
    CHECK(session.refreshed().level == UpdateLevel::host_input);
    CHECK(session.refreshed().bytes == 32);
  }
  {
    auto session = open<P, By<update::Always<Mechanism::in_launch>>>(graph);
    REQUIRE(round(session, 1));
    const auto before = session.platform().traffic();
    REQUIRE(round(session, 2));
    CHECK(session.refreshed().bytes == 80 + 64 + 32);  // the launch, six bases, the host input
    CHECK(session.platform().traffic().bytes_in == before.bytes_in);
    CHECK(session.platform().traffic().launch_bytes == before.launch_bytes + 176);
  }
}

TEST_CASE_TEMPLATE("An input whose memory others use within a round cannot be held, in device memory it can", T,
                   RONDO_TEST_ROUNDS) {
  Graph g;
  auto session = open<typename T::P, typename T::Policies>(g.graph, busy_options<typename T::P>());
  Floats x(Graph::n, 2), w(Graph::n, 1), y(Graph::n), s(Graph::n);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
  const Status refused = session.hold(g.w);
  CHECK(refused.code() == Errc::shared_memory);
  CHECK(std::string_view(session.explain(refused).c_str()).find("'w'") != std::string_view::npos);
  DeviceFloats dw(session.platform(), Graph::n, 50);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.w, dw.span()), bind(g.y, y), bind(g.s, s)).ok());
  CHECK(session.hold(g.w).ok());
  REQUIRE(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
  CHECK(y == Floats(Graph::n, 156));
}

TEST_CASE_TEMPLATE("A held input stays as the last round left it, until it is released", T, RONDO_TEST_ROUNDS) {
  Graph g;
  g.graph.keep(g.w);
  auto session = open<typename T::P, typename T::Policies>(g.graph, busy_options<typename T::P>());
  Floats x(Graph::n, 2), w(Graph::n, 1), y(Graph::n), s(Graph::n);
  CHECK(session.hold(g.w).code() == Errc::unbound_tensor);
  const auto round = [&] { return session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok(); };
  REQUIRE(round());
  REQUIRE(session.hold(g.w).ok());
  w.assign(Graph::n, 100);
  const auto bytes_in = [&] {
    if constexpr (requires { session.platform().traffic(); }) return session.platform().traffic().bytes_in;
    return std::uint64_t{0};
  };
  const auto copied = bytes_in();
  REQUIRE(round());
  CHECK(y == Floats(Graph::n, 9));
  if constexpr (!std::is_same_v<typename T::Policies::Update, update::InitOnce>) {
    if (copied != 0) CHECK(bytes_in() == copied + 2 * 4 * Graph::n);  // x and s, not w
  }
  DeviceFloats dw(session.platform(), Graph::n, 50);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.w, dw.span()), bind(g.y, y), bind(g.s, s)).ok());
  CHECK(y == Floats(Graph::n, 9));
  REQUIRE(session.release_hold(g.w).ok());
  REQUIRE(session.run_round(bind(g.x, x), bind(g.w, dw.span()), bind(g.y, y), bind(g.s, s)).ok());
  CHECK(y == Floats(Graph::n, 156));
  REQUIRE(session.hold(g.w).ok());  // in device memory
  REQUIRE(round());
  CHECK(y == Floats(Graph::n, 156));
  CHECK(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, dw.span()), bind(g.s, s)).code() == Errc::overlapping);
  CHECK(dw.values() == Floats(Graph::n, 50));
  DeviceFloats other_y(session.platform(), Graph::n);
  const auto bound = session.prebind(bind(g.x, x), bind(g.w, other_y.span()), bind(g.y, other_y.span()), bind(g.s, s));
  REQUIRE(session.run_round(bound).ok());
  CHECK(other_y.values() == Floats(Graph::n, 156));
  REQUIRE(session.release_hold(g.w).ok());
  CHECK(session.run_round(bound).code() == Errc::overlapping);  // its binding of w counts again
  REQUIRE(round());
  CHECK(y == Floats(Graph::n, 306));
  Graph other;
  CHECK(session.hold(other.w).code() == Errc::wrong_tensor);
}

TEST_CASE_TEMPLATE("An output that reuses an input's memory is bound to the same memory, each round", T,
                   RONDO_TEST_ROUNDS) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto z = graph.output<float>("z", {8});
  const auto y = graph.output<float>("y", {8});
  graph.alias(y, x);
  graph.add<kernels::Scale>(x, z, 10.0F);
  graph.add<kernels::Scale>(x, y, 2.0F);  // in place
  auto session = open<typename T::P, typename T::Policies>(graph, busy_options<typename T::P>());
  Floats h(8, 1), hz(8), other(8);
  CHECK(session.run_round(bind(x, h), bind(z, hz), bind(y, other)).code() == Errc::alias_broken);
  REQUIRE(session.run_round(bind(x, h), bind(z, hz), bind(y, h)).ok());
  CHECK(h == Floats(8, 2));
  CHECK(hz == Floats(8, 10));
  DeviceFloats d(session.platform(), 8, 5), e(session.platform(), 8, 5);
  CHECK(session.run_round(bind(x, d.span()), bind(z, hz), bind(y, e.span())).code() == Errc::alias_broken);
  CHECK(session.run_round(bind(x, d.span()), bind(z, hz), bind(y, h)).code() == Errc::alias_broken);
  for (int round = 1; round <= 3; ++round) {
    REQUIRE(session.run_round(bind(x, d.span()), bind(z, hz), bind(y, d.span())).ok());
    CHECK(d.values() == Floats(8, 5.0F * static_cast<float>(1 << round)));
  }
}

TEST_CASE_TEMPLATE("An arena moves between rounds; residents wait for their upload, and prebindings are refused", T,
                   RONDO_TEST_ROUNDS) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto total = graph.resident<float>("total", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<kernels::Accumulate>(x, total);
  graph.add<kernels::Scale>(total, y, 1.0F);
  auto session = open<typename T::P, typename T::Policies>(graph, busy_options<typename T::P>());
  Floats hx(8, 1), hy(8);
  REQUIRE(session.upload(total, Floats(8, 10)).ok());
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  const auto bound = session.prebind(bind(x, hx), bind(y, hy));
  std::vector<std::unique_ptr<DeviceFloats<typename T::P>>> arenas;
  for (int move = 0; move < 3; ++move) {
    DeviceFloats<typename T::P>& arena =
        *arenas.emplace_back(std::make_unique<DeviceFloats<typename T::P>>(session.platform(), 1024));
    const DeviceSpan<std::byte> bytes{arena.span().data().template as<std::byte>(), 4096};
    CHECK(session.move_arena({bytes.data(), 8}).code() == Errc::wrong_size);
    CHECK(session.move_arena({bytes.data().offset(Bytes{64}), 4000}).code() == Errc::misaligned);
    REQUIRE(session.move_arena(bytes).ok());
    CHECK(session.run_round(bind(x, hx), bind(y, hy)).code() == Errc::uninitialized_read);
    REQUIRE(session.upload(total, Floats(8, 100)).ok());
    CHECK(session.hold(x).code() == Errc::unbound_tensor);  // nothing was left there yet
    CHECK(session.run_round(bound).code() == Errc::stale_memory);
    for (int round = 1; round <= 3; ++round) {
      REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
      CHECK(hy == Floats(8, 100 + static_cast<float>(round)));
    }
    CHECK(arena.values() != Floats(1024, 0));  // it is where the tensors are
  }
  REQUIRE(session.close().ok());  // before its arenas go
}

namespace {
/// Runs for a while; whether it does is to be seen from outside.
struct Slow {
  static constexpr std::string_view name = "slow";
  static constexpr auto core = CoreType::vector;
  static inline std::atomic<int> running{0};
  static void run(In<float> x, Out<float> y) {
    ++running;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
    --running;
  }
};
/// One of its copies to the host fails, at once.
struct NoCopyOut : A2A3SimOn<Pool> {
  using A2A3SimOn<Pool>::A2A3SimOn;
  static inline bool fails = false;
  Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    return std::exchange(fails, false) ? Status{Errc::out_of_memory} : A2A3SimOn<Pool>::copy_out(to, from, size);
  }
};
}  // namespace

TEST_CASE("A round that fails has ended when it returns, and the next one runs") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8}), z = graph.output<float>("z", {8});
  graph.add<Slow>(x, y);
  graph.add<Slow>(x, z);
  auto session = open<NoCopyOut>(graph, busy_options<NoCopyOut>());
  Floats hx(8, 1), hy(8), hz(8);
  const auto bound = session.prebind(bind(x, hx), bind(y, hy), bind(z, hz));
  DeviceFloats dy(session.platform(), 8);
  const auto round = [&](int way) {
    if (way == 0) return session.run_round(bind(x, hx), bind(y, hy), bind(z, hz));
    if (way == 1) return session.run_round(bound);
    if (way == 2) return session.run_round(bind(z, hz), bind(x, hx), bind(y, hy));
    return session.run_round(bind(x, hx), bind(y, dy.span()), bind(z, hz));
  };
  for (int way = 0; way < 4; ++way) {
    CAPTURE(way);
    NoCopyOut::fails = true;
    CHECK(round(way).code() == Errc::out_of_memory);
    CHECK(Slow::running == 0);
    hx.assign(8, static_cast<float>(way + 2));
    REQUIRE(round(way).ok());
    CHECK(hz == hx);
    CHECK((way == 3 ? dy.values() : hy) == hx);
  }
}

TEST_CASE_TEMPLATE("A scalar changes between rounds", T, RONDO_TEST_ROUNDS) {
  Graph g;
  auto session = open<typename T::P, typename T::Policies>(g.graph, busy_options<typename T::P>());
  Floats x(Graph::n, 2), w(Graph::n, 1), y(Graph::n), s(Graph::n);
  for (const float factor : {3.0F, 5.0F, -1.0F}) {
    if (factor != 3.0F) REQUIRE(session.set_scalar(g.scale, 0, factor).ok());
    for (int round = 0; round < 2; ++round) {
      REQUIRE(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
      CHECK(y == Floats(Graph::n, 3 * factor));
    }
  }
  CHECK(session.set_scalar(g.scale, 1, 1.0F).code() == Errc::invalid_argument);
  CHECK(session.set_scalar(TaskId{9}, 0, 1.0F).code() == Errc::invalid_argument);
}

TEST_CASE_TEMPLATE("Device memory for the tensors of a task with fixed addresses is copied, and the arena stays", P,
                   A2A3Sim, A2A3OverStandIn, A5OverStandIn) {
  Graph g;
  g.graph.fix_addresses(g.scale);  // holds y and the workspace
  auto session = open<P>(g.graph);
  Floats x(Graph::n, 2), w(Graph::n, 1), y(Graph::n), s(Graph::n);
  DeviceFloats dx(session.platform(), Graph::n, 7), dy(session.platform(), Graph::n);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, dy.span()), bind(g.s, s)).ok());
  CHECK(dy.values() == Floats(Graph::n, 9));
  REQUIRE(session.run_round(bind(g.x, dx.span()), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
  CHECK(y == Floats(Graph::n, 24));
  CHECK(session.move_arena(DeviceSpan<std::byte>{DevicePtr<std::byte>{std::uint64_t{1} << 20}, 1 << 20}).code() ==
        Errc::fixed_address);
}

TEST_CASE_TEMPLATE("An output and the input that it reuses are copied together if a task fixes one of them", P, A2A3Sim,
                   A2A3OverStandIn) {
  for (const bool is_by_writer : {true, false}) {
    CAPTURE(is_by_writer);
    TaskGraph graph;
    const auto x = graph.input<float>("x", {8});
    const auto y = graph.output<float>("y", {8});
    const auto z = graph.output<float>("z", {8});
    const auto one = graph.input<float>("one", {8});
    graph.alias(y, x);
    const TaskId writer = graph.add<kernels::Scale>(one, y, 3.0F);
    const TaskId reader = graph.add<kernels::Scale>(x, z, 10.0F);  // reads what `writer` wrote
    graph.fix_addresses(is_by_writer ? writer : reader);
    auto session = open<P>(graph);
    Floats ones(8, 1), h(8, 5), hz(8);
    REQUIRE(session.run_round(bind(x, h), bind(y, h), bind(z, hz), bind(one, ones)).ok());
    CHECK(hz == Floats(8, 30));
    DeviceFloats d(session.platform(), 8, 5);
    hz = Floats(8);
    REQUIRE(session.run_round(bind(x, d.span()), bind(y, d.span()), bind(z, hz), bind(one, ones)).ok());
    CHECK(hz == Floats(8, 30));
    CHECK(d.values() == Floats(8, 3));
  }
}

TEST_CASE_TEMPLATE("A strategy fixed at compile time serves what it is made for", Strategy, update::ModelIo,
                   update::FeatureMapAndModelIo, update::InitOnce) {
  Graph g;
  auto session = open<A5SimOn<Inline, Traffic>, By<test::ByCostOnDevice<>, Strategy>>(g.graph);
  DeviceFloats one(session.platform(), Graph::n, 1), two(session.platform(), Graph::n, 2);
  Floats w(Graph::n, 1), y(Graph::n), s(Graph::n), hx(Graph::n, 3);
  for (int round = 0; round < 20; ++round) {
    if (round % 3 == 2) {
      REQUIRE(session.run_round(bind(g.x, hx), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
      CHECK(y == Floats(Graph::n, 12));
    } else {
      REQUIRE(
          session.run_round(bind(g.x, (round % 2 == 0 ? one : two).span()), bind(g.w, w), bind(g.y, y), bind(g.s, s))
              .ok());
      CHECK(y == Floats(Graph::n, round % 2 == 0 ? 6 : 9));
    }
    CHECK(session.refreshed().level == Strategy::highest);
  }
}

TEST_CASE_TEMPLATE("Asynchronous rounds take pinned memory and snapshots, and do not mix with others", P,
                   A2A3SimOn<Pool>, A2A3OverStandIn, A5OverStandIn) {
  Graph g;
  auto session = open<P>(g.graph, busy_options<P>());
  PinnedArray<float, P> x(session.platform(), Graph::n), y(session.platform(), Graph::n);
  PinnedArray<float, P> s(session.platform(), Graph::n);
  // Four bytes times 2^62 are no bytes in 64 bits.
  const auto allocate_too_much = [&] { PinnedArray<float, P>(session.platform(), std::size_t{1} << 62); };
  CHECK(test::raised(allocate_too_much).code == Errc::out_of_memory);
  Floats w(Graph::n, 1), hy(Graph::n), hs(Graph::n);
  for (int round = 0; round < 20; ++round) {
    for (float& v : x) v = static_cast<float>(round);
    auto begun = session.begin_async_round(bind(g.x, x), bind(g.w, snapshot(w)), bind(g.y, y), bind(g.s, s));
    w.assign(Graph::n, static_cast<float>(round + 1));  // the snapshot is taken
    REQUIRE(std::move(begun).launch().finish().status().ok());
    CHECK(y[0] == 3.0F * static_cast<float>(round + (round == 0 ? 1 : round)));
  }
  CHECK(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, hy), bind(g.s, hs)).code() == Errc::mixed_modes);
  CHECK(
      session.begin_round(bind(g.x, x), bind(g.w, w), bind(g.y, hy), bind(g.s, hs)).launch().finish().status().code() ==
      Errc::mixed_modes);
  const auto bound = session.prebind(bind(g.x, x), bind(g.w, w), bind(g.y, hy), bind(g.s, hs));
  CHECK(session.run_round(bound).code() == Errc::mixed_modes);

  auto other = open<P>(g.graph, busy_options<P>());
  REQUIRE(other.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, hy), bind(g.s, hs)).ok());
  CHECK(other.begin_async_round(bind(g.x, x), bind(g.w, snapshot(w)), bind(g.y, y), bind(g.s, s))
            .launch()
            .finish()
            .status()
            .code() == Errc::mixed_modes);
  CHECK(other.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, hy), bind(g.s, hs)).ok());
  static_assert(!AsyncPair<decltype(bind(g.x, w))> && AsyncPair<decltype(bind(g.x, x))>);

  PinnedArray<float, P> moved = std::move(x);
  CHECK(moved.size() == Graph::n);
  CHECK(x.size() == 0);
  CHECK(other.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, hy), bind(g.s, hs)).code() == Errc::wrong_size);
}

namespace {
struct Counted : DefaultPolicies {
  using Observe = observe::Counters;
  using Refresh = update::Always<Mechanism::segment_copy>;
};
}  // namespace

TEST_CASE("Counters tell how often each strategy refreshed, what it rewrote and what it copied") {
  Graph g;
  auto session = open<A2A3SimOn<Inline, Traffic>, Counted>(g.graph);
  Floats x(Graph::n, 2), w(Graph::n, 1), y(Graph::n), s(Graph::n);
  DeviceFloats dx(session.platform(), Graph::n, 7);
  for (int round = 0; round < 3; ++round) {
    REQUIRE(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
  }
  for (int round = 0; round < 2; ++round) {
    REQUIRE(session.run_round(bind(g.x, dx.span()), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
  }
  REQUIRE(session.set_scalar(g.scale, 0, 4.0F).ok());
  REQUIRE(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
  CHECK(session.run_round(bind(g.x, x)).code() == Errc::unbound_tensor);
  const observe::Counters& counters = session.observer();
  const auto refreshes = [&](UpdateLevel level) -> std::uint64_t {
    return counters.refreshes[static_cast<std::size_t>(level)];
  };
  CHECK(counters.rounds == 6);
  CHECK(counters.failed_rounds == 0);  // what is refused is no round
  CHECK(refreshes(UpdateLevel::init) == 2);
  CHECK(refreshes(UpdateLevel::model_io) == 1);
  CHECK(refreshes(UpdateLevel::none) == 1);
  CHECK(refreshes(UpdateLevel::host_input) == 0);
  CHECK(counters.bytes == 2 * session.args().shape().size() + 64);
  CHECK(counters.mechanisms[static_cast<std::size_t>(Mechanism::segment_copy)] == 3);
  CHECK(counters.refresh_ns == 0);
}
