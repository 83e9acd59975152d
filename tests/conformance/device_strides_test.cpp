// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Device memory that kernels cannot use as it is, because it has strides or its address is of no use to them: rounds of
// every kind of session pack what they read, and scatter what they wrote, by copies on the device.

#include "conformance/device_floats.hpp"
#include "conformance/kernels.hpp"
#include "conformance/platforms.hpp"

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/memory/report.hpp>
#include <rondo/session/memory_report.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

using namespace rondo;

#define RONDO_TEST_PLATFORMS A2A3Sim, HostOn<Pool>, A5SimOn<Model>, A2A3OverStandIn, A5OverStandIn

namespace {

using Floats = std::vector<float>;
using Extents = std::array<std::int64_t, 3>;
using Random = std::mt19937;

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// y = 3 x, s += x.
struct Graph {
  TaskGraph graph;
  Input<float> x;
  Output<float> y;
  InputOutput<float> s;
  explicit Graph(const Extents& e)
      : x{graph.input<float>("x", {e[0], e[1], e[2]})},
        y{graph.output<float>("y", {e[0], e[1], e[2]})},
        s{graph.inout<float>("s", {e[0], e[1], e[2]})} {
    graph.add<kernels::Scale>(x, y, 3.0F);
    graph.add<kernels::Accumulate>(x, s);
  }
};

/// A tensor somewhere in device memory: a model on the host of all of the memory, and where the elements lie in it.
template <class P>
struct Tensor {
  Extents extents;
  std::int64_t first = 0;  ///< in bytes, as the strides are
  Extents strides{};
  Floats model;
  DeviceFloats<P> device;

  /// Dimensions in a random order, forwards or backwards, with gaps or without, at any byte.
  Tensor(P& platform, Random& random, const Extents& e, bool may_broadcast)
      : extents{e}, model(spread(random, may_broadcast), -7), device{platform, model.size(), -7} {}

  [[nodiscard]] StridedLayout layout() const { return {sizeof(float), extents.data(), strides.data(), 3}; }
  [[nodiscard]] DevicePtr<std::byte> at() const {
    return device.span().data().template as<std::byte>().offset(Bytes{static_cast<std::uint64_t>(first)});
  }
  template <class Visit>
  void for_each(const Visit& visit) {
    float number = 0;
    for (std::int64_t a = 0; a < extents[0]; ++a) {
      for (std::int64_t b = 0; b < extents[1]; ++b) {
        for (std::int64_t c = 0; c < extents[2]; ++c) {
          auto* const bytes = reinterpret_cast<std::byte*>(model.data());
          visit(bytes + first + a * strides[0] + b * strides[1] + c * strides[2], number++);
        }
      }
    }
  }
  /// The element with this number is `value + number`, unless elements share memory.
  void fill(float value) {
    for_each([&](std::byte* at, float number) {
      const float f = value + number;
      std::memcpy(at, &f, sizeof(f));
    });
    device.write(model);
  }
  [[nodiscard]] Floats elements() {
    Floats all;
    for_each([&](const std::byte* at, float) { std::memcpy(&all.emplace_back(), at, sizeof(float)); });
    return all;
  }
  /// Writes these elements to the model, and returns whether the device's memory is the same, byte for byte.
  [[nodiscard]] bool holds(const Floats& wanted) {
    std::size_t i = 0;
    for_each([&](std::byte* at, float) { std::memcpy(at, &wanted[i++], sizeof(float)); });
    const Floats found = device.values();
    return std::memcmp(found.data(), model.data(), sizeof(float) * model.size()) == 0;
  }

 private:
  [[nodiscard]] std::size_t spread(Random& random, bool may_broadcast) {
    std::array<std::size_t, 3> order{0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    std::int64_t step = sizeof(float);
    first = pick(random, 0, 3) == 0 ? 0 : pick(random, 1, 70);
    for (const std::size_t d : order) {
      if (may_broadcast && pick(random, 0, 3) == 0) continue;
      if (pick(random, 0, 1) == 0) step += pick(random, 1, 9);
      const bool is_backwards = pick(random, 0, 2) == 0;
      strides[d] = is_backwards ? -step : step;
      const std::int64_t reach = step * std::max<std::int64_t>(extents[d] - 1, 0);
      if (is_backwards) first += reach;
      step += reach;
    }
    return static_cast<std::size_t>(first + step + 80) / sizeof(float);
  }
};

template <class Session>
void run_random_rounds(Session& session, const Graph& g, const Extents& extents, Random& random) {
  using P = typename Session::Platform;
  DynamicBindings bindings(session);
  std::vector<Tensor<P>> xs, ys, ss;
  for (int round = 0; round < 3; ++round) {
    xs.emplace_back(session.platform(), random, extents, true);
    ys.emplace_back(session.platform(), random, extents, false);
    ss.emplace_back(session.platform(), random, extents, false);
    Tensor<P>&x = xs.back(), &y = ys.back(), &s = ss.back();
    x.fill(static_cast<float>(round));
    s.fill(100);
    REQUIRE(bindings.bind(g.x.key.tensor(), x.at(), x.layout()).ok());
    REQUIRE(bindings.bind(g.y.key.tensor(), y.at(), y.layout()).ok());
    REQUIRE(bindings.bind(g.s.key.tensor(), s.at(), s.layout()).ok());
    const Floats in = x.elements();
    Floats product = in, sum = s.elements();
    for (std::size_t i = 0; i < in.size(); ++i) product[i] = 3 * in[i], sum[i] += in[i];
    bool was_complete = true;
    if constexpr (requires { session.wait_all(); }) {
      REQUIRE(session.submit_round(bindings,
                                   [&](Status status) noexcept { was_complete = status.ok() && y.holds(product); }));
      REQUIRE(session.wait_all().ok());
    } else if (round == 1) {
      REQUIRE(session.begin_round(bindings).launch().finish().status().ok());
    } else {
      REQUIRE(session.run_round(bindings).ok());
    }
    CHECK(was_complete);
    CHECK(y.holds(product));
    CHECK(s.holds(sum));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("Device tensors of any strides, at any address, are packed for the round and scattered after it", P,
                   RONDO_TEST_PLATFORMS) {
  Random random = test::make_random(58);
  for (int trial = 0; trial < 12; ++trial) {
    CAPTURE(trial);
    const Extents extents{pick(random, 1, 5), pick(random, 1, 4), pick(random, 1, 6)};
    Graph g(extents);
    auto pipelined = open_pipelined<P, 3>(freeze(g.graph));
    run_random_rounds(pipelined, g, extents, random);
    auto session = open<P>(std::move(g.graph));
    run_random_rounds(session, g, extents, random);
  }
}

TEST_CASE_TEMPLATE("A misaligned device tensor is packed, an aligned one is used in place", P, RONDO_TEST_PLATFORMS) {
  Graph g({1, 1, 40});
  auto session = open<P>(std::move(g.graph));
  DynamicBindings bindings(session);
  DeviceFloats<P> memory(session.platform(), 300, 0);
  const DevicePtr<std::byte> at = memory.span().data().template as<std::byte>();
  Floats all(300, 0);
  for (std::size_t i = 0; i < 40; ++i) all[i + 1] = static_cast<float>(i);
  memory.write(all);
  const Bytes size{160};
  REQUIRE(bindings.bind(g.x.key.tensor(), at.offset(Bytes{4}), size).ok());
  REQUIRE(bindings.bind(g.y.key.tensor(), at.offset(Bytes{408}), size).ok());
  REQUIRE(bindings.bind(g.s.key.tensor(), at.offset(Bytes{640}), size).ok());
  CHECK_FALSE(bindings.is_settled());
  const auto why = [&](auto tensor) { return bindings.why_copied(tensor.key.tensor()); };
  CHECK(why(g.x) == std::string_view("the address of the device memory is misaligned, so it is copied on the device"));
  CHECK(why(g.s) == nullptr);
  REQUIRE(session.run_round(bindings).ok());
  for (std::size_t i = 0; i < 40; ++i) all[i + 102] = 3 * all[i + 1], all[i + 160] = all[i + 1];
  CHECK(memory.values() == all);

  REQUIRE(bindings.bind(g.x.key.tensor(), at.offset(Bytes{640}), size).ok());
  REQUIRE(bindings.bind(g.y.key.tensor(), at.offset(Bytes{256}), size).ok());
  REQUIRE(bindings.bind(g.s.key.tensor(), at.offset(Bytes{960}), size).ok());
  CHECK(bindings.is_settled());
  CHECK(why(g.x) == nullptr);
  REQUIRE(session.run_round(bindings).ok());
  for (std::size_t i = 0; i < 40; ++i) all[i + 64] = 3 * all[i + 160], all[i + 240] = all[i + 160];
  CHECK(memory.values() == all);

  // One tensor that writes between the elements of another one that it reads.
  const std::int64_t extents[] = {1, 1, 40}, strides[] = {0, 0, 8};
  const StridedLayout every_other(4, extents, strides, 3);
  REQUIRE(bindings.bind(g.x.key.tensor(), at, every_other).ok());
  REQUIRE(bindings.bind(g.y.key.tensor(), at.offset(Bytes{4}), every_other).ok());
  REQUIRE(session.run_round(bindings).ok());
  for (std::size_t i = 0; i < 40; ++i) all[2 * i + 1] = 3 * all[2 * i], all[i + 240] += all[2 * i];
  CHECK(memory.values() == all);
}

TEST_CASE_TEMPLATE("An input that is held stays in its device memory when the bindings or the array are gone", P,
                   A2A3Sim, HostOn<Pool>, A2A3OverStandIn, A5OverStandIn) {
  Graph g({1, 1, 40});
  auto session = open<P>(std::move(g.graph));
  const Floats ones(40, 1);
  Floats hy(40), hs(40, 0);
  const auto arrays = [&] {
    const memory::Report report = session.memory_report();
    return std::ranges::count(report.holdings, "an array", &memory::Report::Holding::what);
  };
  const auto check_round = [&](const Status& status, float y, float s) {
    REQUIRE(status.ok());
    CHECK(hy == Floats(40, y));
    CHECK(hs == Floats(40, s));
  };
  {
    DeviceFloats<P> memory(session.platform(), 41, 1);
    DynamicBindings bindings(session);
    const auto odd = memory.span().data().template as<std::byte>().offset(Bytes{4});
    REQUIRE(bindings.bind(g.x.key.tensor(), odd, Bytes{160}).ok());
    REQUIRE(bindings.bind(g.y.key.tensor(), hy.data(), Bytes{160}).ok());
    REQUIRE(bindings.bind(g.s.key.tensor(), hs.data(), Bytes{160}).ok());
    check_round(session.run_round(bindings), 3, 1);
    REQUIRE(session.hold(g.x).ok());
  }
  check_round(session.run_round(bind(g.x, ones), bind(g.y, hy), bind(g.s, hs)), 3, 2);
  CHECK(arrays() == 1);
  REQUIRE(session.release_hold(g.x).ok());
  CHECK(arrays() == 0);
  const Floats twos(40, 2);
  {
    auto array = session.allocate(g.x);
    REQUIRE(session.upload(array, twos).ok());
    check_round(session.run_round(bind(g.x, array), bind(g.y, hy), bind(g.s, hs)), 6, 4);
    REQUIRE(session.hold(g.x).ok());
  }
  check_round(session.run_round(bind(g.x, ones), bind(g.y, hy), bind(g.s, hs)), 6, 6);
  REQUIRE(session.hold(g.x).ok());
  check_round(session.run_round(bind(g.x, ones), bind(g.y, hy), bind(g.s, hs)), 6, 8);
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE("Rounds in flight around one that packs on the device see each other's results", P, A2A3Sim,
                   HostOn<Pool>, A2A3OverStandIn, A5OverStandIn) {
  const Extents extents{1, 1, 16};
  Graph g(extents);
  auto session = open_pipelined<P, 3>(freeze(g.graph));
  DynamicBindings bindings(session);
  DeviceFloats<P> a(session.platform(), 64, 0), b(session.platform(), 64, 0), s(session.platform(), 16, 0);
  a.write(Floats(64, 1));
  const std::int64_t strides[] = {0, 0, 12};
  const StridedLayout apart(4, extents.data(), strides, 3);
  const auto byte = [](const DeviceFloats<P>& memory, std::uint64_t offset) {
    return memory.span().data().template as<std::byte>().offset(Bytes{offset});
  };
  const TensorId x = g.x.key.tensor(), y = g.y.key.tensor();
  REQUIRE(bindings.bind(g.s.key.tensor(), byte(s, 0), Bytes{64}).ok());
  float factor = 1;
  std::size_t completed = 0;
  for (int round = 0; round < 12; ++round) {
    const DeviceFloats<P>& from = round % 2 == 0 ? a : b;
    const DeviceFloats<P>& to = round % 2 == 0 ? b : a;
    // Whole rows after rows with gaps, and after them gaps again: what is between the elements is never read.
    const bool is_apart = round % 3 != 2;
    const auto bind = [&](TensorId tensor, const DeviceFloats<P>& memory, std::uint64_t offset) {
      return is_apart ? bindings.bind(tensor, byte(memory, offset), apart)
                      : bindings.bind(tensor, byte(memory, 0), Bytes{64});
    };
    REQUIRE(bind(x, from, 0).ok());
    REQUIRE(bind(y, to, 0).ok());
    if (round % 4 == 3) {
      while (!session.try_submit_round(bindings, [&](Status status) noexcept { completed += status.ok() ? 1 : 0; })) {
      }
    } else {
      REQUIRE(session.submit_round(bindings, [&](Status status) noexcept { completed += status.ok() ? 1 : 0; }));
    }
    factor *= 3;
  }
  REQUIRE(session.wait_all().ok());
  CHECK(completed == 12);
  CHECK(a.values()[0] == factor);
}

TEST_CASE("A round that fails on threads of the host scatters nothing") {
  using P = HostOn<Pool>;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  const auto z = graph.output<float>("z", {8});
  graph.add<kernels::Picky>(x, y);
  graph.add<kernels::Scale>(x, z, 1.0F);
  P::Options options;  // two threads from the first round on, so that the failure is known only after the launch
  options.engine.threads = 2;
  options.engine.scheduling = platform::sim::Scheduling::uniform;
  options.engine.costs = {.per_node = 1, .across_threads = 0, .per_round = 0};
  auto session = open<P>(std::move(graph), options);
  DeviceFloats<P> memory(session.platform(), 64, 5);
  const std::int64_t extents[] = {8};
  const std::int64_t strides[] = {8};
  const auto at = memory.span().data().template as<std::byte>();
  DynamicBindings bindings(session);
  Floats hx(8, -1), hz(8);
  REQUIRE(bindings.bind(x.key.tensor(), hx.data(), Bytes{32}).ok());
  REQUIRE(bindings.bind(y.key.tensor(), at, StridedLayout(4, extents, strides, 1)).ok());
  REQUIRE(bindings.bind(z.key.tensor(), hz.data(), Bytes{32}).ok());
  CHECK(session.run_round(bindings).code() == Errc::kernel_failed);
  CHECK(memory.values() == Floats(64, 5));
}

TEST_CASE_TEMPLATE("A failed round in flight, and the one after it, scatter nothing", P, A2A3Sim, A2A3SimOn<Pool>) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<kernels::Picky>(x, y);
  auto session = open_pipelined<P, 2>(std::move(graph));
  DeviceFloats<P> memory(session.platform(), 128, 5);
  const std::int64_t extents[] = {8};
  const std::int64_t strides[] = {8};
  const auto at = memory.span().data().template as<std::byte>();
  DynamicBindings bad(session), good(session);
  Floats refused(8, -1), taken(8, 1);
  REQUIRE(bad.bind(x.key.tensor(), refused.data(), Bytes{32}).ok());
  REQUIRE(bad.bind(y.key.tensor(), at, StridedLayout(4, extents, strides, 1)).ok());
  REQUIRE(good.bind(x.key.tensor(), taken.data(), Bytes{32}).ok());
  REQUIRE(good.bind(y.key.tensor(), at.offset(Bytes{256}), StridedLayout(4, extents, strides, 1)).ok());
  const RoundTicket first = session.submit_round(bad);
  const RoundTicket second = session.submit_round(good);
  CHECK(session.wait(first).code() == Errc::kernel_failed);
  if (second) CHECK(session.wait(second).code() == Errc::poisoned);
  CHECK(memory.values() == Floats(128, 5));
}

TEST_CASE_TEMPLATE("What cannot be bound is refused, and the earlier binding stays", P, A2A3Sim, A2A3OverStandIn) {
  const Extents extents{2, 3, 4};
  Graph g(extents);
  g.graph.keep(g.x);
  auto session = open<P>(std::move(g.graph));
  DynamicBindings bindings(session);
  DeviceFloats<P> memory(session.platform(), 256, 1);
  const DevicePtr<std::byte> at = memory.span().data().template as<std::byte>();
  const TensorId x = g.x.key.tensor(), y = g.y.key.tensor();
  const auto layout = [&](std::int64_t a, std::int64_t b, std::int64_t c) {
    const std::int64_t strides[] = {a, b, c};
    return StridedLayout(4, extents.data(), strides, 3);
  };
  Floats out(24), sum(24);
  REQUIRE(bindings.bind(x, at.offset(Bytes{4}), layout(4, 0, 16)).ok());
  REQUIRE(bindings.bind(y, out.data(), Bytes{96}).ok());
  REQUIRE(bindings.bind(g.s.key.tensor(), sum.data(), Bytes{96}).ok());
  CHECK(bindings.bind(y, at, layout(0, 16, 4)).code() == Errc::overlapping);
  CHECK(bindings.bind(x, DevicePtr<std::byte>{}, layout(64, 16, 4)).code() == Errc::null_memory);
  CHECK(bindings.bind(x, at, StridedLayout(8, extents.data(), extents.data(), 3)).code() == Errc::wrong_size);
  CHECK(bindings.bind(x, at.offset(Bytes{4}), Bytes{100}).code() == Errc::wrong_size);
  CHECK(bindings.bind(TensorId{17}, at.offset(Bytes{4}), Bytes{96}).code() == Errc::wrong_tensor);
  REQUIRE(session.run_round(bindings).ok());
  CHECK(out == Floats(24, 3));

  REQUIRE(session.hold(g.x).ok());
  memory.fill(50);
  REQUIRE(session.run_round(bindings).ok());
  CHECK(out == Floats(24, 3));  // held, so it is not packed again
  REQUIRE(session.release_hold(g.x).ok());
  REQUIRE(session.run_round(bindings).ok());
  CHECK(out == Floats(24, 150));

  // Host memory with strides next to it, and after it.
  const Floats rows(64, 2);
  REQUIRE(bindings.bind(x, rows.data(), layout(64, 16, 4)).ok());
  CHECK(bindings.why_copied(x) ==
        std::string_view("the memory is on the host and has strides, so it is packed and copied"));
  CHECK(bindings.why_copied(y) == std::string_view("the memory is on the host"));
  CHECK(bindings.why_copied(TensorId{17}) == std::string_view("no memory is bound to the tensor"));
  REQUIRE(session.run_round(bindings).ok());
  CHECK(out == Floats(24, 6));
}

TEST_CASE("A platform without copies on the device refuses strides when they are bound") {
  const Extents extents{1, 4, 2};
  Graph g(extents);
  auto session = open<toy::ToyPlatform>(std::move(g.graph));
  DynamicBindings bindings(session);
  DeviceFloats<toy::ToyPlatform> memory(session.platform(), 64, 1);
  const DevicePtr<std::byte> at = memory.span().data().as<std::byte>();
  const std::int64_t strides[] = {0, 16, 4};
  const Status status = bindings.bind(g.x.key.tensor(), at, StridedLayout(4, extents.data(), strides, 3));
  CHECK(status == Status::of_tensor(Errc::unsupported, 0));
  REQUIRE(bindings.bind(g.x.key.tensor(), at.offset(Bytes{4}), Bytes{32}).ok());
  REQUIRE(bindings.bind(g.y.key.tensor(), at.offset(Bytes{64}), Bytes{32}).ok());
  REQUIRE(bindings.bind(g.s.key.tensor(), at.offset(Bytes{128}), Bytes{32}).ok());
  CHECK(session.run_round(bindings) == Status::of_tensor(Errc::misaligned, 0));
}

TEST_CASE_TEMPLATE("Rounds of different shapes bind device memory with strides, also without elements", P, A2A3Sim,
                   A2A3OverStandIn) {
  TaskGraph graph;
  const auto n = graph.dim("n");
  const auto x = graph.input<float>("x", {n, 2});
  const auto y = graph.output<float>("y", {n, 2});
  graph.add<kernels::Scale>(x, y, 2.0F);
  const auto run = [&](auto session) {
    DynamicBindings bindings(session);
    DeviceFloats<P> in(session.platform(), 64), out(session.platform(), 64);
    REQUIRE(session.platform().wait().ok());  // NPUs clear memory that is allocated before the first program is loaded
    in.fill(1);
    const auto at = [](const DeviceFloats<P>& memory) {
      return memory.span().data().template as<std::byte>().offset(Bytes{4});
    };
    for (const std::int64_t height : {3, 7, 0, 3}) {
      const std::int64_t extents[] = {height, 2}, apart[] = {24, 12}, turned[] = {4, 4 * height};
      out.fill(0);
      REQUIRE(bindings.bind(x.key.tensor(), at(in), StridedLayout(4, extents, apart, 2)).ok());
      REQUIRE(bindings.bind(y.key.tensor(), at(out), StridedLayout(4, extents, turned, 2)).ok());
      if constexpr (requires { session.wait_all(); }) {
        REQUIRE(session.submit_round(bindings));
        REQUIRE(session.wait_all().ok());
      } else {
        REQUIRE(session.run_round(bindings).ok());
      }
      Floats wanted(64, 0);
      std::fill_n(wanted.begin() + 1, 2 * height, 2.0F);
      CHECK(out.values() == wanted);
    }
  };
  run(open_shaped<P>(graph));
  run(open_shaped<P, DefaultPolicies, launch::Lru<4>, 2>(graph));
}
