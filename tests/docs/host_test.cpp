// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The blocks of docs/host.md.

#include <rondo/observe/deadlines.hpp>
#include <rondo/platform/host/host.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

struct Gain {
  static constexpr std::string_view name = "gain";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<double> x, rondo::Out<double> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};

struct MyPolicies : rondo::DefaultPolicies {
  using Observe = rondo::observe::Deadlines;
};

}  // namespace

TEST_CASE("docs/host.md: rounds in place, on one thread and on several") {
  rondo::TaskGraph graph;
  const auto x = graph.input<double>("x", {64});
  const auto y = graph.output<double>("y", {64});
  graph.add<Gain>(x, y);
  std::vector<double> hx(64, 1.5), hy(64);
  auto session = rondo::open<rondo::Host>(graph);
  auto parallel = rondo::open<rondo::HostOn<rondo::Pool>>(graph);
  auto status = session.run_round(bind(x, rondo::in_place(hx)), bind(y, rondo::in_place(hy)));
  CHECK(status.ok());
  CHECK(hy[63] == 3);
  CHECK(parallel.run_round(bind(x, hx), bind(y, hy)).ok());
}

TEST_CASE("docs/host.md: options for deadlines, opened where the machine has what they ask for") {
  rondo::HostOn<rondo::Pool>::Options options;
  options.cores = {2, 3};
  options.priority = 80;
  options.memory = rondo::platform::host::Residency::locked;
  options.spin_us = 200;
  rondo::TaskGraph graph;
  try {
    auto session = rondo::open<rondo::HostOn<rondo::Pool>>(graph, options);
    CHECK(session.run_round().ok());
  } catch (const rondo::Error& error) {
    CHECK(std::string_view(error.what()).find("options.") != std::string_view::npos);
  }
}

TEST_CASE("docs/host.md: deadlines") {
  rondo::TaskGraph graph;
  auto session = rondo::open<rondo::Host, MyPolicies>(graph);
  session.observer().set_limit(std::chrono::microseconds(1333));
  CHECK(session.run_round().ok());
  const rondo::observe::DeadlineReport report = session.observer().report();
  std::printf("missed %zu of %zu, p99.9 %.1f us\n", report.missed, report.rounds, report.p999_ns / 1000);
  CHECK(report.rounds == 1);
}
