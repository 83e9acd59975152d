// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/binding/prebound.hpp>

#include <rondo/graph/instantiate.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <unit/session/scripted_platform.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Rig {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {2});
  Output<float> y = graph.output<float>("y", {2});
  TaskId task = graph.add<Fragile>(x, y);
  Script script;
  RoundSession<ScriptedPlatform> session = open<ScriptedPlatform>(graph, {&script});
  std::vector<float> hx{1, 2};
  std::vector<float> hy = std::vector<float>(2);
  Rig() { (void)script.take(); }
};

}  // namespace

TEST_CASE("A prebinding runs round after round on what its memory holds at that time") {
  Rig rig;
  const auto binding = rig.session.prebind(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
  CHECK(static_cast<bool>(binding));
  CHECK(binding.status().ok());
  CHECK(rig.script.take().empty());  // nothing moves until a round runs
  for (float i = 0; i < 100; ++i) {
    rig.hx = {i, i + 1};
    REQUIRE(rig.session.run_round(binding).ok());
    REQUIRE(rig.hy == std::vector<float>{i, i + 1});
    REQUIRE(rig.script.take() == "copy_in:8 launch copy_out:8 wait");
  }
  CHECK(rig.session.rounds() == 100);
}

TEST_CASE("Two prebindings of one session may be used in turn") {
  Rig rig;
  std::vector<float> other{7, 8};
  const auto first = rig.session.prebind(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
  const auto second = rig.session.prebind(bind(rig.y, rig.hy), bind(rig.x, other));
  CHECK(rig.session.run_round(second).ok());
  CHECK(rig.hy == other);
  CHECK(rig.session.run_round(first).ok());
  CHECK(rig.hy == rig.hx);
}

TEST_CASE("A refused prebinding is false, and running it returns why and does nothing") {
  Rig rig;
  const auto binding = rig.session.prebind(bind(rig.x, rig.hx));
  CHECK_FALSE(static_cast<bool>(binding));
  CHECK(binding.status().code() == Errc::unbound_tensor);
  CHECK(rig.session.run_round(binding) == binding.status());
  CHECK(rig.script.take().empty());
  CHECK(rig.session.rounds() == 0);
}

TEST_CASE("A prebinding of another session over the same graph is refused") {
  Rig rig;
  Script script;
  auto other = open<ScriptedPlatform>(rig.graph, {&script});
  const auto binding = other.prebind(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
  CHECK(rig.session.run_round(binding).code() == Errc::wrong_tensor);
  CHECK(rig.script.take().empty());
  CHECK(other.run_round(binding).ok());
}

TEST_CASE("A prebinding may be copied and outlives its session without harm") {
  Rig rig;
  const auto binding = [&] {
    Script script;
    auto gone = open<ScriptedPlatform>(rig.graph, {&script});
    const auto made = gone.prebind(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
    const auto copy = made;
    CHECK(gone.run_round(copy).ok());
    return copy;
  }();
  CHECK(rig.session.run_round(binding).code() == Errc::wrong_tensor);
}

TEST_CASE("A prebinding obeys the session's state: busy, poisoned, closed") {
  Rig rig;
  const auto binding = rig.session.prebind(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
  {
    auto round = rig.session.begin_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
    CHECK(rig.session.run_round(binding).code() == Errc::busy);
    CHECK(std::move(round).launch().finish().status().ok());
  }
  rig.hx[0] = -1;
  CHECK(rig.session.run_round(binding).code() == Errc::kernel_failed);
  CHECK(rig.session.run_round(binding).code() == Errc::poisoned);
  CHECK(rig.session.close().ok());
  CHECK(rig.session.run_round(binding).code() == Errc::closed);
  CHECK(rig.session.prebind(bind(rig.x, rig.hx), bind(rig.y, rig.hy)).status().code() == Errc::closed);
}

TEST_CASE("A prebinding takes inputs without elements that are bound to no device memory") {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  std::vector<Input<float>> none;
  for (int i = 0; i < 5; ++i) none.push_back(graph.input<float>("none " + std::to_string(i), {n}));
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  graph.add<Fragile>(x, y);
  const std::int64_t values[] = {0};
  auto session = open<A2A3Sim>(instantiate(graph, values));
  const DeviceSpan<float> nothing;
  std::vector<float> hx{1, 2}, hy(2);
  const auto bound = session.prebind(bind(none[0], nothing), bind(none[1], nothing), bind(none[2], nothing),
                                     bind(none[3], nothing), bind(none[4], nothing), bind(x, hx), bind(y, hy));
  REQUIRE(bound.status().ok());
  CHECK(session.run_round(bound).ok());
  CHECK(hy == hx);
}

TEST_CASE("Prebindings are plain values, and only a session makes them") {
  Rig rig;
  using Two = decltype(rig.session.prebind(bind(rig.x, rig.hx), bind(rig.y, rig.hy)));
  CHECK(std::is_trivially_copyable_v<Two>);
  CHECK_FALSE(std::is_default_constructible_v<Two>);
}
