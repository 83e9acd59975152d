// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The programs that docs/memory.md shows.

#include <rondo/memory/dlpack.hpp>
#include <rondo/search/plan_svg.hpp>
#include <rondo/search/planners.hpp>
#include <rondo/session/memory_report.hpp>
#include <rondo/static_graph.hpp>

#include <doctest/doctest.h>

#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Relu {
  static constexpr std::string_view name = "relu";
  static constexpr auto core = rondo::CoreType::vector;
  static constexpr rondo::InPlace in_place{.out = 1, .in = 0};
  static void run(rondo::In<float> x, rondo::Out<float> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] < 0 ? 0 : x[i];
  }
};

struct MyPolicies : rondo::DefaultPolicies {
  using Plan = rondo::search::Best<20'000>;
};

constexpr auto build = [] {
  rondo::TaskGraph g;
  const auto x = g.input<float>("x", {16});
  const auto a = g.workspace<float>("a", {16});
  const auto b = g.workspace<float>("b", {16});
  const auto y = g.output<float>("y", {16});
  g.add<Relu>(x, a);
  g.add<Relu>(a, b);
  g.add<Relu>(b, y);
  return g;
};
constexpr auto& graph = rondo::static_graph<build>;
static_assert(rondo::arena_bytes<rondo::A5Sim, graph> <= rondo::Bytes{128});
static_assert(rondo::arena_bytes<rondo::A5Sim, graph> == rondo::Bytes{64});

}  // namespace

TEST_CASE("The memory page's kernel runs in place, and its report draws") {
  auto session = rondo::open<rondo::A5Sim, MyPolicies>(build());
  CHECK(session.arena_bytes() == rondo::Bytes{64});
  const auto view = session.graph().view();
  std::vector<float> x{-1, 2, -3, 4, -5, 6, -7, 8, -1, 2, -3, 4, -5, 6, -7, 8}, y(16);
  REQUIRE(session.run_round(bind(view.find<float, rondo::Direction::in>("x"), x),
                            bind(view.find<float, rondo::Direction::out>("y"), y)));
  CHECK(y == std::vector<float>{0, 2, 0, 4, 0, 6, 0, 8, 0, 2, 0, 4, 0, 6, 0, 8});
  std::ostringstream map;
  rondo::search::write_memory_map(map, session.memory_report());
  CHECK(map.str().find("x, a, b, y") != std::string::npos);
}

TEST_CASE("The memory page's rounds pass on what is on the device") {
  using rondo::bind;
  rondo::TaskGraph tasks;
  const auto x = tasks.input<float>("x", {4});
  const auto y = tasks.output<float>("y", {4});
  tasks.add<Relu>(x, y);
  auto session = rondo::open<rondo::A2A3Sim>(tasks);
  const std::vector<float> hx{-1, 2, -3, 4};
  std::vector<float> hy(4);
  rondo::Status status;
  auto hidden = session.allocate(y);
  status = session.run_round(bind(x, hx), bind(y, hidden));
  REQUIRE(status.ok());
  status = session.run_round(bind(x, hidden), bind(y, hy));
  REQUIRE(status.ok());
  CHECK(hy == std::vector<float>{0, 2, 0, 4});
}

TEST_CASE("The memory page's tensors are in memory that the device reads in place") {
  using rondo::bind;
  rondo::TaskGraph tasks;
  const auto x = tasks.input<float>("x", {4});
  const auto w = tasks.resident<float>("w", {4});
  const auto y = tasks.output<float>("y", {4});
  tasks.add<Relu>(x, w);
  tasks.add<Relu>(w, y);
  std::vector<float> hy(4);
  rondo::Status status;
  tasks.in_memory(w, rondo::MemoryKind::mapped_host);
  tasks.in_memory(x, rondo::MemoryKind::mapped_host);
  auto session = rondo::open<rondo::A2A3Sim>(tasks);
  auto in = session.allocate(x);
  in.host()[0] = 1;
  REQUIRE(session.upload(w, hy).ok());
  status = session.run_round(bind(x, in), bind(y, hy));
  REQUIRE(status.ok());
  CHECK(hy[0] == 1);
  using rondo::MemoryKind;
  CHECK(session.allocate<MemoryKind::peer>(x).size() == 4);
}

#if __has_include(<dlpack/dlpack.h>)
TEST_CASE("The memory page's DLPack tensors are bound and exported without a copy") {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<Relu>(x, y);
  auto session = rondo::open<rondo::A2A3Sim>(graph);
  std::vector<float> theirs{-1, 2, -3, 4}, hy(4);
  DLManagedTensor* const tensor = rondo::dlpack::export_tensor(std::span(theirs), {4});
  rondo::Status status;
  status = session.run_round(rondo::dlpack::bind(x, *tensor), bind(y, hy));
  REQUIRE(status.ok());
  rondo::dlpack::give_back(tensor);
  DLManagedTensor* exported = rondo::dlpack::export_tensor(std::span(hy), {4});
  CHECK(exported->dl_tensor.data == hy.data());
  CHECK(static_cast<const float*>(exported->dl_tensor.data)[3] == 4);
  rondo::dlpack::give_back(exported);
}
#endif
