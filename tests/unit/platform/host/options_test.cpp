// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/host/host.hpp>

#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace rondo;
using namespace rondo::test;
using platform::host::Residency;

namespace {

using OnPool = HostOn<Pool>;

/// The cores that the calling thread may run on.
std::vector<std::uint32_t> my_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  std::vector<std::uint32_t> cores;
  for (std::uint32_t c = 0; c < CPU_SETSIZE; ++c) {
    if (CPU_ISSET(c, &set)) cores.push_back(c);
  }
  return cores;
}

/// Each block notes the policy of its thread, how many cores that may run on, and the first of them.
struct WhereAmI {
  static constexpr std::string_view name = "where_am_i";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<std::int32_t> y, Block block) noexcept {
    cpu_set_t set;
    CPU_ZERO(&set);
    (void)sched_getaffinity(0, sizeof set, &set);
    int first = 0;
    while (first < CPU_SETSIZE && !CPU_ISSET(static_cast<unsigned>(first), &set)) ++first;
    y[3 * block.index] = sched_getscheduler(0);
    y[3 * block.index + 1] = CPU_COUNT(&set);
    y[3 * block.index + 2] = first;
  }
};
constexpr std::uint32_t blocks = 8;

/// Two blocks, each of which waits until the other one runs, so that two threads take part.
struct Meet {
  static inline std::atomic<int> arrived{0};
  static constexpr std::string_view name = "meet";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<std::int32_t> y, Block block) noexcept {
    arrived.fetch_add(1);
    while (arrived.load() < 2) std::this_thread::yield();
    WhereAmI::run(y, block);
  }
};

struct Rig {
  TaskGraph graph;
  InputOutput<std::int32_t> y = graph.inout<std::int32_t>("y", {3 * blocks});
  TaskId task = graph.add<WhereAmI>(Blocks{blocks}, y);
  std::vector<std::int32_t> hy = std::vector<std::int32_t>(3 * blocks);
};

OnPool::Options options() {
  OnPool::Options result;
  result.engine.scheduling = platform::sim::Scheduling::uniform;
  return result;
}

/// What opening a session with these options throws.
template <class P>
Raised opening(const typename P::Options& options) {
  return raised([&] {
    Rig rig;
    auto session = open<P>(rig.graph, options);
  });
}

/// What `call` writes, in a process of its own that is not allowed what root is.
template <class F>
std::string without_rights(F call) {
  int ends[2] = {};
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::string text = "no rights could be given up";
    if (geteuid() != 0 || setresuid(65534, 65534, 65534) == 0) text = call();
    (void)!write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char part[256];
  for (ssize_t n = 0; (n = read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  return text;
}

long locked_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmLck:") continue;
    long kib = 0;
    status >> kib;
    return kib;
  }
  return -1;
}

std::size_t pages_in_memory(DevicePtr<std::byte> block, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = align_up(block.address(), page);
  std::vector<unsigned char> present(bytes / page - 1);
  REQUIRE(mincore(reinterpret_cast<void*>(begin), present.size() * page, present.data()) == 0);  // NOLINT
  return static_cast<std::size_t>(std::count_if(present.begin(), present.end(), [](auto p) { return (p & 1) != 0; }));
}

}  // namespace

TEST_CASE("Each thread runs on its core alone, and the caller gets its cores back") {
  const std::vector<std::uint32_t> cores = my_cores();
  Rig rig;
  {
    OnPool::Options on = options();
    on.cores.assign(cores.rbegin(), cores.rbegin() + std::min<std::ptrdiff_t>(2, std::ssize(cores)));
    auto session = open<OnPool>(rig.graph, on);
    for (int round = 0; round < 20; ++round) {
      REQUIRE(session.run_round(bind(rig.y, rig.hy)).ok());
      for (std::uint32_t b = 0; b < blocks; ++b) {
        CHECK(rig.hy[3 * b + 1] == 1);
        CHECK(std::find(on.cores.begin(), on.cores.end(), static_cast<std::uint32_t>(rig.hy[3 * b + 2])) !=
              on.cores.end());
      }
    }
    CHECK(session.platform().engine().threads_used() == on.cores.size());
    CHECK(my_cores() == std::vector<std::uint32_t>{on.cores[0]});
    CHECK(session.close().ok());
    CHECK(my_cores() == cores);
  }
  CHECK(my_cores() == cores);
}

TEST_CASE("Two threads that run at the same time are each on a core of their own") {
  const std::vector<std::uint32_t> cores = my_cores();
  if (cores.size() < 2) return;  // nothing to tell apart
  TaskGraph graph;
  const auto y = graph.inout<std::int32_t>("y", {6});
  graph.add<Meet>(Blocks{2}, y);
  OnPool::Options on = options();
  on.cores = {cores[1], cores[0]};
  auto session = open<OnPool>(graph, on);
  std::vector<std::int32_t> hy(6);
  Meet::arrived = 0;
  REQUIRE(session.run_round(bind(y, hy)).ok());
  CHECK(hy[1] == 1);
  CHECK(hy[4] == 1);
  CHECK(hy[2] + hy[5] == static_cast<std::int32_t>(cores[0] + cores[1]));
  CHECK(hy[2] != hy[5]);
}

TEST_CASE("With rounds in flight all threads run on all of the given cores") {
  std::vector<std::uint32_t> given = my_cores();
  given.resize(std::min<std::size_t>(given.size(), 2));
  Host::Options on;
  on.cores = given;
  const auto all = static_cast<std::int32_t>(given.size());
  {
    Rig rig;
    auto session = open_pipelined<Host, 2>(rig.graph, on);
    REQUIRE(session.wait(session.submit_round(bind(rig.y, rig.hy))).ok());
    CHECK(rig.hy[1] == all);
    CHECK(my_cores() == given);
  }
  TaskGraph graph;  // of a shape that is loaded when the queue is there
  const auto y = graph.inout<std::int32_t>("y", {graph.dim("n")});
  graph.add<WhereAmI>(y);
  auto session = open_shaped<Host, DefaultPolicies, launch::Lru<64>, 2>(graph, on);
  std::vector<std::int32_t> hy(3);
  REQUIRE(session.wait(session.submit_round(bind(y, hy))).ok());
  CHECK(hy[1] == all);
  CHECK(my_cores() == given);
}

TEST_CASE("Cores that cannot be had are refused, the option named, and the caller's stay") {
  const std::vector<std::uint32_t> before = my_cores();
  const auto refusal = [](std::vector<std::uint32_t> cores, std::uint32_t threads = 0) {
    OnPool::Options on = options();
    on.cores = std::move(cores);
    on.engine.threads = threads;
    const Raised r = opening<OnPool>(on);
    CHECK(r.code == Errc::invalid_argument);
    return r.text;
  };
  const std::uint32_t mine = before[0];
  CHECK(says(refusal({mine, 100'000}), "options.cores[1] is core 100000", "does not have", "taskset"));
  CHECK(says(refusal({1023}), "options.cores[0] is core 1023"));
  CHECK(says(refusal({mine, mine}), "options.cores names core " + std::to_string(mine) + " twice", "once"));
  CHECK(says(refusal({mine}, 3), "names 1 cores for 3 threads", "one for each"));
  CHECK(my_cores() == before);
}

TEST_CASE("Cores reach a pool within another engine") {
  HostOn<Checked<Pool>>::Options on;
  on.cores = {my_cores()[0]};
  CHECK(says(opening<HostOn<Checked<Pool>>>(on).text, "names 1 cores for 4 threads"));
}

TEST_CASE("All threads have the real-time priority where the system allows it, and the caller loses it again") {
  Rig rig;
  OnPool::Options on = options();
  on.engine.threads = 2;
  on.priority = sched_get_priority_min(SCHED_FIFO);
  const int before = sched_getscheduler(0);
  if (const Raised r = opening<OnPool>(on); r.code != Errc::ok) {
    CHECK(r.code == Errc::out_of_resources);
    CHECK(says(r.text, "options.priority"));
  } else {
    auto session = open<OnPool>(rig.graph, on);
    REQUIRE(session.run_round(bind(rig.y, rig.hy)).ok());
    for (std::uint32_t b = 0; b < blocks; ++b) CHECK(rig.hy[3 * b] == SCHED_FIFO);
    CHECK(session.close().ok());
  }
  CHECK(sched_getscheduler(0) == before);
}

TEST_CASE("A priority out of range is refused with the range") {
  Host::Options on;
  for (const int priority : {-1, 100, 1'000'000}) {
    on.priority = priority;
    const Raised r = opening<Host>(on);
    CHECK(r.code == Errc::invalid_argument);
    CHECK(says(r.text, "options.priority is " + std::to_string(priority), "from 1 to 99", "0 asks for none"));
  }
}

TEST_CASE("A priority that the system forbids is refused with what to do") {
  const std::string text = without_rights([] {
    const rlimit none{0, 0};
    (void)setrlimit(RLIMIT_RTPRIO, &none);
    Host::Options on;
    on.priority = 80;
    return opening<Host>(on).text;
  });
  CAPTURE(text);
  CHECK(says(text, "refuses options.priority = 80", "at most 0", "limits.conf", "CAP_SYS_NICE"));
}

TEST_CASE("Locked memory is locked while the session has it") {
  constexpr std::uint64_t kib = 256;
  Host::Options on;
  on.memory = Residency::locked;
  const long before = locked_kib();
  Host platform(on);
  const auto block = platform.allocate(Bytes{kib * 1024 - 100}, Bytes{64});
  void* const pinned = platform.allocate_pinned(Bytes{100});
  CHECK(block.address() % 64 == 0);
  CHECK(locked_kib() >= before + static_cast<long>(kib));
  platform.release_pinned(pinned);
  CHECK(platform.release(block).ok());
  CHECK(locked_kib() == before);
}

TEST_CASE("A lock beyond RLIMIT_MEMLOCK is refused with the limit and what to do") {
  const std::string text = without_rights([] {
    const rlimit little{8192, 8192};
    (void)setrlimit(RLIMIT_MEMLOCK, &little);
    Host::Options on;
    on.memory = Residency::locked;
    TaskGraph graph;
    const auto x = graph.resident<float>("x", {100'000});
    (void)x;
    const Raised r = raised([&] { auto session = open<Host>(graph, on); });
    return (r.code == Errc::out_of_memory ? "" : "another code: ") + r.text;
  });
  CAPTURE(text);
  CHECK(text.find("host: options.memory = locked") == 0);
  CHECK(says(text, "RLIMIT_MEMLOCK allows this process 8192", "ulimit -l"));
}

TEST_CASE("Prefaulted memory is there before a round touches it, and other memory is not") {
  constexpr std::size_t bytes = std::size_t{8} << 20;
  Host::Options on;
  Host lazy(on);
  on.memory = Residency::prefaulted;
  Host eager(on);
  const auto untouched = lazy.allocate(Bytes{bytes}, Bytes{64});
  const auto touched = eager.allocate(Bytes{bytes}, Bytes{64});
  const std::size_t pages = bytes / static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) - 1;
  CHECK(pages_in_memory(touched, bytes) == pages);
  CHECK(pages_in_memory(untouched, bytes) < pages);
  CHECK(lazy.release(untouched).ok());
  CHECK(eager.release(touched).ok());
  // Rounded up to whole pages, these would be no bytes.
  CHECK(raised([&] { (void)eager.allocate(Bytes{~std::uint64_t{0}}, Bytes{64}); }).code == Errc::out_of_memory);
}

TEST_CASE("Threads spin as long as they are told, and then sleep") {
  Rig rig;
  OnPool::Options on = options();
  on.engine.threads = 2;
  on.spin_us = 1'000'000;
  {
    auto session = open<OnPool>(rig.graph, on);
    const auto parks = [&] { return session.platform().engine().parks(); };
    // A machine that stops for a second has them sleep, so one round after which they do not is awaited.
    for (std::uint64_t before = ~std::uint64_t{0}; before != parks();) {
      before = parks();
      REQUIRE(session.run_round(bind(rig.y, rig.hy)).ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  on.spin_us = 0;
  auto session = open<OnPool>(rig.graph, on);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    REQUIRE(session.run_round(bind(rig.y, rig.hy)).ok());
    while (session.platform().engine().parks() < round) std::this_thread::yield();
  }
  on.spin_us = 1'000'001;
  const Raised r = opening<OnPool>(on);
  CHECK(r.code == Errc::invalid_argument);
  CHECK(says(r.text, "options.spin_us is 1000001", "the most is 1000000"));
}

TEST_CASE("The limit of spinning is counted in pauses, in proportion to the time") {
  const auto one = platform::host::spin_for(100);
  CHECK(one.between_rounds == one.within_rounds);
  CHECK(one.between_rounds > 100);
  CHECK(platform::host::spin_for(0).between_rounds == 0);
}

TEST_CASE("Threads that are kept awake from before the first round on do not sleep between rounds") {
  Rig rig;
  OnPool::Options on = options();
  on.engine.threads = 2;
  on.spin_us = 0;
  auto session = open<OnPool>(rig.graph, on);
  session.platform().keep_awake(true);  // the thread may have gone to sleep once before
  for (int round = 0; round < 5; ++round) {
    REQUIRE(session.run_round(bind(rig.y, rig.hy)).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  CHECK(session.platform().engine().parks() <= 1);
}
