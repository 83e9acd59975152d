// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The programs that docs/simulation.md shows: they compile, and print what it says.

#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/platform/streams/cost_file.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "../folder.hpp"

namespace {

struct Gelu {
  static constexpr std::string_view name = "gelu";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::Block b, rondo::In<float> x, rondo::Out<float> y) {
    for (std::size_t i = b.index; i < x.size(); i += b.count) y[i] = 0.5F * x[i] * (1 + std::erf(x[i] / 1.41421356F));
  }
  static double cost(rondo::Block b, rondo::In<float> x, rondo::Out<float>) {
    return 900 + 0.06 * static_cast<double>(x.size()) / b.count;
  }
};
struct Square {
  static constexpr std::string_view name = "square";
  static constexpr auto core = rondo::CoreType::cube;
  static void run(rondo::Block b, rondo::In<float> x, rondo::Out<float> y) {
    for (std::size_t i = b.index; i < x.size(); i += b.count) y[i] = x[i] * x[i];
  }
  static double cost(rondo::Block b, rondo::In<float> x, rondo::Out<float>) {
    return 1500 + 0.5 * static_cast<double>(x.size()) / b.count;
  }
};
struct Sum {
  static constexpr std::string_view name = "sum";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> total) {
    total[0] = 0;
    for (const float value : x) total[0] += value;
  }
};

struct Small {
  static constexpr std::string_view name = "small";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float>) {}
  static double cost(rondo::In<float>) { return 1780; }
};

struct Program {
  rondo::TaskGraph graph;
  rondo::Input<float> x = graph.input<float>("x", {65536});
  rondo::Output<float> total = graph.output<float>("total", {1});

  Program() {
    const auto activated = graph.workspace<float>("activated", {65536});
    const auto squared = graph.workspace<float>("squared", {65536});
    graph.add<Gelu>(rondo::Blocks{24}, x, activated);
    graph.add<Square>(rondo::Blocks{24}, activated, squared);
    graph.add<Sum>(squared, total);
  }
};

std::string documentation() {
  const std::filesystem::path tests = std::filesystem::path{RONDO_TEST_DATA_DIR}.parent_path();
  std::ifstream file(tests.parent_path() / "docs" / "simulation.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("The documentation shows the report that its program prints") {
  Program program;
  auto session = rondo::open<rondo::A2A3SimOn<rondo::Model>>(program.graph);
  std::vector<float> hx(65536, 1.0F);
  float total = 0;
  REQUIRE(session.run_round(rondo::bind(program.x, hx), rondo::bind(program.total, total)).ok());
  const std::string report = session.platform().engine().prediction().report().c_str();
  std::string indented;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) indented += "    " + line + "\n";
  INFO(indented);
  CHECK(documentation().find(indented) != std::string::npos);
}

TEST_CASE("Figures are replaced one by one, as the documentation does") {
  Program program;
  rondo::A2A3SimOn<rondo::Model>::Options options;
  options.engine.costs = {.launch_ns = 5000, .dispatch_ns = 1200};
  options.engine.vector_cores = 24;
  auto session = rondo::open<rondo::A2A3SimOn<rondo::Model>>(program.graph, options);
  CHECK(session.platform().engine().costs().launch_ns == 5000);
  CHECK(session.platform().engine().costs().dispatch_ns == 1200);
  CHECK(session.platform().engine().costs().retire_ns == rondo::arch::costs_of<rondo::arch::A2A3>.retire_ns);
}

TEST_CASE("Measured costs replace the chip's, as the documentation does") {
  const rondo::test::Folder folder;
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  rondo::MeasuredCosts measured{.refresh = {.copied_byte = 50}, .launch = 3'000, .wait = 7'500'000};
  measured.platform = decltype(measured.platform)("a2a3_onboard");
  measured.machine = decltype(measured.machine)("a processor x 2, a chip");
  rondo::write_costs("costs.json", measured);
  rondo::A2A3SimOn<rondo::Model>::Options options;
  options.engine.costs = rondo::chip_costs(rondo::read_costs("costs.json"));
  std::filesystem::current_path(here);
  Program program;
  auto session = rondo::open<rondo::A2A3SimOn<rondo::Model>>(program.graph, options);
  const rondo::arch::Costs& costs = session.platform().engine().costs();
  CHECK(costs.launch_ns == 3);
  CHECK(costs.copy_in_latency_ns == 7500);
  CHECK(costs.copy_out_latency_ns == 7500);
  CHECK(costs.copy_in_gbps == 20);
  CHECK(costs.copy_out_gbps == 20);
  CHECK(costs.complete_ns == rondo::arch::costs_of<rondo::arch::A2A3>.complete_ns);
  CHECK(rondo::chip_costs({}).launch_ns < 0);
}

TEST_CASE("Tasks that are handed out through mailboxes take longer, as the documentation predicts them") {
  Program program;
  rondo::A2A3SimOn<rondo::Model>::Options options;
  const auto run_ns = [&] {
    auto session = rondo::open<rondo::A2A3SimOn<rondo::Model>>(program.graph, options);
    std::vector<float> hx(65536, 1.0F);
    float total = 0;
    REQUIRE(session.run_round(rondo::bind(program.x, hx), rondo::bind(program.total, total)).ok());
    return session.platform().engine().prediction().run_ns;
  };
  const double through_registers = run_ns();
  options.engine.costs = rondo::arch::mailbox_costs<rondo::arch::A2A3>;  // 1.04 µs for each request and each answer
  options.engine.schedulers = 1;
  CHECK(run_ns() > through_registers + 1000);
}

TEST_CASE("The run of simpler from which the schedulers' figures come takes as long as the documentation says") {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {1});
  for (int i = 0; i < 16704; ++i) graph.add<Small>(x);
  auto session = rondo::open<rondo::A2A3SimOn<rondo::Model>>(graph);
  float hx = 0;
  REQUIRE(session.run_round(rondo::bind(x, hx)).ok());
  const double ms = session.platform().engine().prediction().run_ns / 1e6;
  CHECK(std::string{session.platform().engine().prediction().bound_by()} == "the schedulers");
  char figure[64];
  (void)std::snprintf(figure, sizeof figure, "`Model` predicts %.1f ms for as many independent tasks", ms);
  INFO(figure);
  std::string text = documentation();
  std::replace(text.begin(), text.end(), '\n', ' ');  // the sentence may go over two lines
  CHECK(text.find(figure) != std::string::npos);
}

TEST_CASE("A good program passes its check, with the loop of the documentation") {
  Program program;
  auto session = rondo::open<rondo::A2A3SimOn<rondo::Checked<rondo::Pool>>>(program.graph);
  std::vector<float> hx(65536, 1.0F);
  float total = 0;
  const rondo::Status status = session.run_round(rondo::bind(program.x, hx), rondo::bind(program.total, total));
  if (status.code() == rondo::Errc::check_failed) {
    for (const rondo::Finding& finding : session.platform().engine().findings()) FAIL(finding.text.c_str());
  }
  CHECK(status.ok());
}
