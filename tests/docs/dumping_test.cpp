// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The programs that docs/dumping.md shows.

#include "folder.hpp"

#include <docs/blocks.hpp>
#include <rondo/observe/device_dump.hpp>
#include <rondo/observe/dump.hpp>
#include <rondo/observe/replay.hpp>
#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

struct Scale {
  static constexpr std::string_view name = "scale";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};
struct Add {
  static constexpr std::string_view name = "add";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
  }
};
/// Add as it might be after a bad day.
struct WrongAdd {
  static constexpr std::string_view name = "add";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y) noexcept {
    Add::run(x, y);
    y[5] += 1;
  }
};

/// A program of its own on the page.
namespace page {
int main(int, char** arguments) {
  const auto report = rondo::observe::replay<rondo::A5Sim>(arguments[1], rondo::observe::kernels<Scale, Add>());
  std::fputs(report.text().c_str(), stdout);
  return report.ok() ? 0 : 2;
}
}  // namespace page

rondo::Status report(rondo::Status status) { return status; }

/// Runs one round and dumps it.
rondo::Status dump_round(const rondo::TaskGraph& graph, rondo::Input<float> x, rondo::InputOutput<float> y,
                         const std::string& folder) {
  std::vector<float> hx(16, -2), hy(16, 0);
  auto session = rondo::open<rondo::A2A3SimOn<rondo::observe::Dumping<rondo::Pool>>>(graph);
  auto& engine = session.platform().engine();

  engine.dump_next(folder);  // the next round is written to this folder; all others run on Pool as before
  if (auto status = session.run_round(bind(x, hx), bind(y, hy)); !status) return report(status);
  if (!engine.dump_failure().empty()) std::puts(engine.dump_failure().c_str());
  return {};
}

rondo::Status dump_on_device(const rondo::TaskGraph& graph, rondo::Input<float> x, rondo::InputOutput<float> y,
                             const std::string& folder) {
  std::vector<float> hx(16, -2), hy(16, 0);
  auto session = rondo::open<rondo::A2A3Onboard>(graph);
  rondo::observe::DeviceDumping dumping(session);  // of A2A3Onboard or A5Onboard
  dumping.dump_next(folder);
  if (auto status = session.run_round(bind(x, hx), bind(y, hy)); !status) return report(status);
  if (!dumping.dump_failure().empty()) std::puts(dumping.dump_failure().c_str());
  return {};
}

}  // namespace

TEST_CASE("The page on dumping: a round is written, and its tasks run again") {
  const rondo::test::Folder folder;
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {2, 8});
  const auto t = graph.workspace<float>("t", {2, 8});
  const auto y = graph.inout<float>("y", {2, 8});
  graph.add<Scale>(x, t);
  graph.add<Add>(t, y);
  REQUIRE(dump_round(graph, x, y, folder.path()));
  CHECK_THROWS_AS((void)dump_on_device(graph, x, y, folder.path()), rondo::Error);  // there is none

  std::string path = folder.path();
  std::string program = "replay";
  char* arguments[] = {program.data(), path.data()};
  CHECK(page::main(2, arguments) == 0);
  const auto wrong = rondo::observe::replay<rondo::A5Sim>(path, rondo::observe::kernels<Scale, WrongAdd>());
  CHECK(wrong.text() ==
        "the first that differs is task 1 (add)\n"
        "task 1 (add): y[0, 5] (element 5) is -3, the dump has -4; 1 of 16 elements differ, by 1 at most\n"
        "1 of 2 tasks give what the dump has\n");
  CHECK(rondo::observe::replay<rondo::A5Sim>(path, rondo::observe::kernels<Scale, WrongAdd>(),
                                             {.chain = true, .tasks = {rondo::TaskId{0}}})
            .ok());
}

TEST_CASE("The blocks of the page on dumping are those that run here") {
  docs::check_blocks("docs/dumping.md", "tests/docs/dumping_test.cpp", 3);
}
