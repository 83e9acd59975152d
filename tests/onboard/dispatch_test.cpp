// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Graphs that a program on the AICPU builds and whose tasks run on cube and vector cores. Each core of the stand-in is
// a thread with lines of its own: what is not written back, waited for and discarded is not seen.

#include "onboard/fixture.hpp"
#include "small_rings.hpp"

#include <rondo/orchestrated.hpp>
#include <rondo/platform/onboard/library.hpp>
#include <rondo/platform/onboard/onboard.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

using namespace rondo;
using namespace onboard_test;

// examples/06_onboard_saxpy/device/dispatch.cpp
extern "C" void rondo_dispatch(std::uint8_t* mailboxes, std::uint64_t launch);

namespace {

using Numbers = std::vector<std::int64_t>;
constexpr std::size_t count = 24;  // three lines

template <class R>
struct With : DefaultPolicies {
  using Runtime = R;
  static inline std::string logged;
  static void log(LogEvent, const char* text) noexcept { logged.append(text).append("\n"); }
};
template <class P_, class R_>
struct On {
  using P = P_;
  using R = R_;
};
#define RONDO_TEST_CASES On<A2A3OverStandIn, runtime::TensorMapRingBuffer>, On<A5OverStandIn, runtime::AicpuBuildGraph>

/// y = 3 x + a, element by element.
template <CoreType c>
struct Step {
  static constexpr std::string_view name = c == CoreType::cube ? "step_on_cube" : "step_on_vector";
  static constexpr auto core = c;
  static void run(In<std::int64_t> x, Out<std::int64_t> y, std::int64_t a) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 3 * x[i] + a;
  }
};
/// The same on a device, by scalar code, which works through the core's cache, or with copies.
template <bool copies>
std::uint64_t step_on_core(std::int64_t* args) {
  const auto word = [&](int w) { return rondo_stand_in_core_load(args + w); };
  const auto* const x = reinterpret_cast<const std::int64_t*>(word(0));
  auto* const y = reinterpret_cast<std::int64_t*>(word(1));
  Numbers result(word(4));
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = 3 * static_cast<std::int64_t>(rondo_stand_in_core_load(x + i)) + static_cast<std::int64_t>(word(2));
    if (!copies) rondo_stand_in_core_store(y + i, static_cast<std::uint64_t>(result[i]));
  }
  if (copies) rondo_stand_in_core_copy(y, result.data(), 8 * result.size());
  return 0;
}

/// As examples/06_onboard_saxpy has it, whose body is not called.
struct Saxpy {
  static constexpr std::string_view name = "saxpy";
  static constexpr auto core = CoreType::vector;
  static void run(In<float>, InOut<float>, float) noexcept {}
};

struct Interface {
  TaskGraph graph;
  InputOutput<std::int64_t> y = graph.inout<std::int64_t>("y", {count});
  Input<std::int32_t> steps = graph.input<std::int32_t>("steps", {});
};

/// Each task needs the one before it, on a core of the other type: y, t, y, t, ...
template <class Round>
void in_turn(Round& round, InputOutput<std::int64_t> y, Input<std::int32_t> steps) {
  const auto scope = round.scope();
  const auto t = round.template workspace<std::int64_t>({count});
  runtime::TaskRef last;
  const auto after = [&](runtime::TaskRef task) {
    if constexpr (requires { round.add_edge(last, task); }) {
      if (last.number != 0) round.add_edge(last, task);
    }
    last = task;
  };
  for (std::int32_t i = 0; i < round.value(steps); ++i) {
    after(round.template add<Step<CoreType::cube>>(y, t, std::int64_t{i}));
    after(round.template add<Step<CoreType::vector>>(t, y, std::int64_t{i + 1}));
  }
}

/// What a task does on the device is told by its number.
enum Behaviour : std::int64_t { fine, fails, hangs, throws, is_unknown, is_too_wide };
struct Task {
  static constexpr std::string_view name = "task";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<std::int64_t> y, std::int64_t) noexcept { y[0] += 1; }
};
struct Unknown : Task {
  static constexpr std::string_view name = "unknown";
};
std::uint64_t task_on_core(std::int64_t* args) {
  switch (static_cast<Behaviour>(rondo_stand_in_core_load(args + 1))) {
    case fails: return 77;
    case hangs:
      for (;;) rondo_stand_in_core_idle();
    case throws: throw std::runtime_error("the core's unit met an exception");
    case fine:
    case is_unknown:
    case is_too_wide: break;
  }
  auto* const y = reinterpret_cast<std::int64_t*>(rondo_stand_in_core_load(args));
  rondo_stand_in_core_store(y, rondo_stand_in_core_load(y) + 1);
  return 0;
}
/// Two tasks, each of two blocks; all four wait for each other.
struct Meet {
  static constexpr std::string_view name = "meet";
  static constexpr auto core = CoreType::vector;
  static inline std::atomic<int> met{0};
  static void run(Out<std::int64_t> y, Block block) noexcept {
    ++met;
    while (met < 4) std::this_thread::yield();
    y[block.index] = met;
  }
};

/// The kernel for the cores, as a binary, and options that name it.
struct OnCores {
  OnCores() {
    stand_in::Binary binary;
    binary.add("rondo_dispatch", &rondo_stand_in_dispatch, true, true);
    bytes = binary.bytes();
    rondo_stand_in_cached_task("step_on_cube", 0, &step_on_core<false>);
    rondo_stand_in_cached_task("step_on_vector", 1, &step_on_core<true>);
    rondo_stand_in_cached_task("task", 1, &task_on_core);
    rondo_stand_in_task("meet", 1, &rondo::detail::kernel_entry<Meet>);
  }
  template <class Case>
  [[nodiscard]] runtime::OrchestratedOptions<typename Case::P> options(std::uint32_t blocks = 1) const {
    auto options = small_rings<runtime::OrchestratedOptions<typename Case::P>>();
    options.orchestrator.cores = KernelBinary::from_memory(bytes);
    options.orchestrator.blocks = blocks;
    options.timeout_ms = std::numeric_limits<std::int32_t>::max();
    return options;
  }
  std::vector<std::byte> bytes;
};
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_TEMPLATE("Tasks on cores of both types see what the others wrote, whoever writes through a cache", C,
                   RONDO_TEST_CASES) {
  const Clean clean;
  const OnCores cores;
  const Interface g;
  const auto orchestration = [&](auto& round) { in_turn(round, g.y, g.steps); };
  for (int session_number = 0; session_number < 2; ++session_number) {  // each in the memory of the one before
    auto session = open<typename C::P, With<typename C::R>>(g.graph, orchestration, cores.options<C>());
    auto sim = open<A2A3Sim, With<typename C::R>>(g.graph, orchestration);
    const Dispatch& dispatch = session.platform().dispatch();
    REQUIRE_MESSAGE(dispatch.is_on_cores, std::string(dispatch.reason.c_str()));
    CHECK(dispatch.cube_cores == 1);
    CHECK(dispatch.vector_cores == 2);
    rondo_stand_in_limit("slow_writes", 1);
    for (std::int32_t r = 0; r < 2; ++r) {
      Numbers y(count, r + 1), expected = y;
      const std::int32_t steps = 2 + r;
      REQUIRE(sim.run_round(bind(g.y, expected), bind(g.steps, steps)).ok());
      const Status status = session.run_round(bind(g.y, y), bind(g.steps, steps));
      REQUIRE_MESSAGE(status.ok(), std::string(session.explain(status).c_str()));
      REQUIRE(y == expected);
    }
    rondo_stand_in_limit("slow_writes", 0);
    REQUIRE(session.close().ok());
  }
}

TEST_CASE_TEMPLATE("Blocks of independent tasks run at the same time, each on a core of its own", C, RONDO_TEST_CASES) {
  const Clean clean;
  const OnCores cores;
  TaskGraph graph;
  const auto y = graph.output<std::int64_t>("y", {2});
  const auto z = graph.output<std::int64_t>("z", {2});
  const auto orchestration = [&](auto& round) {
    round.template add<Meet>(Blocks{2}, y);
    round.template add<Meet>(Blocks{2}, z);
  };
  auto session = open<typename C::P, With<typename C::R>>(graph, orchestration, cores.template options<C>(2));
  CHECK(session.platform().dispatch().vector_cores == 4);
  Meet::met = 0;
  Numbers hy(2), hz(2);
  REQUIRE(session.run_round(bind(y, hy), bind(z, hz)).ok());
  CHECK(hy == Numbers(2, 4));
  CHECK(hz == Numbers(2, 4));
  rondo_stand_in_reset();
  REQUIRE(session.run_round(bind(y, hy), bind(z, hz)).ok());
  CHECK(calls("aclrtLaunchKernelWithHostArgs") == 1);
  CHECK(calls("aclrtLaunchKernelV2") == 1);
  CHECK(calls("aclrtSynchronizeStreamWithTimeout") == 1);
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE("With cores, the program of an a2a3 discards its copies of the inputs that the orchestration reads",
                   C, RONDO_TEST_CASES) {
  const Clean clean;
  const OnCores cores;
  const Interface g;
  const auto orchestration = [&](auto& round) { in_turn(round, g.y, g.steps); };
  auto session = open<typename C::P, With<typename C::R>>(g.graph, orchestration, cores.options<C>());
  auto steps = session.allocate(g.steps);
  REQUIRE(session.upload(steps, std::vector<std::int32_t>{1}).ok());
  rondo_stand_in_reset();
  Numbers y(count, 1);
  REQUIRE(session.run_round(bind(g.y, y), bind(g.steps, steps)).ok());
  CHECK(y == Numbers(count, 3 * (3 * 1 + 0) + 1));
  CHECK(rondo_stand_in_aicpu_has_discarded(steps.span().data().address(), 4) ==
        (C::P::Arch::npu_arch == arch::A2A3::npu_arch));
}

namespace {

/// Runs three tasks in turn, of which the second does as it is told.
template <class C>
struct Failing {
  template <class Round>
  static void add_all(Round& round, InputOutput<std::int64_t> y, Behaviour what) {
    runtime::TaskRef last = round.template add<Task>(y, std::int64_t{fine});
    const auto after = [&](runtime::TaskRef task) {
      if constexpr (requires { round.add_edge(last, task); }) round.add_edge(last, task);
      last = task;
    };
    if (what == is_too_wide) {
      const std::vector<typename Round::Described> args(257, {.kind = graph::ArgRecord::Kind::constant});
      after(round.add_described("task", Blocks{1}, &rondo::detail::kernel_entry<Task>, args));
    } else {
      after(what == is_unknown ? round.template add<Unknown>(y, std::int64_t{what})
                               : round.template add<Task>(y, std::int64_t{what}));
    }
    after(round.template add<Task>(y, std::int64_t{fine}));
  }
  static void check(Behaviour what, Errc expected, const char* text) {
    const Clean clean;
    const OnCores cores;
    TaskGraph graph;
    const auto y = graph.inout<std::int64_t>("y", {8});
    auto options = cores.options<C>();
    options.task_timeout_ms = 1000;
    Behaviour now = fine;
    const auto orchestration = [&](auto& round) { add_all(round, y, now); };
    auto session = open<typename C::P, With<typename C::R>>(graph, orchestration, options);
    Numbers hy(8);
    REQUIRE(session.run_round(bind(y, hy)).ok());
    CHECK(hy[0] == 3);
    now = what;
    const Status status = session.run_round(bind(y, hy));
    CHECK(status.code() == expected);
    CHECK(status.poisoned());
    CHECK(status.subject() == Status::Subject::task);
    CHECK(status.index() == 1);
    const std::string said = session.explain(status).c_str();
    CHECK_MESSAGE(contains(said, text), said);
    CHECK_MESSAGE(contains(said, what == is_unknown ? "task 1 'unknown'" : "task 1 'task'"), said);
    (void)session.close();  // long before the kernel's own limit, which is weeks
  }
};

}  // namespace

TEST_CASE_TEMPLATE("A task that fails on a core fails its round and is named", C, RONDO_TEST_CASES) {
  Failing<C>::check(fails, Errc::kernel_failed, "the kernel returned 77 on vector core");
  Failing<C>::check(is_unknown, Errc::kernel_failed, "no such kernel for vector cores");
  Failing<C>::check(is_too_wide, Errc::kernel_failed, "a block has 257 words of arguments");
}

TEST_CASE_TEMPLATE("A task that hangs, or whose core meets an exception, is named as soon as its time is over", C,
                   RONDO_TEST_CASES) {
  Failing<C>::check(hangs, Errc::timed_out, "gave no answer for 1000 ms");
  Failing<C>::check(throws, Errc::timed_out, "gave no answer for 1000 ms");
}

TEST_CASE("The scheduler's limit ends before the kernel's, and that before the wait for the round") {
  using platform::onboard::CoreLimits;
  platform::onboard::Options options;
  for (const std::int32_t all : {1, 2, 10, 50'000, 2'000'000'000}) {
    options.timeout_ms = all;
    for (const std::uint32_t task : {0U, 1U, 40'000U, 4'000'000'000U}) {
      options.task_timeout_ms = task;
      const CoreLimits limits = CoreLimits::of(options);
      CAPTURE(all);
      CHECK(limits.scheduler_ms >= 1);
      if (task != 0) CHECK(limits.scheduler_ms <= task);
      if (all >= 10) CHECK(std::uint64_t{limits.scheduler_ms} * 1000 < limits.kernel_us);
      CHECK(limits.kernel_us < static_cast<std::uint64_t>(all) * 1000);
      CHECK(limits.probe_ms <= limits.kernel_us / 1000 + 1);
    }
  }
  options.timeout_ms = -1;
  options.task_timeout_ms = 0;
  CHECK(CoreLimits::of(options).scheduler_ms == 0);
  CHECK(CoreLimits::of(options).kernel_us == 0);
}

TEST_CASE_TEMPLATE("Cores whose round does not begin go home, and come again for the next one", C, RONDO_TEST_CASES) {
  const Clean clean;
  const OnCores cores;
  const Interface g;
  const auto orchestration = [&](auto& round) { in_turn(round, g.y, g.steps); };
  auto session = open<typename C::P, With<typename C::R>>(g.graph, orchestration, cores.options<C>());
  for (int r = 0; r < 6; ++r) {
    Numbers y(count, 1);
    const std::int32_t steps = 1;
    const bool fails = r % 2 == 1;
    if (fails) {
      rondo_stand_in_fault(r == 3 ? "aclrtLaunchKernelWithHostArgs" : "aclrtLaunchKernelV2", 1, 107000);
    }
    const Status status = session.run_round(bind(g.y, y), bind(g.steps, steps));
    REQUIRE_MESSAGE(status.ok() != fails, std::string(session.explain(status).c_str()));
    REQUIRE(!status.poisoned());
    if (!fails) CHECK(y == Numbers(count, 3 * (3 * 1 + 0) + 1));
  }
  CHECK(session.close().ok());
}

namespace {

const char* const wait_for_stream = "aclrtSynchronizeStreamWithTimeout";

/// A kernel of the owner of a stream, which ends after the host has begun to wait for the stream.
struct OfOwner {
  static inline std::atomic<std::uint64_t> last_wait{0};
  static inline std::atomic<bool> is_over{true}, was_overtaken{false};
  static inline std::atomic<std::int64_t> last_round{0};     ///< the latest round that a core has begun
  static inline std::atomic<std::int64_t> rounds_before{0};  ///< `last_round` when this kernel was launched
  static void run(std::int64_t*) {
    while (calls(wait_for_stream) < last_wait) std::this_thread::yield();
    for (int i = 0; i < 50 && !was_overtaken; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    is_over = true;
  }
  /// A core may still begin the previous round, which has ended without it, while the next one is prepared.
  static void dispatch(std::int64_t* args) {
    const std::int64_t round = args[1];
    if (!is_over && round > rounds_before) was_overtaken = true;
    for (std::int64_t last = last_round; last < round && !last_round.compare_exchange_weak(last, round);) {
    }
    rondo_stand_in_dispatch(args);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("The cores of a round on a caller's stream begin after what the owner put there before", C,
                   RONDO_TEST_CASES) {
  using namespace platform::onboard;
  const Clean clean;
  OnCores cores;
  stand_in::Binary binary, of_owner;
  binary.add("rondo_dispatch", &OfOwner::dispatch, true, true);
  of_owner.add("of_owner", &OfOwner::run);
  cores.bytes = binary.bytes();
  const auto owners = of_owner.bytes();
  Calls c;
  open_library(c);
  Stream stream = nullptr;
  BinHandle loaded = nullptr;
  FuncHandle kernel = nullptr;
  REQUIRE(c.init(nullptr) == 0);
  REQUIRE(c.set_device(0) == 0);
  REQUIRE(c.create_stream(&stream, 0, 0) == 0);
  REQUIRE(c.load_data(owners.data(), owners.size(), nullptr, &loaded) == 0);
  REQUIRE(c.get_function(loaded, "of_owner", &kernel) == 0);
  stand_in::live_of_others() = 4;
  {
    const Interface g;
    const auto orchestration = [&](auto& round) { in_turn(round, g.y, g.steps); };
    auto options = cores.options<C>();
    options.stream = stream;
    auto session = open<typename C::P, With<typename C::R>>(g.graph, orchestration, options);
    REQUIRE(session.platform().dispatch().is_on_cores);
    for (int r = 0; r < 2; ++r) {
      OfOwner::rounds_before = OfOwner::last_round.load();
      OfOwner::is_over = OfOwner::was_overtaken = false;
      OfOwner::last_wait = calls(wait_for_stream) + 1;
      std::uint64_t nothing = 0;
      REQUIRE(c.launch_host_args(kernel, 1, stream, nullptr, &nothing, sizeof(nothing), nullptr, 0) == 0);
      Numbers y(count, 1);
      const std::int32_t steps = 1;
      const Status status = session.run_round(bind(g.y, y), bind(g.steps, steps));
      REQUIRE_MESSAGE(status.ok(), std::string(session.explain(status).c_str()));
      CHECK(y == Numbers(count, 3 * (3 * 1 + 0) + 1));
      CHECK_FALSE(OfOwner::was_overtaken);
    }
    rondo_stand_in_fault("aclrtCreateEventExWithFlag", 1, 207007);
    CHECK_THROWS_AS(((void)open<typename C::P, With<typename C::R>>(g.graph, orchestration, options)), Error);
    const auto refuse = [&](const char* call, int code) {
      rondo_stand_in_fault(call, 1, code);
      Numbers y(count, 1);
      const std::int32_t steps = 1;
      return session.run_round(bind(g.y, y), bind(g.steps, steps));
    };
    for (const char* const call : {"aclrtRecordEvent", "aclrtStreamWaitEvent"}) {
      CHECK(refuse(call, 107000).code() == Errc::invalid_argument);
      CHECK(contains(session.platform().failure_text().c_str(), call));
    }
    const Status status = refuse("aclrtRecordEvent", 507899);
    CHECK(status.code() == Errc::device_failed);
    CHECK(contains(session.explain(status).c_str(), "aclrtRecordEvent returned 507899"));
    CHECK(session.close().ok());
  }
  CHECK(c.unload(loaded) == 0);
  CHECK(c.destroy_stream(stream) == 0);
  CHECK(c.reset_device(0) == 0);
  CHECK(c.finalize() == 0);
  stand_in::live_of_others() = 0;
}

TEST_CASE_TEMPLATE("Where one side does not see what the other writes, tasks run on the AICPU, and the log says why", C,
                   RONDO_TEST_CASES) {
  const Clean clean;
  const OnCores cores;
  const Interface g;
  const auto orchestration = [&](auto& round) { in_turn(round, g.y, g.steps); };
  const auto runs_on_the_aicpu = [&](const runtime::OrchestratedOptions<typename C::P>& options, const char* why,
                                     bool is_logged = true) {
    using Policies = With<typename C::R>;
    Policies::logged.clear();
    auto session = open<typename C::P, Policies>(g.graph, orchestration, options);
    rondo_stand_in_limit("aicpu_sees_cores", 1);
    rondo_stand_in_limit("cores_see_aicpu", 1);
    const Dispatch& dispatch = session.platform().dispatch();
    CHECK(!dispatch.is_on_cores);
    CHECK(dispatch.cube_cores == 0);
    CHECK_MESSAGE(contains(dispatch.reason.c_str(), why), std::string(dispatch.reason.c_str()));
    CHECK_MESSAGE(contains(Policies::logged, "tasks run on the AICPU: ") == is_logged, Policies::logged);
    CHECK(contains(Policies::logged, why) == is_logged);
    for (int r = 0; r < 3; ++r) {
      Numbers y(count, 1);
      const std::int32_t steps = 1;
      const Status status = session.run_round(bind(g.y, y), bind(g.steps, steps));
      REQUIRE_MESSAGE(status.ok(), std::string(session.explain(status).c_str()));
      CHECK(y == Numbers(count, 3 * (3 * 1 + 0) + 1));
    }
    CHECK(session.close().ok());
  };
  auto options = cores.options<C>();
  rondo_stand_in_limit("aicpu_sees_cores", 0);
  runs_on_the_aicpu(options, "the AICPU does not see what the cores write");
  rondo_stand_in_limit("cores_see_aicpu", 0);
  runs_on_the_aicpu(options, "the cores do not see what the AICPU writes");
  options.orchestrator.cores = {};
  runs_on_the_aicpu(options, "Options::orchestrator names no kernel for the cores", false);
  stand_in::Binary binary;
  binary.add("rondo_dispatch", +[](std::int64_t*) {}, true, true);
  const auto bytes = binary.bytes();
  options.orchestrator.cores = KernelBinary::from_memory(bytes);
  runs_on_the_aicpu(options, "the cores have not run rondo_dispatch");
}

TEST_CASE_TEMPLATE("What is wrong with the cores' kernel is told when the session opens", C, RONDO_TEST_CASES) {
  const Clean clean;
  const OnCores cores;
  const Interface g;
  const auto orchestration = [&](auto& round) { in_turn(round, g.y, g.steps); };
  const auto refusal = [&](const runtime::OrchestratedOptions<typename C::P>& options) -> std::string {
    try {
      auto session = open<typename C::P, With<typename C::R>>(g.graph, orchestration, options);
    } catch (const Error& e) {
      CHECK(e.code() == Errc::invalid_argument);
      return e.what();
    }
    return "it was opened";
  };
  CHECK(contains(refusal(cores.options<C>(100)), "asks for 100 blocks"));
  auto options = cores.options<C>();
  options.orchestrator.cores = KernelBinary::from_file("/nowhere/at.all");
  CHECK(contains(refusal(options), "/nowhere/at.all"));
  stand_in::Binary binary;
  binary.add("another", +[](std::int64_t*) {}, true, true);
  const auto bytes = binary.bytes();
  options.orchestrator.cores = KernelBinary::from_memory(bytes);
  CHECK(contains(refusal(options), "rondo_dispatch"));
}

namespace {

/// Holds its core until streams were waited for so often.
struct Holding : Task {
  static constexpr std::string_view name = "holding";
  static inline std::atomic<bool> has_begun{false};
  static inline std::atomic<std::uint64_t> last_wait{0};
  static std::uint64_t on_core(std::int64_t*) {
    has_begun = true;
    while (calls(wait_for_stream) < last_wait) rondo_stand_in_core_idle();
    return 0;
  }
};
/// Its core does not see what the AICPU writes afterwards.
struct Deaf : Task {
  static constexpr std::string_view name = "deaf";
  static std::uint64_t on_core(std::int64_t*) {
    rondo_stand_in_limit("cores_see_aicpu", 0);
    return 0;
  }
};

}  // namespace

TEST_CASE_TEMPLATE("While another session holds the cores, they are not seen to start, and a round times out with that",
                   C, RONDO_TEST_CASES) {
  using Policies = With<typename C::R>;
  const Clean clean;
  const OnCores cores;
  rondo_stand_in_cores(1);
  rondo_stand_in_cached_task("holding", 1, &Holding::on_core);
  TaskGraph graph;
  const auto y = graph.inout<std::int64_t>("y", {8});
  auto options = cores.options<C>();
  const auto adds_one = [&](auto& round) { round.template add<Task>(y, std::int64_t{fine}); };
  options.timeout_ms = -1;
  auto holder = open<typename C::P, Policies>(
      graph, [&](auto& round) { round.template add<Holding>(y, std::int64_t{fine}); }, options);
  options.task_timeout_ms = 4000;  // of the AICPU's clock
  std::uint64_t waits = calls(wait_for_stream);
  auto other = open<typename C::P, Policies>(graph, adds_one, options);
  waits = calls(wait_for_stream) - waits;  // the last one is for the cores to be tried out
  REQUIRE(other.platform().dispatch().is_on_cores);
  Numbers of_holder(8), of_other(8);
  Status held;
  const auto hold = [&] {
    Holding::has_begun = false;
    Holding::last_wait = ~std::uint64_t{0};
    const std::uint64_t before = calls(wait_for_stream);
    std::thread round([&] { held = holder.run_round(bind(y, of_holder)); });
    while (!Holding::has_begun || calls(wait_for_stream) == before) std::this_thread::yield();
    return round;
  };
  std::thread round = hold();
  rondo_stand_in_limit("aicpu_look_ms", 1000);
  {
    // After these waits it waits for the cores' kernel: first until a limit, then until it has ended.
    rondo_stand_in_fault(wait_for_stream, waits + 1, 507046);
    Holding::last_wait = calls(wait_for_stream) + waits + 2;
    auto late = open<typename C::P, Policies>(graph, adds_one, options);
    round.join();
    CHECK_MESSAGE(held.ok(), std::string(holder.explain(held).c_str()));
    const std::string why = late.platform().dispatch().reason.c_str();
    CHECK_FALSE(late.platform().dispatch().is_on_cores);
    CHECK_MESSAGE(contains(why, "of 3 cores, 3 were not seen to start"), why);
  }
  round = hold();
  const Status status = other.run_round(bind(y, of_other));
  CHECK(status.code() == Errc::timed_out);
  const std::string said = other.explain(status).c_str();
  CHECK_MESSAGE(contains(said, "no vector core started within 4000 ms; other programs may hold them"), said);
  rondo_stand_in_limit("aicpu_look_ms", 0);
  Holding::last_wait = 0;
  round.join();
  CHECK_MESSAGE(held.ok(), std::string(holder.explain(held).c_str()));
  (void)other.close();
  CHECK(holder.close().ok());
}

TEST_CASE_TEMPLATE("A core that does not leave at the end of a round is named, and so are blocks that ran beside", C,
                   RONDO_TEST_CASES) {
  const Clean clean;
  const OnCores cores;
  rondo_stand_in_cached_task("deaf", 1, &Deaf::on_core);
  TaskGraph graph;
  const auto y = graph.inout<std::int64_t>("y", {8});
  const auto z = graph.inout<std::int64_t>("z", {8});
  const auto fails_with = [&](const auto& orchestration, Errc expected, const char* text) {
    auto options = cores.options<C>();
    options.task_timeout_ms = 1000;
    auto session = open<typename C::P, With<typename C::R>>(graph, orchestration, options);
    Numbers hy(8), hz(8);
    const Status status = session.run_round(bind(y, hy), bind(z, hz));
    rondo_stand_in_limit("cores_see_aicpu", 1);
    CHECK(status.code() == expected);
    CHECK(status.poisoned());
    const std::string said = session.explain(status).c_str();
    CHECK_MESSAGE(contains(said, text), said);
    (void)session.close();
  };
  fails_with([&](auto& round) { round.template add<Deaf>(y, std::int64_t{fine}); }, Errc::device_failed,
             " did not end its kernel");
  const auto both_hang = [&](auto& round) {
    round.template add<Task>(y, std::int64_t{hangs});
    round.template add<Task>(z, std::int64_t{hangs});
  };
  fails_with(both_hang, Errc::timed_out, "gave no answer for 1000 ms; other blocks that were running: 1");
}

TEST_CASE_TEMPLATE("The example's kernel runs the example's tasks", P, A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {5000});
  const auto y = graph.inout<float>("y", {5000});
  stand_in::Binary binary;
  const auto kernel = +[](std::int64_t* args) {
    rondo_dispatch(reinterpret_cast<std::uint8_t*>(args[0]), static_cast<std::uint64_t>(args[1]));
  };
  binary.add("rondo_dispatch", kernel, true, true);
  const auto bytes = binary.bytes();
  auto options = small_rings<runtime::OrchestratedOptions<P>>();
  options.orchestrator.cores = KernelBinary::from_memory(bytes);
  options.orchestrator.blocks = 1;
  const auto orchestration = [&](auto& round) {
    for (int i = 0; i < 3; ++i) round.template add<Saxpy>(x, y, 2.0F);
  };
  auto session = open<P, With<runtime::TensorMapRingBuffer>>(graph, orchestration, options);
  REQUIRE(session.platform().dispatch().is_on_cores);
  const Floats hx(5000, 1.5F);
  Floats hy(5000, 1);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy == Floats(5000, 10));
  CHECK(session.close().ok());
}
