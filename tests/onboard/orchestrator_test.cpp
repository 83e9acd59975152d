// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rounds whose graph a program on the device's AICPU builds: what it is handed, what it asks of the runtime, and what
// is told where it cannot be.

#include "folder.hpp"
#include "onboard/fixture.hpp"
#include "small_rings.hpp"

#include <rondo/orchestrated.hpp>
#include <rondo/platform/onboard/device_orchestration.hpp>
#include <rondo/platform/onboard/library.hpp>
#include <rondo/platform/onboard/onboard.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace rondo;
using namespace onboard_test;

// examples/06_onboard_saxpy/device/orchestrator.cpp
extern "C" std::uint32_t rondo_orchestrate(void* args);

namespace {

template <class R>
struct With : DefaultPolicies {
  using Runtime = R;
};
template <class P_, class R_>
struct On {
  using P = P_;
  using R = R_;
};
#define RONDO_TEST_CASES                                                                              \
  On<A2A3OverStandIn, runtime::TensorMapRingBuffer>, On<A5OverStandIn, runtime::TensorMapRingBuffer>, \
      On<A2A3OverStandIn, runtime::AicpuBuildGraph>, On<A5OverStandIn, runtime::AicpuBuildGraph>

/// total += a sum of x over rounds of scopes; the number of steps is the round's own.
template <class Round, class X, class Y, class N>
void orchestrate(Round& round, X x, Y y, N steps) {
  auto last = round.template add<kernels::Scale>(x, y, 0.3F);
  const auto after = [&](auto before, auto task) {
    if constexpr (requires { round.add_edge(before, task); }) round.add_edge(before, task);
    return task;
  };
  for (std::int32_t i = 0; i < round.value(steps); ++i) {
    const auto scope = round.scope();
    const auto t = round.template workspace<float>({32});
    const auto scaled = after(last, round.template add<kernels::Scale>(y, t, 1.7F));
    last = after(scaled, round.template add<kernels::Accumulate>(t, y));
  }
}

struct Interface {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {32});
  InputOutput<float> y = graph.inout<float>("y", {32});
  Input<std::int32_t> steps = graph.input<std::int32_t>("steps", {});
};

/// What a program for the AICPU looks like, and counts how it was called.
template <class R>
struct OnTheDevice {
  static inline int launches = 0;
  static inline std::uint64_t user = 0;
  static inline runtime::OrchestratorArgs told;  ///< those of the last launch
  static inline std::uint64_t told_at = 0;
  static void entry(std::int64_t* args) {
    ++launches;
    told_at = reinterpret_cast<std::uint64_t>(args);
    std::memcpy(static_cast<void*>(&told), args, sizeof(told));
    runtime::orchestrate_on_device<R, stand_in::AicpuMemory>(args, [](auto& round, const auto& io) {
      user = io.user();
      orchestrate(round, io.template get<float, Direction::in>(0), io.template get<float, Direction::inout>(1),
                  io.template get<std::int32_t, Direction::in>(2));
    });
  }
  static void silent(std::int64_t*) {}
  /// As after a copy that failed, which the device leaves out and goes on.
  static void unplaced(std::int64_t* args) {
    const auto& passed = *reinterpret_cast<const runtime::OrchestratorArgs*>(args);
    reinterpret_cast<runtime::OrchestratorTensor*>(passed.arena + passed.tensors_at)[1].address = 0;
    entry(args);
  }
  static void mistaken(std::int64_t* args) {
    runtime::orchestrate_on_device<R>(args,
                                      [](auto&, const auto& io) { (void)io.template get<float, Direction::out>(0); });
  }
};

template <class R>
std::vector<std::byte> program(stand_in::Kernel entry = &OnTheDevice<R>::entry) {
  stand_in::Binary binary;
  binary.add("rondo_orchestrate", entry);
  return binary.bytes();
}

template <class Case>
using Options = runtime::OrchestratedOptions<typename Case::P>;

/// Why a session does not open.
template <class Case>
std::string refusal(const Options<Case>& options, Errc expected) {
  const Interface g;
  try {
    auto session = open<typename Case::P, With<typename Case::R>>(g.graph, on_device, options);
  } catch (const Error& e) {
    CHECK(e.code() == expected);
    return e.what();
  }
  return "it was opened";
}
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_TEMPLATE("A program of the user's builds each round's graph, with the simulation's results to the last bit",
                   C, RONDO_TEST_CASES) {
  const Clean clean;
  using P = typename C::P;
  using Device = OnTheDevice<typename C::R>;
  const Interface g;
  const auto bytes = program<typename C::R>();
  auto options = small_rings<Options<C>>();
  options.orchestrator.binary = KernelBinary::from_memory(bytes);
  options.orchestrator.user = 77;
  const test::Folder folder;
  const std::string path = folder / "orchestrator.bin";
  SUBCASE("from memory") {}
  SUBCASE("from a file") {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    options.orchestrator.binary = KernelBinary::from_file(path.c_str());
  }
  SUBCASE("on threads of its own") { options.orchestration.threads = 2; }
  SUBCASE("in virtual memory") { rondo_stand_in_limit("virtual_memory", 1); }
  Device::launches = 0;
  const std::size_t kept = runtime::detail::DeviceStates::instance().size();  // of sessions that ended without a word
  {
    auto session = open<P, With<typename C::R>>(g.graph, on_device, options);
    auto sim = open<A2A3Sim, With<typename C::R>>(g.graph, [&](auto& round) { orchestrate(round, g.x, g.y, g.steps); });
    {
      DeviceFloats<P> dx(session.platform(), 32), dy(session.platform(), 32);
      for (std::int32_t r = 0; r < 12; ++r) {
        Floats x(32), y(32, -1), expected(32, -1);
        for (std::size_t i = 0; i < 32; ++i) x[i] = 0.1F * static_cast<float>(i + static_cast<std::size_t>(r));
        const std::int32_t steps = r % 5;
        REQUIRE(sim.run_round(bind(g.x, x), bind(g.y, expected), bind(g.steps, steps)).ok());
        if (r % 3 == 2) {  // elsewhere
          REQUIRE(session.run_round(bind(g.x, x), bind(g.y, dy.span()), bind(g.steps, steps)).ok());
          y = dy.values();
        } else {
          const Status status = session.run_round(bind(g.x, x), bind(g.y, y), bind(g.steps, steps));
          REQUIRE_MESSAGE(status.ok(), std::string(session.explain(status).c_str()));
        }
        REQUIRE(std::memcmp(y.data(), expected.data(), 4 * y.size()) == 0);
      }
    }
    CHECK(Device::launches == 12);
    CHECK(Device::user == 77);
    Floats x(32), y(32);
    const std::int32_t steps = 1;
    const auto round = [&] { return session.run_round(bind(g.x, x), bind(g.y, y), bind(g.steps, steps)).ok(); };
    REQUIRE(round());
    REQUIRE(round());
    rondo_stand_in_reset();
    REQUIRE(round());
    CHECK(calls("aclrtLaunchKernelV2") == 1);
    CHECK(calls("aclrtSynchronizeStreamWithTimeout") == 1);
    CHECK(calls("pageable") == 0);
    CHECK(calls(nullptr) <= 5);  // inputs, launch, result, outputs, wait
    REQUIRE(session.close().ok());
    CHECK(Device::launches == 12 + 3 + 1);                            // the last says goodbye
    CHECK(runtime::detail::DeviceStates::instance().size() <= kept);  // it may have taken the place of such a one
  }
}

TEST_CASE("A session with a caller's stream sets up and closes its orchestrator on its own stream") {
  using P = A2A3OverStandIn;
  using R = runtime::TensorMapRingBuffer;
  const Clean clean;
  platform::onboard::Calls c;
  platform::onboard::open_library(c);
  REQUIRE(c.init(nullptr) == 0);
  REQUIRE(c.set_device(0) == 0);
  platform::onboard::Stream stream = nullptr;
  REQUIRE(c.create_stream(&stream, 0, 0) == 0);
  stand_in::live_of_others() = 3;
  {
    const Interface g;
    const auto bytes = program<R>();
    auto options = small_rings<Options<On<P, R>>>();
    options.orchestrator.binary = KernelBinary::from_memory(bytes);
    options.stream = stream;
    auto session = open<P, With<R>>(g.graph, on_device, options);
    CHECK(rondo_stand_in_synchronised(stream) == 0);
    const Floats x(32, 1);
    Floats y(32);
    const std::int32_t steps = 1;
    REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y), bind(g.steps, steps)).ok());
    const std::uint64_t waits = rondo_stand_in_synchronised(stream);
    CHECK(session.close().ok());
    CHECK(rondo_stand_in_synchronised(stream) == waits);
  }
  stand_in::live_of_others() = 0;
  CHECK(c.destroy_stream(stream) == 0);
  CHECK(c.reset_device(0) == 0);
  CHECK(c.finalize() == 0);
}

namespace {

/// y += a b, with a and b repeated to the length of y.
struct AddProducts {
  static constexpr std::string_view name = "add_products";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> a, In<std::int32_t> b, InOut<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += a[i % a.size()] * static_cast<float>(b[i % b.size()]);
  }
};
template <class R>
void add_products(std::int64_t* args) {
  runtime::orchestrate_on_device<R>(args, [](auto& round, const auto& io) {
    round.template add<AddProducts>(io.template get<float, Direction::host_input>(0),
                                    io.template get<std::int32_t, Direction::host_input>(2),
                                    io.template get<float, Direction::inout>(1));
    if (io.tensor(0).address % 64 != 0 || io.tensor(2).address % 64 != 0) throw std::runtime_error("not aligned");
  });
}

}  // namespace

TEST_CASE_TEMPLATE("A program of the user's reads each round's host inputs, whatever their sizes", C,
                   RONDO_TEST_CASES) {
  const Clean clean;
  constexpr std::size_t n = 5 * 19;
  TaskGraph graph;
  const auto a = graph.host_input<float>("a", {5});  // neither takes a multiple of 64 bytes
  const auto y = graph.inout<float>("y", {n});
  const auto b = graph.host_input<std::int32_t>("b", {19});
  const auto bytes = program<typename C::R>(&add_products<typename C::R>);
  auto options = small_rings<Options<C>>();
  options.orchestrator.binary = KernelBinary::from_memory(bytes);
  auto session = open<typename C::P, With<typename C::R>>(graph, on_device, options);
  {
    DeviceFloats<typename C::P> dy(session.platform(), n);
    Floats ha(5), hy(n);
    std::vector<std::int32_t> hb(19);
    const auto prebound = session.prebind(bind(a, ha), bind(y, hy), bind(b, hb));
    for (int r = 0; r < 9; ++r) {
      if (r % 4 != 1) {  // sometimes only one of them changes
        for (std::size_t i = 0; i < ha.size(); ++i) ha[i] = static_cast<float>(10 * r) + static_cast<float>(i);
      }
      if (r % 4 != 2) {
        for (std::size_t i = 0; i < hb.size(); ++i) hb[i] = 100 * r - static_cast<std::int32_t>(i);
      }
      hy.assign(n, static_cast<float>(r));
      dy.fill(static_cast<float>(r));
      Floats expected = hy;
      for (std::size_t i = 0; i < n; ++i) expected[i] += ha[i % 5] * static_cast<float>(hb[i % 19]);
      const bool is_elsewhere = r % 3 == 2;
      const Status status = r % 3 == 1     ? session.run_round(prebound)
                            : is_elsewhere ? session.run_round(bind(a, ha), bind(y, dy.span()), bind(b, hb))
                                           : session.run_round(bind(a, ha), bind(y, hy), bind(b, hb));
      REQUIRE_MESSAGE(status.ok(), std::string(session.explain(status).c_str()));
      REQUIRE((is_elsewhere ? dy.values() : hy) == expected);
    }
  }
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE("Whatever is missing for a graph that is built on the device is told when the session opens", C,
                   RONDO_TEST_CASES) {
  const Clean clean;
  const auto bytes = program<typename C::R>();
  auto options = small_rings<Options<C>>();
  CHECK(contains(refusal<C>(options, Errc::invalid_argument), "Options::orchestrator names no binary"));
  options.orchestrator.binary = KernelBinary::from_file("/nowhere/at.all");
  CHECK(contains(refusal<C>(options, Errc::invalid_argument), "/nowhere/at.all cannot be read"));
  options.orchestrator.binary = KernelBinary::from_memory(bytes);
  options.orchestrator.entry = "somebody_else";
  CHECK(contains(refusal<C>(options, Errc::invalid_argument), "the binary has no function somebody_else"));
  options.orchestrator.entry = "rondo_orchestrate";
  rondo_stand_in_limit("cpu_kernels", 0);
  CHECK(contains(refusal<C>(options, Errc::unsupported), "no kernels on the AICPU"));
  rondo_stand_in_limit("cpu_kernels", 1);
  options.orchestration = {};
  options.device_memory = Bytes{1 << 20};
  CHECK(contains(refusal<C>(options, Errc::out_of_memory), "device memory were asked for"));
}

TEST_CASE_TEMPLATE("On a2a3 the program discards its copies of what the host wrote, and writes its results back", C,
                   RONDO_TEST_CASES) {
  const Clean clean;
  using P = typename C::P;
  using Device = OnTheDevice<typename C::R>;
  constexpr bool needs_it = P::Arch::npu_arch == arch::A2A3::npu_arch;
  const Interface g;
  const auto bytes = program<typename C::R>();
  auto options = small_rings<Options<C>>();
  options.orchestrator.binary = KernelBinary::from_memory(bytes);
  auto session = open<P, With<typename C::R>>(g.graph, on_device, options);
  auto x = session.allocate(g.x), y = session.allocate(g.y);
  REQUIRE(session.upload(x, Floats(32, 1)).ok());
  REQUIRE(session.upload(y, Floats(32, 2)).ok());
  const std::uint64_t of_x = x.span().data().address(), of_y = y.span().data().address();
  for (const std::int32_t steps : {1, 3}) {
    rondo_stand_in_reset();
    REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y), bind(g.steps, steps)).ok());
    CHECK(rondo_stand_in_aicpu_has_discarded(of_x, 128) == needs_it);
    CHECK(rondo_stand_in_aicpu_has_discarded(of_y, 128) == needs_it);
    CHECK_FALSE(rondo_stand_in_aicpu_has_written_back(of_x, 128));
    CHECK(rondo_stand_in_aicpu_has_written_back(of_y, 128) == needs_it);
    const runtime::OrchestratorArgs& told = Device::told;
    CHECK(rondo_stand_in_aicpu_has_discarded(Device::told_at, sizeof(told)));
    CHECK(rondo_stand_in_aicpu_has_discarded(told.arena + told.tensors_at, told.result_at - told.tensors_at) ==
          needs_it);
    CHECK(rondo_stand_in_aicpu_has_written_back(told.arena + told.result_at, sizeof(runtime::OrchestratorResult)) ==
          needs_it);
  }
}

TEST_CASE_TEMPLATE("An orchestrator that does not do what it should fails its round, and says why", C,
                   RONDO_TEST_CASES) {
  const Clean clean;
  using R = typename C::R;
  using Other = std::conditional_t<std::is_same_v<R, runtime::AicpuBuildGraph>, runtime::TensorMapRingBuffer,
                                   runtime::AicpuBuildGraph>;
  const Interface g;
  const auto fails = [&](stand_in::Kernel entry, Errc expected, const char* text) {
    const auto bytes = program<R>(entry);
    auto options = small_rings<Options<C>>();
    options.orchestrator.binary = KernelBinary::from_memory(bytes);
    auto session = open<typename C::P, With<R>>(g.graph, on_device, options);
    Floats x(32), y(32);
    const std::int32_t steps = 1;
    const Status status = session.run_round(bind(g.x, x), bind(g.y, y), bind(g.steps, steps));
    CHECK(status.code() == expected);
    CHECK(session.poisoned());
    const std::string said = session.explain(status).c_str();
    CHECK_MESSAGE(contains(said, text), said);
    CHECK(session.close().ok());
  };
  fails(&OnTheDevice<R>::silent, Errc::device_failed, "without an answer");
  fails(&OnTheDevice<R>::mistaken, Errc::orchestration_failed, "the interface's tensor 0 is no out");
  fails(&OnTheDevice<Other>::entry, Errc::orchestration_failed, "build both from the same Rondo");
  fails(&OnTheDevice<R>::unplaced, Errc::orchestration_failed, "tensor 1 has not reached the device");
}

TEST_CASE_TEMPLATE("The example's orchestrator does what it says", P, A2A3OverStandIn, A5OverStandIn) {
  const Clean clean;
  TaskGraph interface;
  const auto x = interface.input<float>("x", {100});
  const auto y = interface.inout<float>("y", {100});
  const auto steps = interface.input<std::int32_t>("steps", {});
  stand_in::Binary binary;
  binary.add("rondo_orchestrate", [](std::int64_t* args) { (void)rondo_orchestrate(args); });
  const auto bytes = binary.bytes();
  runtime::OrchestratedOptions<P> options;
  options.orchestrator.binary = KernelBinary::from_memory(bytes);
  auto session = open<P, With<runtime::TensorMapRingBuffer>>(interface, on_device, options);
  for (std::int32_t round = 0; round < 5; ++round) {
    const Floats hx(100, 1.5F);
    Floats hy(100, 1);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy), bind(steps, round)).ok());
    CHECK(hy == Floats(100, 1 + 3 * static_cast<float>(round)));
  }
  CHECK(session.close().ok());
}

TEST_CASE("What an earlier session left behind without a word goes with the next one in its place") {
  const Clean clean;
  using R = runtime::TensorMapRingBuffer;
  const Interface g;
  const auto bytes = program<R>();
  auto options = small_rings<runtime::OrchestratedOptions<A2A3OverStandIn>>();
  options.orchestrator.binary = KernelBinary::from_memory(bytes);
  for (int i = 0; i < 3; ++i) {
    auto session = open<A2A3OverStandIn, With<R>>(g.graph, on_device, options);
    Floats x(32, 1), y(32);
    const std::int32_t steps = 0;
    REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y), bind(g.steps, steps)).ok());
    CHECK(y == Floats(32, 0.3F));
    rondo_stand_in_fault("aclrtLaunchKernelV2", 1, 107000);  // the one that says goodbye
    CHECK(session.close().code() == Errc::invalid_argument);
  }
}

TEST_CASE("Kernels are found by number where the runtime finds none by name") {
  const Clean clean;
  using P = A5Onboard;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  const auto s = graph.inout<float>("s", {8});
  graph.add<kernels::Scale>(x, y, 3.0F);
  graph.add<kernels::Accumulate>(x, s);
  rondo_stand_in_chip("a5");
  stand_in::Binary binary;
  binary.add("anything_40", &rondo::detail::kernel_entry<kernels::Accumulate>);
  binary.add("anything_7", &rondo::detail::kernel_entry<kernels::Scale>);
  const auto bytes = binary.bytes();
  const KernelNumber numbers[] = {{"accumulate", 40}, {"scale", 7}};
  const KernelBinary named[] = {KernelBinary::from_memory(bytes).with_numbers(numbers)};
  const KernelBinary unnamed[] = {KernelBinary::from_memory(bytes)};
  P::Options options;
  const auto why = [&](Errc expected) -> std::string {
    try {
      auto session = open<P>(graph, options);
    } catch (const Error& e) {
      CHECK(e.code() == expected);
      return e.what();
    }
    return "it was opened";
  };
  const auto runs = [&](const TaskGraph& which) {
    auto session = open<P>(which, options);
    Floats hx(8, 2), hy(8), hs(8, 1);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy), bind(s, hs)).ok());
    CHECK(hy == Floats(8, 6));
    CHECK(hs == Floats(8, 3));
    CHECK(session.close().ok());
  };
  rondo_stand_in_limit("kernel_names", 0);
  options.kernels = named;
  runs(graph);
  options.kernels = unnamed;
  CHECK(contains(why(Errc::unsupported), "KernelBinary::with_numbers"));
  rondo_stand_in_limit("kernel_entries", 0);
  options.kernels = named;
  CHECK(contains(why(Errc::unsupported), "neither by name nor by number"));
  rondo_stand_in_limit("kernel_entries", 1);
  rondo_stand_in_limit("kernel_names", 1);
  options.kernels = unnamed;
  CHECK(contains(why(Errc::invalid_argument), "build it with the vendor's compiler"));
}

TEST_CASE("A kernel whose name ends with its number needs no list") {
  const Clean clean;
  rondo_stand_in_chip("a5");
  rondo_stand_in_limit("kernel_names", 0);
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add_raw("double_1", CoreType::vector, +[](ArgWord*) {}, reads(x), writes(y));
  stand_in::Binary binary;
  binary.add("other_0", +[](std::int64_t*) {});
  binary.add(
      "double_1", +[](std::int64_t* args) {
        for (std::size_t i = 0; i < 8; ++i) {
          reinterpret_cast<float*>(args[1])[i] = 2 * reinterpret_cast<const float*>(args[0])[i];
        }
      });
  const auto bytes = binary.bytes();
  const KernelBinary kernels[] = {KernelBinary::from_memory(bytes)};
  A5Onboard::Options options;
  options.kernels = kernels;
  auto session = open<A5Onboard>(graph, options);
  const Floats hx(8, 4);
  Floats hy(8);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy == Floats(8, 8));
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE(
    "Where the runtime looks for the entry only when it runs, the first round tells that it is not there", C,
    RONDO_TEST_CASES) {
  const Clean clean;
  const Interface g;
  const auto bytes = program<typename C::R>();
  auto options = small_rings<Options<C>>();
  options.orchestrator.binary = KernelBinary::from_memory(bytes);
  options.orchestrator.entry = "another";
  CHECK(contains(refusal<C>(options, Errc::invalid_argument), "no function another"));
  rondo_stand_in_limit("strict", 0);
  auto session = open<typename C::P, With<typename C::R>>(g.graph, on_device, options);
  const Floats x(32, 1);
  Floats y(32, -1);
  const std::vector<std::int32_t> steps{1};
  const Status status = session.run_round(bind(g.x, x), bind(g.y, y), bind(g.steps, steps));
  CHECK(status.code() == Errc::device_failed);
  CHECK(status.poisoned());
}
