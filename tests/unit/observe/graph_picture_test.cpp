// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/observe/graph_svg.hpp>

#include "../../../examples/02_digits/network.hpp"

#include <rondo/observe/traced.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
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
  std::mt19937_64 random(seed);
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

TEST_CASE("In a layout tasks stand below what they wait for, and nothing overlaps") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto n = static_cast<std::uint32_t>(1 + seed);
    const FrozenGraph graph = random_graph(n, 0.1 + 0.02 * static_cast<double>(seed % 10), seed);
    std::vector<double> widths;
    for (std::uint32_t i = 0; i < n; ++i) widths.push_back(40 + 13 * (i % 5));
    const observe::GraphLayout layout(graph.view(), widths, 10);
    REQUIRE(layout.edges.size() == graph.view().successors.size());
    for (const auto& edge : layout.edges) {
      CHECK(edge.places.front() == edge.from);
      CHECK(edge.places.back() == edge.to);
      for (std::size_t i = 1; i < edge.places.size(); ++i) {
        CHECK(layout.places[edge.places[i]].layer == layout.places[edge.places[i - 1]].layer + 1);
      }
    }
    std::size_t placed = 0;
    for (const auto& layer : layout.layers) {
      placed += layer.size();
      for (std::size_t i = 1; i < layer.size(); ++i) {
        const auto& a = layout.places[layer[i - 1]];
        const auto& b = layout.places[layer[i]];
        CHECK(a.x + a.width / 2 + 9.99 <= b.x - b.width / 2);
      }
    }
    CHECK(placed == layout.places.size());
    double left = 1e9;
    for (const auto& place : layout.places) {
      left = std::min(left, place.x - place.width / 2);
      CHECK(place.x + place.width / 2 <= layout.width + 0.01);
    }
    CHECK(left == doctest::Approx(0));
  }
}

TEST_CASE("DOT has a box for each task and an arrow for each edge, with what it carries") {
  const digits::TrainingStep step(16);
  const std::string dot = observe::to_dot(step.graph);
  CHECK(count(dot, " [label=\"") >= 16);
  CHECK(count(dot, "fillcolor=") == 16);
  CHECK(count(dot, "fillcolor=\"#cfe2f3\"") == 5);  // products of matrices
  CHECK(count(dot, " -> ") == freeze(step.graph).view().successors.size());
  CHECK(count(dot, "label=\"z1\"") == 1);
  CHECK(count(dot, "style=dashed") > 0);  // the gradient has gone through w2 before w2 changes
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
  CHECK(count(before, "<rect ") == 1 + 16);
  CHECK(count(before, "<path ") == 1 + session.graph().view().successors.size());
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
  CHECK(count(after, "stroke=\"#cc0000\" stroke-width=\"2\"/>") == notes.critical.size());
  CHECK(count(after, "stroke=\"#cc0000\"") == 2 * notes.critical.size() - 1);
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
  CHECK(count(observe::to_dot(graph), "touch <&\\\"\\\\>") == 1);
}

TEST_CASE("A graph without tasks has a picture too") {
  const FrozenGraph graph = random_graph(0, 0, 1);
  std::ostringstream out;
  observe::write_graph(out, graph.view());
  CHECK(count(out.str(), "0 tasks, 0 edges") == 1);
  CHECK(count(out.str(), "</svg>") == 1);
}
