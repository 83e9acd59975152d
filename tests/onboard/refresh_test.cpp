// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// How changed addresses reach the device, by every mechanism: the args table on the device is the same to the last bit
// as one that is written anew each round.

#include "onboard/fixture.hpp"
#include "scale.hpp"

#include <rondo/graph/freeze.hpp>
#include <rondo/update/refresher_impl.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace rondo;
using namespace onboard_test;
using update::Mechanism;

namespace {

struct Random {
  explicit Random(std::uint64_t stream) : engine{rondo::test::make_random(stream)} {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine()); }
  std::mt19937 engine;
};
/// Each round another mechanism, at random.
struct Mixed {
  static constexpr bool allows(Mechanism m) { return m != Mechanism::in_place; }
  mutable Random random{5};
  Mechanism choose(const update::RefreshFacts&) const noexcept { return static_cast<Mechanism>(2 + random() % 3); }
};
/// Copies are cheap and bytes are dear, so that each segment is a copy of its own, as far as there are pieces.
struct CheapCopies : update::Always<Mechanism::segment_copy> {
  static constexpr update::RefreshCosts costs{.copy = 1, .copied_byte = 1};
};
template <class Platform, class Choice>
struct On {
  using P = Platform;
  using C = Choice;
};
template <class Choice>
struct By : DefaultPolicies {
  using Refresh = Choice;
};
#define RONDO_TEST_MECHANISMS(P)                                                                                   \
  On<P, update::Always<Mechanism::segment_copy>>, On<P, CheapCopies>, On<P, update::Always<Mechanism::device_op>>, \
      On<P, update::Always<Mechanism::in_launch>>, On<P, update::ByCost<>>, On<P, Mixed>

void no_kernel(ArgWord*) {}

/// A random graph over up to 64 bases of inputs, two of arenas, and host inputs; slots of both widths, at any place.
struct RandomGraph {
  explicit RandomGraph(Random& random) {
    const std::uint32_t inputs = 1 + random() % 64;
    const std::uint32_t host_inputs = random() % 3;
    for (std::uint32_t i = 0; i < inputs; ++i) {
      graph.input<float>("x" + std::to_string(i), {16});
      sources.push_back({4 + i, 0});
    }
    for (std::uint32_t i = 0; i < 4; ++i) {
      graph.resident<float>("w" + std::to_string(i), {16});
      sources.push_back({2 + i % 2, 64 * std::uint64_t{i}});
    }
    for (std::uint32_t i = 0; i < host_inputs; ++i) {
      graph.host_input<float>("h" + std::to_string(i), {1 + random() % 20});
      sources.push_back({4 + inputs + i, 0});
    }
    bases = {4, 4 + inputs + host_inputs};
    for (std::uint32_t b = 0; b < bases.count; ++b) addresses.push_back(fresh(random));
    for (std::uint32_t k = random() % 400; k > 0; --k) {
      std::vector<graph::ArgRecord> args;
      std::uint32_t at = random() % 8 == 0 ? 1 + random() % 3 : 0;
      for (std::uint32_t a = 1 + random() % 4; a > 0; --a) {
        graph::ArgRecord arg{graph::ArgRecord::Kind::address, Access::read,
                             static_cast<std::uint32_t>(random() % sources.size()), 0, at};
        arg.width = random() % 10 == 0 ? 4 : 8;
        at += arg.width + (random() % 6 == 0 ? 8 : 0);
        args.push_back(arg);
      }
      graph.add_laid_out("reads", CoreType::vector, Blocks{1}, &no_kernel, args,
                         static_cast<std::uint32_t>(align_up(at, 8)));
    }
  }
  static std::uint64_t fresh(Random& random) {
    return (std::uint64_t{random() % 3} << 32) + 0xFFFF'FF00 + 64 * (random() % 8);  // sums that carry, and that do not
  }
  TaskGraph graph{Edges::explicit_};
  args::BaseLayout bases;
  std::vector<args::Source> sources;
  std::vector<std::uint64_t> addresses;
};

/// The table on the device; its own addresses count from its begin.
std::vector<std::byte> table_on_device(args::ArgsTable& table) {
  std::vector<std::byte> bytes(table.shape().size());
  if (bytes.empty()) return bytes;
  const std::uint64_t begin = table.seen().address();
  REQUIRE(rondo_stand_in_peek(begin, bytes.data(), bytes.size()));
  for (const args::Relocation& slot : table.slots_of(args::BaseLayout::table)) {
    std::uint64_t address = 0;
    std::memcpy(&address, bytes.data() + slot.at, slot.narrow != 0 ? 4 : 8);
    args::store_address(bytes.data() + slot.at, address - begin, slot.narrow != 0);
  }
  return bytes;
}

}  // namespace

TEST_CASE_TEMPLATE("After any changes the table on the device is that which is written anew each round", T,
                   RONDO_TEST_MECHANISMS(A2A3ThatComputes), RONDO_TEST_MECHANISMS(A5ThatComputes)) {
  if (launches_nothing() || lacks("aclrtLaunchKernelWithHostArgs") || !missing_required().empty()) return;
  const Clean clean;
  using P = typename T::P;
  Random random{23};
  std::uint64_t used[update::mechanism_count] = {};
  for (int session = 0; session < scaled(12); ++session) {
    RandomGraph model(random);
    const FrozenGraph frozen = freeze(model.graph);
    P platform{{}};
    update::Refresher<P, update::Auto, typename T::C> refresher{
        platform, frozen.view(), {model.bases, model.sources, model.addresses}};
    update::Refresher<P, update::InitOnce, update::Always<Mechanism::segment_copy>> anew{
        platform, frozen.view(), {model.bases, model.sources, model.addresses}};
    REQUIRE(table_on_device(refresher.table()) == table_on_device(anew.table()));
    for (int round = 0; round < 25; ++round) {
      const std::uint32_t changes = random() % 4 == 0 ? 40 : random() % 3;
      for (std::uint32_t c = 0; c < changes; ++c) {
        const auto id = static_cast<std::uint32_t>(2 + random() % (model.bases.count - 2));
        const std::uint64_t address = RandomGraph::fresh(random);
        refresher.set_base(id, address);
        anew.set_base(id, address);
      }
      for (std::size_t t = 0; t < frozen.view().tensors.size(); ++t) {
        if (!is_carried_in_args(frozen.view().tensors[t].direction) || random() % 3 != 0) continue;
        std::vector<std::byte> value(frozen.view().tensors[t].bytes);
        for (std::byte& byte : value) byte = static_cast<std::byte>(random());
        std::memcpy(refresher.host_input(t), value.data(), value.size());
        std::memcpy(anew.host_input(t), value.data(), value.size());
      }
      REQUIRE(refresher.refresh().ok());
      REQUIRE(anew.refresh().ok());
      REQUIRE(platform.wait().ok());
      REQUIRE(table_on_device(refresher.table()) == table_on_device(anew.table()));
      ++used[static_cast<std::size_t>(refresher.refreshed().mechanism)];
    }
  }
  CHECK(misuses() == "");
  CHECK(calls("args_copies") == 0);
  if (std::is_same_v<typename T::C, Mixed>) {
    for (std::size_t m = 2; m < update::mechanism_count; ++m) CHECK(used[m] > 0);
  }
}

TEST_CASE_TEMPLATE("The refresh kernel computes what the host does, over any relocations and any number of bases", P,
                   A2A3ThatComputes, A5ThatComputes) {
  if (launches_nothing() || lacks("aclrtLaunchKernelWithHostArgs") || !missing_required().empty()) return;
  const Clean clean;
  P platform{{}};
  REQUIRE(platform.can_refresh_args());
  Random random{29};
  for (int round = 0; round < scaled(60); ++round) {
    const std::uint32_t base_count = round % 10 == 9 ? 8190 + random() % 10'000 : 1 + random() % 100;
    std::vector<args::Relocation> relocations(random() % (round % 5 == 0 ? 12'000 : 700));
    std::uint32_t end = 0;
    for (args::Relocation& relocation : relocations) {
      relocation.addend = random() | std::uint64_t{random()} << 32;
      relocation.narrow = random() % 6 == 0;
      relocation.base = random() % base_count & 0x7FFF'FFFF;
      const bool is_odd = random() % 20 == 0;
      relocation.at =
          is_odd ? end + random() % 7 : static_cast<std::uint32_t>(align_up(end, relocation.narrow != 0 ? 4 : 8));
      if (random() % 50 == 0) relocation.at += 8 * (random() % 3000);  // arguments of no address
      end = relocation.at + (relocation.narrow != 0 ? 4 : 8);
    }
    std::vector<std::uint64_t> bases(align_up(base_count, 8));
    for (std::uint64_t& base : bases) base = random() | std::uint64_t{random()} << 32;
    std::vector<std::byte> table(align_up(end, 64) + 64);
    for (std::byte& byte : table) byte = static_cast<std::byte>(random());

    const auto bring = [&](const auto& all) {
      const std::size_t bytes = align_up(sizeof(all[0]) * all.size() + 64, 64);
      const DevicePtr<std::byte> at = platform.allocate(Bytes{bytes}, Bytes{64});
      REQUIRE(platform.wait().ok());  // it is cleared before the first program is loaded
      REQUIRE(rondo_stand_in_poke(at.address(), all.data(), sizeof(all[0]) * all.size()));
      return at;
    };
    const auto table_at = bring(table), relocations_at = bring(relocations), bases_at = bring(bases);
    const std::uint64_t first = relocations.empty() ? 0 : random() % relocations.size();
    const Status status =
        platform.refresh_args({table_at, relocations_at.offset(Bytes{16 * first}).template as<const args::Relocation>(),
                               relocations.size() - first, bases_at.template as<const std::uint64_t>(), base_count});
    REQUIRE(status.ok());
    REQUIRE(platform.wait().ok());
    args::run_refresh(table.data(), relocations.data() + first, relocations.size() - first, bases.data());
    std::vector<std::byte> computed(table.size());
    REQUIRE(rondo_stand_in_peek(table_at.address(), computed.data(), computed.size()));
    REQUIRE(computed == table);
    for (const auto at : {table_at, relocations_at, bases_at}) REQUIRE(platform.release(at).ok());
  }
  CHECK(misuses() == "");
}

TEST_CASE_TEMPLATE("What a round with another address asks of the runtime, by mechanism", P, A2A3ThatComputes,
                   A5ThatComputes) {
  if (launches_nothing() || !missing_required().empty() || std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  const Clean clean;
  const auto count = [&]<Mechanism M>(std::integral_constant<Mechanism, M>) {
    Graph g;
    auto session = open<P, By<update::Always<M>>>(g.graph);
    DeviceFloats x(session.platform(), Graph::n, 1), other(session.platform(), Graph::n, 2);
    DeviceFloats w(session.platform(), Graph::n, 1), y(session.platform(), Graph::n), s(session.platform(), Graph::n);
    const auto run = [&](auto& in) {
      REQUIRE(
          session.run_round(bind(g.x, in.span()), bind(g.w, w.span()), bind(g.y, y.span()), bind(g.s, s.span())).ok());
    };
    run(x);
    rondo_stand_in_reset();
    run(other);
    CHECK(session.refreshed().mechanism == M);
    CHECK(y.values() == Floats(Graph::n, 9));
    return counted();
  };
  using Counts = std::map<std::string, std::uint64_t>;
  const char* const copy = "aclrtMemcpyAsync";
  const char* const launch = "aclrtLaunchKernelWithHostArgs";
  const char* const replay = "aclmdlRIExecuteAsync";
  const char* const wait = "aclrtSynchronizeStreamWithTimeout";
  CHECK(count(std::integral_constant<Mechanism, Mechanism::segment_copy>{}) ==
        Counts{{copy, 1}, {replay, 1}, {wait, 1}});
  CHECK(count(std::integral_constant<Mechanism, Mechanism::device_op>{}) ==
        Counts{{copy, 1}, {launch, 1}, {replay, 1}, {wait, 1}});
  CHECK(count(std::integral_constant<Mechanism, Mechanism::in_launch>{}) ==
        Counts{{launch, 1}, {replay, 1}, {wait, 1}});
}

TEST_CASE_TEMPLATE("Rounds in flight have their args computed or copied, each its own", T,
                   On<A2A3ThatComputes, update::Always<Mechanism::device_op>>,
                   On<A5ThatComputes, update::Always<Mechanism::device_op>>,
                   On<A2A3ThatComputes, update::Always<Mechanism::segment_copy>>, On<A5ThatComputes, CheapCopies>,
                   On<A2A3ThatComputes, update::ByCost<>>, On<A5ThatComputes, Mixed>) {
  if (launches_nothing() || lacks("aclrtLaunchKernelWithHostArgs") || !missing_required().empty()) return;
  const Clean clean;
  using P = typename T::P;
  Graph g;
  auto session = open_pipelined<P, 3, By<typename T::C>>(g.graph);
  {
    std::vector<std::unique_ptr<DeviceFloats<P>>> xs, ws, ys, ss;
    for (int i = 0; i < 4; ++i) {
      for (auto* const all : {&xs, &ws, &ys, &ss}) {
        all->push_back(std::make_unique<DeviceFloats<P>>(session.platform(), Graph::n, static_cast<float>(i + 1)));
      }
    }
    Random random{31};
    std::vector<float> sums{1, 2, 3, 4};
    rondo_stand_in_reset();
    for (int round = 0; round < 300; ++round) {
      const std::size_t x = random() % 4, w = random() % 4, y = random() % 4, s = random() % 4;
      const auto ticket = session.submit_round(bind(g.x, xs[x]->span()), bind(g.w, ws[w]->span()),
                                               bind(g.y, ys[y]->span()), bind(g.s, ss[s]->span()));
      REQUIRE(ticket);
      sums[s] += static_cast<float>(x + 1);
      if (round % 7 != 0) continue;
      REQUIRE(session.wait_all().ok());
      REQUIRE(ys[y]->values() == Floats(Graph::n, 3 * static_cast<float>(x + w + 2)));
      REQUIRE(ss[s]->values() == Floats(Graph::n, sums[s]));
    }
    REQUIRE(session.wait_all().ok());
    for (std::size_t s = 0; s < 4; ++s) CHECK(ss[s]->values() == Floats(Graph::n, sums[s]));
    for (auto* const all : {&xs, &ws, &ys, &ss}) {
      for (auto& each : *all) REQUIRE(each->release().ok());
    }
  }
  CHECK(calls("aclrtMemcpy") == 0);  // addresses travel through the slots' staging: nothing stops
  REQUIRE(session.close().ok());
  CHECK(misuses() == "");
}

TEST_CASE_TEMPLATE("Copies of a queue write no args but those that moved", P, A2A3OverStandIn, A5OverStandIn) {
  if (launches_nothing() || !missing_required().empty()) return;
  const Clean clean;
  constexpr std::size_t n = 24;
  TaskGraph graph;
  std::vector<Input<float>> x;
  std::vector<Output<float>> y;
  for (std::size_t i = 0; i < n; ++i) {
    x.push_back(graph.input<float>("x" + std::to_string(i), {1}));
    y.push_back(graph.output<float>("y" + std::to_string(i), {1}));
    graph.add<kernels::Scale>(x[i], y[i], 3.0F);
  }
  auto session = open_pipelined<P, 2, By<CheapCopies>>(graph);
  std::vector<std::unique_ptr<DeviceFloats<P>>> memory;
  for (std::size_t i = 0; i < 2 * n; ++i) {
    memory.push_back(std::make_unique<DeviceFloats<P>>(session.platform(), 1, static_cast<float>(i)));
  }
  DynamicBindings bindings(session);
  Floats out(n);
  std::vector<std::size_t> at(n);
  const auto place = [&](std::size_t i, std::size_t m) {
    at[i] = m;
    REQUIRE(bindings.bind(x[i].key.tensor(), memory[m]->span().data().template as<std::byte>(), Bytes{4}));
  };
  for (std::size_t i = 0; i < n; ++i) {
    place(i, i);
    REQUIRE(bindings.bind(y[i].key.tensor(), &out[i], Bytes{4}));
  }
  // Two inputs move, and those between them do not.
  for (std::size_t first = 0; first < n; ++first) {
    for (std::size_t apart = 1; first + apart < n; ++apart) {
      place(first, n + first - (at[first] / n) * n);
      place(first + apart, n + first + apart - (at[first + apart] / n) * n);
      REQUIRE(session.submit_round(bindings));
      REQUIRE(session.wait_all().ok());
      for (std::size_t i = 0; i < n; ++i) REQUIRE(out[i] == 3 * static_cast<float>(at[i]));
    }
  }
  for (auto& each : memory) REQUIRE(each->release().ok());
  REQUIRE(session.close().ok());
}

TEST_CASE_TEMPLATE("A round after one that was refused in flight has the addresses that it was given", T,
                   On<A2A3ThatComputes, update::Always<Mechanism::device_op>>, On<A5ThatComputes, CheapCopies>,
                   On<A2A3OverStandIn, update::ByCost<>>) {
  if (launches_nothing() || lacks("aclrtLaunchKernelWithHostArgs") || !missing_required().empty()) return;
  const Clean clean;
  using P = typename T::P;
  Graph g;
  std::vector<std::string> used;
  for (const char* const call : {"aclrtSetDevice", "aclrtMemcpyAsync", "aclrtStreamWaitEvent", "aclmdlRIExecuteAsync",
                                 "aclrtRecordEvent", "aclrtLaunchKernelWithHostArgs"}) {
    for (std::uint64_t use = 1; use < 9; ++use) {
      CAPTURE(call);
      CAPTURE(use);
      auto session = open_pipelined<P, 2, By<typename T::C>>(g.graph);
      DeviceFloats<P> device(session.platform(), Graph::n, 5);
      Floats x(Graph::n, 1), w(Graph::n, 1), y, s;
      const auto submit = [&](bool is_on_device) {
        y.assign(Graph::n, -1), s.assign(Graph::n, 10);
        const auto ticket =
            is_on_device ? session.submit_round(bind(g.x, device.span()), bind(g.w, w), bind(g.y, y), bind(g.s, s))
                         : session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s));
        return session.wait(ticket);
      };
      const auto run = [&](bool is_on_device) {
        REQUIRE(submit(is_on_device).ok());
        REQUIRE(y == Floats(Graph::n, is_on_device ? 18 : 6));
        REQUIRE(s == Floats(Graph::n, is_on_device ? 15 : 11));
      };
      for (const bool is_on_device : {false, false, true, true}) run(is_on_device);
      bool is_refused = false;
      for (const bool is_on_device : {false, true}) {
        for (int slot = 0; slot < 2; ++slot) {
          rondo_stand_in_fault(call, use, 107000);
          const Status status = submit(is_on_device);
          rondo_stand_in_clear_faults();
          is_refused = is_refused || !status;
          REQUIRE_FALSE(status.poisoned());
          if (!status) CHECK(status.code() == Errc::invalid_argument);
          run(is_on_device);
        }
      }
      REQUIRE(device.release().ok());
      REQUIRE(session.close().ok());
      if (is_refused) used.emplace_back(call);
      if (!is_refused) break;
    }
  }
  CHECK(std::count(used.begin(), used.end(), "aclrtMemcpyAsync") >= 2);
  CHECK(std::count(used.begin(), used.end(), "aclrtRecordEvent") >= 2);
}

namespace {

void compute_wrongly(std::int64_t* args) { reinterpret_cast<std::byte*>(args[0])[0] = std::byte{1}; }
void throw_always(std::int64_t*) { throw std::runtime_error("the refresh kernel fails"); }

/// Options with `refresh` as the refresh kernel.
template <class P>
struct WithKernel {
  explicit WithKernel(stand_in::Kernel refresh) {
    stand_in::Binary binary;
    binary.add("rondo_refresh", refresh, true);
    bytes = binary.bytes();
    binaries[0] = KernelBinary::from_memory(bytes);
    options.kernels = binaries;
  }
  std::vector<std::byte> bytes;
  KernelBinary binaries[1];
  typename P::Options options;
};

}  // namespace

TEST_CASE_TEMPLATE("Without the kernel, or with one that is wrong, addresses are copied, and the log says why", P,
                   A2A3OverStandIn, A5OverStandIn) {
  if (launches_nothing() || !missing_required().empty()) return;
  const Clean clean;
  const auto remark_of = [](const P& platform) {
    std::string said;
    platform.remarks(Moment::opening, [&](const char* remark) { said += remark; });
    return said;
  };
  {
    P platform{{}};
    CHECK_FALSE(platform.can_refresh_args());
    CHECK(remark_of(platform).find("there is no kernel rondo_refresh") != std::string::npos);
    Graph g;
    auto session = open<P>(g.graph);
    DeviceFloats x(session.platform(), Graph::n, 1);
    Floats w(Graph::n, 1), y(Graph::n), s(Graph::n);
    REQUIRE(session.run_round(bind(g.x, x.span()), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
    CHECK(session.refreshed().mechanism == Mechanism::segment_copy);
    CHECK(y == Floats(Graph::n, 6));
  }
  try {
    Graph g;
    auto session = open<P, By<update::Always<Mechanism::device_op>>>(g.graph);
    FAIL("opened");
  } catch (const Error& e) {
    CHECK(e.code() == Errc::unsupported);
    CHECK(std::string_view(e.what()).find("refresh kernel, see docs/onboard.md") != std::string_view::npos);
  }
  if (lacks("aclrtLaunchKernelWithHostArgs")) return;
  {
    const WithKernel<P> wrong(&compute_wrongly);
    P platform{wrong.options};
    CHECK_FALSE(platform.can_refresh_args());
    CHECK(remark_of(platform).find("computes wrong addresses") != std::string::npos);
  }
  {
    const WithKernel<P> failing(&throw_always);
    try {
      P platform{failing.options};
      FAIL("opened");
    } catch (const Error& e) {
      CHECK(e.code() == Errc::device_failed);
      CHECK(std::string_view(e.what()).find("rondo_refresh") != std::string_view::npos);
    }
  }
}

TEST_CASE_TEMPLATE("The mechanism of a round is the cheapest by the costs that the platform was given", P,
                   A2A3ThatComputes, A5ThatComputes) {
  if (launches_nothing() || lacks("aclrtLaunchKernelWithHostArgs") || !missing_required().empty()) return;
  const Clean clean;
  const auto chosen = [&](std::optional<RefreshCosts> costs) {
    typename P::Options options;
    options.refresh_costs = costs;
    Graph g;
    auto session = open<P>(g.graph, options);
    DeviceFloats x(session.platform(), Graph::n, 1);
    Floats w(Graph::n, 1), y(Graph::n), s(Graph::n);
    REQUIRE(session.run_round(bind(g.x, x.span()), bind(g.w, w), bind(g.y, y), bind(g.s, s)).ok());
    CHECK(y == Floats(Graph::n, 6));
    return session.refreshed().mechanism;
  };
  CHECK(chosen({}) == Mechanism::segment_copy);
  CHECK(chosen(RefreshCosts{.host_slot = 50'000'000}) == Mechanism::in_launch);
  CHECK(chosen(RefreshCosts{.host_slot = 50'000'000, .launched_byte = 1'000'000}) == Mechanism::device_op);
  CHECK(chosen(RefreshCosts{.copy = 20'000'000}) == Mechanism::in_launch);
}

TEST_CASE_TEMPLATE("Costs are measured when a session is told to, with and without the kernel, and nothing is left", P,
                   A2A3ThatComputes, A5OverStandIn) {
  if (launches_nothing() || !missing_required().empty()) return;
  const Clean clean;
  for (const bool has_snapshots : {true, false}) {
    rondo_stand_in_limit("snapshot_copies", has_snapshots ? 1 : 0);
    typename P::Options options;
    options.measure_refresh_costs = true;
    P platform{options};
    const RefreshCosts* const costs = platform.refresh_costs();
    REQUIRE(costs != nullptr);
    for (const auto& cost : rondo::detail::named_costs) CHECK(costs->*cost.value > 0);
    CHECK(costs->host_slot != RefreshCosts{}.host_slot);
    CHECK((costs->copy != RefreshCosts{}.copy) == has_snapshots);
    CHECK((costs->device_op != RefreshCosts{}.device_op) == platform.can_refresh_args());
    CHECK(calls(nullptr) < 500);
    REQUIRE(platform.close().ok());
    rondo_stand_in_reset();
  }
  for (const char* const call : {"aclrtMalloc", "aclrtMemcpyAsync", "aclrtSynchronizeStreamWithTimeout"}) {
    CAPTURE(call);
    typename P::Options options;
    options.measure_refresh_costs = true;
    rondo_stand_in_fault(call, 5, 507015);
    rondo_stand_in_fault(call, 1, 507015);
    CHECK_THROWS_AS(P{options}, Error);
    rondo_stand_in_reset();
  }
}

TEST_CASE_TEMPLATE("A session that is opened from a file takes the costs and the plan from it, and measures nothing", P,
                   A2A3ThatComputes, A5OverStandIn) {
  if (launches_nothing() || !missing_required().empty()) return;
  const std::string path = "session_" + std::to_string(getpid()) + ".rondo";
  const Clean clean;
  Graph g;
  typename P::Options options;
  options.measure_refresh_costs = true;
  RefreshCosts measured;
  {
    auto session = open<P>(g.graph, options);
    measured = *session.platform().refresh_costs();
    session.save(path.c_str());
  }
  options.saved = path.c_str();
  {
    auto session = open<P>(g.graph, options);
    CHECK(session.is_restored());
    CHECK(*session.platform().refresh_costs() == measured);
  }
  options.refresh_costs = RefreshCosts{.copy = 7};
  CHECK(*open<P>(g.graph, options).platform().refresh_costs() == RefreshCosts{.copy = 7});
  std::remove(path.c_str());
}

TEST_CASE("Costs are the same after they were written to a file and read again; a file that is none is refused") {
  const std::string path = "costs_" + std::to_string(getpid()) + ".json";
  MeasuredCosts costs{.refresh = {1, 2, 3, 4'000'000'000'000, 5, 6}, .launch = 7, .wait = 8};
  costs.platform = decltype(costs.platform)("a platform");
  costs.machine = decltype(costs.machine)("a processor x 2, a chip");
  write_costs(path.c_str(), costs);
  CHECK(read_costs(path.c_str()) == costs);
  const auto write = [&](const std::string& text) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    std::fputs(text.c_str(), file);
    std::fclose(file);
  };
  write(R"({"rondo_costs":1,"copied_byte" : 7})");
  CHECK(read_costs(path.c_str()).refresh == RefreshCosts{.copied_byte = 7});
  for (const char* const text :
       {"", "{}", "[1]", R"({"rondo_costs": 2})", R"({"rondo_costs": 1, "copies": 2})",
        R"({"rondo_costs": 1, "copy": "2"})", R"({"rondo_costs": 1, "copy": -2})", R"({"rondo_costs": 1, "copy": 2.5})",
        R"({"rondo_costs": 1, "machine": 2})", R"({"rondo_costs": 1, "copy": 1234567890123456789})",
        R"({"rondo_costs": 1, "copy": 2)", R"({"rondo_costs": 1, "copy": 2} {})", R"({"rondo_costs": 1, "machine": "a)",
        R"({"rondo_costs": 1, "machine": "\u0041"})"}) {
    CAPTURE(text);
    write(text);
    try {
      (void)read_costs(path.c_str());
      FAIL("read");
    } catch (const Error& e) {
      CHECK(e.code() == Errc::invalid_argument);
      CHECK(std::string_view(e.what()).find("write it again with tools/calibrate") != std::string_view::npos);
    }
  }
  // Each file that is cut short is refused.
  write_costs(path.c_str(), costs);
  std::string whole(4096, 0);
  std::FILE* const file = std::fopen(path.c_str(), "r");
  whole.resize(std::fread(whole.data(), 1, whole.size(), file));
  std::fclose(file);
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    write(whole.substr(0, size));
    CHECK_THROWS_AS((void)read_costs(path.c_str()), Error);
  }
  std::remove(path.c_str());
  CHECK_THROWS_AS((void)read_costs(path.c_str()), Error);
  CHECK_THROWS_AS((void)read_costs(nullptr), Error);
  CHECK_THROWS_AS(write_costs("/nowhere/at/all", costs), Error);
}

TEST_CASE_TEMPLATE("Sessions take their costs from the file that their options or the environment name", P,
                   A2A3ThatComputes, A5OverStandIn) {
  if (launches_nothing() || !missing_required().empty()) return;
  const Clean clean;
  const std::string path = "costs_" + std::to_string(getpid()) + ".json";
  MeasuredCosts costs{.refresh = {.copy = 7}};
  typename P::Options options;
  {
    P platform{options};
    costs.platform = decltype(costs.platform)(P::name);
    costs.machine = platform.machine();
    CHECK(platform.refresh_costs() == nullptr);
  }
  write_costs(path.c_str(), costs);
  const auto remarks = [](const P& platform) {
    std::string all;
    platform.remarks(Moment::opening, [&](const char* text) { all += text; });
    return all;
  };
  setenv("RONDO_COSTS", path.c_str(), 1);
  options.measure_refresh_costs = true;  // not necessary
  {
    P platform{options};
    REQUIRE(platform.refresh_costs() != nullptr);
    CHECK(*platform.refresh_costs() == costs.refresh);
    CHECK(remarks(platform).find("costs are not") == std::string::npos);
  }
  options.measure_refresh_costs = false;

  // Of another machine, or for another platform: mentioned and not used.
  for (const bool is_machine : {true, false}) {
    MeasuredCosts others = costs;
    if (is_machine) others.machine.append("0");
    if (!is_machine) others.platform = decltype(others.platform)("cuda");
    write_costs(path.c_str(), others);
    P platform{options};
    CHECK(platform.refresh_costs() == nullptr);
    const std::string said = remarks(platform);
    CHECK(said.find("costs are not taken from " + path + ": it was measured for ") != std::string::npos);
    CHECK(said.find("run tools/calibrate here") != std::string::npos);
  }
  unsetenv("RONDO_COSTS");
  options.cost_file = path.c_str();
  try {
    P platform{options};
    FAIL("opened");
  } catch (const Error& e) {
    CHECK(e.code() == Errc::invalid_argument);
    CHECK(std::string_view(e.what()).find("it was measured for cuda") != std::string_view::npos);
  }
  options.cost_file = {path.c_str(), IfUnusable::ignore};
  CHECK(P{options}.refresh_costs() == nullptr);
  write_costs(path.c_str(), costs);
  options.cost_file = path.c_str();
  CHECK(*P{options}.refresh_costs() == costs.refresh);
  options.refresh_costs = RefreshCosts{.copy = 9};
  CHECK(P{options}.refresh_costs()->copy == 9);
  std::remove(path.c_str());
}

TEST_CASE_TEMPLATE("Addresses that do not fit in a launch are refused if no other mechanism may bring them", P,
                   A2A3ThatComputes, A5ThatComputes) {
  if (launches_nothing() || !missing_required().empty()) return;
  const Clean clean;
  const auto opening = [](std::uint32_t inputs) -> std::string {
    TaskGraph graph;
    const auto y = graph.output<float>("y", {16});
    for (std::uint32_t i = 0; i < inputs; ++i) {
      graph.add<kernels::Scale>(graph.input<float>("x" + std::to_string(i), {16}), y, 2.0F);
    }
    try {
      auto session = open<P, By<update::Always<Mechanism::in_launch>>>(graph);
      return "opened";
    } catch (const Error& error) {
      CHECK(error.code() == Errc::limit_exceeded);
      return error.what();
    }
  };
  CHECK(opening(20) == "opened");
  const std::string refused = opening(250);
  CAPTURE(refused);
  CHECK(refused.find("a launch that carries the base table takes ") != std::string::npos);
  CHECK(refused.find("choose another refresh mechanism") != std::string::npos);
}
