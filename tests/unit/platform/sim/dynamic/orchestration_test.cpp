// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/dynamic/orchestration.hpp>

#include <rondo/graph/orchestrated.hpp>
#include <rondo/orchestrated.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/runtime/aicpu_build_graph.hpp>
#include <rondo/runtime/concept.hpp>
#include <rondo/runtime/tensormap_and_ringbuffer.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

constexpr std::size_t n = 16;
constexpr Bytes bytes{n * sizeof(float)};

struct AddOne {
  static constexpr std::string_view name = "add_one";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) {
    if (x[0] < 0) throw std::runtime_error("negative");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + 1;
  }
};

struct Transpose {
  static constexpr std::string_view name = "transpose";
  static constexpr auto core = CoreType::vector;
  static void run(In<float, 2> x, Out<float, 2> y) {
    for (std::size_t i = 0; i < x.extent(0); ++i) {
      for (std::size_t j = 0; j < x.extent(1); ++j) y(j, i) = x(i, j);
    }
  }
};

std::string_view last_filled;
struct FillMany {
  static constexpr std::string_view name = "fill_many";
  static constexpr auto core = CoreType::vector;
  static void run(Out<std::uint8_t>) { last_filled = name; }
};
struct Fill {
  static constexpr std::string_view name = "fill";
  static constexpr auto core = CoreType::vector;
  using Wide = FillMany;
  static void run(Out<std::uint8_t>) { last_filled = name; }
};

runtime::OrchestrationOptions small_rings() {
  runtime::OrchestrationOptions options;
  options.window = 64;
  options.ring_bytes = Bytes{1 << 16};
  options.tensors = 64;
  options.regions = 256;
  options.edges = 64;
  return options;
}

template <class P, class R>
struct On {
  using Platform = P;
  using Runtime = R;
};

/// y = x + 3, by way of two intermediates.
template <class Case>
struct InFlight {
  using P = typename Case::Platform;
  using Runtime = typename Case::Runtime;

  static auto orchestration(Input<float> x, Output<float> y) {
    return [x, y](auto& round) {
      const auto a = round.template workspace<float>({n});
      const auto b = round.template workspace<float>({n});
      const auto first = round.template add<AddOne>(x, a);
      const auto second = round.template add<AddOne>(a, b);
      const auto third = round.template add<AddOne>(b, y);
      if constexpr (requires { round.add_edge(first, second); }) {
        round.add_edge(first, second);
        round.add_edge(second, third);
      }
    };
  }
  using Graph = Orchestrated<decltype(orchestration({}, {}))>;
  using Rounds = typename P::template Orchestration<Runtime, Graph>;
  static_assert(runtime::Runner<Rounds> && QueueLaunches<rondo::detail::QueueOf<P>, Rounds>);

  TaskGraph interface;
  Input<float> x = interface.input<float>("x", {n});
  Output<float> y = interface.output<float>("y", {n});
  Graph graph{freeze_interface(interface), orchestration(x, y)};
  P platform{{}};
  Rounds first{platform, graph, small_rings()};
  Rounds second{first, graph};
  Rounds* rounds[2] = {&first, &second};
  DevicePtr<std::byte> in[2], out[2];
  detail::QueueOf<P> queue{platform.open_queue(2, 1, bytes)};

  InFlight() {
    for (std::size_t slot = 0; slot < 2; ++slot) {
      in[slot] = platform.allocate(bytes, Bytes{1024});
      out[slot] = platform.allocate(bytes, Bytes{1024});
      rounds[slot]->place_tensor(0, in[slot].address());
      rounds[slot]->place_tensor(1, out[slot].address());
    }
  }
  ~InFlight() {
    CHECK(queue.close().ok());
    CHECK(second.unload().ok());
    CHECK(first.unload().ok());
    for (std::size_t slot = 0; slot < 2; ++slot) {
      (void)platform.release(in[slot]);
      (void)platform.release(out[slot]);
    }
  }
  void begin(std::uint32_t slot, float value, std::vector<float>& result) {
    const std::vector<float> input(n, value);
    CHECK(queue.copy_in(slot, in[slot], input.data(), bytes).ok());
    CHECK(queue.launch(slot, *rounds[slot]).ok());
    CHECK(queue.copy_out(slot, result.data(), DevicePtr<const std::byte>{out[slot]}, bytes).ok());
    CHECK(queue.commit(slot).ok());
  }
  Status end(std::uint32_t slot) {
    queue.await(slot);
    return queue.deliver(slot);
  }
};

#define RONDO_CASES                                                               \
  On<A2A3Sim, runtime::TensorMapRingBuffer>, On<A5Sim, runtime::AicpuBuildGraph>, \
      On<A5SimOn<Pool>, runtime::TensorMapRingBuffer>, On<A2A3SimOn<Pool>, runtime::AicpuBuildGraph>

}  // namespace

TEST_CASE("A task with a tensor of 2^31 elements runs the kernel's Wide") {
  struct Policies : DefaultPolicies {
    using Runtime = runtime::TensorMapRingBuffer;
  };
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  std::int64_t count = 16;
  runtime::OrchestratedOptions<A2A3Sim> options{{}, small_rings()};
  options.orchestration.ring_bytes = Bytes{(std::uint64_t{1} << 31) + (1 << 16)};  // of which no page is touched
  auto session = open<A2A3Sim, Policies>(
      graph, [&](auto& round) { round.template add<Fill>(round.template workspace<std::uint8_t>({count})); }, options);
  const std::vector<float> hx(n);
  for (const auto& [elements, kernel] : {std::pair{std::int64_t{16}, Fill::name},
                                         {std::int64_t{0x7FFF'FFFF}, Fill::name},
                                         {std::int64_t{1} << 31, FillMany::name}}) {
    count = elements;
    const Status status = session.run_round(bind(x, hx));
    REQUIRE_MESSAGE(status.ok(), std::string(session.explain(status).c_str()));
    CHECK(last_filled == kernel);
  }
}

TEST_CASE_TEMPLATE("orchestrated rounds in flight share one orchestrator, each with its own places of tensors", Case,
                   RONDO_CASES) {
  InFlight<Case> s;
  std::vector<float> results[2] = {std::vector<float>(n), std::vector<float>(n)};
  s.begin(0, 0, results[0]);
  for (std::uint32_t round = 1; round < 200; ++round) {
    s.begin(round % 2, static_cast<float>(round), results[round % 2]);
    const std::uint32_t before = (round - 1) % 2;
    REQUIRE(s.end(before).ok());
    REQUIRE(results[before] == std::vector<float>(n, static_cast<float>(round - 1) + 3));
  }
  CHECK(s.end(1).ok());
}

TEST_CASE_TEMPLATE("an orchestrated round in flight that fails tells why, and those after it are poisoned", Case,
                   RONDO_CASES) {
  InFlight<Case> s;
  std::vector<float> results[2] = {std::vector<float>(n), std::vector<float>(n)};
  s.begin(0, -1, results[0]);
  s.begin(1, 1, results[1]);
  CHECK(s.end(0).code() == Errc::kernel_failed);
  CHECK(s.end(1).code() == Errc::poisoned);
  REQUIRE(s.first.failure_text() != nullptr);
  CHECK(std::string_view{s.first.failure_text()->c_str()} == "task 0 'add_one': negative");
}

/// Words: the addresses of x and y, the block, a scalar, the extents of x, then the number of elements of y.
void add_block(std::int64_t* args) {
  const auto* const x = reinterpret_cast<const float*>(args[0]);  // NOLINT: simulated memory
  auto* const y = reinterpret_cast<float*>(args[1]);              // NOLINT
  const auto block = static_cast<std::uint32_t>(args[2]);
  if (args[2] >> 32 != 2 || args[4] != 2 || args[5] != 4 || args[6] != 8) throw std::runtime_error("wrong words");
  for (std::uint32_t i = block; i < 8; i += 2) y[i] = x[i] + static_cast<float>(args[3]);
}

template <class R>
struct OrchestratedOn : DefaultPolicies {
  using Runtime = R;
};

TEST_CASE_TEMPLATE("a task whose arguments are known only at run time gets the words of a kernel with those parameters",
                   Case, RONDO_CASES) {
  using P = typename Case::Platform;
  using Policies = OrchestratedOn<typename Case::Runtime>;
  using Kind = graph::ArgRecord::Kind;
  TaskGraph interface;
  const auto x = interface.input<float>("x", {4, 4});
  const auto y = interface.output<float>("y", {16});
  bool gaps = false;
  auto session = open<P, Policies>(interface, [&](auto& round) {
    using Described = typename std::remove_cvref_t<decltype(round)>::Described;
    CHECK(round.bytes(x.key).size() == 64);
    const auto whole = round.region(x.key);
    const auto t = round.workspace(DataType::float32, {8});
    for (const std::int64_t half : {0, 1}) {
      const auto source = gaps ? round.view(whole, {0, 2 * half}, {4, 2}) : round.view(whole, {2 * half, 0}, {2, 4});
      const auto target = round.view(round.region(y.key), {8 * half}, {8});
      const auto add = [&](const auto& from, const auto& to, std::size_t rank) {
        const Described arguments[] = {{.kind = Kind::address, .access = Access::read, .region = &from, .rank = rank},
                                       {.kind = Kind::address, .access = Access::write, .region = &to},
                                       {.kind = Kind::block},
                                       {.kind = Kind::scalar, .bits = 10}};
        return round.add_described("add_block", Blocks{2}, add_block, arguments);
      };
      const auto first = add(source, target, 2);
      CHECK_THROWS_AS(add(target, t, 2), Error);  // one dimension is not two
      if constexpr (requires { round.add_edge(first, first); }) (void)first;
    }
  });
  std::vector<float> hx(16), hy(16), expected(16);
  for (std::size_t i = 0; i < 16; ++i) expected[i] = (hx[i] = static_cast<float>(i)) + 10;
  for (int again = 0; again < 3; ++again) {
    hy.assign(16, 0);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    CHECK(hy == expected);
  }
  gaps = true;
  CHECK(session.run_round(bind(x, hx), bind(y, hy)).code() == Errc::orchestration_failed);
}

TEST_CASE("A kernel of an orchestration is handed the extents of its tensors") {
  TaskGraph interface;
  const auto x = interface.input<float>("x", {2, 3});
  const auto y = interface.output<float>("y", {3, 2});
  auto session = open<A2A3Sim, OrchestratedOn<runtime::TensorMapRingBuffer>>(
      interface, [&](auto& round) { round.template add<Transpose>(x, y); });
  const std::vector<float> hx{1, 2, 3, 4, 5, 6};
  std::vector<float> hy(6);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy == std::vector<float>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("An orchestration is told what is wrong with a tensor, a view or a task, and may go on") {
  using Policies = OrchestratedOn<runtime::TensorMapRingBuffer>;
  using Kind = graph::ArgRecord::Kind;
  TaskGraph interface;
  const auto x = interface.input<float>("x", {16});
  const auto y = interface.output<float>("y", {16});
  TaskGraph other;
  const Dim symbol = other.dim("n");
  auto session = open<A2A3Sim, Policies>(interface, [&](auto& round) {
    using Described = typename std::remove_cvref_t<decltype(round)>::Described;
    const auto refuses = [&](Errc code, std::string_view text, const auto& call) {
      const Raised r = raised(call);
      CAPTURE(r.text);
      CHECK(r.code == code);
      CHECK(says(r.text, text));
    };
    refuses(Errc::wrong_size, "an input of one element, this has 16", [&] { (void)round.value(x); });
    refuses(Errc::unsupported, "an intermediate is float64, which a2a3 does not support",
            [&] { (void)round.workspace(DataType::float64, {8}); });
    refuses(Errc::invalid_argument, "at most 5 extents", [&] { (void)round.template workspace<float>({4, 0}); });
    refuses(Errc::invalid_argument, "at most 5 extents",
            [&] { (void)round.template workspace<float>({std::int64_t{1} << 60}); });
    refuses(Errc::invalid_argument, "of 1 dimensions is given 1 first indices and 2 extents",
            [&] { (void)round.view(x, {0}, {2, 2}); });
    auto inner = round.region(x.key);
    {
      const auto scope = round.scope();
      inner = round.workspace(DataType::float32, {4});
    }
    refuses(Errc::invalid_argument, "whose scope or round is over", [&] { (void)round.view(inner, {0}, {1}); });
    const auto source = round.region(x.key);
    const auto target = round.region(y.key);
    const auto add = [&](Blocks blocks, std::size_t tensors, std::size_t scalars) {
      std::vector<Described> arguments{{.kind = Kind::address, .access = Access::write, .region = &target}};
      arguments.resize(tensors, {.kind = Kind::address, .access = Access::read, .region = &source});
      arguments.resize(tensors + scalars, {.kind = Kind::scalar, .bits = 1});
      (void)round.add_described("task", blocks, add_block, arguments);
    };
    refuses(Errc::invalid_argument, "runs as 0 blocks", [&] { add(Blocks{0}, 2, 1); });
    refuses(Errc::invalid_argument, "runs as 0 blocks", [&] { add(Blocks{Dim{0}}, 2, 1); });
    refuses(Errc::invalid_argument, "a symbolic number of blocks", [&] { add(Blocks{symbol}, 2, 1); });
    refuses(Errc::limit_exceeded, "has 33 tensors; the most on a2a3 is 32", [&] { add(Blocks{1}, 33, 0); });
    refuses(Errc::limit_exceeded, "has 17 scalars; the most on a2a3 is 16", [&] { add(Blocks{1}, 2, 17); });
    round.template add<AddOne>(x, y);
  });
  std::vector<float> hx(16, 1), hy(16);
  const Status status = session.run_round(bind(x, hx), bind(y, hy));
  CHECK_MESSAGE(status.ok(), std::string(session.explain(status).c_str()));
  CHECK(hy == std::vector<float>(16, 2));
}

TEST_CASE_TEMPLATE("A stop that is requested ends an orchestrated round that would not end", P, A2A3Sim,
                   A2A3SimOn<Pool>) {
  TaskGraph interface;
  const auto x = interface.input<float>("x", {16});
  const auto y = interface.output<float>("y", {16});
  bool is_endless = false;
  std::function<void()> stop;
  auto session = open<P, OrchestratedOn<runtime::TensorMapRingBuffer>>(interface, [&](auto& round) {
    round.template add<AddOne>(x, y);
    if (!is_endless) return;
    stop();
    for (;;) round.template add<AddOne>(x, y);
  });
  stop = [&] { session.request_stop(); };
  std::vector<float> hx(16, 1), hy(16);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  is_endless = true;
  CHECK(session.run_round(bind(x, hx), bind(y, hy)).code() == Errc::stopped);
  CHECK(session.run_round(bind(x, hx), bind(y, hy)).code() == Errc::poisoned);
}
