// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The programs that docs/observing.md shows: they compile, and print what it says.

#include <rondo/observe/bench_main.hpp>
#include <rondo/observe/clocks.hpp>
#include <rondo/observe/counters.hpp>
#include <rondo/observe/graph_svg.hpp>
#include <rondo/observe/trace.hpp>
#include <rondo/observe/trace_json.hpp>
#include <rondo/observe/traced.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>
#include <rondo/session/log.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Picky {
  static constexpr std::string_view name = "picky";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) {
    if (x[0] < 0) throw std::runtime_error("no");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};

struct MyPolicies : rondo::DefaultPolicies {
  using Observe = rondo::observe::Trace;
};
struct Counted : rondo::DefaultPolicies {
  using Observe = rondo::observe::TimedCounters;
};
std::string printed;
struct Logged : rondo::DefaultPolicies {
  static void log(rondo::LogEvent event, const char* text) noexcept {
    printed += std::string{"    "} + to_string(event) + ": " + text + "\n";
  }
};

struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};

struct Step {  // holds the graph and the memory of its rounds
  rondo::TaskGraph graph;
  rondo::Input<float> x = graph.input<float>("x", {1024});
  rondo::Output<float> y = graph.output<float>("y", {1024});
  std::vector<float> hx = std::vector<float>(1024, 1.0F), hy = std::vector<float>(1024);

  Step() { graph.add<Twice>(x, y); }
  auto open() { return rondo::open<rondo::A2A3Sim, rondo::observe::MeasuredRounds<>>(graph); }
  rondo::Status round(auto& session) { return session.run_round(bind(x, hx), bind(y, hy)); }
};

int measure_steps(int argc, char** argv) {
  using namespace rondo::observe;
  return bench_main(argc, argv, {bench_case("step", "one step", [] { return Step(); })});
}

struct Graph {
  rondo::TaskGraph graph;
  rondo::Input<float> x = graph.input<float>("x", {2});
  rondo::Output<float> y = graph.output<float>("y", {2});
  rondo::TaskId task = graph.add<Picky>(x, y);
  std::vector<float> hx{1, 2};
  std::vector<float> hy = std::vector<float>(2);

  template <class Session>
  rondo::Status round(Session& session) {
    return session.run_round(bind(x, hx), bind(y, hy));
  }
};

std::string page() {
  const auto root = std::filesystem::path{RONDO_TEST_DATA_DIR}.parent_path().parent_path();
  std::stringstream text;
  text << std::ifstream(root / "docs/observing.md").rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("The trace of observing.md is written, with all its tracks") {
  Graph g;
  auto session = rondo::open<rondo::A2A3SimOn<rondo::observe::Traced<rondo::Pool>>, MyPolicies>(g.graph);
  for (int i = 0; i < 10; ++i) CHECK(g.round(session).ok());
  std::ostringstream file;
  rondo::observe::write_trace(file, session);
  for (const char* track : {"rounds", "host", "launches", "tasks, thread 0"}) {
    CHECK(file.str().find("\"args\":{\"name\":\"" + std::string{track} + "\"}") != std::string::npos);
  }
  rondo::observe::record(session, false);
  CHECK(g.round(session).ok());
}

TEST_CASE("The snapshot of observing.md has what it says") {
  Graph g;
  auto session = rondo::open<rondo::A2A3Sim, Counted>(g.graph);
  for (int i = 0; i < 10; ++i) CHECK(g.round(session).ok());
  const auto now = rondo::observe::snapshot(session);
  CHECK(now.rounds == 10);
  CHECK(now.bytes_in == 80);
  CHECK(now.phase_ns[int(rondo::Phase::launch)] > 0);
}

TEST_CASE("The log of observing.md reads as it says") {
  Graph g;
  printed.clear();
  {
    auto session = rondo::open<rondo::A2A3Sim, Logged>(g.graph);
    CHECK(g.round(session).ok());
    CHECK(g.round(session).ok());
    g.hx[0] = -1;
    CHECK(!g.round(session).ok());
  }
  CHECK(!printed.empty());
  const std::string text = page();
  REQUIRE(!text.empty());
  CHECK_MESSAGE(text.find(printed) != std::string::npos, printed);
}

TEST_CASE("The program of observing.md measures its rounds") {
  char program[] = "bench_step", option[] = "--rounds", rounds[] = "50";
  char* arguments[] = {program, option, rounds};
  CHECK(measure_steps(3, arguments) == 0);
}

TEST_CASE("The picture of observing.md is drawn") {
  Graph g;
  auto session = rondo::open<rondo::A2A3Sim>(g.graph);
  std::ostringstream file;
  rondo::observe::write_graph(file, session);
  CHECK(file.str().find("picky") != std::string::npos);
  CHECK(rondo::observe::to_dot(session).starts_with("digraph"));
}
