// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Loops about which the device decides: how they are captured, which calls a round makes, and when the host decides
// instead. Their results are compared in conformance/loops.

#include "conformance/counting_loop.hpp"
#include "onboard/fixture.hpp"

#include <rondo/observe/device_tasks.hpp>
#include <rondo/platform/onboard/library.hpp>
#include <rondo/session/loop_report.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace rondo;
using namespace onboard_test;
using namespace counting;
using P = A2A3ThatComputes;

namespace {

using Counts = std::map<std::string, std::uint64_t>;

[[nodiscard]] bool is_without() { return std::getenv("RONDO_TEST_WITHOUT") != nullptr; }

/// Why the host decides about a session's only loop; empty if the device does.
template <class Session>
[[nodiscard]] std::string why_host(const Session& session) {
  const std::vector<LoopReport> reports = session.explain_loops();
  REQUIRE(reports.size() == 1);
  CHECK((reports[0].decider == LoopReport::Decider::host) == !std::string(reports[0].why).empty());
  return reports[0].why;
}

/// The kernels of a graph, and one that decides about its loops, without the one that computes args.
struct KernelsOf {
  KernelsOf(const TaskGraph& graph, stand_in::Kernel decide) {
    stand_in::Binary binary;
    const FrozenGraph frozen = freeze(graph);
    for (const graph::TaskRecord& task : frozen.view().tasks) {
      if (!task.fills && task.entry != &graph::decide) binary.add(frozen.view().name(task.name), task.entry);
    }
    binary.add("rondo_decide", decide, true);
    bytes = binary.bytes();
    kernels[0] = KernelBinary::from_memory(bytes);
  }
  [[nodiscard]] P::Options options() const {
    P::Options made;
    made.kernels = kernels;
    return made;
  }
  std::vector<std::byte> bytes;
  KernelBinary kernels[1];
};

/// A library call in which another thread copies, as a library's own threads may do.
struct CopiesBeside {
  static inline int copies = 0;   ///< while a stream was captured
  static inline int refused = 0;  ///< the code of the last copy that was refused
  void operator()(const LibraryCall& call) const {
    platform::onboard::Calls c;
    platform::onboard::open_library(c);
    std::thread([&] {
      std::int32_t value = 0;
      void* memory = nullptr;
      if (c.set_device(0) != 0 || c.malloc(&memory, 64, platform::onboard::huge_first) != 0) return;
      const int code = c.copy(memory, 4, &value, 4, platform::onboard::host_to_device);
      if (code != 0) refused = code;
      (void)c.free(memory);
      (void)c.reset_device(0);
    }).join();
    int is_captured = 0;
    platform::onboard::RunInstance graph = nullptr;
    if (c.capture_info(call.stream(), &is_captured, &graph) == 0 && is_captured == 1) ++copies;
    P::enqueue_copy(call.stream(), call.data<void>(1), call.data<void>(0), sizeof(Int));
  }
};

/// Counts to the inputs, or to the most.
template <class Session>
void count_in(Session& session, Counting& g) {
  for (const Int wanted : {4, 1, 99, 10, 2}) CHECK(g.count_of(session, wanted) == (wanted < 10 ? wanted : 10));
}

}  // namespace

TEST_CASE("While a graph is captured, in whatever way, other threads may make synchronous copies") {
  if (is_without()) return;
  const Clean clean;
  const auto open_and_count = [](const TaskGraph& graph, const P::Options& options) {
    CopiesBeside::copies = CopiesBeside::refused = 0;
    auto session = open<P>(graph, options);
    CHECK(CopiesBeside::refused == 0);
    CHECK(session.close().ok());
    return CopiesBeside::copies;
  };
  TaskGraph plain;
  const auto x = plain.input<Int>("x", {1});
  for (const char* const name : {"y", "z"}) {
    const auto copied = plain.workspace<Int>(std::string("copied to ") + name, {1});
    plain.add_call(name, {reads(x), writes(copied)}, CopiesBeside{});
    plain.add<Copy>(copied, plain.output<Int>(name, {1}));
  }
  P::Options options;
  options.streams = 1;
  CHECK(open_and_count(plain, options) == 2);
  const std::vector<double> long_tasks(4, 100'000);
  options.streams = 2;
  options.task_ns = long_tasks;
  CHECK(open_and_count(plain, options) == 2);
  CHECK(calls("aclrtStreamWaitEvent") > 0);
  TaskGraph loop;
  const auto wanted = loop.input<Int>("wanted", {1});
  const auto count = loop.inout<Int>("count", {1});
  const auto before = loop.workspace<Int>("before", {1});
  const auto within = loop.workspace<Int>("within", {1});
  const auto done = loop.workspace<Int>("done", {1});
  loop.add_call("before", {reads(wanted), writes(before)}, CopiesBeside{});
  loop.repeat_until(done, 5, [&] {
    loop.add_call("within", {reads(wanted), writes(within)}, CopiesBeside{});
    loop.add<Until>(within, count, done);
  });
  loop.add<Copy>(before, loop.output<Int>("y", {1}));
  CHECK(open_and_count(loop, {}) == 2);
  CHECK(calls("aclmdlRICaptureToModelRIBegin") == 1);
}

TEST_CASE("A graph with loops is captured whole, and a round replays it with one call, without waits in between") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  auto session = open<P>(g.graph);
  CHECK(why_host(session).empty());
  CHECK(calls("aclmdlRICaptureEnd") == 2);
  CHECK(calls("aclmdlRIAddCondTask") == 1);
  count_in(session, g);
  CHECK(session.platform().is_captured());
  rondo_stand_in_reset();
  REQUIRE(g.count_of(session, 4) == 4);
  const Counts expected{{"aclmdlRIExecuteAsync", 1}, {"aclrtMemcpyAsync", 2}, {"aclrtSynchronizeStreamWithTimeout", 1}};
  CHECK(counted() == expected);
  rondo_stand_in_reset();
  REQUIRE(g.count_of(session, 99) == 10);
  CHECK(counted() == expected);
}

namespace {
struct StepOf {
  static constexpr std::string_view name = "step_of";
  static constexpr auto core = CoreType::vector;
  static void run(launch::Step step, Out<std::uint64_t> y) noexcept { y[0] = step.number; }
};
}  // namespace

TEST_CASE("A shape that cannot be set up leaves nothing of itself with the platform") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  const auto step_at = g.graph.output<std::uint64_t>("step", {g.graph.dim("n")});
  g.graph.add<StepOf>(launch::step(g.graph, "number"), step_at);  // the policies store no values
  auto session = open_shaped<P>(g.graph);
  const Ints in{2};
  Ints out{0};
  std::vector<std::uint64_t> step(1);
  for (int i = 0; i < 3; ++i) {
    CHECK(session.run_round(bind(g.x, in), bind(g.y, out), bind(step_at, step)).code() == Errc::unsupported);
    CHECK(session.explain_loops().size() == 1);
  }
  CHECK(session.close().ok());
}

TEST_CASE("Loops in a loop start anew in each repetition of that loop") {
  if (is_without()) return;
  const Clean clean;
  TaskGraph graph;
  const auto x = graph.input<Int>("x", {1}), outer = graph.input<Int>("outer", {1});
  const auto flag = graph.input<Int>("flag", {1});
  const auto count = graph.workspace<Int>("count", {1}), all = graph.workspace<Int>("all", {1});
  const auto done = graph.workspace<Int>("done", {1}), end = graph.workspace<Int>("end", {1});
  const auto y = graph.output<Int>("y", {1}), z = graph.output<Int>("z", {1});
  graph.add<Clear>(all);
  graph.add<Clear>(count);
  graph.repeat_until(end, 5, [&] {
    graph.when(flag, [&] {
      graph.add<Clear>(count);
      graph.repeat_until(done, 7, [&] { graph.add<Until>(x, count, done); });
    });
    graph.add<Until>(outer, all, end);
  });
  graph.add<Copy>(count, y);
  graph.add<Copy>(all, z);
  auto session = open<P>(graph);
  CHECK(calls("aclmdlRIAddCondTask") == 3);
  for (const Int wanted : {3, 9, 1}) {
    for (const Int repetitions : {2, 5, 8}) {
      for (const Int is_on : {0, 1}) {
        CAPTURE(wanted);
        CAPTURE(repetitions);
        CAPTURE(is_on);
        const Ints in{wanted}, times{repetitions}, on{is_on};
        Ints counts{-1}, rounds{-1};
        const Status status =
            session.run_round(bind(x, in), bind(outer, times), bind(flag, on), bind(y, counts), bind(z, rounds));
        REQUIRE_MESSAGE(status.ok(), session.explain(status).c_str());
        CHECK(counts[0] == (is_on == 0 ? 0 : wanted < 7 ? wanted : 7));
        CHECK(rounds[0] == (repetitions < 5 ? repetitions : 5));
      }
    }
  }
}

TEST_CASE("The host decides where the device cannot, and the session says why") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  P::Options options;
  std::string why;
  bool is_captured = true;  // section by section
  SUBCASE("nothing is to be captured") {
    options.capture = false;
    why = "tasks are launched one by one";
    is_captured = false;
  }
  SUBCASE("each task is waited for") {
    options.wait_after_each_task = true;
    why = "tasks are launched one by one";
    is_captured = false;
  }
  SUBCASE("the device has no conditional tasks") {
    rondo_stand_in_limit("conditional_tasks", 0);
    why = "the runtime refused to capture them";
  }
  for (const auto& [call, use] :
       std::vector<std::pair<const char*, std::uint64_t>>{{"aclmdlRICaptureGetInfo", 1},
                                                          {"aclmdlRICondHandleCreate", 1},
                                                          {"aclmdlRICondHandleGetCondPtr", 1},
                                                          {"aclmdlRIAddCondTask", 1},
                                                          {"aclmdlRICaptureToModelRIBegin", 1},
                                                          {"aclrtCreateStreamWithConfig", 2},
                                                          {"aclmdlRICaptureBegin", 1},
                                                          {"aclmdlRICaptureEnd", 1},
                                                          {"aclmdlRICaptureEnd", 2}}) {
    const std::string name = std::string(call) + " is refused, use " + std::to_string(use);
    SUBCASE(name.c_str()) {
      rondo_stand_in_fault(call, use, 207000);
      why = "the runtime refused to capture them";
    }
  }
  auto session = open<P>(g.graph, options);
  CHECK(rondo_stand_in_faults_left() == 0);
  CHECK(why_host(session) == why);
  count_in(session, g);
  CHECK(session.platform().is_captured() == is_captured);
  CHECK(session.platform().refused_captures() == 0);
}

TEST_CASE("A replay that is refused is never tried again, and the host decides from then on") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  SUBCASE("without zeroed memory") {}
  SUBCASE("with zeroed memory") { g.graph.zero(g.count); }
  auto session = open<P>(g.graph);
  REQUIRE(g.count_of(session, 2) == 2);
  rondo_stand_in_fault("aclmdlRIExecuteAsync", 1, 207000);
  CHECK(g.count_of(session, 4) == 4);
  CHECK(why_host(session) == "the runtime refused to capture them");
  rondo_stand_in_reset();
  count_in(session, g);
  CHECK(calls("aclmdlRIExecuteAsync") == 0);
}

TEST_CASE("A kernel that decides wrongly is not used") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  stand_in::Kernel decide = nullptr;
  SUBCASE("it repeats once too often") {
    decide = [](std::int64_t* args) {
      rondo_stand_in_decide(args);
      auto* const word = reinterpret_cast<std::uint64_t*>(args[1]);
      *word += args[2] == 2 ? 1 : 0;
    };
  }
  SUBCASE("it reads four bytes") {
    decide = [](std::int64_t* args) {
      std::int64_t block[3];
      std::memcpy(block, reinterpret_cast<void*>(args[0]), sizeof(block));
      alignas(64) std::int64_t copy[8] = {block[0], 4, block[2]};
      std::int64_t others[] = {reinterpret_cast<std::int64_t>(copy), args[1], args[2]};
      rondo_stand_in_decide(others);
    };
  }
  SUBCASE("it writes beside the word") {
    decide = [](std::int64_t* args) {
      rondo_stand_in_decide(args);
      reinterpret_cast<std::uint64_t*>(args[1])[1] = 0;
    };
  }
  const KernelsOf kernels(g.graph, decide);
  auto session = open<P>(g.graph, kernels.options());
  CHECK(why_host(session) == "the kernel rondo_decide decides wrongly; build it again");
  count_in(session, g);
}

TEST_CASE("Over a runtime that lacks a call for conditional tasks, the host decides") {
  if (!lacks("aclmdlRICondHandleCreate") && !lacks("aclmdlRICondHandleGetCondPtr") && !lacks("aclmdlRIAddCondTask") &&
      !lacks("aclmdlRICaptureToModelRIBegin")) {
    return;
  }
  const Clean clean;
  Counting g;
  auto session = open<P>(g.graph);
  CHECK(why_host(session) == "the runtime has no conditional tasks");
  count_in(session, g);
}

TEST_CASE("Kernels without rondo_decide leave the decisions to the host") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  auto session = open<A2A3OverStandIn>(g.graph);
  CHECK(why_host(session) == "there is no kernel rondo_decide");
  CHECK(calls("aclmdlRICondHandleCreate") == 0);
  count_in(session, g);
}

TEST_CASE("Rounds in flight whose loops the device decides do not wait for each other") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  auto session = open_pipelined<P, 2>(g.graph);
  const Ints first{3}, second{7};
  Ints one{0}, two{0};
  const std::uint64_t waits = calls("aclrtSynchronizeStreamWithTimeout");
  rondo_stand_in_hold();
  const auto a = session.submit_round(bind(g.x, first), bind(g.y, one));
  const auto b = session.submit_round(bind(g.x, second), bind(g.y, two));
  CHECK(calls("aclrtSynchronizeStreamWithTimeout") == waits);
  rondo_stand_in_resume();
  CHECK(session.wait(a).ok());
  CHECK(session.wait(b).ok());
  CHECK(one[0] == 3);
  CHECK(two[0] == 7);
}

TEST_CASE("The first run over zeros runs each task of a loop once, and later rounds are replays") {
  if (is_without()) return;
  const Clean clean;
  Counting g(0xFFFF'FFFF);  // over zeros, the input would not be reached
  SUBCASE("without zeroed memory") {}
  SUBCASE("with zeroed memory") { g.graph.zero(g.count); }
  const KernelsOf kernels(g.graph, &rondo_stand_in_decide);
  auto session = open<P>(g.graph, kernels.options());
  CHECK(why_host(session).empty());
  CHECK(calls("aclmdlRIExecuteAsync") == 0);
  CHECK(calls("aclrtLaunchKernelV2") == 3 + 3);  // captured, and run
  CHECK(g.count_of(session, 3) == 3);
  CHECK(calls("aclmdlRIExecuteAsync") == 1);
  CHECK(calls("aclrtLaunchKernelV2") == 3 + 3);
}

TEST_CASE("Rounds can be launched task by task in between") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  SUBCASE("without zeroed memory") {}
  SUBCASE("with zeroed memory") { g.graph.zero(g.count); }
  auto session = open<P>(g.graph);
  {
    observe::DeviceTasks tasks(session);
    CHECK(g.count_of(session, 4) == 4);
    CHECK(tasks.spans().size() >= 1 + 4 + 1);
  }
  rondo_stand_in_reset();
  CHECK(g.count_of(session, 3) == 3);
  CHECK(calls("aclmdlRIExecuteAsync") == 1);
  CHECK(calls("aclrtLaunchKernelV2") == 0);
}

TEST_CASE("A round whose loops the device decides is put on a caller's stream, but not recorded") {
  if (is_without()) return;
  const Clean clean;
  Counting g;
  platform::onboard::Calls c;
  platform::onboard::open_library(c);
  REQUIRE(c.init(nullptr) == 0);
  REQUIRE(c.set_device(0) == 0);
  P::Options options;
  REQUIRE(c.create_stream(&options.stream, 0, 0) == 0);
  stand_in::live_of_others() = 3;
  {
    auto session = open<P>(g.graph, options);
    const auto x = session.platform().allocate(Bytes{64}, Bytes{64});
    const auto y = session.platform().allocate(Bytes{64}, Bytes{64});
    const Int wanted = 6;
    Int counted_to = 0;
    REQUIRE(rondo_stand_in_poke(x.address(), &wanted, sizeof(wanted)));
    const auto enqueue = [&] {
      return session.enqueue_round(bind(g.x, DeviceSpan<Int>{x.as<Int>(), 1}),
                                   bind(g.y, DeviceSpan<Int>{y.as<Int>(), 1}));
    };
    const std::uint64_t waits = rondo_stand_in_synchronised(options.stream);
    REQUIRE(enqueue().ok());
    CHECK(rondo_stand_in_synchronised(options.stream) == waits);
    REQUIRE(c.synchronize(options.stream, -1) == 0);
    REQUIRE(rondo_stand_in_peek(y.address(), &counted_to, sizeof(counted_to)));
    CHECK(counted_to == 6);

    REQUIRE(c.capture_begin(options.stream, platform::onboard::capture_thread_local) == 0);
    const Status status = enqueue();
    CHECK(status == Status::of_task(Errc::unsupported, index(g.loop)));
    platform::onboard::RunInstance recorded = nullptr;
    REQUIRE(c.capture_end(options.stream, &recorded) == 0);
    REQUIRE(c.destroy_instance(recorded) == 0);
    REQUIRE(enqueue().ok());
    REQUIRE(c.synchronize(options.stream, -1) == 0);
    // The device also decides while rounds that wait are launched task by task.
    const observe::DeviceTasks tasks(session);
    counted_to = 0;
    REQUIRE(enqueue().ok());
    REQUIRE(c.synchronize(options.stream, -1) == 0);
    REQUIRE(rondo_stand_in_peek(y.address(), &counted_to, sizeof(counted_to)));
    CHECK(counted_to == 6);

    // A replay that the runtime refuses names the loop; then rounds are refused before they put anything on the stream.
    rondo_stand_in_fault("aclmdlRIExecuteAsync", 1, 207000);
    CHECK(enqueue() == Status::of_task(Errc::unsupported, index(g.loop)));
    rondo_stand_in_reset();
    CHECK(enqueue() == Status::of_task(Errc::unsupported, index(g.loop)));
    CHECK(calls("aclmdlRIExecuteAsync") == 0);
    REQUIRE(c.synchronize(options.stream, -1) == 0);
    (void)session.platform().release(x);
    (void)session.platform().release(y);
  }
  stand_in::live_of_others() = 0;
  CHECK(c.destroy_stream(options.stream) == 0);
  CHECK(c.reset_device(0) == 0);
  CHECK(c.finalize() == 0);
}
