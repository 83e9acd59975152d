// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/binding/dynamic_bindings.hpp>

#include <rondo/session/open.hpp>
#include <rondo/session/shaped_session.hpp>
#include <unit/session/scripted_platform.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

/// z = times (x + y), by names that only the program that runs knows.
struct AddTimes {
  static constexpr std::string_view name = "add_times";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, In<float> y, Out<float> z, In<float> times) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = times[0] * (x[i] + y[i]);
  }
};

constexpr Bytes three_floats{3 * sizeof(float)};
using Floats = std::vector<float>;

struct Rig {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {3});
  InputOutput<float> s = graph.inout<float>("s", {3});
  Output<float> z = graph.output<float>("z", {3});
  HostInput<float> times = graph.host_input<float>("times", {1});
  Script script;
  std::optional<RoundSession<ScriptedPlatform>> session;
  std::optional<DynamicBindings<RoundSession<ScriptedPlatform>>> bindings;
  Floats hx{1, 2, 3}, hs{10, 20, 30}, hz = Floats(3);
  float htimes = 3;

  Rig() {
    graph.add<Accumulate>(x, s);
    graph.add<AddTimes>(x, s, z, times);
    session.emplace(freeze(graph), ScriptedPlatform::Options{&script});
    bindings.emplace(*session);
    (void)script.take();
  }
  Status bind(std::uint32_t tensor, Floats& memory) {
    return bindings->bind(TensorId{tensor}, memory.data(), Bytes{memory.size() * sizeof(float)});
  }
  Status run() { return session->run_round(*bindings); }
  void bind_all() {
    REQUIRE(bindings->bind(TensorId{3}, static_cast<const void*>(&htimes), Bytes{sizeof htimes}));
    REQUIRE(bind(2, hz));
    REQUIRE(bind(0, hx));
    REQUIRE(bind(1, hs));
  }
};

}  // namespace

TEST_CASE("Bindings that the compiler knows nothing of run round after round, as typed ones do") {
  Rig rig;
  rig.bind_all();
  CHECK(rig.script.take().empty());
  float s = 10;
  for (int round = 0; round < 20; ++round) {
    rig.hx[0] = static_cast<float>(round);
    s += rig.hx[0];
    REQUIRE(rig.run().ok());
    REQUIRE(rig.script.take() == "copy_in:12 copy_in:12 launch copy_out:12 copy_out:12 wait");
    REQUIRE(rig.hs[0] == s);
    REQUIRE(rig.hz[0] == 3 * (rig.hx[0] + s));
  }
  CHECK(rig.session->rounds() == 20);
  Floats elsewhere(3);
  REQUIRE(rig.bind(2, elsewhere));
  rig.hz = Floats(3);
  REQUIRE(rig.run().ok());
  CHECK(elsewhere[1] == 3 * (rig.hx[1] + rig.hs[1]));
  CHECK(rig.hz == Floats(3));

  // In turn with typed bindings, and with others of the same session.
  Floats other(3);
  DynamicBindings second(*rig.session);
  REQUIRE(second.bind(TensorId{0}, rig.hx.data(), three_floats));
  REQUIRE(second.bind(TensorId{1}, rig.hs.data(), three_floats));
  REQUIRE(second.bind(TensorId{2}, other.data(), three_floats));
  REQUIRE(second.bind(TensorId{3}, &rig.htimes, Bytes{sizeof(float)}));
  REQUIRE(rig.session->run_round(second).ok());
  CHECK(other != rig.hz);
  CHECK(rig.session->run_round(bind(rig.x, rig.hx), bind(rig.s, rig.hs), bind(rig.z, rig.hz),
                               bind(rig.times, rig.htimes)));
  CHECK(rig.hz != other);
}

TEST_CASE("A round of such bindings may be taken step by step, with nothing before its time") {
  Rig rig;
  rig.bind_all();
  for (int round = 0; round < 3; ++round) {
    const Floats before = rig.hz;
    auto bound = rig.session->begin_round(*rig.bindings);
    CHECK(index(bound.index()) == static_cast<std::uint64_t>(round));
    CHECK(rig.script.take() == "copy_in:12 copy_in:12");
    CHECK(rig.session->begin_round(*rig.bindings).launch().finish().status().code() == Errc::busy);
    CHECK(rig.run().code() == Errc::busy);
    CHECK(rig.session
              ->run_round(bind(rig.x, rig.hx), bind(rig.s, rig.hs), bind(rig.z, rig.hz), bind(rig.times, rig.htimes))
              .code() == Errc::busy);
    auto launched = std::move(bound).launch();
    CHECK(rig.script.take() == "launch");
    CHECK(rig.hz == before);
    REQUIRE(std::move(launched).finish().status().ok());
    CHECK(rig.script.take() == "copy_out:12 copy_out:12 wait");
    CHECK(rig.hz[0] == 3 * (rig.hx[0] + rig.hs[0]));
  }
  CHECK(rig.session->rounds() == 3);
}

TEST_CASE("What is bound while a round is under way counts from the next round on") {
  Rig rig;
  rig.bind_all();
  auto bound = rig.session->begin_round(*rig.bindings);
  Floats other_x{100, 100, 100};
  Floats other_z(3);
  REQUIRE(rig.bind(0, other_x));
  auto launched = std::move(bound).launch();
  REQUIRE(rig.bind(2, other_z));
  REQUIRE(std::move(launched).finish().status().ok());
  CHECK(rig.hz[0] == 3 * (1 + 11));
  CHECK(other_z == Floats(3));
  const Floats before = rig.hz;
  REQUIRE(rig.run());
  CHECK(other_z[0] == 3 * (100 + 111));
  CHECK(rig.hz == before);
}

TEST_CASE("A round that is refused leaves the bindings of the one under way as they are") {
  Rig rig;
  rig.bind_all();
  auto bound = rig.session->begin_round(*rig.bindings);
  Floats other_z(3);
  REQUIRE(rig.bind(2, other_z));
  CHECK(rig.session->begin_round(*rig.bindings).failure().code() == Errc::busy);
  CHECK(rig.run().code() == Errc::busy);
  REQUIRE(std::move(bound).launch().finish().status().ok());
  CHECK(rig.hz[0] == 3 * (1 + 11));
  CHECK(other_z == Floats(3));
}

TEST_CASE("Bindings of another session are refused, and nothing moves") {
  Rig rig;
  rig.bind_all();
  Script script;
  auto other = open<ScriptedPlatform>(rig.graph, {&script});
  (void)script.take();
  CHECK(other.run_round(*rig.bindings).code() == Errc::wrong_tensor);
  CHECK(other.begin_round(*rig.bindings).launch().finish().status().code() == Errc::wrong_tensor);
  CHECK(script.take().empty());
  CHECK(rig.run());
}

TEST_CASE("What does not fit is refused when it is bound, and what was bound before stays") {
  Rig rig;
  rig.bind_all();
  Floats small(2);
  Status status = rig.bind(0, small);
  CHECK(status == Status::of_tensor(Errc::wrong_size, 0));
  CHECK(says(rig.session->explain(status).c_str(), "tensor 'x'", "takes 12 bytes, 8 were bound"));
  CHECK(rig.bindings->bind(TensorId{0}, static_cast<void*>(nullptr), three_floats).code() == Errc::null_memory);
  CHECK(rig.bindings->bind(TensorId{9}, small.data(), three_floats).code() == Errc::wrong_tensor);
  CHECK(rig.bindings->state_symbol(0, 3).code() == Errc::invalid_argument);  // the graph has no symbols
  const std::int64_t extents[] = {2}, strides[] = {2};
  status = rig.bindings->bind(TensorId{0}, small.data(), StridedLayout(6, extents, strides, 1));
  CHECK(status == Status::of_tensor(Errc::invalid_argument, 0));  // 12 bytes, but no floats
  const Floats constant(3);
  status = rig.bindings->bind(TensorId{2}, static_cast<const void*>(constant.data()), three_floats);
  CHECK(status == Status::of_tensor(Errc::wrong_tensor, 2));
  CHECK(rig.bindings->bind(TensorId{3}, DevicePtr<std::byte>{std::uint64_t{64}}, Bytes{sizeof(float)}).code() ==
        Errc::unsupported);
  REQUIRE(rig.run().ok());
  CHECK(rig.hz[0] == 3 * (1 + 11));
  CHECK(rig.session->rounds() == 1);
}

TEST_CASE("A round with a tensor that was never bound names it, and nothing moves") {
  Rig rig;
  REQUIRE(rig.bind(0, rig.hx));
  CHECK(rig.run() == Status::of_tensor(Errc::unbound_tensor, 1));
  CHECK(rig.session->begin_round(*rig.bindings).launch().finish().status() ==
        Status::of_tensor(Errc::unbound_tensor, 1));
  CHECK(rig.script.take().empty());
  REQUIRE(rig.session->close());
  CHECK(rig.run().code() == Errc::closed);
}

TEST_CASE("A round that fails in one step remembers it, and finish() tells") {
  for (const char* call : {"copy_in", "launch", "copy_out", "wait"}) {
    CAPTURE(call);
    Rig rig;
    rig.bind_all();
    rig.script.fail_on = call;
    rig.script.failure = Status{Errc::device_failed}.poisoning();
    CHECK(rig.session->begin_round(*rig.bindings).launch().finish().status().code() == Errc::device_failed);
    CHECK(rig.session->poisoned());
    CHECK(rig.run().code() == Errc::poisoned);
    CHECK(rig.session->rounds() == 0);
  }
}

TEST_CASE("A round that is dropped is abandoned, and the session goes on") {
  Rig rig;
  rig.bind_all();
  {
    auto bound = rig.session->begin_round(*rig.bindings);
  }
  CHECK(rig.hz == Floats(3));
  CHECK(rig.session->rounds() == 0);
  CHECK(rig.run().ok());
}

TEST_CASE("A session that closes in the middle of a round ends it") {
  Rig rig;
  rig.bind_all();
  auto bound = rig.session->begin_round(*rig.bindings);
  REQUIRE(rig.session->close());
  CHECK(std::move(bound).launch().finish().status().code() == Errc::closed);
}

TEST_CASE("Device memory binds where the update strategy allows for it") {
  Rig rig;
  rig.bind_all();
  alignas(64) std::array<float, 8> device{5, 6, 7};
  const DevicePtr<std::byte> address{reinterpret_cast<std::uintptr_t>(device.data())};
  REQUIRE(rig.bindings->bind(TensorId{0}, address, three_floats));
  REQUIRE(rig.run().ok());
  CHECK(rig.script.take() == "copy_in:12 launch copy_out:12 copy_out:12 wait");
  CHECK(rig.hs[0] == 15);

  struct Fixed : DefaultPolicies {
    using Update = update::NoUpdate;
  };
  TaskGraph graph;
  const auto x = graph.input<float>("x", {3});
  const auto y = graph.output<float>("y", {3});
  graph.add<Scale>(x, y, 2.0F);
  auto fixed = open<A5Sim, Fixed>(graph);
  DynamicBindings bindings(fixed);
  CHECK(bindings.bind(TensorId{0}, address, three_floats).code() == Errc::unsupported);
}

TEST_CASE("Rounds of host memory alone follow those of device memory, and the other way round") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {3});
  const auto s = graph.inout<float>("s", {3});
  graph.add<Accumulate>(x, s);
  auto session = open<A2A3Sim>(graph);
  DynamicBindings bindings(session);
  Floats hx{1, 2, 3};
  Floats hs{10, 20, 30};
  alignas(64) std::array<float, 8> device{100, 200, 300};
  const DevicePtr<std::byte> address{reinterpret_cast<std::uintptr_t>(device.data())};
  CHECK_FALSE(bindings.is_plain());
  REQUIRE(bindings.bind(TensorId{0}, hx.data(), three_floats));
  CHECK_FALSE(bindings.is_plain());
  REQUIRE(bindings.bind(TensorId{1}, hs.data(), three_floats));
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(bindings.is_plain());
    REQUIRE(session.run_round(bindings));
    REQUIRE(session.run_round(bindings));
    CHECK(hs[2] == 36 + 6 * turn);
    REQUIRE(bindings.bind(TensorId{1}, address, three_floats));
    CHECK_FALSE(bindings.is_plain());
    REQUIRE(session.run_round(bindings));
    CHECK(device[2] == 303 + 3 * turn);
    CHECK(hs[2] == 36 + 6 * turn);
    CHECK(bindings.bind(TensorId{1}, hs.data(), Bytes{4}).code() == Errc::wrong_size);
    CHECK_FALSE(bindings.is_plain());
    REQUIRE(bindings.bind(TensorId{1}, hs.data(), three_floats));
  }
  REQUIRE(session.set_scalar(TaskId{0}, 0, 1).code() == Errc::invalid_argument);
  REQUIRE(session.close());
  CHECK(session.run_round(bindings).code() == Errc::closed);
}

struct Rows {
  static constexpr std::string_view name = "rows";
  static constexpr auto core = CoreType::vector;
  static void run(In<float, 2> x, Out<float> y) {
    for (std::size_t r = 0; r < y.size(); ++r) y[r] = static_cast<float>(x.extent(1));
  }
};

TEST_CASE("Bindings state the symbols that numbers of elements do not determine") {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const Dim m = graph.dim("m");
  const auto x = graph.input<float>("x", {n, m});
  const auto y = graph.output<float>("y", {max(n, 2)});
  graph.add<Rows>(x, y);
  auto session = open_shaped<A2A3Sim>(graph);
  DynamicBindings bindings(session);
  const std::array<float, 12> hx{};
  std::array<float, 6> hy{};
  const auto run = [&](std::int64_t rows, std::int64_t columns) {
    REQUIRE(bindings.state_symbol(0, rows).ok());
    REQUIRE(bindings.state_symbol(1, columns).ok());
    hy = {};
    return session.run_round(bindings);
  };
  REQUIRE(bindings.bind(TensorId{0}, hx.data(), Bytes{48}).ok());
  REQUIRE(bindings.bind(TensorId{1}, hy.data(), Bytes{8}).ok());
  CHECK(session.run_round(bindings).code() == Errc::invalid_argument);  // x has 12 elements: 2 * 6, or 1 * 12
  for (int again = 0; again < 2; ++again) {
    REQUIRE(run(2, 6).ok());
    CHECK(hy == std::array<float, 6>{6, 6});
    REQUIRE(run(1, launch::not_stated).ok());
    CHECK(hy == std::array<float, 6>{12, 12});
  }
  CHECK(session.entries() == 2);
  CHECK(session.run_round(with_symbols({{n, 2}, {m, 6}}), bind(x, hx), bind(y, std::span(hy).first(2))).ok());
  CHECK(session.entries() == 2);  // shapes that pairs and such bindings state are the same
  CHECK(run(3, 4).code() == Errc::wrong_size);
  CHECK(bindings.state_symbol(2, 1).code() == Errc::invalid_argument);
  CHECK(bindings.state_symbol(0, -2).code() == Errc::invalid_argument);
  CHECK(run(2, 6).ok());
}
