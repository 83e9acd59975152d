// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/open.hpp>

#include <rondo/graph/static_graph.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/session/open_static.hpp>
#include <unit/session/scripted_platform.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

constexpr auto build = [] {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  graph.add<Scale>(x, y, 2.0F);
  return graph;
};
constexpr auto& constant = static_graph<build>;

template <class P = A2A3Sim>
Raised opened(const TaskGraph& graph, const typename P::Options& options = {}) {
  return raised([&] { auto session = open<P>(graph, options); });
}

}  // namespace

TEST_CASE("A graph may be opened, changed and opened again; each session keeps its own") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  graph.add<Scale>(x, y, 2.0F);
  auto first = open<A2A3Sim>(graph);
  const auto z = graph.output<float>("z", {2});
  graph.add<Scale>(y, z, 10.0F);
  auto second = open<A5Sim>(graph);
  const std::vector<float> hx{1, 2};
  std::vector<float> hy(2);
  std::vector<float> hz(2);
  CHECK(first.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy == std::vector<float>{2, 4});
  CHECK(second.run_round(bind(x, hx), bind(y, hy), bind(z, hz)).ok());
  CHECK(hz == std::vector<float>{20, 40});
}

TEST_CASE("A session takes over the records of a graph that is moved, unless it refuses the graph") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  const TaskId scale = graph.add<Scale>(x, y, 2.0F);
  graph.add_edge(scale, scale);
  const auto* const tensors = graph.tensors().data();
  CHECK(raised([&] { auto session = open<A2A3Sim>(std::move(graph)); }).code == Errc::cycle);
  REQUIRE(graph.tensors().data() == tensors);  // NOLINT(bugprone-use-after-move): it was refused

  TaskGraph whole;
  const auto in = whole.input<float>("x", {2});
  const auto out = whole.output<float>("y", {2});
  whole.add<Scale>(in, out, 2.0F);
  const auto* const records = whole.tensors().data();
  auto session = open<A2A3Sim>(std::move(whole));
  CHECK(session.interface().tensors.data() == records);
  const std::vector<float> hx{1, 2};
  std::vector<float> hy(2);
  CHECK(session.run_round(bind(in, hx), bind(out, hy)).ok());
  CHECK(hy == std::vector<float>{2, 4});
}

TEST_CASE("A frozen graph opens as the graph does, and a constant one too") {
  const std::vector<float> hx{1, 2};
  std::vector<float> hy(2);
  {
    FrozenGraph frozen = freeze(build());
    const auto x = frozen.input<float>("x");
    const auto y = frozen.output<float>("y");
    auto session = open<A2A3Sim>(std::move(frozen));
    CHECK(session.run_round(bind(x, hx), bind(y, hy)).ok());
    CHECK(hy == std::vector<float>{2, 4});
  }
  hy = {0, 0};
  auto session = open<A2A3Sim, constant>();
  CHECK(session.run_round(bind(constant.input<float>("x"), hx), bind(constant.output<float>("y"), hy)).ok());
  CHECK(hy == std::vector<float>{2, 4});
}

TEST_CASE("What freezing finds wrong, opening throws") {
  TaskGraph graph{Edges::explicit_};
  const auto x = graph.inout<float>("x", {2});
  const TaskId a = graph.add_raw("a", CoreType::vector, no_kernel, updates(x));
  const TaskId b = graph.add_raw("b", CoreType::vector, no_kernel, updates(x));
  CHECK(opened(graph).code == Errc::race);
  graph.add_edge(a, b);
  CHECK(opened(graph).code == Errc::ok);
  graph.add_edge(b, a);
  CHECK(opened(graph).code == Errc::cycle);
}

TEST_CASE("Limits are those of the chip that the session is opened on") {
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {2});
  graph.add_raw("wide", CoreType::vector, Blocks{36}, no_kernel, updates(x));
  const Raised r = opened<A2A3Sim>(graph);
  CAPTURE(r.text);
  CHECK(r.code == Errc::limit_exceeded);
  CHECK(says(r.text, "'wide'", "36 blocks", "a2a3 is 24"));
  CHECK(opened<A5Sim>(graph).code == Errc::ok);
  graph.add_raw("wider", CoreType::vector, Blocks{37}, no_kernel, updates(x));
  CHECK(opened<A5Sim>(graph).code == Errc::limit_exceeded);
}

TEST_CASE("A graph that does not fit into the device is refused with both figures, and a smaller one opens") {
  TaskGraph graph;
  (void)graph.workspace<float>("t", {1000});
  A2A3Sim::Options options;
  options.device_memory = Bytes{1000};
  const Raised r = opened<A2A3Sim>(graph, options);
  CAPTURE(r.text);
  CHECK(r.code == Errc::out_of_memory);
  CHECK(says(r.text, "4032", "1000"));
  options.device_memory = Bytes{4032};
  CHECK(opened<A2A3Sim>(graph, options).code == Errc::ok);
}

TEST_CASE("A graph of more than 2^62 bytes is refused by the tensor that passes it") {
  TaskGraph graph;
  (void)graph.workspace<std::int8_t>("a", {std::numeric_limits<std::int64_t>::max() / 4 - 200});
  (void)graph.workspace<std::int8_t>("b", {std::numeric_limits<std::int64_t>::max() / 4 - 200});
  (void)graph.workspace<std::int8_t>("c", {500});
  const Raised r = opened<A5Sim>(graph);
  CAPTURE(r.text);
  CHECK(r.code == Errc::overflow);
  CHECK(says(r.text, "'c'"));
}

TEST_CASE("What was allocated is given back if the program cannot be loaded") {
  Script script;
  script.load_throws = true;
  const Raised r = raised([&] { auto session = open<ScriptedPlatform>(build(), {&script}); });
  CHECK(r.code == Errc::out_of_resources);
  CHECK(script.take() == "allocate load release");
}

TEST_CASE("A session allocates once, with the whole arena, and releases once") {
  Script script;
  {
    auto session = open<ScriptedPlatform>(build(), {&script});
    CHECK(script.take() == "allocate load");
    CHECK(session.arena_bytes() == Bytes{96});  // 32 at 0 and 32 at 64
  }
  CHECK(script.take() == "wait unload release");
}

TEST_CASE("A graph that holds nothing allocates nothing and runs") {
  Script script;
  auto session = open<ScriptedPlatform>(TaskGraph{}, {&script});
  CHECK(script.take() == "load");
  CHECK(session.run_round().ok());
  CHECK(script.take() == "launch wait");
  CHECK(session.close().ok());
  CHECK(script.take() == "wait unload");
}

TEST_CASE("A platform that cannot fill memory zeroes workspaces by copies of a page") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto total = graph.workspace<float>("total", {2100});
  const auto y = graph.output<float>("y", {2});
  graph.zero(total, Zeroed::once);
  graph.add<Scale>(x, total, 1.0F);
  graph.add<Scale>(total, y, 2.0F);
  Script script;
  auto session = open<ScriptedPlatform>(graph, ScriptedPlatform::Options{&script});
  const std::string calls = script.take();
  CAPTURE(calls);
  CHECK(calls.find("copy_in:4096 copy_in:4096 copy_in:208 wait") != std::string::npos);

  script.fail_on = "copy_in";
  script.failure = Status{Errc::device_failed};
  const Raised refused =
      raised([&] { auto other = open<ScriptedPlatform>(graph, ScriptedPlatform::Options{&script}); });
  CHECK(refused.code == Errc::device_failed);
  CHECK(refused.text.find("setting workspaces to zero") != std::string::npos);
}
