// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/inline.hpp>

#include <rondo/graph/static_graph.hpp>
#include <rondo/session/open_static.hpp>
#include <unit/platform/sim/programs.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;
using platform::sim::Inline;

namespace {

std::vector<std::string> journal;

template <char Letter>
struct Writes {
  static constexpr char letter[] = {Letter, '\0'};
  static constexpr std::string_view name = letter;
  static constexpr auto core = CoreType::vector;
  static void run(Block b, InOut<float>) {
    journal.push_back(std::string{Letter} + std::to_string(b.index) + "/" + std::to_string(b.count));
  }
};

struct ThrowsInBlock {
  static constexpr std::string_view name = "thrower";
  static constexpr auto core = CoreType::cube;
  static void run(Block b, InOut<float>, std::uint32_t in_block) {
    if (b.index == in_block) throw 1;
    journal.push_back("ok");
  }
};

constexpr auto build_throwing = [] {
  TaskGraph graph;
  const auto y = graph.inout<float>("y", {1});
  graph.add<Writes<'a'>>(y);
  graph.add<ThrowsInBlock>(Blocks{3}, y, 1U);
  graph.add<Writes<'b'>>(y);
  return graph;
};

}  // namespace

TEST_CASE("Tasks run in the graph's order, each as all its blocks in turn, round after round") {
  TaskGraph graph{Edges::explicit_};
  const auto y = graph.inout<float>("y", {1});
  const TaskId b = graph.add<Writes<'b'>>(Blocks{2}, y);
  const TaskId c = graph.add<Writes<'c'>>(y);
  const TaskId a = graph.add<Writes<'a'>>(Blocks{3}, y);
  graph.add_edge(a, b);
  graph.add_edge(b, c);
  Loaded<Inline> loaded{graph};
  auto program = loaded.engine.load(loaded.frozen, loaded.table);
  for (int round = 0; round < 3; ++round) {
    journal.clear();
    CHECK(loaded.engine.launch(program).ok());
    CHECK(loaded.engine.wait().ok());
    CHECK(journal == std::vector<std::string>{"a0/3", "a1/3", "a2/3", "b0/2", "b1/2", "c0/1"});
  }
  CHECK(loaded.engine.unload(program).ok());
}

TEST_CASE("A kernel that throws ends the round there, names its task and poisons") {
  const TaskGraph graph = build_throwing();
  Loaded<Inline> loaded{graph};
  auto program = loaded.engine.load(loaded.frozen, loaded.table);
  journal.clear();
  const Status status = loaded.engine.launch(program);
  CHECK(status.code() == Errc::kernel_failed);
  CHECK(status.poisoned());
  CHECK(status.index() == 1);
  CHECK(journal == std::vector<std::string>{"a0/1", "ok"});
  CHECK(says(loaded.engine.failure_text().c_str(), "no std::exception"));
}

TEST_CASE("A constant graph runs and fails as the same graph does at run time") {
  constexpr auto& constant = static_graph<build_throwing>;
  using Graph = graph::StaticGraphRef<constant>;
  Loaded<Inline> loaded{build_throwing()};
  auto program = loaded.engine.load(Graph{}, loaded.table);
  journal.clear();
  const Status status = loaded.engine.launch(program);
  CHECK(status.code() == Errc::kernel_failed);
  CHECK(status.index() == 1);
  CHECK(journal == std::vector<std::string>{"a0/1", "ok"});
}

TEST_CASE("The failed task is named by the number it was added as, not by its place") {
  TaskGraph graph{Edges::explicit_};
  const auto y = graph.inout<float>("y", {1});
  const TaskId thrower = graph.add<ThrowsInBlock>(y, 0U);
  const TaskId first = graph.add<Writes<'a'>>(y);
  graph.add_edge(first, thrower);
  Loaded<Inline> loaded{graph};
  auto program = loaded.engine.load(loaded.frozen, loaded.table);
  CHECK(loaded.engine.launch(program).index() == index(thrower));
}

TEST_CASE("A graph without tasks runs") {
  Loaded<Inline> loaded{TaskGraph{}};
  auto program = loaded.engine.load(loaded.frozen, loaded.table);
  CHECK(loaded.engine.launch(program).ok());
}

TEST_CASE("A request to stop ends the round before its next kernel") {
  TaskGraph graph;
  const auto y = graph.inout<float>("y", {1});
  graph.add<Writes<'a'>>(y);
  Loaded<Inline> loaded{graph};
  auto program = loaded.engine.load(loaded.frozen, loaded.table);
  CHECK(loaded.engine.launch(program).ok());
  journal.clear();
  loaded.engine.request_stop();
  CHECK(loaded.engine.launch(program) == Status{Errc::stopped}.poisoning());
  CHECK(journal.empty());
}
