// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What a round on the platform Cuda costs in calls, and how its graph runs.

#include "conformance/counting_loop.hpp"
#include "cuda/fixture.hpp"

#include <rondo/session/memory_report.hpp>

#include <doctest/doctest.h>

#include <unistd.h>
#include <array>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <sstream>
#include <string>

using namespace rondo;
using namespace cuda_test;

namespace {

template <update::Mechanism M>
struct By : DefaultPolicies {
  using Refresh = update::Always<M>;
};
struct ByCost : DefaultPolicies {
  using Refresh = update::ByCost<>;
};

/// Adds up floats from `n` inputs, pairwise and in one task each, so that n inputs make n tasks.
struct Many {
  explicit Many(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::string number = std::to_string(i);
      inputs.push_back(graph.input<float>("x" + number, {4}));
      const auto out = graph.workspace<float>("t" + number, {4});
      graph.add<kernels::Scale>(inputs.back(), out, 2.0F);
      graph.add<kernels::Accumulate>(out, s);
    }
  }
  TaskGraph graph;
  InputOutput<float> s = graph.inout<float>("s", {4});
  std::vector<Input<float>> inputs;
};

struct Halve {
  static constexpr std::string_view name = "halve";
  static constexpr auto core = CoreType::vector;
  static void run(In<double> x, Out<double> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] / 2;
  }
};

/// All pointers of a table of buffers in device memory.
struct Buffers {
  Buffers(P& platform, std::size_t n) : platform_{platform} {
    for (std::size_t i = 0; i < n; ++i) {
      at.push_back(platform.allocate(Bytes{16}, Bytes{256}));
      const Floats values(4, static_cast<float>(i + 1));
      (void)rondo_cuda_stand_in_poke(at.back().address(), values.data(), 16);
    }
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() {
    for (const auto block : at) (void)platform_.release(block);
  }
  P& platform_;
  std::vector<DevicePtr<std::byte>> at;
};

/// The calls and bytes of one round that moves every input of a graph of `n`.
template <class Policies>
std::array<std::uint64_t, 3> cost_of_moving(std::size_t n) {
  const Many g(n);
  auto session = open<P, Policies>(g.graph);
  const Buffers buffers(session.platform(), n);
  Floats s(4);
  const auto run = [&](std::size_t shift) {
    DynamicBindings bindings(session);
    for (std::size_t i = 0; i < n; ++i) {
      REQUIRE(bindings.bind(g.inputs[i].key.tensor(), buffers.at[(i + shift) % n], Bytes{16}).ok());
    }
    s.assign(4, 0);
    REQUIRE(bindings.bind(g.s.key.tensor(), s.data(), Bytes{16}).ok());
    REQUIRE(session.run_round(bindings).ok());
    CHECK(s[0] == static_cast<float>(n * (n + 1)));
  };
  run(0);
  run(1);
  rondo_cuda_stand_in_reset();
  run(2);
  return {calls(nullptr), calls("bytes_in"), calls("cuLaunchKernel")};
}

}  // namespace

TEST_CASE("a round is one copy in, one launch of the graph and one copy out, and never an update") {
  const Clean clean;
  const Graph g;
  auto session = open<P>(g.graph);
  for (int round = 0; round < 3; ++round) CHECK(run(session, g, 1.0F).second);
  CHECK(calls("cuGraphAddKernelNode") == 3);
  CHECK(calls("cuGraphInstantiateWithFlags") == 1);
  CHECK(calls("cuGraphUpload") == 1);
  rondo_cuda_stand_in_reset();
  for (int round = 0; round < 10; ++round) CHECK(run(session, g, static_cast<float>(round)).second);
  CHECK(calls("cuMemcpyHtoDAsync") == 10);
  CHECK(calls("cuGraphLaunch") == 10);
  CHECK(calls("cuMemcpyDtoHAsync") == 10);
  CHECK(calls(nullptr) == 30);
  CHECK(calls("pageable") == 0);
  CHECK(session.platform().is_captured());
  CHECK(session.close().ok());
}

TEST_CASE("without a graph, by option or in a driver that has none, tasks are launched one by one") {
  const Clean clean;
  const Graph g;
  P::Options options;
  options.graph = false;
  auto session = open<P>(g.graph, options);
  CHECK(run(session, g, 1.0F).second);
  rondo_cuda_stand_in_reset();
  CHECK(run(session, g, 2.0F).second);
  CHECK(calls("cuLaunchKernel") == 3);
  CHECK(calls("cuGraphLaunch") == 0);
  CHECK(!session.platform().is_captured());
}

TEST_CASE("moving every buffer takes as many calls for 300 tasks as for 4, by each mechanism on the device") {
  const Clean clean;
  for (const std::size_t n : {std::size_t{2}, std::size_t{150}}) {
    CAPTURE(n);
    const auto by_op = cost_of_moving<By<update::Mechanism::device_op>>(n);
    CHECK(by_op[2] == 1);  // the refresh kernel
    // Copies: the bases, the inout. Then the refresh, the graph, and the copy back.
    CHECK(by_op[0] == 5);
    const auto in_launch = cost_of_moving<By<update::Mechanism::in_launch>>(n);
    CHECK(in_launch[2] == 1);
    CHECK(in_launch[0] == 4);
    CHECK(in_launch[1] == 16);  // nothing but the inout
    const auto by_copy = cost_of_moving<By<update::Mechanism::segment_copy>>(n);
    CHECK(by_copy[2] == 0);
  }
}

TEST_CASE("by cost, few slots are copied and many are computed on the device") {
  const Clean clean;
  CHECK(cost_of_moving<ByCost>(2)[2] == 0);
  CHECK(cost_of_moving<ByCost>(1000)[2] == 1);
}

TEST_CASE("what refreshing costs is measured where a session is asked to") {
  const Clean clean;
  const Graph g;
  P::Options options;
  options.measure_refresh_costs = true;
  auto session = open<P>(g.graph, options);
  const RefreshCosts* const costs = session.platform().refresh_costs();
  REQUIRE(costs != nullptr);
  CHECK(costs->copy != RefreshCosts{}.copy);
  CHECK(costs->device_op != RefreshCosts{}.device_op);
  CHECK(run(session, g, 1.0F).second);
  CHECK(open<P>(g.graph).platform().refresh_costs() == nullptr);

  const std::string path = "cuda_costs_" + std::to_string(getpid()) + ".json";
  MeasuredCosts known{.refresh = {.copy = 7}};
  known.platform = decltype(known.platform)(P::name);
  known.machine = session.platform().machine();
  write_costs(path.c_str(), known);
  options.cost_file = path.c_str();
  CHECK(*open<P>(g.graph, options).platform().refresh_costs() == known.refresh);
  known.machine.append("0");
  write_costs(path.c_str(), known);
  CHECK_THROWS_AS((void)open<P>(g.graph, options), Error);
  std::remove(path.c_str());
}

TEST_CASE("tensors of double are as good as any") {
  const Clean clean;
  TaskGraph graph;
  const auto x = graph.input<double>("x", {3});
  const auto y = graph.output<double>("y", {3});
  graph.add<Halve>(x, y);
  auto session = open<P>(graph);
  const std::vector<double> hx{1, 2, 3};
  std::vector<double> hy(3);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy == std::vector<double>{0.5, 1, 1.5});
}

TEST_CASE("a snapshot has taken its bytes when the call returns, of pinned memory too, however many there are") {
  const Clean clean;
  P platform{P::Options{}};
  constexpr std::size_t count = 40, size = 65536;
  const auto block = platform.allocate(Bytes{count * size}, Bytes{256});
  auto* const pinned = static_cast<std::byte*>(platform.allocate_pinned(Bytes{size}));
  for (std::size_t i = 0; i < count; ++i) {
    std::memset(pinned, static_cast<int>(i + 1), size);
    REQUIRE(platform.copy_in_snapshot(block.offset(Bytes{i * size}), pinned, Bytes{size}).ok());
  }
  REQUIRE(platform.wait().ok());
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<unsigned char> bytes(size);
    REQUIRE(rondo_cuda_stand_in_peek(block.address() + i * size, bytes.data(), size));
    CHECK(bytes == std::vector<unsigned char>(size, static_cast<unsigned char>(i + 1)));
  }
  platform.release_pinned(pinned);
  CHECK(platform.release(block).ok());
}

TEST_CASE("a kernel finds its blocks' arguments one after the other") {
  const Clean clean;
  TaskGraph graph;
  const auto n = graph.inout<std::int32_t>("n", {7});
  graph.add<kernels::CountBlocks>(Blocks{7}, n);
  auto session = open<P>(graph);
  std::vector<std::int32_t> counts(7, 0);
  REQUIRE(session.run_round(bind(n, counts)).ok());
  CHECK(counts == std::vector<std::int32_t>(7, 7));
}

TEST_CASE("rounds run on a stream of the caller's, which is theirs again afterwards") {
  const Clean clean;
  const Graph g;
  P other{P::Options{}};  // makes the primary context current
  const auto& driver = platform::cuda::Runtime::instance().calls();
  void* stream = nullptr;
  REQUIRE(driver.create_stream(&stream, 1, 0) == 0);
  {
    P::Options options;
    options.stream = stream;
    const auto before = rondo_cuda_stand_in_live("streams");
    auto session = open<P>(g.graph, options);
    CHECK(rondo_cuda_stand_in_live("streams") == before + 1);  // for copies beside it
    CHECK(run(session, g, 1.0F).second);
    CHECK(run(session, g, 2.0F).second);
    CHECK(session.close().ok());
    CHECK(rondo_cuda_stand_in_live("streams") == before);
  }
  CHECK(driver.query_stream(stream) == 0);
  CHECK(driver.destroy_stream(stream) == 0);
}

TEST_CASE("a session that is timed says how long its rounds took on the device") {
  const Clean clean;
  const Graph g;
  struct Policies : DefaultPolicies {
    using Time = DeviceTime;
  };
  auto session = open<P, Policies>(g.graph);
  CHECK(run(session, g, 1.0F).second);
  CHECK(session.platform().last_round_ns() > 0);
}

TEST_CASE("The lines of the report on memory sum up to what the driver gave out") {
  const Clean clean;
  Graph g;
  const auto t = g.graph.workspace<float>("t", {100});
  g.graph.add<kernels::Scale>(g.x, t, 1.0F);
  g.graph.in_memory(t, MemoryKind::mapped_host);
  const auto check = [](const memory::Report& report, const char* line) {
    std::ostringstream table;
    table << report;
    CAPTURE(table.str());
    CHECK(report.bytes(MemoryKind::device).value + report.bytes(MemoryKind::peer).value ==
          rondo_cuda_stand_in_bytes("memory"));
    CHECK(report.bytes(MemoryKind::mapped_host).value + report.bytes(MemoryKind::pinned_host).value ==
          rondo_cuda_stand_in_bytes("pinned"));
    CHECK(has(table.str(), line));
  };
  const auto check_session = [&](auto& session) {
    const auto in = session.template allocate<MemoryKind::peer>(g.x);
    const auto out = session.template allocate<MemoryKind::mapped_host>(g.y);
    const PinnedArray<float, P> pinned(session.platform(), 1000);
    CHECK(run(session, g, 2).second);
    check(session.memory_report(), "pinned host: 4000 bytes, pinned by the program");
  };
  {
    auto session = open<P>(g.graph);
    check_session(session);
  }
  {
    auto in_flight = open_pipelined<P, 3>(g.graph);
    check_session(in_flight);
  }
  counting::check_reports<P>(check, "device: 8 bytes, repetitions of loops", "device: 24 bytes, repetitions of loops");
  rondo_cuda_stand_in_limit("version", 12020);  // the host decides
  counting::check_reports<P>(check, "pinned host: 128 bytes, conditions of loops",
                             "pinned host: 384 bytes, conditions of loops");
}

TEST_CASE("rounds in flight whose outputs have no room in staging deliver them in turn, to the same memory") {
  const Clean clean;
  constexpr std::size_t n = 8;
  TaskGraph graph;
  const auto in = graph.input<float>("x", {n});
  const auto out = graph.output<float>("y", {n});
  graph.add<kernels::Scale>(in, out, 3.0F);
  P::Options options;
  options.staging = Bytes{0};
  auto session = open_pipelined<P, 2>(graph, options);
  Floats y(n, -1), seen;
  for (int r = 1; r <= 5; ++r) {
    const Floats x(n, static_cast<float>(r));
    const auto ticket = session.submit_round(bind(in, x), bind(out, y), [&](Status) noexcept { seen.push_back(y[0]); });
    REQUIRE(ticket.submitted().ok());
    CHECK(y[0] == (seen.empty() ? -1 : seen.back()));  // not before it is delivered
  }
  CHECK(session.wait_all().ok());
  CHECK(seen == Floats{3, 6, 9, 12, 15});
}
