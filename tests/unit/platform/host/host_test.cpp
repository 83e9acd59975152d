// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/host/host.hpp>

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/observe/counters.hpp>
#include <rondo/orchestrated.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>
#include <rondo/static_graph.hpp>
#include <small_rings.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

/// Tells where its tensors are: y[0] is the address of x, y[1] that of y.
struct Tell {
  static constexpr std::string_view name = "tell";
  static constexpr auto core = CoreType::vector;
  static void run(In<std::uint64_t> x, InOut<std::uint64_t> y) noexcept {
    y[0] = reinterpret_cast<std::uintptr_t>(x.data());
    y[1] = reinterpret_cast<std::uintptr_t>(y.data());
  }
};

/// sum += x, in an element type of its own.
template <class T>
struct Sum {
  static constexpr std::string_view name = "sum";
  static constexpr auto core = CoreType::vector;
  static void run(In<T> x, InOut<T> sum) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) sum[0] = static_cast<T>(sum[0] + x[i]);
  }
};

struct OneOfBlocks {
  static constexpr std::string_view name = "one_of_blocks";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<std::uint32_t> y, Block block) noexcept { y[block.index] += block.count; }
};

/// y = 2 x, but stops at a number.
struct Double {
  static constexpr double forbidden = 13;
  static constexpr std::string_view name = "double";
  static constexpr auto core = CoreType::vector;
  static void run(In<double> x, Out<double> y) noexcept {
    for (std::size_t i = 0; i < y.size() && x[i] != forbidden; ++i) y[i] = 2 * x[i];
  }
};

/// y = x, and writes what it says that it reads.
struct Lies {
  static constexpr std::string_view name = "lies";
  static constexpr auto core = CoreType::vector;
  static void run(In<double> x, Out<double> y) noexcept {
    const_cast<double*>(x.data())[0] = 1;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};

struct Counting : DefaultPolicies {
  using Observe = observe::Counters;
};

struct Building : DefaultPolicies {
  using Runtime = runtime::TensorMapRingBuffer;
};
struct Debugging : DefaultPolicies {
  using Check = CheckRounds;
};

template <class P>
typename P::Options options() {
  typename P::Options result;
  if constexpr (requires { result.engine.threads; }) {
    result.engine.threads = 2;
    result.engine.scheduling = platform::sim::Scheduling::uniform;
  }
  return result;
}

}  // namespace

TEST_CASE_TEMPLATE("Host memory that is bound in place is what the kernel sees, and nothing is copied", P, Host,
                   HostOn<Pool>) {
  TaskGraph graph;
  const auto x = graph.input<std::uint64_t>("x", {4});
  const auto y = graph.inout<std::uint64_t>("y", {2});
  graph.add<Tell>(x, y);
  auto session = open<P, Counting>(graph, options<P>());
  std::vector<std::uint64_t> hx(4), hy(2), other(5);
  REQUIRE(session.run_round(bind(x, in_place(hx)), bind(y, in_place(hy))).ok());
  CHECK(hy[0] == reinterpret_cast<std::uintptr_t>(hx.data()));
  CHECK(hy[1] == reinterpret_cast<std::uintptr_t>(hy.data()));
  CHECK(session.observer().copies_in_count == 0);
  CHECK(session.observer().copies_out_count == 0);
  // Another address in the next round, within a container; and a copy next to it.
  REQUIRE(session.run_round(bind(x, in_place(std::span(other).subspan(1))), bind(y, hy)).ok());
  CHECK(hy[0] == reinterpret_cast<std::uintptr_t>(other.data() + 1));
  CHECK(hy[1] != reinterpret_cast<std::uintptr_t>(hy.data()));
  CHECK(session.observer().copies_in_count == 1);
  CHECK(session.observer().copies_out_count == 1);
}

TEST_CASE("Memory in place starts at a multiple of 8, or the round is refused") {
  TaskGraph graph;
  const auto x = graph.input<std::uint8_t>("x", {16});
  const auto y = graph.inout<std::uint8_t>("y", {1});
  graph.add<Sum<std::uint8_t>>(x, y);
  auto session = open<Host>(graph);
  alignas(8) std::uint8_t memory[24] = {};
  std::uint8_t sum = 0;
  memory[8] = 3;
  CHECK(session.run_round(bind(x, in_place(std::span(memory).subspan(1, 16))), bind(y, sum)).code() ==
        Errc::misaligned);
  CHECK(session.run_round(bind(x, in_place(std::span(memory).subspan(8, 16))), bind(y, sum)).ok());
  CHECK(sum == 3);
}

TEST_CASE_TEMPLATE("Kernels compute with double and with all integer types", T, double, float, std::int8_t,
                   std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
  TaskGraph graph;
  const auto x = graph.input<T>("x", {5});
  const auto sum = graph.inout<T>("sum", {});
  graph.add<Sum<T>>(x, sum);
  auto session = open<Host>(graph);
  std::vector<T> hx(5, static_cast<T>(7));
  T result = static_cast<T>(1);
  for (int round = 0; round < 3; ++round) REQUIRE(session.run_round(bind(x, hx), bind(sum, result)).ok());
  CHECK(result == static_cast<T>(1 + 3 * 35));
}

TEST_CASE("A double keeps all its bits through a round") {
  TaskGraph graph;
  const auto x = graph.input<double>("x", {1});
  const auto sum = graph.inout<double>("sum", {1});
  graph.add<Sum<double>>(x, sum);
  auto session = open<Host>(graph);
  const std::vector<double> tiny{1e-15};
  std::vector<double> one{1};
  REQUIRE(session.run_round(bind(x, tiny), bind(sum, one)).ok());
  CHECK(one[0] == 1 + 1e-15);
  CHECK(one[0] != 1);
}

TEST_CASE_TEMPLATE("A graph may be larger than any chip takes", P, Host, HostOn<Pool>) {
  constexpr std::size_t inputs = 300;
  TaskGraph graph;
  const auto blocks = graph.inout<std::uint32_t>("blocks", {1000});
  const auto sum = graph.inout<std::int32_t>("sum", {1});
  graph.add<OneOfBlocks>(Blocks{1000}, blocks);
  std::vector<Input<std::int32_t>> x;
  for (std::size_t i = 0; i < inputs; ++i) {
    x.push_back(graph.input<std::int32_t>("x" + std::to_string(i), {1}));
    graph.add<Sum<std::int32_t>>(x[i], sum);
  }
  auto session = open<P>(graph, options<P>());
  std::vector<std::int32_t> hx(inputs);
  std::iota(hx.begin(), hx.end(), 0);
  std::vector<std::uint32_t> hb(1000);
  std::int32_t hs = 0;
  DynamicBindings bindings(session);
  REQUIRE(bindings.bind(blocks.key.tensor(), hb.data(), Bytes{4 * hb.size()}));
  REQUIRE(bindings.bind(sum.key.tensor(), &hs, Bytes{4}));
  for (std::size_t i = 0; i < inputs; ++i) REQUIRE(bindings.bind(x[i].key.tensor(), &hx[i], Bytes{4}));
  for (int round = 0; round < 2; ++round) REQUIRE(session.run_round(bindings).ok());
  CHECK(hs == 2 * static_cast<std::int32_t>(inputs * (inputs - 1) / 2));
  CHECK(hb == std::vector<std::uint32_t>(1000, 2000));
}

TEST_CASE("A session of many shapes takes more tensors than any chip binds") {
  constexpr std::size_t inputs = 300;
  TaskGraph graph;
  const auto n = graph.dim("n");
  const auto sum = graph.inout<std::int32_t>("sum", {1});
  std::vector<Input<std::int32_t>> x;
  for (std::size_t i = 0; i < inputs; ++i) {
    x.push_back(graph.input<std::int32_t>("x" + std::to_string(i), {n}));
    graph.add<Sum<std::int32_t>>(x[i], sum);
  }
  auto session = open_shaped<Host>(graph);
  for (const std::size_t size : {3U, 5U, 3U}) {
    const std::vector<std::int32_t> hx(size, 1);
    std::int32_t hs = 0;
    DynamicBindings bindings(session);
    REQUIRE(bindings.bind(sum.key.tensor(), &hs, Bytes{4}));
    for (std::size_t i = 0; i < inputs; ++i) REQUIRE(bindings.bind(x[i].key.tensor(), hx.data(), Bytes{4 * size}));
    REQUIRE(session.run_round(bindings).ok());
    CHECK(hs == static_cast<std::int32_t>(inputs * size));
  }
}

TEST_CASE("A graph that the compiler knows runs on the host, with double") {
  static constexpr auto build = [] {
    TaskGraph g;
    const auto x = g.input<double>("x", {4});
    const auto sum = g.inout<double>("sum", {1});
    g.add<Sum<double>>(x, sum);
    return g;
  };
  static constexpr auto& graph = static_graph<build>;
  auto session = open<Host, graph>();
  const std::vector<double> x{0.5, 1.5, 2.5, 3.5};
  std::vector<double> sum{1};
  REQUIRE(session.run_round(bind(graph.input<double>("x"), x), bind(graph.inout<double>("sum"), sum)).ok());
  CHECK(sum[0] == 9);
}

TEST_CASE_TEMPLATE("Rounds in flight and orchestrations work on the host", P, Host, HostOn<Pool>) {
  TaskGraph graph;
  const auto x = graph.input<double>("x", {8});
  const auto sum = graph.inout<double>("sum", {1});
  std::vector<double> hx(8, 0.25);
  {
    TaskGraph tasks = graph;
    tasks.add<Sum<double>>(x, sum);
    auto session = open_pipelined<P, 3>(tasks, options<P>());
    double sums[6] = {};
    for (double& each : sums) REQUIRE(session.submit_round(bind(x, hx), bind(sum, each)));
    REQUIRE(session.wait_all().ok());
    for (const double each : sums) CHECK(each == 2);
  }
  {
    auto session = open<P, Building>(
        graph,
        [=](auto& round) {
          for (int i = 0; i < 3; ++i) round.template add<Sum<double>>(x, sum);
        },
        small_rings<runtime::OrchestratedOptions<P>>());
    double result = 0;
    REQUIRE(session.run_round(bind(x, hx), bind(sum, result)).ok());
    CHECK(result == 6);
  }
}

TEST_CASE_TEMPLATE("The engine Checked checks memory in place like all other, and leaves the caller what a round gives",
                   P, HostOn<Checked<Inline>>, HostOn<Checked<Pool>>) {
  TaskGraph graph;
  const auto x = graph.input<double>("x", {4});
  const auto sum = graph.inout<double>("sum", {1});
  const auto y = graph.output<double>("y", {4});
  graph.add<Sum<double>>(x, sum);
  graph.add<Double>(x, y);
  auto session = open<P>(graph);
  std::vector<double> hx(4, 2), hs(1), hy(4, -1);
  for (int round = 1; round <= 3; ++round) {
    if (round == 2) REQUIRE(session.run_round(bind(x, hx), bind(sum, hs), bind(y, hy)).ok());
    if (round != 2)
      REQUIRE(session.run_round(bind(x, in_place(hx)), bind(sum, in_place(hs)), bind(y, in_place(hy))).ok());
    CHECK(hs[0] == 8 * round);
    CHECK(hy == std::vector<double>(4, 4));
    hy.assign(4, -1);
  }
  // A round with a finding changes nothing of the caller's.
  hx[3] = Double::forbidden;
  CHECK(session.run_round(bind(x, in_place(hx)), bind(sum, in_place(hs)), bind(y, in_place(hy))).code() ==
        Errc::check_failed);
  CHECK(hs[0] == 24);
  CHECK(hy == std::vector<double>(4, -1));
}

TEST_CASE("The engine Checked finds on the host what it finds on a chip") {
  TaskGraph graph;
  const auto x = graph.input<double>("x", {4});
  const auto y = graph.output<double>("y", {4});
  graph.add<Lies>(x, y);
  auto session = open<HostOn<Pool>, Debugging>(graph);
  CHECK(std::is_same_v<std::remove_cvref_t<decltype(session.platform())>, HostOn<Checked<Pool>>>);
  const std::vector<double> hx(4);
  std::vector<double> hy(4);
  CHECK(session.run_round(bind(x, hx), bind(y, hy)).code() == Errc::check_failed);
}
