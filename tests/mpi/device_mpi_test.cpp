// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Collectives of captured graphs, over the stand-ins for the runtimes of NPUs and GPUs, and for HCCL and NCCL. MPI
// distributes the communicators' ids, as in a program for such devices.
#include "cuda_stand_in/over_cuda_stand_in.hpp"
#include "mpi/patient.hpp"
#include "mpi/until.hpp"
#include "stand_in/over_stand_in.hpp"
#include "stand_in/ranks.hpp"

#include <rondo/mpi/communicator.hpp>
#include <rondo/platform/cuda/nccl.hpp>
#include <rondo/platform/onboard/hccl.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

using rondo::Collective;
using rondo::Errc;
using rondo::Reduction;
using rondo::Status;
namespace mpi = rondo::mpi;

using Floats = std::vector<float>;

struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};

constexpr std::size_t n = 3000;  // more than the stand-in passes on at once

struct Logged : rondo::DefaultPolicies {
  static inline std::string text;
  static void log(rondo::LogEvent, const char* line) noexcept { text.append(line).append("\n"); }
};

/// Integers, whose sums are exact.
Floats input_of(int rank, int round) {
  Floats x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(1000 * rank + 100 * round + static_cast<int>(i % 97));
  return x;
}

/// A device with its library of collectives, over stand-ins.
struct OnNpu {
  using Platform = A2A3OverStandIn;
  using Communicator = rondo::HcclCommunicator;
  using Options = rondo::HcclOptions;
  static std::uint64_t live() { return rondo_stand_in_live(nullptr); }
  static std::atomic<std::uint64_t>& live_of_others() { return stand_in::live_of_others(); }
  static void choose_chip() { rondo_stand_in_chip("a2a3"); }
  static void reset() { rondo_stand_in_reset(); }
  static void end_process() {}
  static void two_devices() { rondo_stand_in_limit("devices", 2); }
  static void refuse_capture(std::uint64_t number) { rondo_stand_in_fault("aclmdlRICaptureEnd", number, 107025); }
  static Platform::Options without_capture() {
    Platform::Options options;
    options.capture = false;
    return options;
  }
};
struct OnGpu {
  using Platform = CudaOverStandIn;
  using Communicator = rondo::NcclCommunicator;
  using Options = rondo::NcclOptions;
  static std::uint64_t live() { return rondo_cuda_stand_in_live(nullptr); }
  static std::atomic<std::uint64_t>& live_of_others() { return cuda_stand_in::live_of_others(); }
  static void choose_chip() {}
  static void reset() { rondo_cuda_stand_in_reset(); }
  /// A lost context is lost for the whole process, so that the next test needs another one.
  static void end_process() { rondo_cuda_stand_in_end_process(); }
  static void two_devices() { rondo_cuda_stand_in_limit("devices", 2); }
  static void refuse_capture(std::uint64_t number) { rondo_cuda_stand_in_fault("cuStreamEndCapture", number, 901); }
  static Platform::Options without_capture() {
    Platform::Options options;
    options.graph = false;
    return options;
  }
};

/// A communicator, which keeps the device, outlives the sessions.
template <class On>
class Ranks {
 public:
  explicit Ranks(const mpi::Group& group, typename On::Options options = {}) : before_{On::live()} {
    On::choose_chip();
    ranks_ = std::make_unique<typename On::Communicator>(group, options);
    others_ = On::live() - before_;
    On::live_of_others() += others_;
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks() {
    ranks_.reset();
    On::live_of_others() -= others_;
    CHECK(On::live() == before_);
    if (before_ == 0) On::end_process();
  }
  typename On::Communicator& operator*() { return *ranks_; }

 private:
  std::uint64_t before_;
  std::uint64_t others_ = 0;
  std::unique_ptr<typename On::Communicator> ranks_;
};

template <class F>
std::string text_of(F f) {
  try {
    f();
  } catch (const rondo::Error& e) {
    return e.what();
  }
  return "fine";
}

/// The graph of all collectives; the same as over MPI.
template <class Communicator>
struct Everything {
  std::size_t size;
  rondo::TaskGraph graph;
  rondo::Input<float> x = graph.input<float>("x", {n});
  rondo::Output<float> sum = graph.output<float>("sum", {n});
  rondo::Output<float> part = graph.output<float>("part", {n});
  rondo::Output<float> given = graph.output<float>("given", {n});
  rondo::Workspace<float> doubled = graph.workspace<float>("doubled", {n});
  rondo::Workspace<float> passed = graph.workspace<float>("passed", {n});
  rondo::Workspace<float> gathered = graph.workspace<float>("gathered", {size, n});

  explicit Everything(Communicator& ranks) : size{static_cast<std::size_t>(ranks.size())} {
    graph.add<Twice>(x, doubled);
    graph.add_collective(Collective::all_reduce, doubled, ranks);
    graph.add_collective(Collective::all_gather, x, gathered, ranks);
    graph.add<Twice>(doubled, sum);
    graph.add_collective(Collective::reduce_scatter, gathered, part, ranks, {.reduction = Reduction::max});
    graph.add<Twice>(x, passed);
    graph.add_collective(Collective::broadcast, passed, ranks, {.rank = ranks.size() - 1});
    if (ranks.size() > 1 && ranks.rank() < 2) {  // and from rank 0 to rank 1
      graph.add_collective(ranks.rank() == 0 ? Collective::send : Collective::recv, passed, ranks,
                           {.rank = 1 - ranks.rank()});
    }
    graph.add<Twice>(passed, given);
  }
  [[nodiscard]] std::vector<Floats> run(auto& session, int rank, int round) {
    const Floats in = input_of(rank, round);
    std::vector<Floats> out(3, Floats(n));
    const Status status = session.run_round(bind(x, in), bind(sum, out[0]), bind(part, out[1]), bind(given, out[2]));
    const std::string text = session.explain(status).c_str();
    INFO(text);
    REQUIRE(status.ok());
    return out;
  }
};

}  // namespace

TEST_CASE_TEMPLATE("A captured graph with collectives gives what simulation over MPI gives", On, OnNpu, OnGpu) {
  using Platform = typename On::Platform;
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Ranks<On> ranks(group);
  mpi::Communicator others(group);
  Everything onboard(*ranks);
  Everything simulated(others);
  typename Platform::Options options;
  if constexpr (requires { options.streams; }) options.streams = 2;
  auto session = rondo::open<Platform>(onboard.graph, options);
  auto simulation = rondo::open<rondo::A2A3Sim>(simulated.graph);
  const std::uint64_t calls = rondo_stand_in_collectives();
  for (int round = 0; round < 5; ++round) {
    CHECK(onboard.run(session, group.rank(), round) == simulated.run(simulation, group.rank(), round));
  }
  CHECK(session.platform().is_captured());
  CHECK(rondo_stand_in_collectives() == calls);  // rounds replay what was captured
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE("A session that does not capture calls the collectives in each round", On, OnNpu, OnGpu) {
  using Platform = typename On::Platform;
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Ranks<On> ranks(group);
  mpi::Communicator others(group);
  Everything onboard(*ranks);
  Everything simulated(others);
  auto session = rondo::open<Platform>(onboard.graph, On::without_capture());
  auto simulation = rondo::open<rondo::A2A3Sim>(simulated.graph);
  for (int round = 0; round < 3; ++round) {
    CHECK(onboard.run(session, group.rank(), round) == simulated.run(simulation, group.rank(), round));
  }
}

TEST_CASE_TEMPLATE("Communicators of another device or platform, and what a library lacks, are refused with a reason",
                   On, OnNpu, OnGpu) {
  using Platform = typename On::Platform;
  constexpr bool is_npu = std::same_as<On, OnNpu>;
  const std::string platform = is_npu ? "a2a3_onboard" : "cuda";
  const std::string library = is_npu ? "HCCL" : "NCCL";
  const mpi::Group group(MPI_COMM_WORLD, patient);
  On::two_devices();
  {
    Ranks<On> ranks(group, {.device = 1});
    mpi::Communicator others(group);
    Everything onboard(*ranks);
    Everything simulated(others);
    CHECK(text_of([&] { (void)rondo::open<Platform>(onboard.graph); }) ==
          platform +
              ": all_reduce(doubled) is of a communicator of device 1, the session is on device 0; make the "
              "communicator for that device");
    CHECK(text_of([&] { (void)rondo::open<rondo::A2A3Sim>(onboard.graph); }) ==
          "a2a3_sim: all_reduce(doubled) is over " + library + ", which joins " + (is_npu ? "NPUs" : "GPUs") +
              "; use " + (is_npu ? "NcclCommunicator on GPUs" : "HcclCommunicator on NPUs") +
              ", and mpi::Communicator elsewhere");
    CHECK(text_of([&] { (void)rondo::open<Platform>(simulated.graph); }) ==
          platform +
              ": all_reduce(doubled) is over MPI, which reaches the memory of the host; use a communicator of "
              "the device, HcclCommunicator or NcclCommunicator");
    rondo::TaskGraph graph;
    const auto x = graph.inout<float>("x", {n});
    const auto mean = [&] { graph.add_collective(Collective::all_reduce, x, *ranks, {.reduction = Reduction::mean}); };
    CHECK(text_of(mean) ==
          (is_npu ? "all_reduce(x): HCCL has no mean; choose the sum, and let a kernel divide" : "fine"));
    const auto b = graph.inout<bool>("b", {n});
    CHECK(text_of([&] { graph.add_collective(Collective::broadcast, b, *ranks); }) ==
          "broadcast(b): " + library + " has no bool");
  }
  On::reset();
}

namespace {

/// The first of two ranks, of which the second never comes.
struct FirstOfTwo {
  [[nodiscard]] static int rank() { return 0; }
  [[nodiscard]] static int size() { return 2; }
  [[nodiscard]] static std::vector<std::uint64_t> gather(std::span<const std::uint64_t> numbers) {
    std::vector<std::uint64_t> all(numbers.begin(), numbers.end());
    all.insert(all.end(), numbers.begin(), numbers.end());
    return all;
  }
};

}  // namespace

TEST_CASE_TEMPLATE("A communicator without all of its ranks is not made", On, OnNpu, OnGpu) {
  constexpr bool is_npu = std::same_as<On, OnNpu>;
  rondo_stand_in_patience(100);
  On::choose_chip();
  const auto live = On::live();
  try {
    const FirstOfTwo group;
    const typename On::Communicator ranks(group, {});
    FAIL("it was made");
  } catch (const rondo::Error& e) {
    CHECK(e.code() == (is_npu ? Errc::timed_out : Errc::device_failed));  // NCCL has no code for that
    CHECK(std::string(e.what()).starts_with(is_npu ? "HcclCommInitRootInfo: HCCL returned 9, connect timeout"
                                                   : "ncclCommInitRank: NCCL returned 2, unhandled system error"));
  }
  CHECK(On::live() == live);
  rondo_stand_in_patience(rondo_stand_in_usual_patience);
}

TEST_CASE_TEMPLATE("Elements of 16 bits are reduced", On, OnNpu, OnGpu) {
  using Platform = typename On::Platform;
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Ranks<On> ranks(group);
  rondo::TaskGraph graph;
  const auto half = graph.inout<rondo::Float16>("half", {3});
  const auto brain = graph.inout<rondo::BFloat16>("brain", {3});
  graph.add_collective(Collective::all_reduce, half, *ranks);
  graph.add_collective(Collective::all_reduce, brain, *ranks, {.reduction = Reduction::max});
  auto session = rondo::open<Platform>(graph);
  const bool is_first = group.rank() == 0;
  std::vector<rondo::Float16> h(3, rondo::Float16{std::uint16_t{0x3C00}});                          // 1
  std::vector<rondo::BFloat16> b(3, rondo::BFloat16{std::uint16_t(is_first ? 0x40A0U : 0xC000U)});  // 5 and -2
  REQUIRE(session.run_round(bind(half, h), bind(brain, b)).ok());
  const std::uint16_t sums[] = {0, 0x3C00, 0x4000, 0, 0x4400};  // by the number of ranks: 1, 2 and 4
  for (int i = 0; i < 3; ++i) {
    CHECK(h[static_cast<std::size_t>(i)].bits == sums[group.size()]);
    CHECK(b[static_cast<std::size_t>(i)].bits == 0x40A0);
  }
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE("Rounds in flight run their collectives in order", On, OnNpu, OnGpu) {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Ranks<On> ranks(group);
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const auto doubled = graph.workspace<float>("doubled", {n});
  graph.add<Twice>(x, doubled);
  graph.add_collective(Collective::all_reduce, doubled, *ranks);
  graph.add<Twice>(doubled, y);
  rondo::PipelinedSession<typename On::Platform, 3> session(rondo::freeze(graph));
  constexpr int rounds = 8;
  std::vector<Floats> in, out(rounds, Floats(n));
  for (int r = 0; r < rounds; ++r) in.emplace_back(n, static_cast<float>(10 * r + group.rank()));
  for (std::size_t r = 0; r < rounds; ++r) (void)session.submit_round(bind(x, in[r]), bind(y, out[r]));
  REQUIRE(session.wait_all().ok());
  for (int r = 0; r < rounds; ++r) {
    const int sum = group.size() * 10 * r + group.size() * (group.size() - 1) / 2;
    CHECK(out[static_cast<std::size_t>(r)] == Floats(n, static_cast<float>(4 * sum)));
  }
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE("Collectives of tensors without elements do nothing", On, OnNpu, OnGpu) {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Ranks<On> ranks(group);
  rondo::TaskGraph graph;
  const auto m = graph.dim("m");
  const auto x = graph.inout<float>("x", {m});
  const auto all = graph.output<float>("all", {group.size() * m});
  graph.add_collective(Collective::all_reduce, x, *ranks, {.reduction = Reduction::max});
  graph.add_collective(Collective::all_gather, x, all, *ranks);
  auto session = rondo::open_shaped<typename On::Platform>(graph);
  const auto ranks_of_group = static_cast<std::size_t>(group.size());
  for (const std::size_t elements : {std::size_t{0}, n, std::size_t{0}}) {
    CAPTURE(elements);
    Floats values(elements, static_cast<float>(group.rank())), gathered(ranks_of_group * elements);
    const Status status = session.run_round(bind(x, values), bind(all, gathered));
    const std::string text = session.explain(status).c_str();
    CHECK_MESSAGE(status.ok(), text);
    CHECK(gathered == Floats(ranks_of_group * elements, static_cast<float>(group.size() - 1)));
  }
  CHECK(session.close().ok());
}

TEST_CASE("NCCL computes means") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Ranks<OnGpu> ranks(group);
  rondo::TaskGraph graph;
  const auto x = graph.inout<float>("x", {n});
  const auto all = graph.workspace<float>("all", {static_cast<std::size_t>(group.size()), n});
  const auto part = graph.output<float>("part", {n});
  graph.add_collective(Collective::all_reduce, x, *ranks, {.reduction = Reduction::mean});
  graph.add_collective(Collective::all_gather, x, all, *ranks);
  graph.add_collective(Collective::reduce_scatter, all, part, *ranks, {.reduction = Reduction::mean});
  auto session = rondo::open<CudaOverStandIn>(graph);
  Floats values(n, static_cast<float>(2 * group.rank())), means(n);
  REQUIRE(session.run_round(bind(x, values), bind(part, means)).ok());
  CHECK(values == Floats(n, static_cast<float>(group.size() - 1)));
  CHECK(means == values);
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE("Graphs that differ, or would wait forever, are refused on all ranks", On, OnNpu, OnGpu) {
  using Platform = typename On::Platform;
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  Ranks<On> ranks(group);
  const auto opens = [&](auto build) {
    rondo::TaskGraph graph;
    const auto x = graph.inout<float>("x", {n});
    const auto y = graph.inout<float>("y", {n});
    build(graph, x, y);
    graph.add<Twice>(x, graph.workspace<float>("unused", {n}));
    graph.add<Twice>(y, graph.workspace<float>("unused too", {n}));
    return text_of([&] { (void)rondo::open<Platform>(graph); });
  };
  CHECK(opens([&](auto& graph, auto x, auto) {
          graph.add_collective(Collective::all_reduce, x, *ranks,
                               {.reduction = group.rank() == 1 ? Reduction::min : Reduction::max});
        })
            .find("0 is all_reduce of 3000 float32 with the max on rank 0 and all_reduce of 3000 float32 with the min "
                  "on") != std::string::npos);
  const int other = group.rank() == 0 ? 1 : 0;
  const auto exchange = [&](bool is_first_to_send) {
    return opens([&](auto& graph, auto x, auto y) {
      graph.add_collective(Collective::broadcast, x, *ranks);
      if (group.rank() > 1) return;
      if (is_first_to_send) graph.add_collective(Collective::send, x, *ranks, {.rank = other});
      graph.add_collective(Collective::recv, y, *ranks, {.rank = other});
      if (!is_first_to_send) graph.add_collective(Collective::send, x, *ranks, {.rank = other});
    });
  };
  CHECK(exchange(true) ==
        std::string(std::same_as<On, OnNpu> ? "a2a3_onboard" : "cuda") +
            ": rank 0 would wait forever in its collective 1, send of 3000 float32 to rank 1; of two ranks "
            "that exchange, let one receive first");
  CHECK(exchange(group.rank() == 0) == "fine");
}

TEST_CASE("At most six graphs with collectives are open on a device") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Ranks<OnNpu> ranks(group);
  rondo::TaskGraph graph;
  const auto x = graph.inout<float>("x", {n});
  graph.add_collective(Collective::all_reduce, x, *ranks);
  {
    std::vector<std::unique_ptr<rondo::RoundSession<A2A3OverStandIn>>> sessions;
    const auto add = [&] {
      sessions.push_back(std::make_unique<rondo::RoundSession<A2A3OverStandIn>>(rondo::freeze(graph)));
    };
    for (int i = 0; i < 6; ++i) add();
    CHECK(text_of(add) ==
          "a2a3_onboard: more than 6 graphs with collectives would be open on device 0, and HCCL would hang; close a "
          "session, or keep fewer shapes or slots");
    sessions.pop_back();
    add();
    CHECK(text_of(add) != "fine");
  }
  CHECK(text_of([&] { (void)rondo::open<A2A3OverStandIn>(graph); }) == "fine");
}

namespace {

/// Repeats until the first rank that wants to end says so; then doubles the sum of all ranks' x.
struct Looping {
  rondo::TaskGraph graph;
  rondo::Input<std::int32_t> wanted = graph.input<std::int32_t>("wanted", {1});
  rondo::InputOutput<std::int32_t> count = graph.inout<std::int32_t>("count", {1});
  rondo::InputOutput<float> x = graph.inout<float>("x", {n});
  rondo::Output<float> y = graph.output<float>("y", {n});
  rondo::Workspace<std::int32_t> done = graph.workspace<std::int32_t>("done", {1});

  template <class Communicator>
  explicit Looping(Communicator& ranks, bool is_shared = true) {
    graph.repeat_until(done, 20, [&] {
      graph.add<Until>(wanted, count, x, done);
      graph.add_collective(Collective::all_reduce, x, ranks, {.reduction = Reduction::max});
      if (is_shared) graph.add_collective(Collective::all_reduce, done, ranks, {.reduction = Reduction::max});
    });
    graph.add_collective(Collective::all_reduce, x, ranks);
    graph.add<Twice>(x, y);
  }
  [[nodiscard]] Floats run(auto& session, int rank, int round) {
    const std::vector<std::int32_t> at{3 + round + rank};
    std::vector<std::int32_t> times{0};
    Floats values = input_of(rank, round);
    Floats out(n);
    const Status status = session.run_round(bind(wanted, at), bind(count, times), bind(x, values), bind(y, out));
    const std::string text = session.explain(status).c_str();
    INFO(text);
    REQUIRE(status.ok());
    CHECK(times[0] == 3 + round);
    return out;
  }
};

}  // namespace

TEST_CASE_TEMPLATE("Collectives in loops are captured with their section, which is a graph of its own", On, OnNpu,
                   OnGpu) {
  using Platform = typename On::Platform;
  const mpi::Group group(MPI_COMM_WORLD, patient);
  typename On::Options limits;
  if constexpr (std::same_as<On, OnNpu>) limits.most_graphs = 3;
  Ranks<On> ranks(group, limits);
  mpi::Communicator others(group);
  Looping onboard(*ranks);
  Looping simulated(others);
  {
    auto session = rondo::open<Platform>(onboard.graph);
    auto simulation = rondo::open<rondo::A2A3Sim>(simulated.graph);
    const std::uint64_t calls = rondo_stand_in_collectives();
    for (int round = 0; round < 5; ++round) {
      CHECK(onboard.run(session, group.rank(), round) == simulated.run(simulation, group.rank(), round));
    }
    CHECK(session.platform().is_captured());  // on GPUs, since a loop cannot contain what NCCL puts there, in sections
    CHECK(rondo_stand_in_collectives() == calls);  // repetitions replay what was captured
    if constexpr (std::same_as<On, OnNpu>) {
      CHECK(text_of([&] {
              (void)rondo::open<Platform>(onboard.graph);
            }).find("more than 3 graphs with collectives would be open on device 0") != std::string::npos);
    }
    CHECK(session.close().ok());
  }
  CHECK(text_of([&] { (void)rondo::open<Platform>(onboard.graph); }) == "fine");
  Looping apart(*ranks, false);
  CHECK(text_of([&] {
          (void)rondo::open<Platform>(apart.graph);
        }).find("might be repeated another number of times than on other ranks") != std::string::npos);
}

TEST_CASE_TEMPLATE(
    "If one rank does not capture its graph, all ranks launch their tasks one by one, and the log says so", On, OnNpu,
    OnGpu) {
  using Platform = typename On::Platform;
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  const bool is_odd_one = group.rank() == 1;
  Ranks<On> ranks(group);
  mpi::Communicator others(group);
  const auto is_not_captured = [&](auto& onboard, auto& simulated, const typename Platform::Options& options,
                                   bool is_refused, bool differ_in_options = false) {
    Logged::text.clear();
    const std::uint64_t before = rondo_stand_in_collectives();
    auto session = rondo::open<Platform, Logged>(onboard.graph, options);
    const std::uint64_t calls = rondo_stand_in_collectives() - before;
    auto simulation = rondo::open<rondo::A2A3Sim>(simulated.graph);
    for (int round = 0; round < 2; ++round) {
      CHECK(onboard.run(session, group.rank(), round) == simulated.run(simulation, group.rank(), round));
    }
    CHECK_FALSE(session.platform().is_captured());
    CHECK(session.close().ok());
    // On GPUs the ranks tell each other before they capture, since NCCL may exchange data in a capture.
    const std::uint64_t first_runs = group.rank() < 2 ? 5 : 4;
    if (std::same_as<On, OnGpu> && differ_in_options) CHECK(calls == first_runs);
    const char* const reason =
        is_refused && std::same_as<On, OnGpu>
            ? "cuStreamEndCapture returned 901 for the library call of task '"
            : "a rank did not capture the graph as the others did; tasks were launched one by one";
    CHECK_MESSAGE(Logged::text.find(reason) != std::string::npos, Logged::text);
  };
  Everything onboard(*ranks);
  Everything simulated(others);
  if (is_odd_one) On::refuse_capture(1);
  is_not_captured(onboard, simulated, {}, is_odd_one);
  is_not_captured(onboard, simulated, is_odd_one ? typename Platform::Options{} : On::without_capture(), false, true);
  Looping looping(*ranks);
  Looping simulated_loop(others);
  if (is_odd_one) On::refuse_capture(2);  // on NPUs, of the second section
  is_not_captured(looping, simulated_loop, {}, is_odd_one);
  On::reset();
}

TEST_CASE("A replay with collectives that the runtime refuses fails its round, and the graph stays captured") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Ranks<OnNpu> ranks(group);
  mpi::Communicator others(group);
  Everything onboard(*ranks);
  Everything simulated(others);
  auto session = rondo::open<A2A3OverStandIn>(onboard.graph);
  auto simulation = rondo::open<rondo::A2A3Sim>(simulated.graph);
  rondo_stand_in_fault("aclmdlRIExecuteAsync", 1, 207000);  // on all ranks
  Floats x(n), sum(n), part(n), given(n);
  const Status status = session.run_round(bind(onboard.x, x), bind(onboard.sum, sum), bind(onboard.part, part),
                                          bind(onboard.given, given));
  CHECK(status.code() == Errc::unsupported);
  CHECK_FALSE(status.poisoned());
  CHECK(session.platform().is_captured());
  CHECK(onboard.run(session, group.rank(), 0) == simulated.run(simulation, group.rank(), 0));
}

TEST_CASE_TEMPLATE("A rank that dies in a collective fails the rounds of the others, and their sessions are poisoned",
                   On, OnNpu, OnGpu) {
  using Platform = typename On::Platform;
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  for (const bool is_captured : {false, true}) {
    CAPTURE(is_captured);
    Ranks<On> ranks(group);
    rondo::TaskGraph graph;
    const auto x = graph.inout<float>("x", {n});
    graph.add_collective(Collective::all_reduce, x, *ranks);
    typename Platform::Options options;
    options.wait_after_each_task = !is_captured;
    auto session = rondo::open<Platform>(graph, options);
    MPI_Barrier(MPI_COMM_WORLD);
    if (group.rank() != 0) {
      Floats values(n);
      rondo_stand_in_patience(300);
      const Status status = session.run_round(bind(x, values));
      rondo_stand_in_patience(rondo_stand_in_usual_patience);
      CHECK(status.poisoned());
      CHECK(status.code() == Errc::device_failed);
      const std::string text = session.explain(status).c_str();
      INFO(text);
      CHECK(text.find("'all_reduce(x)'") != std::string::npos);
      CHECK((text.find("look whether another rank has stopped") != std::string::npos) == is_captured);
      CHECK(session.run_round(bind(x, values)).poisoned());
    }
    (void)session.close();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_CASE_TEMPLATE("Ranks of which only some have used their memory run their rounds together, also of a new shape", On,
                   OnNpu, OnGpu) {
  using Platform = typename On::Platform;
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Ranks<On> ranks(group);
  rondo::TaskGraph graph;
  const auto m = graph.dim("m");
  const auto x = graph.input<float>("x", {m});
  const auto y = graph.output<float>("y", {m});
  const auto t = graph.workspace<float>("t", {m});
  graph.add<Twice>(x, t);
  graph.add_collective(Collective::all_reduce, t, *ranks);
  graph.add<Twice>(t, y);
  auto session = rondo::open_shaped<Platform>(graph);
  auto array = session.allocate(x, {100});
  if (group.rank() == 0) REQUIRE(session.upload(array, Floats(100)).ok());
  for (int round = 0; round < 3; ++round) {
    const Floats in(100, static_cast<float>(10 * round + group.rank()));
    Floats out(100);
    REQUIRE(session.run_round(bind(x, in), bind(y, out)).ok());
    const int sum = group.size() * 10 * round + group.size() * (group.size() - 1) / 2;
    CHECK(out == Floats(100, static_cast<float>(4 * sum)));
  }
}

namespace {

/// The only rank of a group.
struct Alone {
  static int rank() { return 0; }
  static int size() { return 1; }
  static std::vector<std::uint64_t> gather(std::span<const std::uint64_t> numbers) {
    return {numbers.begin(), numbers.end()};
  }
};

/// Opens a session whose collective waits too long. @returns whether the device is then left to the process's end
bool is_left_to_the_process() {
  rondo_stand_in_reset();
  rondo_stand_in_chip("a2a3");
  std::string text;
  {
    rondo::HcclCommunicator ranks{Alone{}};
    rondo::TaskGraph graph;
    graph.add_collective(Collective::all_reduce, graph.inout<float>("x", {n}), ranks);
    A2A3OverStandIn::Options options;
    options.warm_up = false;                                               // which waits, too
    rondo_stand_in_fault("aclrtSynchronizeStreamWithTimeout", 2, 507046);  // after that for the args table
    text = text_of([&] { (void)rondo::open<A2A3OverStandIn>(graph, options); });
  }
  return text == "all_reduce(x): rank 0 waited 50000 ms for the other ranks" &&
         rondo_stand_in_calls("aclrtResetDevice") == 0 && rondo_stand_in_live("memory") == 1;
}

}  // namespace

TEST_CASE("A device on which a collective hangs is not given back, since that would hang, too") {
  if (mpi::Group(MPI_COMM_WORLD, patient).rank() != 0) return;
  std::fflush(nullptr);
  const pid_t child = fork();  // a process of its own, since it keeps the device
  REQUIRE(child >= 0);
  if (child == 0) {
    stand_in::live_of_others() = 100;
    try {
      std::_Exit(is_left_to_the_process() ? 0 : 1);
    } catch (...) {
      std::_Exit(2);
    }
  }
  int how = 0;
  REQUIRE(waitpid(child, &how, 0) == child);
  CHECK(how == 0);
}

namespace {

/// A loop in which each rank is by itself, and a collective after it.
struct LoopThenSum {
  rondo::TaskGraph graph;
  rondo::Input<std::int32_t> wanted = graph.input<std::int32_t>("wanted", {1});
  rondo::InputOutput<std::int32_t> count = graph.inout<std::int32_t>("count", {1});
  rondo::InputOutput<float> x = graph.inout<float>("x", {n});
  rondo::Workspace<std::int32_t> done = graph.workspace<std::int32_t>("done", {1});

  explicit LoopThenSum(rondo::NcclCommunicator& ranks) {
    graph.repeat_until(done, 20, [&] { graph.add<Until>(wanted, count, x, done); });
    graph.add_collective(Collective::all_reduce, x, ranks);
  }
};

}  // namespace

TEST_CASE("If one rank's host decides about a loop outside of collectives, all hosts do") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Ranks<OnGpu> ranks(group);
  LoopThenSum g(*ranks);
  for (const bool is_refused : {false, true}) {
    CAPTURE(is_refused);
    if (is_refused && group.rank() == group.size() - 1) OnGpu::refuse_capture(1);
    auto session = rondo::open<CudaOverStandIn>(g.graph);
    const std::vector<std::int32_t> wanted{2 + group.rank()};
    std::vector<std::int32_t> count{0};
    Floats x(n);
    REQUIRE(session.run_round(bind(g.wanted, wanted), bind(g.count, count), bind(g.x, x)).ok());
    CHECK(count[0] == wanted[0]);
    CHECK(session.platform().is_captured() != is_refused);
    CHECK((*session.platform().why_host_decides_loops() == '\0') != is_refused);
    CHECK(session.close().ok());
  }
  OnGpu::reset();
}

namespace {

/// Ranks of which all but the first leave once they have compared their graphs.
struct Leaving {
  const mpi::Group& group;
  mutable int gathered = 0;
  [[nodiscard]] int rank() const { return group.rank(); }
  [[nodiscard]] int size() const { return group.size(); }
  [[nodiscard]] std::vector<std::uint64_t> gather(std::span<const std::uint64_t> numbers) const {
    std::vector<std::uint64_t> all = group.gather(numbers);
    const bool has_compared = ++gathered == 3;  // before, for the communicator, and for the number of collectives
    if (has_compared && rank() != 0) throw rondo::Error(Errc::stopped, rondo::Error::Text("this rank leaves"));
    return all;
  }
};

}  // namespace

// The next two come last, since they leave processes without their device.
TEST_CASE("The first run of a collective waits on a GPU no longer than told, and the session is not opened") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  {
    Leaving leaving{group};
    rondo::NcclCommunicator ranks(leaving, {.timeout_ms = 20});  // the others do not come however long rank 0 waits
    rondo::TaskGraph graph;
    graph.add_collective(Collective::all_reduce, graph.inout<float>("x", {n}), ranks);
    cuda_stand_in::live_of_others() = 1000;  // the device keeps what the session had
    CHECK(text_of([&] { (void)rondo::open<CudaOverStandIn>(graph); }) ==
          (group.rank() == 0 ? "all_reduce(x): rank 0 waited 20 ms for the other ranks" : "this rank leaves"));
  }
  rondo_cuda_stand_in_end_process();
  cuda_stand_in::live_of_others() = 0;
}

TEST_CASE("A collective that waits on a GPU for a rank that never comes is ended with its communicator") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  {
    auto ranks = std::make_unique<rondo::NcclCommunicator>(group);
    rondo::TaskGraph graph;
    const auto x = graph.inout<float>("x", {n});
    graph.add_collective(Collective::all_reduce, x, *ranks);
    CudaOverStandIn::Options options;
    options.timeout_ms = 20;  // the others wait for rank 0, which does not come however long they wait
    if (group.rank() == 0) options.timeout_ms = -1;
    auto session = rondo::open<CudaOverStandIn>(graph, options);
    cuda_stand_in::live_of_others() = 1000;  // the device keeps what the session had
    if (group.rank() != 0) {
      Floats values(n);
      const Status status = session.run_round(bind(x, values));
      CHECK(status.code() == Errc::timed_out);
      CHECK(status.poisoned());
    }
    const bool is_closed = session.close().ok();
    if (group.rank() != 0) CHECK_FALSE(is_closed);
    ranks.reset();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  rondo_cuda_stand_in_end_process();
  cuda_stand_in::live_of_others() = 0;
}
