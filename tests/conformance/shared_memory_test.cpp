// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Tensors that use the memory of another one: kernels that work in place, outputs that reuse an input, views. Rounds in
// flight, held inputs, zero fills and arenas that move see the right one.

#include "conformance/kernels.hpp"
#include "conformance/platforms.hpp"

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

using namespace rondo;

#define RONDO_TEST_PLATFORMS A2A3Sim, A5SimOn<Pool>, HostOn<Pool>, A2A3OverStandIn, A5OverStandIn, toy::ToyPlatform

namespace {

using Floats = std::vector<float>;

/// y = x + 1
struct AddOne {
  static constexpr std::string_view name = "add_one";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + 1;
  }
};
/// The same, in the memory of x if nothing else reads that.
struct AddOneInPlace : AddOne {
  static constexpr std::string_view name = "add_one_in_place";
  static constexpr InPlace in_place{.out = 1, .in = 0};
};

/// Submits ten rounds, each with numbers of its own, and checks that y = x + expected in each.
template <class Session, class X, class Y>
void check_rounds(Session& session, const X& x, const Y& y, std::size_t n, float expected) {
  std::deque<Floats> in, out;
  for (std::size_t i = 0; i < 10; ++i) {
    in.emplace_back(n, static_cast<float>(10 * i));
    out.emplace_back(n);
    REQUIRE(session.submit_round(bind(x, in.back()), bind(y, out.back())));
  }
  REQUIRE(session.wait_all().ok());
  for (std::size_t i = 0; i < out.size(); ++i) CHECK(out[i] == Floats(n, static_cast<float>(10 * i) + expected));
}

}  // namespace

TEST_CASE_TEMPLATE("A kernel that works in place leaves the other rounds in flight alone", P, RONDO_TEST_PLATFORMS) {
  constexpr std::size_t n = 16;
  for (const bool is_first : {false, true}) {
    CAPTURE(is_first);
    TaskGraph graph;
    const auto x = graph.input<float>("x", {n});
    const auto t = graph.workspace<float>("t", {n});
    const auto y = graph.output<float>("y", {n});
    if (is_first) {
      graph.add<AddOneInPlace>(x, t);
      graph.add<AddOne>(t, y);
    } else {
      graph.add<AddOne>(x, t);
      graph.add<AddOneInPlace>(t, y);
    }
    auto session = open_pipelined<P, 3>(graph);
    check_rounds(session, x, y, n, 2);
    CHECK(session.close().ok());
  }
}

TEST_CASE_TEMPLATE("The same with rounds of different shapes", P, RONDO_TEST_PLATFORMS) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto t = graph.workspace<float>("t", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<AddOne>(x, t);
  graph.add<AddOneInPlace>(t, y);
  auto session = open_shaped<P, DefaultPolicies, launch::Lru<4>, 3>(graph);
  for (const std::size_t rows : {16U, 400U, 1U, 16U}) check_rounds(session, x, y, rows, 2);
}

TEST_CASE_TEMPLATE("An input that a task writes over cannot be held", P, RONDO_TEST_PLATFORMS) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto y = graph.output<float>("y", {16});
  graph.alias(y, x);
  graph.keep(x);
  graph.add<AddOne>(x, y);
  const auto check = [&](auto session) {
    Floats memory(16, 1);
    REQUIRE(session->run_round(bind(x, memory), bind(y, memory)).ok());
    CHECK(session->hold(x).code() == Errc::shared_memory);
    memory.assign(16, 1);
    CHECK(session->run_round(bind(x, memory), bind(y, memory)).ok());
    CHECK(memory == Floats(16, 2));
  };
  check(std::make_unique<RoundSession<P>>(freeze(graph)));
  check(std::make_unique<PipelinedSession<P, 2>>(freeze(graph)));
}

TEST_CASE_TEMPLATE("An input is held in flight though a kernel could overwrite it in place", P, A2A3Sim, A5SimOn<Pool>,
                   HostOn<Pool>, A2A3OverStandIn, A5OverStandIn) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto y = graph.output<float>("y", {16});
  graph.add<AddOneInPlace>(x, y);
  auto session = open_pipelined<P, 2>(graph);
  const Floats in(16, 1), other(16, 50);
  Floats out(16);
  REQUIRE(session.run_round(bind(x, in), bind(y, out)).ok());
  REQUIRE(session.hold(x).ok());
  for (int round = 0; round < 3; ++round) {
    REQUIRE(session.run_round(bind(x, other), bind(y, out)).ok());
    CHECK(out == Floats(16, 2));
  }
}

TEST_CASE_TEMPLATE("Workspaces that are zeroed each round, of which one is kept, are zero in every slot", P, A2A3Sim,
                   A5SimOn<Pool>, HostOn<Pool>, A2A3OverStandIn) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto t = graph.workspace<float>("t", {16});
  const auto u = graph.workspace<float>("u", {16});
  const auto y = graph.output<float>("y", {16});
  const auto z = graph.output<float>("z", {16});
  graph.zero(t);
  graph.zero(u);
  graph.keep(u);
  graph.add<kernels::Accumulate>(x, t);
  graph.add<kernels::Accumulate>(x, u);
  graph.add<AddOne>(t, y);
  graph.add<AddOne>(u, z);
  auto session = open_pipelined<P, 3>(graph);
  const Floats in(16, 1);
  std::deque<Floats> out;
  for (int round = 0; round < 12; ++round) {
    Floats& a = out.emplace_back(16);
    Floats& b = out.emplace_back(16);
    REQUIRE(session.submit_round(bind(x, in), bind(y, a), bind(z, b)));
  }
  REQUIRE(session.wait_all().ok());
  for (const Floats& each : out) CHECK(each == Floats(16, 2));
}

TEST_CASE_TEMPLATE("A fill comes before a task that reads zeros through a view", P, A2A3Sim, A5SimOn<Pool>,
                   HostOn<Pool>) {
  constexpr std::size_t n = 1024;
  TaskGraph graph;
  const auto t = graph.workspace<float>("t", {n});
  const auto shown = graph.workspace<float>("shown", {n});
  const auto y = graph.output<float>("y", {n});
  graph.zero(t);
  graph.make_view(shown, t);
  graph.add<AddOne>(shown, y);
  const FrozenGraph frozen = freeze(graph);
  REQUIRE(frozen.view().tasks.size() == 2);
  CHECK(frozen.view().predecessor_count[1] == 1);
  auto session = open<P>(graph);
  std::vector<std::byte> memory(2 * session.arena_bytes().value + 4096, std::byte{0x5A});  // as others left it
  const auto address = align_up(reinterpret_cast<std::uintptr_t>(memory.data()), 4096);
  REQUIRE(session.move_arena({DevicePtr<std::byte>{address}, session.arena_bytes().value}).ok());
  Floats out(n);
  REQUIRE(session.run_round(bind(y, out)).ok());
  CHECK(out == Floats(n, 1));
  REQUIRE(session.close().ok());
}

TEST_CASE_TEMPLATE("A host input that is held stays held when the arena moves", P, A2A3Sim, HostOn<Pool>) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto bias = graph.host_input<float>("bias", {16});
  const auto y = graph.output<float>("y", {16});
  graph.add<kernels::Add>(x, bias, y);
  auto session = open<P>(graph);
  const Floats in(16, 1), other(16, 50);
  Floats out(16);
  Floats five(16, 5);
  REQUIRE(session.run_round(bind(x, in), bind(bias, five), bind(y, out)).ok());
  REQUIRE(session.hold(Input<float>{bias.key}).ok());  // as programs in C and Python name it
  std::vector<std::byte> memory(2 * session.arena_bytes().value + 4096);
  const auto address = align_up(reinterpret_cast<std::uintptr_t>(memory.data()), 4096);
  REQUIRE(session.move_arena({DevicePtr<std::byte>{address}, session.arena_bytes().value}).ok());
  REQUIRE(session.run_round(bind(x, in), bind(bias, other), bind(y, out)).ok());
  CHECK(out == Floats(16, 6));
  REQUIRE(session.close().ok());
}
