// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/static_graph.hpp>

#include <rondo/graph/freeze.hpp>
#include <rondo/session/open_static.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Mark {
  static constexpr std::string_view name = "mark";
  static constexpr auto core = CoreType::cube;
  static void run(InOut<std::int32_t>, std::int32_t) {}
};
struct Look {
  static constexpr std::string_view name = "look";
  static constexpr auto core = CoreType::vector;
  static void run(In<float>) {}
};

constexpr auto build = [] {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2, 4});
  const auto y = graph.inout<float>("y", {8});
  const auto t = graph.workspace<float>("t", {8});
  const auto w = graph.resident<std::int32_t>("w", {3});
  const TaskId last = graph.add<Mark>(w, -1);
  graph.add<Scale>(x, t, 2.0F);
  const TaskId sum = graph.add<Accumulate>(Blocks{2}, t, y);
  graph.add_edge(sum, last);
  return graph;
};
constexpr auto& constant = static_graph<build>;

constexpr auto build_other = [] {
  TaskGraph graph;
  const auto x = graph.input<float>("other", {1});
  graph.add<Look>(x);
  return graph;
};

constexpr auto build_nothing = [] { return TaskGraph{}; };

}  // namespace

TEST_CASE("A static graph holds the same records as the same graph frozen at run time") {
  const FrozenGraph frozen = freeze(build());
  const graph::GraphView expected = frozen.view();
  constexpr graph::GraphView view = constant.view();
  REQUIRE(view.tensors.size() == expected.tensors.size());
  for (std::size_t i = 0; i < view.tensors.size(); ++i) {
    CHECK(view.name(view.tensors[i].name) == expected.name(expected.tensors[i].name));
    CHECK(view.tensors[i].type == expected.tensors[i].type);
    CHECK(view.tensors[i].direction == expected.tensors[i].direction);
    CHECK(view.tensors[i].shape == expected.tensors[i].shape);
    CHECK(view.tensors[i].count == expected.tensors[i].count);
    CHECK(view.tensors[i].bytes == expected.tensors[i].bytes);
  }
  REQUIRE(view.tasks.size() == expected.tasks.size());
  for (std::size_t i = 0; i < view.tasks.size(); ++i) {
    CHECK(view.name(view.tasks[i].name) == expected.name(expected.tasks[i].name));
    CHECK((view.tasks[i].entry == expected.tasks[i].entry));
    CHECK(view.tasks[i].core == expected.tasks[i].core);
    CHECK(view.tasks[i].blocks == expected.tasks[i].blocks);
    CHECK(view.tasks[i].added_as == expected.tasks[i].added_as);
    const auto args = view.args_of(view.tasks[i]);
    const auto wanted = expected.args_of(expected.tasks[i]);
    REQUIRE(args.size() == wanted.size());
    for (std::size_t a = 0; a < args.size(); ++a) {
      CHECK(args[a].kind == wanted[a].kind);
      CHECK(args[a].access == wanted[a].access);
      CHECK(args[a].tensor == wanted[a].tensor);
      CHECK(args[a].bits == wanted[a].bits);
    }
  }
  CHECK(std::equal(view.successors.begin(), view.successors.end(), expected.successors.begin(),
                   expected.successors.end()));
  CHECK(std::equal(view.successor_begin.begin(), view.successor_begin.end(), expected.successor_begin.begin(),
                   expected.successor_begin.end()));
  CHECK(std::equal(view.predecessor_count.begin(), view.predecessor_count.end(), expected.predecessor_count.begin(),
                   expected.predecessor_count.end()));
}

TEST_CASE("What a static graph knows is known to the compiler") {
  static_assert(constant.view().tasks.size() == 3);
  static_assert(constant.view().name(constant.view().tasks[0].name) == "scale");
  static_assert(constant.view().tensors[0].bytes == 32);
  static_assert(graph::StaticGraphRef<constant>::is_static);
  static_assert(graph::StaticGraphRef<constant>::view().tasks.size() == 3);
  constexpr auto x = constant.input<float>("x");
  constexpr auto y = constant.inout<float>("y");
  constexpr auto w = constant.resident<std::int32_t>("w");
  CHECK(x.key.tensor() == TensorId{0});
  CHECK(y.key.tensor() == TensorId{1});
  CHECK(w.key.tensor() == TensorId{3});
  CHECK(x.key.graph() == constant.view().tag);
}

TEST_CASE("Static graphs with different names have different tags, apart from those of run-time graphs") {
  constexpr std::uint32_t one = constant.view().tag;
  constexpr std::uint32_t other = static_graph<build_other>.view().tag;
  CHECK(one != other);
  CHECK((one & 0x8000'0000U) != 0);
  CHECK((other & 0x8000'0000U) != 0);
  CHECK((TaskGraph{}.tag() & 0x8000'0000U) == 0);
}

TEST_CASE("A static graph may be empty") {
  constexpr auto& nothing = static_graph<build_nothing>;
  CHECK(nothing.view().tasks.empty());
  CHECK(nothing.view().tensors.empty());
  CHECK(nothing.view().successors.empty());
}
