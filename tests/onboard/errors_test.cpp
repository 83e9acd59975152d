// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What is told when there is no device, another chip, no kernel; when a kernel fails or hangs, and which.

#include "conformance/kernels.hpp"
#include "onboard/fixture.hpp"
#include "open_in_time.hpp"

#include <rondo/platform/onboard/library.hpp>
#include <rondo/platform/onboard/onboard.hpp>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace rondo;
using namespace onboard_test;

namespace {

/// y = x, unless x[0] is 13
struct Superstitious {
  static constexpr std::string_view name = "superstitious";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) {
    if (x[0] == 13) throw std::runtime_error("x[0] is 13");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};
/// The same; a name that begins like the other's.
struct SuperstitiousToo : Superstitious {
  static constexpr std::string_view name = "superstitious_too";
};

struct Chain {
  explicit Chain(bool same_kernel_twice = false) {
    const auto between = graph.workspace<float>("between", {4});
    graph.add<SuperstitiousToo>(x, between);
    if (same_kernel_twice) {
      const auto more = graph.workspace<float>("more", {4});
      graph.add<Superstitious>(between, more);
      task = graph.add<Superstitious>(more, y);
    } else {
      task = graph.add<Superstitious>(between, y);
    }
  }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {4});
  Output<float> y = graph.output<float>("y", {4});
  TaskId task{};
};

template <class P>
std::string error_of(const TaskGraph& graph, const typename P::Options& options, Errc expected) {
  try {
    auto session = open<P>(graph, options);
  } catch (const Error& e) {
    CHECK(e.code() == expected);
    return e.what();
  }
  FAIL("it was opened");
  return "";
}
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("A session for one chip does not open on the other, and says which it met") {
  const Clean clean;
  Graph g;
  rondo_stand_in_chip("a5");
  std::string said = error_of<A2A3Onboard>(g.graph, {}, Errc::unsupported);
  CHECK(contains(said, "a2a3_onboard: device 0 is Ascend950PR_9579, not an a2a3 chip"));
  rondo_stand_in_chip("Ascend910_9391");
  said = error_of<A5Onboard>(g.graph, {}, Errc::unsupported);
  CHECK(contains(said, "Ascend910_9391, not an a5 chip"));
  // Of a2a3, so it gets as far as the kernels.
  said = error_of<A2A3Onboard>(g.graph, {}, Errc::invalid_argument);
  CHECK(contains(said, "kernel 'add' was found in none of the 0 binaries"));
  // A name that nobody has heard of: what counts is what the device says it is.
  rondo_stand_in_chip("Ascend910X");
  said = error_of<A2A3Onboard>(g.graph, {}, Errc::invalid_argument);
  said = error_of<A5Onboard>(g.graph, {}, Errc::unsupported);
  rondo_stand_in_chip("a2a3");
}

TEST_CASE("A device that is not there is named, with how many there are") {
  const Clean clean;
  Graph g;
  A2A3OverStandIn::Options options;
  options.device = 3;
  CHECK(contains(error_of<A2A3OverStandIn>(g.graph, options, Errc::no_such_device),
                 "there is no device 3, the machine has 1"));
  rondo_stand_in_limit("devices", 4);
  auto session = open<A2A3OverStandIn>(g.graph, options);
  CHECK(session.close().ok());
}

TEST_CASE("Kernels that are not there, and binaries that are none, are named") {
  const Clean clean;
  Graph g;
  rondo_stand_in_chip("a2a3");
  stand_in::Binary binary;
  binary.add("add", detail::kernel_entry<kernels::Add>);
  binary.add("scale", detail::kernel_entry<kernels::Scale>);
  const std::vector<std::byte> bytes = binary.bytes();
  A2A3Onboard::Options options;
  const KernelBinary one[] = {KernelBinary::from_memory(bytes)};
  options.kernels = one;
  CHECK(contains(error_of<A2A3Onboard>(g.graph, options, Errc::invalid_argument), "kernel 'accumulate'"));
  const KernelBinary none[] = {KernelBinary::from_file("no/such/kernels.o")};
  options.kernels = none;
  CHECK(contains(error_of<A2A3Onboard>(g.graph, options, Errc::invalid_argument), "no/such/kernels.o"));
  const std::byte nonsense[100] = {};
  const KernelBinary bad[] = {KernelBinary::from_memory(nonsense)};
  options.kernels = bad;
  const std::string said = error_of<A2A3Onboard>(g.graph, options, Errc::invalid_argument);
  CHECK(contains(said, "aclrtBinaryLoadFromData returned 107000"));
  CHECK(contains(said, "no kernel binary"));  // the runtime's own words
}

TEST_CASE("A kernel that takes no argument is refused") {
  if (launches_nothing()) return;
  const Clean clean;
  TaskGraph graph;
  graph.add_raw("idle", CoreType::vector, +[](ArgWord*) {});
  CHECK(contains(error_of<A2A3OverStandIn>(graph, {}, Errc::unsupported), "kernel 'idle' takes no argument"));
}

TEST_CASE("Kernels may lie in several binaries") {
  const Clean clean;
  Graph g;
  rondo_stand_in_chip("a2a3");
  stand_in::Binary first, second;
  first.add("scale", detail::kernel_entry<kernels::Scale>);
  second.add("add", detail::kernel_entry<kernels::Add>);
  second.add("accumulate", detail::kernel_entry<kernels::Accumulate>);
  const auto a = first.bytes(), b = second.bytes();
  const KernelBinary both[] = {KernelBinary::from_memory(a), KernelBinary::from_memory(b)};
  A2A3Onboard::Options options;
  options.kernels = both;
  auto session = open<A2A3Onboard>(g.graph, options);
  Floats x(Graph::n, 2), w(Graph::n, 1), y(Graph::n), s(Graph::n);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
  CHECK(y == Floats(Graph::n, 9));
}

TEST_CASE_TEMPLATE("A kernel that fails is named where the device names it, and poisons", P, A2A3OverStandIn,
                   A5OverStandIn) {
  const Clean clean;
  Chain g;
  typename P::Options options;
  SUBCASE("in a replay") {}
  SUBCASE("in plain launches") { options.capture = false; }
  SUBCASE("by event") { options.completion = Completion::event; }
  SUBCASE("by host func") { options.completion = Completion::host_func; }
  auto session = open<P>(g.graph, options);
  auto other = open<P>(g.graph, options);
  Floats x(4, 1), y(4, -1);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
  x.assign(4, 13);
  y.assign(4, -1);
  const Status failed = session.run_round(bind(g.x, x), bind(g.y, y));
  CHECK(failed.code() == Errc::device_failed);
  CHECK(failed.poisoned());
  CHECK(failed.subject() == Status::Subject::task);
  const std::string said = session.explain(failed).c_str();
  CHECK(contains(said, "task 0 'superstitious_too'"));  // and not the one whose name it begins with
  CHECK(contains(said, "x[0] is 13"));
  CHECK(y == Floats(4, -1));  // what a failed round computed goes nowhere
  const Status refused = session.run_round(bind(g.x, x), bind(g.y, y));
  CHECK(refused.code() == Errc::poisoned);
  x.assign(4, 2);
  CHECK(other.run_round(bind(g.x, x), bind(g.y, y)).ok());
  CHECK(y == x);
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE("A round that failed in flight is told, whatever became of the one after it", P, A2A3OverStandIn,
                   A5OverStandIn) {
  const Clean clean;
  Chain g;
  auto session = open_pipelined<P, 3>(g.graph);
  const Floats good(4, 1), bad(4, 13);
  Floats y0(4, -1), y1(4, -1), y2(4, -1);
  REQUIRE(session.wait(session.submit_round(bind(g.x, good), bind(g.y, y0))).ok());
  y0.assign(4, -1);
  SUBCASE("it comes after it") {
    const RoundTicket failing = session.submit_round(bind(g.x, bad), bind(g.y, y0));
    const RoundTicket next = session.submit_round(bind(g.x, good), bind(g.y, y1));
    CHECK(session.wait(failing).code() == Errc::device_failed);
    CHECK(session.wait(next).code() == Errc::poisoned);
  }
  SUBCASE("it is asked for first") {
    (void)session.submit_round(bind(g.x, bad), bind(g.y, y0));
    CHECK(session.wait(session.submit_round(bind(g.x, good), bind(g.y, y1))).code() == Errc::poisoned);
  }
  SUBCASE("it was refused") {
    rondo_stand_in_hold();
    const RoundTicket failing = session.submit_round(bind(g.x, bad), bind(g.y, y0));
    REQUIRE(failing);
    rondo_stand_in_fault("aclrtRecordEvent", 1, 107000);
    rondo_stand_in_resume();
    CHECK_FALSE(session.submit_round(bind(g.x, good), bind(g.y, y1)));
    CHECK(session.wait(failing).code() == Errc::device_failed);
  }
  SUBCASE("it poisoned the session first") {
    rondo_stand_in_hold();
    const RoundTicket failing = session.submit_round(bind(g.x, bad), bind(g.y, y0));
    REQUIRE(failing);
    rondo_stand_in_fault("aclrtRecordEvent", 1, 507899);
    rondo_stand_in_resume();
    CHECK(session.submit_round(bind(g.x, good), bind(g.y, y1)).submitted().poisoned());
    const auto explained = [&] { return std::string(session.explain(Status{Errc::poisoned}).c_str()); };
    const std::string cause = explained();
    CHECK(session.wait(failing).code() == Errc::device_failed);
    CHECK(explained() == cause);
  }
  SUBCASE("it was refused, and fails") {
    const RoundTicket before = session.submit_round(bind(g.x, good), bind(g.y, y2));
    rondo_stand_in_fault("aclrtRecordEvent", 1, 107000);
    CHECK_FALSE(session.submit_round(bind(g.x, bad), bind(g.y, y0)));
    CHECK(session.wait(before).ok());
    CHECK(y2 == good);
    CHECK_FALSE(session.submit_round(bind(g.x, good), bind(g.y, y1)));
    CHECK(session.poisoned());
  }
  CHECK(y0 == Floats(4, -1));
  CHECK(y1 == Floats(4, -1));
  (void)session.wait_all();
  CHECK(session.poisoned());
}

TEST_CASE_TEMPLATE("A call that is refused hides no failure of the device", P, A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  Chain g;
  auto session = open<P>(g.graph);
  const Floats good(4, 1), bad(4, 13);
  Floats y(4, -1);
  REQUIRE(session.run_round(bind(g.x, good), bind(g.y, y)).ok());
  y.assign(4, -1);
  rondo_stand_in_fault("aclrtMemcpyAsync", 2, 107000);  // the copy out, after a kernel that fails
  const Status failed = session.run_round(bind(g.x, bad), bind(g.y, y));
  CHECK(failed.code() == Errc::device_failed);
  CHECK(failed.poisoned());
  CHECK(y == Floats(4, -1));
}

TEST_CASE("A call that is refused does not hide that the device ended a task") {
  using P = A2A3OverStandIn;
  const Clean clean;
  const Chain g;
  P::Options options;
  options.task_timeout_ms = 50;
  options.capture = false;
  auto session = open<P>(g.graph, options);
  rondo_stand_in_slow("superstitious_too", 60'000'000);
  rondo_stand_in_fault("aclrtLaunchKernelV2", 2, 207005);
  const Floats x(4, 1);
  Floats y(4, -1);
  const Status status = session.run_round(bind(g.x, x), bind(g.y, y));
  CHECK(status.code() == Errc::timed_out);
  CHECK(status.poisoned());
}

TEST_CASE("Memory is not released while a round that is late may use it") {
  using P = A2A3OverStandIn;
  const Clean clean;
  const Chain g;
  P::Options options;
  options.timeout_ms = 500;
  rondo_stand_in_limit("abort", 0);
  auto session = test::open_in_time([&] { return open<P>(g.graph, options); });
  P& platform = session.platform();
  const auto block = platform.allocate(Bytes{1024}, Bytes{1024});
  const Floats x(4, 1);
  rondo_stand_in_hold();
  auto launched = session.begin_round(bind(g.x, x), bind(g.y, DeviceSpan<float>{block.as<float>(), 4})).launch();
  CHECK(platform.release(block).code() == Errc::timed_out);
  rondo_stand_in_resume();
  CHECK(std::move(launched).finish().status().ok());
  Floats y(4);
  CHECK(rondo_stand_in_peek(block.address(), y.data(), 16));
  CHECK(y == x);
  CHECK(platform.release(block).ok());
}

TEST_CASE("Memory from pages has any alignment that is asked for") {
  using P = A2A3OverStandIn;
  const Clean clean;
  const Chain g;
  rondo_stand_in_limit("virtual_memory", 1);
  auto session = open<P>(g.graph);
  const Bytes bytes{std::uint64_t{2} << 20};
  for (const std::uint64_t alignment : {std::uint64_t{1024}, std::uint64_t{4} << 20, std::uint64_t{16} << 20}) {
    CAPTURE(alignment);
    const auto block = session.platform().allocate(bytes, Bytes{alignment});
    CHECK(block.address() % alignment == 0);
    const std::array<std::byte, 64> ones{std::byte{1}};
    CHECK(session.platform().copy_in(block.offset(Bytes{bytes.value - 64}), ones.data(), Bytes{64}).ok());
    CHECK(session.platform().wait().ok());
    CHECK(session.platform().release(block).ok());
  }
}

TEST_CASE("A round is waited for in another way where the runtime refuses to call the host") {
  using P = A2A3OverStandIn;
  const Clean clean;
  const Chain g;
  P::Options options;
  options.completion = platform::onboard::Completion::host_func;
  rondo_stand_in_fault("aclrtLaunchHostFunc", 0, 207000);
  auto session = open<P>(g.graph, options);
  const Floats x(4, 1);
  Floats y(4, -1);
  CHECK(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
  CHECK(y == x);
}

namespace {
std::string poisoned_by;
struct NotesCause : DefaultPolicies {
  static void log(LogEvent event, const char* text) noexcept {
    if (event == LogEvent::poisoned) poisoned_by += text;
  }
};
}  // namespace

TEST_CASE_TEMPLATE("An upload that the device fails poisons a session of many shapes, which tells the cause", P,
                   A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto w = graph.resident<float>("w", {4});
  const auto y = graph.output<float>("y", {n});
  graph.add<kernels::Add>(x, w, y);
  auto session = open_shaped<P, NotesCause>(graph);
  const Floats four(4, 1);
  Floats out(4, -1);
  REQUIRE(session.upload(w, four).ok());
  REQUIRE(session.run_round(bind(x, four), bind(y, out)).ok());
  poisoned_by.clear();
  rondo_stand_in_fault("aclrtSynchronizeStreamWithTimeout", 1, 507013);
  const Status failed = session.upload(w, four);
  CHECK(failed.code() == Errc::device_failed);
  CHECK(failed.poisoned());
  CHECK(session.poisoned());
  const Status later = session.run_round(bind(x, four), bind(y, out));
  CHECK(later.code() == Errc::poisoned);
  const std::string cause = session.explain(failed).c_str();
  CHECK(cause.find("507013") != std::string::npos);
  CHECK(std::string(session.explain(later).c_str()).find(cause) != std::string::npos);
  CHECK(poisoned_by.find(cause) != std::string::npos);
}

TEST_CASE_TEMPLATE("A queue that cannot release an event says so when the session closes, also after a failure", P,
                   A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  const Chain g;
  const Floats good(4, 1), bad(4, 13);
  Floats y(4);
  for (const bool has_failed : {false, true}) {
    auto session = open_pipelined<P, 2>(g.graph);
    CHECK(session.wait(session.submit_round(bind(g.x, has_failed ? bad : good), bind(g.y, y))).ok() == !has_failed);
    rondo_stand_in_fault("aclrtDestroyEvent", 1, 207000);
    CHECK(session.close().code() == Errc::unsupported);
  }
}

TEST_CASE_TEMPLATE("Of two tasks with one kernel the one whose arguments the device names is blamed", P,
                   A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto between = graph.workspace<float>("between", {4});
  const auto shifted = graph.workspace<float>("shifted", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<Superstitious>(x, between);
  graph.add<kernels::Scale>(between, shifted, 13.0F);
  const TaskId second = graph.add<Superstitious>(shifted, y);
  const Floats bad(4, 1);
  Floats out(4);
  typename P::Options options;
  bool is_named = true;
  SUBCASE("in a replay") {}
  SUBCASE("in plain launches") { options.capture = false; }
  SUBCASE("it names none") {
    rondo_stand_in_limit("exception_callback", 0);
    is_named = false;
  }
  SUBCASE("it names none, but each was waited for") {
    rondo_stand_in_limit("exception_callback", 0);
    options.wait_after_each_task = true;
  }
  const Status expected = Status::of_task(Errc::device_failed, index(second)).poisoning();
  {
    auto session = open<P>(graph, options);
    const Status failed = session.run_round(bind(x, bad), bind(y, out));
    CHECK(failed == (is_named ? expected : Status{Errc::device_failed}.poisoning()));
    CHECK(contains(session.explain(failed).c_str(), "superstitious"));
  }
  auto in_flight = open_pipelined<P, 2>(graph, options);
  const Status failed = in_flight.wait(in_flight.submit_round(bind(x, bad), bind(y, out)));
  CHECK(failed == (is_named ? expected : Status{Errc::device_failed}.poisoning()));
}

TEST_CASE_TEMPLATE("A task that runs longer than it may is ended by the device, and named", P, A2A3OverStandIn,
                   A5OverStandIn) {
  const Clean clean;
  const Chain g;
  typename P::Options options;
  options.task_timeout_ms = 20;
  SUBCASE("in a replay") {}
  SUBCASE("in plain launches") { options.capture = false; }
  // Long enough for looks at the stream between those at the event.
  SUBCASE("while an event is awaited") {
    options.completion = platform::onboard::Completion::event;
    options.task_timeout_ms = 100;
  }
  SUBCASE("while a function of the host is awaited") {
    options.completion = platform::onboard::Completion::host_func;
    options.task_timeout_ms = 100;
  }
  auto session = open<P>(g.graph, options);
  rondo_stand_in_slow("superstitious", 60'000'000);
  const Floats x(4, 1);
  Floats y(4, -1);
  const Status status = session.run_round(bind(g.x, x), bind(g.y, y));
  CHECK(status == Status::of_task(Errc::timed_out, index(g.task)).poisoning());
  CHECK(y == Floats(4, -1));
  CHECK(session.close().ok());  // the device has come to an end
}

TEST_CASE_TEMPLATE("A device that failed is reset by force where the user allows it", P, A2A3OverStandIn,
                   A5OverStandIn) {
  const Clean clean;
  const Chain g;
  typename P::Options options;
  options.reset_failed_device = true;
  Floats x(4, 1), y(4, -1);
  {
    auto session = open<P>(g.graph, options);
    REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
    CHECK(session.close().ok());
    CHECK(calls("aclrtResetDeviceForce") == 0);  // nothing failed
  }
  x.assign(4, 13);
  auto session = open<P>(g.graph, options);
  REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).poisoned());
  CHECK(session.close().ok());
  CHECK(calls("aclrtResetDeviceForce") == 1);
  CHECK(rondo_stand_in_live(nullptr) == 0);
  x.assign(4, 1);
  auto another = open<P>(g.graph, options);
  CHECK(another.run_round(bind(g.x, x), bind(g.y, y)).ok());
  CHECK(another.close().ok());
}

TEST_CASE_TEMPLATE("A device that does not finish in time fails the round with timed_out and poisons", P,
                   A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  Chain g;
  typename P::Options options;
  options.timeout_ms = 500;
  SUBCASE("one blocking call") {}
  SUBCASE("by event") { options.completion = Completion::event; }
  SUBCASE("by host func") { options.completion = Completion::host_func; }
  auto session = test::open_in_time([&] { return open<P>(g.graph, options); });
  Floats x(4, 1), y(4, -1);
  rondo_stand_in_hold();
  const Status status = session.run_round(bind(g.x, x), bind(g.y, y));
  CHECK(status.code() == Errc::timed_out);
  CHECK(status.poisoned());
  CHECK(contains(session.explain(status).c_str(), "aclrtSynchronizeStreamWithTimeout returned 507046"));
  CHECK(session.run_round(bind(g.x, x), bind(g.y, y)).code() == Errc::poisoned);
  rondo_stand_in_resume();
  (void)session.close();  // waits for it once more, and gets it
  CHECK(y == Floats(4, -1));
}

TEST_CASE_TEMPLATE("A session closes over a device that hangs", P, A2A3Onboard, A5Onboard) {
  const Clean clean;
  rondo_stand_in_chip(P::Arch::name);
  stand_in::Binary binary;
  binary.add("superstitious", rondo::detail::kernel_entry<Superstitious>);
  binary.add("superstitious_too", rondo::detail::kernel_entry<SuperstitiousToo>);
  const auto bytes = binary.bytes();
  const KernelBinary kernels[] = {KernelBinary::from_memory(bytes)};
  typename P::Options options;
  options.kernels = kernels;
  const typename P::Options patient = options;
  options.timeout_ms = 600;
  bool is_silent = false, is_aborted = true, is_destroyed = true;
  SUBCASE("whose streams can be aborted") {}
  SUBCASE("that does not say what it does, either") { is_silent = true; }
  SUBCASE("whose streams can only be destroyed") { is_aborted = false; }
  SUBCASE("that must be reset") {
    is_aborted = is_destroyed = false;
    options.reset_failed_device = true;
  }
  const auto hang = [&] {
    rondo_stand_in_limit("silent", is_silent ? 1 : 0);
    rondo_stand_in_limit("abort", is_aborted ? 1 : 0);
    rondo_stand_in_limit("destroy_by_force", is_destroyed ? 1 : 0);
    rondo_stand_in_hang();
  };
  for (const bool in_flight : {false, true}) {
    rondo_stand_in_reset();
    const Chain g;
    const Floats x(4, 1);
    Floats y(4, -1), z(4, -1);
    if (in_flight) {
      auto session = test::open_in_time([&] { return open_pipelined<P, 2>(g.graph, options); });
      hang();
      const RoundTicket first = session.submit_round(bind(g.x, x), bind(g.y, y));
      (void)session.submit_round(bind(g.x, x), bind(g.y, z));
      CHECK(session.wait(first).code() == Errc::timed_out);
      (void)session.close();
    } else {
      auto session = test::open_in_time([&] { return open<P>(g.graph, options); });
      hang();
      CHECK(session.run_round(bind(g.x, x), bind(g.y, y)).code() == Errc::timed_out);
      (void)session.close();
    }
    CHECK(y == Floats(4, -1));
    CHECK(z == Floats(4, -1));
    CHECK(misuses() == "");
    if (!is_silent) CHECK(rondo_stand_in_live(nullptr) == 0);
    rondo_stand_in_resume();
    while (rondo_stand_in_live(nullptr) != 0) std::this_thread::yield();  // for a call that got no answer
    auto another = open<P>(g.graph, patient);
    REQUIRE(another.run_round(bind(g.x, x), bind(g.y, y)).ok());
    CHECK(another.close().ok());
  }
}

namespace {

/// Hangs the device in a round, and closes the session. @returns whether the device stays open then, with its memory
bool is_left_to_the_process(bool in_flight, const A2A3Onboard::Options& options) {
  const auto hang = [] {
    rondo_stand_in_limit("abort", 0);
    rondo_stand_in_limit("destroy_by_force", 0);
    rondo_stand_in_hang();
  };
  const Chain g;
  const Floats x(4, 1);
  Floats y(4, -1);
  Status status;
  if (in_flight) {
    auto session = test::open_in_time([&] { return open_pipelined<A2A3Onboard, 2>(g.graph, options); });
    hang();
    status = session.wait(session.submit_round(bind(g.x, x), bind(g.y, y)));
    (void)session.close();
  } else {
    auto session = test::open_in_time([&] { return open<A2A3Onboard>(g.graph, options); });
    hang();
    status = session.run_round(bind(g.x, x), bind(g.y, y));
    (void)session.close();
  }
  return status.code() == Errc::timed_out && misuses().empty() && y == Floats(4, -1) &&
         rondo_stand_in_live("devices") != 0 && rondo_stand_in_live("memory") != 0;  // the device may still use it
}

}  // namespace

TEST_CASE("A device that hangs and that nothing ends is left to the process's end") {
  const Clean clean;
  rondo_stand_in_chip("a2a3");
  stand_in::Binary binary;
  binary.add("superstitious", rondo::detail::kernel_entry<Superstitious>);
  binary.add("superstitious_too", rondo::detail::kernel_entry<SuperstitiousToo>);
  const auto bytes = binary.bytes();
  const KernelBinary kernels[] = {KernelBinary::from_memory(bytes)};
  A2A3Onboard::Options options;
  options.kernels = kernels;
  options.timeout_ms = 200;
  for (const bool in_flight : {false, true}) {
    std::fflush(nullptr);
    const pid_t child = fork();  // a process of its own, since it keeps the device
    REQUIRE(child >= 0);
    if (child == 0) {
      try {
        std::_Exit(is_left_to_the_process(in_flight, options) ? 0 : 1);
      } catch (...) {  // it must not go on with the other test cases
        std::_Exit(2);
      }
    }
    int how = 0;
    REQUIRE(waitpid(child, &how, 0) == child);
    CHECK(how == 0);
  }
}

TEST_CASE("No time to wait is refused before anything is opened") {
  const Clean clean;
  Graph g;
  A2A3OverStandIn::Options options;
  for (const std::int32_t timeout : {0, -2}) {
    options.timeout_ms = timeout;
    CHECK(contains(error_of<A2A3OverStandIn>(g.graph, options, Errc::invalid_argument), "Options::timeout_ms is"));
  }
  CHECK(rondo_stand_in_calls(nullptr) == 0);
  options.timeout_ms = -1;
  auto session = open<A2A3OverStandIn>(g.graph, options);
  CHECK(session.close().ok());
}

TEST_CASE("A kernel that fails over zeros fails the opening, with what to do about it") {
  const Clean clean;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add_raw(
      "picky", CoreType::vector,
      +[](std::int64_t* args) {
        if (*reinterpret_cast<const float*>(args[0]) == 0) throw std::runtime_error("zero");
        *reinterpret_cast<float*>(args[1]) = 7;
      },
      reads(x), writes(y));
  A2A3OverStandIn::Options options;
  const std::string said = error_of<A2A3OverStandIn>(graph, options, Errc::device_failed);
  CHECK(contains(said, "zero"));
  CHECK(contains(said, "warm_up = false"));
  options.warm_up = false;
  auto session = open<A2A3OverStandIn>(graph, options);
  Floats hx(4, 1), hy(4);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy[0] == 7);
}

TEST_CASE("Limits of the device are errors that name them, and leave nothing behind") {
  const Clean clean;
  Graph g;
  rondo_stand_in_limit("streams", 1);
  {
    auto first = open<A2A3OverStandIn>(g.graph);
    CHECK(contains(error_of<A2A3OverStandIn>(g.graph, {}, Errc::out_of_resources), "no stream is left"));
    CHECK(rondo_stand_in_live("streams") == 1);
  }
  rondo_stand_in_reset();
  rondo_stand_in_limit("memory", 1000);
  CHECK(contains(error_of<A2A3OverStandIn>(g.graph, {}, Errc::out_of_memory), "aclrtMalloc returned 207001"));
}

namespace {

/// Never moves a shape: each is set up again when the arena grows.
struct Unmoved : DefaultPolicies {
  using Update = update::ModelIo;
};

}  // namespace

TEST_CASE("A stream whose event cannot be created is created anew with its event") {
  const Clean clean;
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<Superstitious>(x, y);
  A2A3OverStandIn::Options options;
  options.completion = platform::onboard::Completion::event;
  auto session = open_shaped<A2A3OverStandIn, Unmoved>(graph, options);
  const auto run = [&](std::size_t size) {
    const Floats in(size, 1);
    Floats out(size);
    const Status status = session.run_round(bind(x, in), bind(y, out));
    REQUIRE_MESSAGE(status.ok(), std::string(session.explain(status).c_str()));
    CHECK(out == in);
  };
  run(4);
  rondo_stand_in_fault("aclrtCreateEventExWithFlag", 1, 207000);
  run(4000);  // unloads the first shape and with it the stream, and cannot load it again
  REQUIRE(rondo_stand_in_faults_left() == 0);
  run(4);
}

TEST_CASE("A platform refuses work when its stream is gone") {
  const Clean clean;
  A2A3OverStandIn platform({});
  const auto block = platform.allocate(Bytes{256}, Bytes{64});
  const Floats x(4);
  REQUIRE(platform.copy_in(block, x.data(), Bytes{16}).ok());
  REQUIRE(platform.wait().ok());
  CHECK(platform.close().ok());  // the block is still held, so the device is, too
  CHECK(platform.copy_in(block, x.data(), Bytes{16}).code() == Errc::not_open);
  CHECK(platform.release(block).ok());
  CHECK(platform.release(block).code() == Errc::invalid_argument);
}
