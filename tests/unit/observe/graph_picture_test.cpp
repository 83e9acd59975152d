// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/observe/graph_svg.hpp>

#include "../../../examples/02_digits/network.hpp"

#include <folder.hpp>
#include <random.hpp>
#include <rondo/graph/loops.hpp>
#include <rondo/observe/traced.hpp>
#include <rondo/orchestrated.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;
using Path = std::vector<std::uint32_t>;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

struct Touch {
  static constexpr std::string_view name = "touch <&\"\\>";
  static constexpr auto core = CoreType::cube;
  static void run(InOut<float> y) noexcept { y[0] += 1; }
};

/// n tasks; of each pair the later waits for the earlier with probability p.
FrozenGraph random_graph(std::uint32_t n, double p, std::uint64_t seed) {
  auto random = rondo::test::make_random<std::mt19937_64>(seed);
  TaskGraph graph(Edges::explicit_);
  std::vector<TaskId> tasks;
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto y = graph.inout<float>("y" + std::to_string(i), {4});
    tasks.push_back(graph.add<Touch>(y));
  }
  for (std::uint32_t a = 0; a < n; ++a) {
    for (std::uint32_t b = a + 1; b < n; ++b) {
      if (std::uniform_real_distribution<>{}(random) < p) graph.add_edge(tasks[a], tasks[b]);
    }
  }
  return freeze(graph);
}

template <class Session>
std::string svg_of(Session& session) {
  std::ostringstream out;
  observe::write_graph(out, session);
  return out.str();
}

}  // namespace

TEST_CASE("The critical path is the chain that takes longest, not the one with most tasks") {
  // 0 > 1 > 2 > 5, 0 > 3 > 5, 4 alone.
  TaskGraph graph(Edges::explicit_);
  std::vector<TaskId> t;
  for (std::uint32_t i = 0; i < 6; ++i) t.push_back(graph.add<Touch>(graph.inout<float>("y" + std::to_string(i), {4})));
  for (const auto& [a, b] : {std::pair{0, 1}, {1, 2}, {2, 5}, {0, 3}, {3, 5}}) {
    graph.add_edge(t[static_cast<std::size_t>(a)], t[static_cast<std::size_t>(b)]);
  }
  const FrozenGraph frozen = freeze(graph);
  std::vector<std::uint32_t> position(6);
  for (std::uint32_t p = 0; p < 6; ++p) position[frozen.view().tasks[p].added_as] = p;
  const auto path = [&](const std::vector<double>& by_task) {
    std::vector<double> ns(6);
    for (std::size_t i = 0; i < 6; ++i) ns[position[i]] = by_task[i];
    Path named;
    for (const std::uint32_t p : observe::critical_path(frozen.view(), ns)) {
      named.push_back(frozen.view().tasks[p].added_as);
    }
    return named;
  };
  CHECK(path({1, 1, 1, 1, 1, 1}) == Path{0, 1, 2, 5});
  CHECK(path({1, 1, 1, 3, 1, 1}) == Path{0, 3, 5});
  CHECK(path({1, 1, 1, 1, 9, 1}) == Path{4});
}

TEST_CASE("In a picture each task has a box and each edge an arrow, and tasks stand below what they wait for") {
  for (const std::uint32_t n : {1U, 7U, 24U}) {
    const FrozenGraph graph = random_graph(n, 0.15, n);
    std::ostringstream out;
    observe::write_graph(out, graph.view());
    const std::string svg = out.str();
    CHECK(count(svg, "class=\"node\"") == n);
    CHECK(count(svg, "class=\"edge\"") == graph.view().successors.size());
    // Where a task's name stands, by its number: Graphviz's y grows downwards.
    const auto height_of = [&](std::uint32_t task) {
      const std::size_t at = svg.find("<title>t" + std::to_string(task) + "</title>");
      return std::stod(svg.substr(svg.find(" y=\"", at) + 4));
    };
    for (std::uint32_t t = 0; t < n; ++t) {
      for (const std::uint32_t s : graph.view().successors_of(t)) CHECK(height_of(t) < height_of(s));
    }
  }
}

TEST_CASE("Without Graphviz a picture says what to install") {
  const TaskGraph graph;
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  std::ostringstream out;
  try {
    observe::write_graph(out, graph);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::unsupported);
    CHECK(std::string{error.what()}.find("install it (Debian: graphviz)") != std::string::npos);
  }
  ::setenv("PATH", path.c_str(), 1);
  CHECK(out.str().empty());
}

TEST_CASE("A failure of Graphviz has its reason, and says where the text is") {
  const Folder folder;
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", folder.path().c_str(), 1);
  using std::filesystem::perms;
  const auto failure = [&](const char* script, perms may, std::chrono::milliseconds limit) {
    std::ofstream{folder / "dot"} << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(folder / "dot", may);
    std::ostringstream out;
    try {
      observe::draw_dot(out, "digraph {}", limit);
    } catch (const Error& error) {
      CHECK(error.code() == Errc::out_of_resources);
      CHECK(std::string{error.what()}.find("; to_dot() returns what it reads") != std::string::npos);
      return std::string{error.what()};
    }
    return std::string{"nothing was thrown"};
  };
  const auto long_enough = std::chrono::hours{1};
  CHECK(count(failure("while :; do :; done", perms::owner_all, std::chrono::milliseconds{100}),
              "`dot` took longer than 100 ms;") == 1);
  CHECK(count(failure("kill -SEGV $$", perms::owner_all, long_enough), "`dot` was ended by signal 11;") == 1);
  CHECK(count(failure("exit 3", perms::owner_all, long_enough), "`dot` returned 3;") == 1);
  CHECK(count(failure("echo line 1 is wrong; exit 1", perms::owner_all, long_enough), "line 1 is wrong") == 1);
  CHECK(count(failure("", perms::owner_read | perms::owner_write, long_enough), "`dot` cannot be started: ") == 1);
  ::setenv("PATH", path.c_str(), 1);
}

TEST_CASE("Without a folder for temporary files a picture fails with an Error") {
  const char* const before = std::getenv("TMPDIR");
  const std::string restored = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/no/such/folder", 1);
  std::ostringstream out;
  CHECK_THROWS_WITH_AS(observe::draw_dot(out, "digraph {}"), doctest::Contains("TMPDIR, or else /tmp, is no folder"),
                       Error);
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", restored.c_str(), 1);
}

TEST_CASE("DOT has a box for each task and an arrow for each edge, with what it carries") {
  const digits::TrainingStep step(16);
  const std::string dot = observe::to_dot(step.graph);
  CHECK(count(dot, "fillcolor=") == 16);
  CHECK(count(dot, "fillcolor=\"#cfe2f3\"") == 5);  // products of matrices
  CHECK(count(dot, " -> ") == freeze(step.graph).view().successors.size());
  CHECK(count(dot, "label=\"z1\"") == 1);
  CHECK(count(dot, "style=\"dashed\"") > 0);  // the gradient has gone through w2 before w2 changes
  CHECK(count(dot, " at ") == 0);
  CHECK(count(dot, "#cc0000") == 0);
}

TEST_CASE("A session's picture shows where tensors lie, what tasks took, and the longest chain of them") {
  digits::TrainingStep step(16);
  auto session = open<A2A3SimOn<observe::Traced<Inline>>>(step.graph);
  const digits::Weights weights = digits::random_weights(digits::Random{5});
  REQUIRE(session.upload(step.net.w1, weights.w1).ok());
  REQUIRE(session.upload(step.net.b1, weights.b1).ok());
  REQUIRE(session.upload(step.net.w2, weights.w2).ok());
  REQUIRE(session.upload(step.net.b2, weights.b2).ok());
  const std::string before = svg_of(session);
  CHECK(count(before, "class=\"node\"") == 16);
  CHECK(count(before, "class=\"edge\"") == session.graph().view().successors.size());
  CHECK(count(before, " B at ") == 16);
  CHECK(count(before, "critical path") == 0);

  std::vector<float> pixels(16 * digits::pixels_per_digit, 0.5F);
  std::vector<std::int32_t> labels(16, 3);
  float rate = 0.1F, loss = 0;
  for (int i = 0; i < 5; ++i) {
    REQUIRE(session
                .run_round(bind(step.pixels, pixels), bind(step.labels, labels), bind(step.rate, rate),
                           bind(step.loss, loss))
                .ok());
  }
  const observe::GraphNotes notes = observe::notes_of(session);
  REQUIRE(notes.critical.size() >= 7);
  CHECK(notes.task_ns.size() == 16);
  for (std::size_t i = 1; i < notes.critical.size(); ++i) {
    const auto next = session.graph().view().successors_of(notes.critical[i - 1]);
    CHECK(std::ranges::find(next, notes.critical[i]) != next.end());
  }
  const std::string after = svg_of(session);
  CHECK(count(after, "critical path") == 1);
  // A box, an arrow and its head are a path or a polygon each.
  CHECK(count(after, "stroke=\"#cc0000\"") == 3 * notes.critical.size() - 2);
  CHECK(count(observe::to_dot(session), "penwidth=2") == 2 * notes.critical.size() - 1);
}

TEST_CASE("A model's picture shows its prediction") {
  digits::TrainingStep step(16);
  auto session = open<A2A3SimOn<Model>>(step.graph);
  const digits::Weights weights = digits::random_weights(digits::Random{5});
  REQUIRE(session.upload(step.net.w1, weights.w1).ok());
  REQUIRE(session.upload(step.net.b1, weights.b1).ok());
  REQUIRE(session.upload(step.net.w2, weights.w2).ok());
  REQUIRE(session.upload(step.net.b2, weights.b2).ok());
  std::vector<float> pixels(16 * digits::pixels_per_digit, 0.5F);
  std::vector<std::int32_t> labels(16, 3);
  float rate = 0.1F, loss = 0;
  REQUIRE(
      session
          .run_round(bind(step.pixels, pixels), bind(step.labels, labels), bind(step.rate, rate), bind(step.loss, loss))
          .ok());
  const observe::GraphNotes notes = observe::notes_of(session);
  const auto prediction = session.platform().engine().prediction();
  CHECK(Path(prediction.critical_path.begin(), prediction.critical_path.end()) == notes.critical);
  CHECK(count(svg_of(session), "times predicted") == 1);
}

TEST_CASE("Names with marks of their own do not break a picture") {
  TaskGraph graph;
  graph.add<Touch>(graph.inout<float>("y", {4}));
  std::ostringstream out;
  observe::write_graph(out, graph);
  CHECK(count(out.str(), "touch &lt;&amp;&quot;\\&gt;") == 2);
  CHECK(count(observe::to_dot(graph), "touch <&\\\"\\\\>") == 2);
}

TEST_CASE("A graph without tasks has a picture too") {
  const FrozenGraph graph = random_graph(0, 0, 1);
  std::ostringstream out;
  observe::write_graph(out, graph.view());
  CHECK(count(out.str(), "0 tasks, 0 edges") == 1);
  CHECK(count(out.str(), "</svg>") == 1);
}

TEST_CASE("The graph of a pipelined session is drawn like any other") {
  TaskGraph graph;
  const auto y = graph.inout<float>("y", {4});
  graph.add<Touch>(y);
  auto session = open_pipelined<A2A3Sim, 2>(graph);
  CHECK(count(svg_of(session), "class=\"node\"") == 1);
  CHECK(count(observe::to_dot(session), "touch <") >= 1);
}

namespace {
struct Ring : DefaultPolicies {
  using Runtime = runtime::TensorMapRingBuffer;
};
}  // namespace

TEST_CASE("The picture of a graph that is built during the round has no tasks, and no times of them") {
  TaskGraph interface;
  const auto y = interface.inout<float>("y", {4});
  auto session = open<A2A3SimOn<observe::Traced<Inline>>, Ring>(interface, [=](auto& r) { r.template add<Touch>(y); });
  std::vector<float> hy(4);
  REQUIRE(session.run_round(bind(y, hy)).ok());
  CHECK(observe::notes_of(session).task_ns.empty());
  CHECK(count(observe::to_dot(session), "0 tasks, 0 edges") == 1);
}

TEST_CASE("A loop is a frame around its tasks") {
  TaskGraph graph;
  const auto y = graph.inout<float>("y", {4});
  const auto z = graph.inout<float>("z", {4});
  const auto done = graph.inout<std::uint8_t>("done", {1});
  graph.repeat_until(done, 12, [&] {
    graph.add<Touch>(y);
    graph.when(done, [&] { graph.add<Touch>(z); });
    graph.add_raw("end", CoreType::vector, [](ArgWord*) {}, writes(done));
  });
  const std::string dot = observe::to_dot(graph);
  CHECK(count(dot, "subgraph cluster_0 { label=\"repeat until done, at most 12 times\"") == 1);
  CHECK(count(dot, "subgraph cluster_1 { label=\"when done\"") == 1);
  CHECK(dot.find("cluster_0") < dot.find("cluster_1"));
  CHECK(count(dot, "{") == count(dot, "}"));
  CHECK(dot.find("  t2 [") < dot.find("  }\n"));  // the tasks of the inner loop
  CHECK(dot.find("  }\n") < dot.find("  t3 ["));
}
