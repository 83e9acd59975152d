// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include <rondo/observe/device_dump.hpp>
#include <rondo/observe/device_tasks.hpp>
#include <rondo/observe/kernel_table.hpp>
#include <rondo/observe/replay.hpp>
#include <rondo/observe/trace.hpp>
#include <rondo/observe/trace_json.hpp>
#include <rondo/platform/sim/pool.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

// Rounds that are launched task by task: what each task took, and what it read and wrote.

using namespace rondo;
using namespace onboard_test;
using A2A3Timed = A2A3OverStandIn::Timed;

namespace {

struct Traces : DefaultPolicies {
  using Observe = observe::Trace;
};

/// A folder that is gone at the end.
struct Folder {
  explicit Folder(const char* name) : path{(std::filesystem::temp_directory_path() / name).string()} {
    std::filesystem::remove_all(path);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

/// What a chip's Scale does that is not what Scale says: its last element is off by one.
void wrong_scale(std::int64_t* args) {
  rondo::detail::kernel_entry<kernels::Scale>(args);
  auto* const y = reinterpret_cast<float*>(args[1]);
  y[args[4] - 1] += 1;
}

}  // namespace

TEST_CASE_TEMPLATE("Each task's time is that of the device, and rounds are as ever", P, A2A3OverStandIn, A5OverStandIn,
                   A2A3Timed) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  Graph g;
  typename P::Options options;
  SUBCASE("captured") {}
  SUBCASE("launched one by one") { options.capture = false; }
  auto session = open<P, Traces>(g.graph, options);
  Floats x(g.n, 1), w(g.n, 2), y(g.n), s(g.n, 0);
  const auto round = [&] {
    return session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok() && y == Floats(g.n, 9);
  };
  REQUIRE(round());
  const std::uint64_t launches = calls("aclrtLaunchKernelV2");
  rondo_stand_in_slow("scale", 3000);
  {
    observe::DeviceTasks tasks(session);
    for (int i = 0; i < 3; ++i) REQUIRE(round());
    CHECK(calls("aclrtLaunchKernelV2") == launches + 9);
    const std::vector<double> ns = tasks.task_ns();
    REQUIRE(ns.size() == 3);
    CHECK(ns[index(g.scale)] >= 3e6);  // the others may take as long on a busy machine
    for (const double each : ns) CHECK(each > 0);

    std::ostringstream file;
    observe::write_trace(file, session, tasks);
    const auto json = nlohmann::json::parse(file.str());
    std::size_t drawn = 0, arrows = 0;
    for (const auto& event : json.at("traceEvents")) {
      if (event.at("pid") != 2) continue;
      drawn += event.at("ph") == "B" && event.at("args").value("device ns", 0) > 0 ? 1 : 0;
      arrows += event.at("ph") == "s" ? 1 : 0;
    }
    CHECK(drawn == 9);
    CHECK(arrows == 3);  // from the sum to what scales it, in each round

    tasks.record(false);
    rondo_stand_in_slow("scale", 0);
    REQUIRE(round());
    CHECK(tasks.spans().size() == 9);
    tasks.record(true);
  }
  const std::uint64_t replays = calls("aclmdlRIExecuteAsync");
  REQUIRE(round());
  CHECK(calls("aclmdlRIExecuteAsync") == replays + (options.capture ? 1 : 0));
  CHECK(session.close().ok());
}

TEST_CASE("The mean time of a task is known also if its spans were replaced") {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  Graph g;
  auto session = open<A2A3OverStandIn>(g.graph);
  Floats x(g.n, 1), w(g.n, 2), y(g.n), s(g.n, 0);
  observe::DeviceTasks tasks(session, 2);
  for (const double each : tasks.task_ns()) CHECK(each == 0);
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
    sum += static_cast<double>(tasks.spans()[1].bytes);
  }
  CHECK(tasks.spans().size() == 2);
  const std::vector<double> ns = tasks.task_ns();
  REQUIRE(ns.size() == 3);
  for (const double each : ns) CHECK(each > 0);
  const std::uint32_t last = session.graph().view().tasks[tasks.spans()[1].what].added_as;
  CHECK(ns[last] >= sum / 3);  // a span has whole nanoseconds
  CHECK(ns[last] < sum / 3 + 1);
}

TEST_CASE("Where one of several programs cannot be launched task by task, none is") {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  Graph g;
  auto session = open_pipelined<A2A3OverStandIn, 2>(g.graph);
  const Floats hx(Graph::n, 1), hw(Graph::n, 2);
  Floats hy(Graph::n), hs(Graph::n, 0);
  rondo_stand_in_fault("aclrtCreateEventExWithFlag", 3, 207008);  // the first event of the second program
  CHECK_THROWS_AS(observe::DeviceTasks{session}, Error);
  rondo_stand_in_reset();
  CHECK(session.run_round(bind(g.x, hx), bind(g.w, hw), bind(g.y, hy), bind(g.s, hs)).ok());
  CHECK(hy == Floats(Graph::n, 9));
  CHECK(calls("aclmdlRIExecuteAsync") == 1);
}

TEST_CASE_TEMPLATE("The trace shows which cores of its type each task takes", P, A2A3OverStandIn, A5OverStandIn) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  constexpr std::uint32_t blocks = P::Arch::max_blocks;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  const auto n = graph.inout<std::int32_t>("n", {blocks});
  graph.add<kernels::Scale>(x, y, 2.0F);
  graph.add<kernels::CountBlocks>(Blocks{blocks}, n);
  Floats in(8, 1), out(8);
  std::vector<std::int32_t> counts(blocks);
  auto session = open<P>(graph);
  observe::DeviceTasks tasks(session);
  REQUIRE(session.run_round(bind(x, in), bind(y, out), bind(n, counts)).ok());
  observe::TraceEvents events;
  observe::add_session(events, 1, tasks);
  std::map<std::uint32_t, std::map<std::string, std::uint64_t>> drawn;  // the block of each task, by track
  std::map<std::uint32_t, std::string> names;
  for (const observe::TraceEvent& e : events.events) {
    if (e.name == "thread_name") names[e.track] = e.text;
    const bool is_on_core = e.kind == observe::TraceEvent::Kind::span && e.numbers.back().first == "block";
    if (is_on_core) CHECK(drawn[e.track].emplace(e.name, e.numbers.back().second).second);
  }
  REQUIRE(drawn.size() == 1 + blocks);
  const std::uint32_t cube = observe::TraceEvents::core_track(CoreType::cube, 0);
  CHECK(drawn[cube] == std::map<std::string, std::uint64_t>{{"scale", 0}});
  CHECK(names[cube] == "cube core 0");
  for (std::uint32_t core = 0; core < blocks; ++core) {
    const std::uint32_t vector = observe::TraceEvents::core_track(CoreType::vector, core);
    CHECK(drawn[vector] == std::map<std::string, std::uint64_t>{{"count_blocks", core}});
    CHECK(names[vector] == "vector core " + std::to_string(core));
  }
  CHECK(session.close().ok());
}

TEST_CASE("Tasks that were measured one by one tell how they are dealt to streams") {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  std::vector<Output<float>> outputs;
  for (int i = 0; i < 4; ++i) {
    outputs.push_back(graph.output<float>("y" + std::to_string(i), {64}));
    graph.add<kernels::Scale>(x, outputs.back(), static_cast<float>(i));
  }
  Floats in(64, 1), y0(64), y1(64), y2(64), y3(64);
  const auto run = [&](auto& session) {
    return session.run_round(bind(x, in), bind(outputs[0], y0), bind(outputs[1], y1), bind(outputs[2], y2),
                             bind(outputs[3], y3));
  };
  A2A3OverStandIn::Options options;
  std::vector<double> ns;
  {
    auto session = open<A2A3OverStandIn>(graph, options);
    REQUIRE(run(session).ok());
    CHECK(session.platform().streams() == 1);  // tasks so short are not worth a wait
    rondo_stand_in_slow("scale", 2000);
    observe::DeviceTasks tasks(session);
    REQUIRE(run(session).ok());
    ns = tasks.task_ns();
  }
  for (double& each : ns) {
    CHECK(each >= 1.9e6);
    each = std::min(each, 3e6);  // on a busy host, a task that waited for a core would outweigh all others
  }
  options.task_ns = ns;
  auto session = open<A2A3OverStandIn>(graph, options);
  REQUIRE(run(session).ok());
  CHECK(session.platform().streams() == 4);
  observe::DeviceTasks tasks(session);
  REQUIRE(run(session).ok());
  observe::TraceEvents events;
  observe::add_session(events, 1, tasks);
  CHECK(std::count_if(events.events.begin(), events.events.end(), [](const observe::TraceEvent& e) {
          return e.kind == observe::TraceEvent::Kind::label && e.text.starts_with("stream ");
        }) == 4);
}

TEST_CASE_TEMPLATE("A round is dumped from the device, and the first task that differs in simulation is found", P,
                   A2A3Onboard, A5Onboard) {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  rondo_stand_in_chip(P::Arch::name);
  const bool is_wrong = [] {
    bool wrong = false;
    SUBCASE("it does what the kernels say") {}
    SUBCASE("one of its kernels does not") { wrong = true; }
    return wrong;
  }();
  stand_in::Binary binary;
  binary.add("add", rondo::detail::kernel_entry<kernels::Add>);
  binary.add("accumulate", rondo::detail::kernel_entry<kernels::Accumulate>);
  binary.add("scale", is_wrong ? &wrong_scale : rondo::detail::kernel_entry<kernels::Scale>);
  const auto bytes = binary.bytes();
  const KernelBinary kernels_of_chip[] = {KernelBinary::from_memory(bytes)};
  typename P::Options options;
  options.kernels = kernels_of_chip;
  Graph g;
  Floats x(g.n), w(g.n, 2), y(g.n), s(g.n, 0), again(g.n);
  std::iota(x.begin(), x.end(), 1.0F);
  const Folder folder("rondo_device_dump");
  {
    auto session = open<P>(g.graph, options);
    const auto round = [&](Floats& out) {
      return session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, out), bind(g.s, s));
    };
    REQUIRE(round(y).ok());
    observe::DeviceDumping dumping(session);
    dumping.dump_next(folder.path);
    REQUIRE(round(again).ok());
    CHECK(std::string(dumping.dump_failure().c_str()) == "");
    CHECK(dumping.dumps() == 1);
    CHECK(again == y);  // a dumped round is a round
    const std::uint64_t replays = calls("aclmdlRIExecuteAsync");
    REQUIRE(round(again).ok());
    CHECK(calls("aclmdlRIExecuteAsync") == replays + 1);
  }
  const observe::KernelTable table = observe::kernels<kernels::Add, kernels::Scale, kernels::Accumulate>();
  const observe::ReplayReport report = observe::replay<A2A3Sim>(folder.path, table);
  INFO(report.text());
  REQUIRE(report.tasks.size() == 3);
  CHECK(report.ok() == !is_wrong);
  if (!is_wrong) return;
  const observe::TaskReplay* const first = report.first_difference();
  REQUIRE(first != nullptr);
  CHECK(first->id == index(g.scale));
  REQUIRE(first->differences.size() == 1);
  CHECK(first->differences[0].tensor == "y");
  CHECK(first->differences[0].index == g.n - 1);
  CHECK(first->differences[0].wrong == 1);
  CHECK(report.text().starts_with("the first that differs is task 1 (scale)"));
  CHECK_FALSE((observe::replay<A5SimOn<Pool>>(folder.path, table).ok()));
}

TEST_CASE("A dump reads mapped host memory where it is") {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto w = graph.resident<float>("w", {8});
  const auto y = graph.output<float>("y", {8});
  graph.in_memory(w, MemoryKind::mapped_host);
  graph.add<kernels::Add>(x, w, y);
  stand_in::Binary binary;
  binary.add("add", rondo::detail::kernel_entry<kernels::Add>);
  const auto bytes = binary.bytes();
  const KernelBinary kernels_of_chip[] = {KernelBinary::from_memory(bytes)};
  A2A3Onboard::Options options;
  options.kernels = kernels_of_chip;
  rondo_stand_in_chip("a2a3");
  const Folder folder("rondo_mapped_dump");
  {
    auto session = open<A2A3Onboard>(graph, options);
    const Floats hx(8, 1), hw(8, 2);
    Floats hy(8);
    REQUIRE(session.upload(w, hw).ok());
    observe::DeviceDumping dumping(session);
    dumping.dump_next(folder.path);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    CHECK(std::string(dumping.dump_failure().c_str()) == "");
    CHECK(hy == Floats(8, 3));
  }
  const observe::ReplayReport report = observe::replay<A2A3Sim>(folder.path, observe::kernels<kernels::Add>());
  CHECK_MESSAGE(report.ok(), report.text());
}

namespace {
struct Picky {
  static constexpr std::string_view name = "picky";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) {
    if (x[0] == 13.0F) throw std::runtime_error("x[0] is 13");
    y[0] = x[0];
  }
};
struct Sum {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {1});
  Output<float> y = graph.output<float>("y", {1});
  TaskId last{};
  Sum() {
    const auto sum = graph.workspace<float>("sum", {1});
    graph.zero(sum);
    graph.add<kernels::Accumulate>(x, sum);
    last = graph.add<Picky>(sum, y);
  }
};
}  // namespace

TEST_CASE("The dump of a round that fails ends with the task that failed, and holds what it read") {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Sum g;
  const Folder folder("rondo_device_dump_failed");
  Floats x(1, 13), y(1);
  {
    auto session = open<A2A3OverStandIn>(g.graph);
    observe::DeviceDumping dumping(session);
    dumping.dump_next(folder.path);
    const Status status = session.run_round(bind(g.x, x), bind(g.y, y));
    CHECK(status == Status::of_task(Errc::device_failed, index(g.last)).poisoning());
    CHECK(dumping.dump_failure().empty());
  }
  const observe::DumpedRound dump = observe::read_manifest(folder.path);
  REQUIRE(dump.tasks.size() == 3);  // the first clears the sum
  CHECK(dump.tasks[0].idle);
  CHECK(dump.tasks[1].finished);
  CHECK_FALSE(dump.tasks[2].finished);
  const observe::ReplayReport report =
      observe::replay<A2A3Sim>(folder.path, observe::kernels<kernels::Accumulate, Picky>());
  REQUIRE(report.tasks.size() == 3);
  CHECK(report.tasks[1].outcome == observe::TaskReplay::Outcome::same);
  CHECK(report.tasks[2].outcome == observe::TaskReplay::Outcome::failed);
}

TEST_CASE("A dump of a round in flight has the number of that round") {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Folder folder("rondo_device_dump_in_flight");
  Graph g;
  Floats x(g.n, 1), w(g.n, 2);
  std::vector<Floats> y(3, Floats(g.n)), s(3, Floats(g.n));
  auto session = open_pipelined<A2A3OverStandIn, 3>(g.graph);
  observe::DeviceDumping dumping(session);
  const auto submit = [&](std::size_t i) {
    CHECK(session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, y[i]), bind(g.s, s[i])).submitted().ok());
  };
  submit(0);
  REQUIRE(session.wait_all().ok());
  submit(1);
  dumping.dump_next(folder.path);
  submit(2);
  REQUIRE(session.wait_all().ok());
  REQUIRE(dumping.dump_failure().empty());
  CHECK(observe::read_manifest(folder.path).round == 2);
}

TEST_CASE("A dump that cannot be written leaves the round as it is") {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const Sum g;
  const Folder folder("rondo_device_dump_refused");
  auto session = open<A2A3OverStandIn>(g.graph);
  observe::DeviceDumping dumping(session);
  dumping.dump_next(folder.path);
  rondo_stand_in_fault("aclrtMemcpy", 1, 107000);
  Floats x(1, 2), y(1);
  CHECK(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
  CHECK(y[0] == 2);
  CHECK_FALSE(dumping.dump_failure().empty());
  CHECK(dumping.dumps() == 0);
  CHECK_FALSE(std::filesystem::exists(folder.path + "/manifest.json"));
}
