// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/recoverable.hpp>

#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <unit/session/scripted_platform.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace rondo;
using namespace rondo::test;
using Floats = std::vector<float>;

namespace {

/// A driver that allocates no memory of size 0.
struct AllocatesNoNothing : A2A3Sim {
  using A2A3Sim::A2A3Sim;
  void* allocate_pinned(Bytes size) {
    if (size.value == 0) throw Error(Errc::invalid_argument, Error::Text("no memory of size 0"));
    return A2A3Sim::allocate_pinned(size);
  }
};

/// y = 3 (2 x), sum += x
struct Graph {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {2});
  Output<float> y = graph.output<float>("y", {2});
  Workspace<float> t = graph.workspace<float>("t", {2});
  TaskId first = graph.add<Scale>(x, t, 2.0F);
  TaskId second = graph.add<Scale>(t, y, 3.0F);
};

}  // namespace

TEST_CASE("The scalars of each task are restored, and nothing else needs memory of the host") {
  const Graph g;
  using P = AllocatesNoNothing;
  Recoverable session([&](const P::Options& options) { return open<P>(g.graph, options); }, P::Options{});
  REQUIRE(session->set_scalar(g.second, 0, 5.0F).ok());
  REQUIRE(session.checkpoint().ok());
  REQUIRE(session->set_scalar(g.first, 0, 7.0F).ok());
  CHECK(session.recover() == 0);
  const Floats x{1, 2};
  Floats y(2);
  REQUIRE(session->run_round(bind(g.x, x), bind(g.y, y)).ok());
  CHECK(y == Floats{10, 20});
}

TEST_CASE("A checkpoint whose copy fails leaves the one before it") {
  Graph g;
  const auto sum = g.graph.resident<float>("sum", {2});
  g.graph.add<Accumulate>(g.x, sum);
  Script script;
  using P = ScriptedPlatform;
  Recoverable session([&](const P::Options& options) { return open<P>(g.graph, options); }, P::Options{&script});
  const Floats x{1, 2};
  Floats y(2);
  REQUIRE(session->upload(sum, Floats{10, 20}).ok());
  REQUIRE(session.checkpoint().ok());
  REQUIRE(session->run_round(bind(g.x, x), bind(g.y, y)).ok());
  script.fail_on = "copy_out";
  script.failure = Status{Errc::timed_out};
  CHECK(session.checkpoint().code() == Errc::timed_out);
  script.fail_on.clear();
  CHECK(session.recover() == 0);
  Floats now(2);
  REQUIRE(session->download(sum, now).ok());
  CHECK(now == Floats{10, 20});
}

TEST_CASE("A graph with a tensor of another direction or size in place of one is another graph") {
  const Graph g;
  TaskGraph with_input = g.graph, with_resident = g.graph, with_more = g.graph;
  (void)with_input.input<float>("more", {2});
  (void)with_resident.resident<float>("more", {2});
  (void)with_more.resident<float>("more", {3});
  const TaskGraph* opened = &with_resident;
  Recoverable session([&](const A2A3Sim::Options& options) { return open<A2A3Sim>(*opened, options); },
                      A2A3Sim::Options{});
  REQUIRE(session.checkpoint().ok());
  for (const TaskGraph* other : {&with_input, &with_more}) {
    opened = other;
    CHECK(raised([&] { (void)session.recover(); }).code == Errc::wrong_tensor);
  }
  opened = &with_resident;
  CHECK(session.recover() == 0);
}
