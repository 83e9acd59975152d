// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/instance.hpp>

#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/pipelined_session.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

using namespace rondo;
using namespace rondo::test;
using Floats = std::vector<float>;

namespace {

/// Kernels read a copy of the args on the device, so they see only addresses that were refreshed.
struct Copied : DefaultPolicies {
  using Refresh = update::Always<update::Mechanism::segment_copy>;
};

/// y = x + 10 a + 100 b
struct Weigh {
  static constexpr std::string_view name = "weigh";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, In<float> a, In<float> b, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + 10 * a[i] + 100 * b[i];
  }
};

/// y = 2 x
struct TwoPorts {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {16});
  Output<float> y = graph.output<float>("y", {16});
  TaskId task = graph.add<Scale>(x, y, 2.0F);
  TwoPorts() { graph.keep(x); }
};

template <class Session, class Array>
Floats values(Session& session, const Array& array) {
  Floats host(array.size());
  REQUIRE(session.download(array, host).ok());
  return host;
}

}  // namespace

TEST_CASE("A port behind one that is held still moves") {
  const TwoPorts g;
  auto session = open<A5Sim, Copied>(g.graph);
  const Floats x(16, 1);
  Floats y(16);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
  REQUIRE(session.hold(g.x).ok());
  auto first = session.allocate(g.y), second = session.allocate(g.y);
  for (auto* to : {&first, &second}) {
    REQUIRE(session.run_round(bind(g.x, x), bind(g.y, *to)).ok());
    CHECK(values(session, *to) == Floats(16, 2));
  }
}

TEST_CASE("An input whose address is fixed may be held, as long as no rounds are in flight") {
  TwoPorts g;
  g.graph.fix_addresses(g.task);
  auto session = open<A5Sim>(g.graph);
  const Floats ones(16, 1), twos(16, 2);
  Floats y(16);
  REQUIRE(session.run_round(bind(g.x, ones), bind(g.y, y)).ok());
  REQUIRE(session.hold(g.x).ok());
  REQUIRE(session.run_round(bind(g.x, twos), bind(g.y, y)).ok());
  CHECK(y == Floats(16, 2));
}

TEST_CASE("All ports of a graph may be held") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto sum = graph.resident<float>("sum", {16});
  graph.add<Accumulate>(x, sum);
  graph.keep(x);
  auto session = open<A5Sim, Copied>(graph);
  REQUIRE(session.upload(sum, Floats(16)).ok());
  const Floats ones(16, 1), twos(16, 2);
  REQUIRE(session.run_round(bind(x, ones)).ok());
  REQUIRE(session.hold(x).ok());
  REQUIRE(session.run_round(bind(x, twos)).ok());
  REQUIRE(session.release_hold(x).ok());
  REQUIRE(session.run_round(bind(x, twos)).ok());
  Floats now(16);
  REQUIRE(session.download(sum, now).ok());
  CHECK(now == Floats(16, 4));
}

TEST_CASE("A port that was elsewhere when the arena moved still moves afterwards") {
  const TwoPorts g;
  auto session = open<A5Sim, Copied>(g.graph);
  const Floats x(16, 1);
  Floats y(16);
  auto first = session.allocate(g.y), second = session.allocate(g.y);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, first)).ok());
  const Bytes size = session.arena_bytes();
  const auto arena = session.platform().allocate(size, Bytes{A5Sim::Arch::arena_alignment});
  REQUIRE(session.move_arena({arena, size.value}).ok());
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
  CHECK(y == Floats(16, 2));
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, second)).ok());
  CHECK(values(session, second) == Floats(16, 2));
  REQUIRE(session.close().ok());
  CHECK(session.platform().release(arena).ok());
}

TEST_CASE("A scalar that changes before the first upload of a resident is in the first round") {
  TaskGraph graph;
  const auto w = graph.resident<float>("w", {16});
  const auto y = graph.output<float>("y", {16});
  const TaskId scale = graph.add<Scale>(w, y, 2.0F);
  auto session = open<A5Sim, Copied>(graph);
  REQUIRE(session.set_scalar(scale, 0, 5.0F).ok());
  REQUIRE(session.upload(w, Floats(16, 1)).ok());
  Floats hy(16);
  REQUIRE(session.run_round(bind(y, hy)).ok());
  CHECK(hy == Floats(16, 5));
}

TEST_CASE("A host input takes its own bytes, and leaves those of one that is held beside it") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto a = graph.host_input<float>("a", {8});
  const auto b = graph.host_input<float>("b", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<Weigh>(x, a, b, y);
  auto session = open<A5Sim>(graph);
  const Floats hx(8, 1), both(16, 2);
  const std::span<const float> ha(both.data(), 8), hb(both.data() + 8, 8);
  Floats hy(8);
  REQUIRE(session.run_round(bind(x, hx), bind(a, ha), bind(b, hb), bind(y, hy)).ok());
  for (const auto held : {a, b}) {
    REQUIRE(session.hold(Input<float>{held.key}).ok());
    Floats other(16, 3);
    other[8] = 0.1F;  // whose lowest byte is not 0
    REQUIRE(session
                .run_round(bind(x, hx), bind(a, std::span<const float>(other.data(), 8)),
                           bind(b, std::span<const float>(other.data(), 8)), bind(y, hy))
                .ok());
    CHECK(hy == Floats(8, held == a ? 1 + 20 + 300 : 1 + 30 + 200));
    REQUIRE(session.release_hold(Input<float>{held.key}).ok());
    REQUIRE(session.run_round(bind(x, hx), bind(a, ha), bind(b, hb), bind(y, hy)).ok());
  }
}

TEST_CASE("A slot that took over the address of an input that was held knows where the input is") {
  const TwoPorts g;
  auto session = open_pipelined<A5Sim, 2, Copied>(g.graph);
  const Floats ones(16, 1), twos(16, 2);
  Floats y(16);
  auto device = session.allocate(g.x);
  REQUIRE(session.upload(device, twos).ok());
  const auto submit = [&](const auto& x) {
    y.assign(16, 0);
    REQUIRE(session.wait(session.submit_round(bind(g.x, x), bind(g.y, y))).ok());
    return y;
  };
  CHECK(submit(device) == Floats(16, 4));  // in the first slot
  REQUIRE(session.hold(g.x).ok());
  REQUIRE(session.release_hold(g.x).ok());
  CHECK(submit(device) == Floats(16, 4));  // in the second one, whose port is there already
  REQUIRE(session.begin_round(bind(g.x, ones), bind(g.y, y)).launch().finish().status().ok());
  CHECK(submit(ones) == Floats(16, 2));
  CHECK(submit(ones) == Floats(16, 2));
}
