// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Lines that pages show and whose page has no program that they would stand in word for word.

#include <docs/blocks.hpp>
#include <rondo/args/formatted.hpp>
#include <rondo/observe/clocks.hpp>
#include <rondo/observe/counters.hpp>
#include <rondo/observe/graph_svg.hpp>
#include <rondo/observe/trace.hpp>
#include <rondo/observe/trace_json.hpp>
#include <rondo/observe/traced.hpp>
#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>
#include <rondo/session/round_loop.hpp>
#include <rondo/session/shaped_session.hpp>

#include "folder.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using rondo::Status;

struct Saxpy {  // a kernel is a type: its name on the device, its core, its body for simulation
  static constexpr std::string_view name = "saxpy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
  }
};

/// The README's main.
int readme_main() {
  rondo::TaskGraph graph;
  auto x = graph.input<float>("x", {1024});
  auto y = graph.inout<float>("y", {1024});
  graph.add<Saxpy>(x, y, 2.0F);
  auto session = rondo::open<rondo::SelectedPlatform>(graph);
  std::vector<float> hx(1024, 1.0F), hy(1024);
  for (int round = 0; round < 100; ++round) {
    const rondo::Status status = session.run_round(bind(x, hx), bind(y, hy));
    if (!status) throw rondo::Error(status.code(), session.explain(status));
  }
  std::printf("y[0] = %g\n", static_cast<double>(hy[0]));
  return hy[0] == 200 ? 0 : 2;
}

struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};
void entry(rondo::ArgWord*) {}

struct Program {
  rondo::TaskGraph graph;
  rondo::Input<float> x = graph.input<float>("x", {16});
  rondo::Output<float> y = graph.output<float>("y", {16});
  std::vector<float> hx = std::vector<float>(16, 1.0F), hy = std::vector<float>(16);
  Program() { graph.add<Twice>(x, y); }
};

struct MyPolicies : rondo::DefaultPolicies {
  using Observe = rondo::observe::Trace;
};
struct Counted : rondo::DefaultPolicies {
  using Observe = rondo::observe::TimedCounters;
};
struct Logged : rondo::DefaultPolicies {
  static void log(rondo::LogEvent event, const char* text) noexcept {
    std::fprintf(stderr, "%s: %s\n", to_string(event), text);
  }
};
struct Watch {
  static constexpr rondo::Events events{rondo::Event::phases, rondo::Event::copies};
  void round_begins(rondo::RoundIndex) noexcept { ++rounds; }
  void round_ends(rondo::RoundIndex, rondo::Status) noexcept {}
  void enters(rondo::Phase) noexcept {}
  void copies_in(rondo::Bytes size) noexcept { bytes += size.value; }
  void copies_out(rondo::Bytes size) noexcept { bytes += size.value; }
  std::uint64_t rounds = 0;
  std::uint64_t bytes = 0;
};
struct Watched : rondo::DefaultPolicies {
  using Observe = Watch;
};

TEST_CASE("The README's program gives what it says") { CHECK(readme_main() == 0); }

TEST_CASE("What addresses.md shows of formats from elsewhere adds a task") {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto a = graph.input<float>("a", {16}), b = graph.input<float>("b", {16}), c = graph.input<float>("c", {16});
  const auto y = graph.output<float>("y", {64});
  const auto w = graph.workspace<float>("w", {16});
  rondo::args::Operands io;
  io.input(x).dynamic_input(a, b, c).output(y).workspace(w).tiling(std::int32_t{128});
  rondo::args::add_formatted(graph, "concat", rondo::CoreType::vector, &entry, "{i0*}{i1}{o0*}{ws0*}{t}", io);
  CHECK(rondo::freeze(graph).view().tasks.size() == 1);
}

TEST_CASE("What observing.md shows writes files, counts and pictures") {
  const rondo::test::Folder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  Program program;
  rondo::TaskGraph& graph = program.graph;
  {
    auto session = rondo::open<rondo::A2A3SimOn<rondo::observe::Traced<rondo::Pool>>, MyPolicies>(graph);
    REQUIRE(session.run_round(bind(program.x, program.hx), bind(program.y, program.hy)).ok());
    std::ofstream file("trace.json");
    rondo::observe::write_trace(file, session);
  }
  CHECK(std::filesystem::file_size("trace.json") > 500);
  {
    auto session = rondo::open<rondo::A2A3Sim, Counted>(graph);
    REQUIRE(session.run_round(bind(program.x, program.hx), bind(program.y, program.hy)).ok());
    const auto now = rondo::observe::snapshot(session);  // from any thread, while rounds run
    std::printf("%zu rounds, launch %zu ns\n", now.rounds, now.phase_ns[int(rondo::Phase::launch)]);
    CHECK(now.rounds == 1);
  }
  {
    auto session = rondo::open<rondo::A2A3Sim, Logged>(graph);
    std::ofstream file("graph.svg");
    rondo::observe::write_graph(file, session);
    std::puts(rondo::observe::to_dot(session).c_str());  // the same for Graphviz
  }
  CHECK(std::filesystem::file_size("graph.svg") > 500);
  std::filesystem::current_path(before);
}

TEST_CASE("What observing.md shows of an observer hears rounds and copies") {
  Program program;
  auto session = rondo::open<rondo::A2A3Sim, Watched>(program.graph);
  REQUIRE(session.run_round(bind(program.x, program.hx), bind(program.y, program.hy)).ok());
  CHECK(session.observer().rounds == 1);
  CHECK(session.observer().bytes == 2 * 16 * sizeof(float));
}

TEST_CASE("What in_flight.md shows delivers rounds") {
  Program program;
  auto session = rondo::open_pipelined<rondo::A2A3Sim, 3>(program.graph);
  const auto& [graph, x, y, hx, hy] = program;
  (void)graph;
  const auto ticket = session.submit_round(bind(x, hx), bind(y, program.hy));
  session.poll();                        // delivers what is done, waits for nothing: for event loops
  Status status = session.wait(ticket);  // for one; any ticket, as often as you like
  CHECK(status.ok());
  CHECK(hy[3] == 2);
}

TEST_CASE("What shapes.md shows takes another shape each round") {
  rondo::TaskGraph graph;
  const auto n = graph.dim("n");
  const auto x = graph.input<float>("x", {n, 64});
  const auto y = graph.output<float>("y", {n, 64});
  graph.add<Twice>(x, y);
  auto session = rondo::open_shaped<rondo::A2A3Sim>(graph);
  const std::int64_t rows = 2;
  std::vector<float> hx(128, 1.0F), hy(128);
  Status status = session.run_round(bind(x, hx), bind(y, hy));
  CHECK(status.ok());
  status = session.run_round(bind(x, hx, {rows, 64}), bind(y, hy));
  CHECK(status.ok());
}

TEST_CASE("What simulation.md shows predicts and checks") {
  Program program;
  {
    auto session = rondo::open<rondo::A2A3SimOn<rondo::Model>>(program.graph);
    REQUIRE(session.run_round(bind(program.x, program.hx), bind(program.y, program.hy)).ok());
    const auto prediction = session.platform().engine().prediction();
    std::puts(prediction.report().c_str());
    CHECK(prediction.makespan_ns() > 0);
  }
  const rondo::TaskGraph& graph = program.graph;
  auto session = rondo::open<rondo::A2A3SimOn<rondo::Checked<rondo::Pool>>>(graph);
  REQUIRE(session.run_round(bind(program.x, program.hx), bind(program.y, program.hy)).ok());
  for (const rondo::Finding& finding : session.platform().engine().findings()) std::puts(finding.text.c_str());
  CHECK(session.platform().engine().findings().empty());
}

TEST_CASE("What onboard.md shows of kernels from a file says so when there is none") {
  const auto shown = [](const rondo::TaskGraph& graph) {
    const rondo::KernelBinary binaries[] = {rondo::KernelBinary::from_file("saxpy.o")};  // or from_memory(bytes)
    rondo::A2A3Onboard::Options options;
    options.kernels = binaries;
    auto session = rondo::open<rondo::A2A3Onboard>(graph, options);
  };
  CHECK_THROWS_AS(shown(Program{}.graph), rondo::Error);
}

}  // namespace
