// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/pipelined_session.hpp>
#include <rondo/session/shaped_session.hpp>
#include <unit/session/scripted_platform.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;
using Floats = std::vector<float>;

namespace {

/// Relies on `zeros`, and leaves it zero.
struct AddZeros {
  static constexpr std::string_view name = "add_zeros";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> zeros, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = x[i] + zeros[i];
      zeros[i] = 0;
    }
  }
};

/// y = x + w, z = x - w
struct SumAndDifference {
  static constexpr std::string_view name = "sum_and_difference";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, In<float> w, Out<float> y, Out<float> z) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = x[i] + w[i];
      z[i] = x[i] - w[i];
    }
  }
};
struct FourPorts {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {4});
  Input<float> w = graph.input<float>("w", {4});
  Output<float> y = graph.output<float>("y", {4});
  Output<float> z = graph.output<float>("z", {4});
  TaskId task = graph.add<SumAndDifference>(x, w, y, z);
  Script script;
  Floats hx = Floats(4, 1), hw = Floats(4, 1), hy = Floats(4), hz = Floats(4);
};
struct TwoPorts {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {4});
  Output<float> y = graph.output<float>("y", {4});
  TaskId task = graph.add<Fragile>(x, y);
  Script script;
  Floats hx = Floats(4, 1), hy = Floats(4);

  template <class Session>
  RoundTicket submit(Session& session) {
    return session.submit_round(bind(x, hx), bind(y, hy));
  }
  template <class Session>
  RoundTicket try_submit(Session& session) {
    return session.try_submit_round(bind(x, hx), bind(y, hy));
  }
  template <class Session>
  Status run(Session& session) {
    return session.run_round(bind(x, hx), bind(y, hy));
  }
};

/// Writes what it hears into the script, next to the platform's calls.
struct HearsDeliveriesToo {
  static constexpr Events events{Event::phases, Event::deliveries};
  Script* script = nullptr;
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  void round_begins(RoundIndex) noexcept { ++begun; }
  void round_ends(RoundIndex, Status) noexcept { ++ended; }
  void enters(Phase phase) noexcept {
    if (script != nullptr && phase == Phase::copy_out) script->calls.emplace_back("copies");
  }
  void delivers(RoundIndex) noexcept {
    if (script != nullptr) script->calls.emplace_back("delivers");
  }
};
struct Listening : DefaultPolicies {
  using Observe = HearsDeliveriesToo;
};

/// A QueuedPlatform whose rounds overlap, unless they are told to run alone.
class OverlappingPlatform : public QueuedPlatform {
 public:
  static constexpr Capabilities capabilities{Capability::args_in_host_memory, Capability::queue,
                                             Capability::device_copy, Capability::overlapping_rounds};
  using QueuedPlatform::QueuedPlatform;
  [[nodiscard]] static bool overlaps_rounds() noexcept { return true; }

  class Queue : public QueuedPlatform::Queue {
   public:
    Queue(OverlappingPlatform& platform, std::size_t slots)
        : QueuedPlatform::Queue(platform, slots), script_{platform.script_} {}
    static void overlap_rounds() {}
    void run_alone(std::uint32_t) noexcept { script_->calls.emplace_back("alone"); }

   private:
    Script* script_;
  };
  [[nodiscard]] Queue open_queue(std::size_t slots, std::size_t, Bytes) { return {*this, slots}; }
};
static_assert(HasOverlappingRounds<OverlappingPlatform> && check_platform<OverlappingPlatform>());

/// What awaits a round, in place of a coroutine.
struct Waiter {
  int resumed = 0;
  std::function<void()> then{};
};
struct Handle {
  Waiter* waiter;
  [[nodiscard]] void* address() const noexcept { return waiter; }
  static Handle from_address(void* address) noexcept { return {static_cast<Waiter*>(address)}; }
  void resume() const {
    ++waiter->resumed;
    if (waiter->then) waiter->then();
  }
};

}  // namespace

TEST_CASE("An output that is a view of a resident shows each round's own contents in every slot") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto sum = graph.resident<float>("sum", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<Accumulate>(x, sum);
  graph.make_view(y, sum);
  auto session = open_pipelined<A2A3Sim, 3>(graph);
  const Floats hx(8, 1.0F), zeros(8);
  REQUIRE(session.upload(sum, zeros).ok());
  std::vector<Floats> outputs(7, Floats(8));
  for (auto& hy : outputs) REQUIRE(session.submit_round(bind(x, hx), bind(y, hy)).submitted().ok());
  REQUIRE(session.wait_all().ok());
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    CHECK(outputs[r] == Floats(8, static_cast<float>(r + 1)));
  }
}

TEST_CASE("Workspace that is zeroed once is zero in every slot of a moved arena, also where an output shows it") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto zeros = graph.workspace<float>("zeros", {8});
  const auto y = graph.output<float>("y", {8});
  const auto shown = graph.output<float>("shown", {8});
  graph.zero(zeros, Zeroed::once);
  graph.add<AddZeros>(x, zeros, y);
  graph.make_view(shown, zeros);
  auto session = open_pipelined<A2A3Sim, 3>(graph);
  const Bytes size = session.arena_bytes();
  const auto memory = session.platform().allocate(size, Bytes{1024});
  const Floats sevens(size.value / sizeof(float), 7.0F);
  REQUIRE(session.platform().copy_in(memory, sevens.data(), size).ok());
  REQUIRE(session.move_arena(DeviceSpan<std::byte>{memory, size.value}).ok());
  const Floats hx(8, 1.0F);
  Floats hshown(8, 1.0F);
  std::vector<Floats> outputs(7, Floats(8));
  for (auto& hy : outputs) {
    REQUIRE(session.submit_round(bind(x, hx), bind(y, hy), bind(shown, hshown)).submitted().ok());
  }
  REQUIRE(session.wait_all().ok());
  for (const auto& hy : outputs) CHECK(hy == hx);
  CHECK(hshown == Floats(8));
  CHECK(session.close().ok());
  CHECK(session.platform().release(memory).ok());
}

TEST_CASE("A round waits for one in flight only if it reads what that one writes, whichever slots they have") {
  for (std::size_t slot = 0; slot < 3; ++slot) {
    CAPTURE(slot);
    FourPorts g;
    auto session = open_pipelined<QueuedPlatform, 3>(g.graph, {&g.script});
    Floats block(12, 1);
    const auto part = [&](std::size_t first) { return std::span(block).subspan(first, 4); };
    for (std::size_t round = 0; round < 3 + slot; ++round) {  // in every slot, a round that wrote the middle
      REQUIRE(session.submit_round(bind(g.x, g.hx), bind(g.w, g.hw), bind(g.y, part(4)), bind(g.z, g.hz)));
    }
    REQUIRE(session.wait_all().ok());
    REQUIRE(session.submit_round(bind(g.x, g.hx), bind(g.w, g.hw), bind(g.y, part(0)), bind(g.z, part(8))));
    const auto reads = [&](std::size_t first) {
      return session.try_submit_round(bind(g.x, g.hx), bind(g.w, part(first)), bind(g.y, g.hy), bind(g.z, g.hz));
    };
    const RoundTicket refused = reads(7);
    CHECK(refused.submitted().code() == Errc::busy);
    CHECK(refused.number() == RoundTicket{}.number());  // of no round
    CHECK(reads(0).submitted().code() == Errc::busy);
    CHECK(reads(4));
    CHECK(session.in_flight() == 2);
    CHECK(session.wait_all().ok());
    CHECK(g.hy == Floats(4, 1 + 2));  // the middle is a sum
  }
}

TEST_CASE("A round does not wait for memory that was bound before and is not any more") {
  FourPorts g;
  auto session = open_pipelined<QueuedPlatform, 3>(g.graph, {&g.script});
  DynamicBindings bindings(session);
  REQUIRE(bindings.bind(g.x.key.tensor(), g.hx.data(), Bytes{16}).ok());
  REQUIRE(bindings.bind(g.w.key.tensor(), g.hw.data(), Bytes{16}).ok());
  REQUIRE(bindings.bind(g.y.key.tensor(), g.hy.data(), Bytes{16}).ok());
  REQUIRE(bindings.bind(g.z.key.tensor(), g.hz.data(), Bytes{16}).ok());
  REQUIRE(session.wait(session.submit_round(bindings)).ok());
  const auto device = session.platform().allocate(Bytes{512}, Bytes{512});
  REQUIRE(session.platform().copy_in(device, g.hw.data(), Bytes{16}).ok());
  REQUIRE(bindings.bind(g.w.key.tensor(), device, Bytes{16}).ok());
  Floats x(4, 5), w(4, 5), z(4);
  REQUIRE(session.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, g.hw), bind(g.z, z)));
  CHECK(session.try_submit_round(bindings));
  CHECK(session.in_flight() == 2);
  CHECK(session.wait_all().ok());
  CHECK(g.hw == Floats(4, 10));
  CHECK(g.hy == Floats(4, 2));
  CHECK(session.platform().release(device).ok());
}

TEST_CASE("A round that may not wait takes the slot of one that is over") {
  TwoPorts g;
  auto session = open_pipelined<QueuedPlatform, 2>(g.graph, {&g.script});
  REQUIRE(g.submit(session));
  REQUIRE(g.submit(session));
  CHECK(g.try_submit(session).submitted().code() == Errc::busy);
  CHECK(session.poll() == 2);
  g.script.rounds_end = true;
  CHECK(g.try_submit(session));
  CHECK(session.in_flight() == 1);  // all that were over are delivered
  CHECK(session.rounds() == 2);
}

TEST_CASE("A delivery waits for the round before it copies the outputs") {
  TwoPorts g;
  auto session = open_pipelined<QueuedPlatform, 2, Listening>(g.graph, {&g.script});
  REQUIRE(g.submit(session));
  (void)g.script.take();
  session.observer().script = &g.script;
  REQUIRE(session.wait_all().ok());
  CHECK(g.script.take() == "delivers await copies deliver");
  session.observer().script = nullptr;
}

TEST_CASE("A round whose outcome is any failure poisons, since later rounds may have used its results") {
  TwoPorts g;
  auto session = open_pipelined<QueuedPlatform, 2>(g.graph, {&g.script});
  g.script.fail_on = "deliver";
  g.script.failure = Status{Errc::out_of_resources};
  const RoundTicket first = g.submit(session);
  const RoundTicket second = g.submit(session);
  CHECK(session.wait(first) == Status{Errc::out_of_resources}.poisoning());
  CHECK(session.poisoned());
  CHECK(session.wait(second).code() == Errc::poisoned);
  CHECK(session.rounds() == 0);
}

TEST_CASE("An observer hears one end of each round that began and was not submitted, with a queue and without") {
  const auto check = []<class P>(P*) {
    TwoPorts g;
    auto session = open_pipelined<P, 2, Listening>(g.graph, {&g.script});
    g.script.fail_on = "copy_in";
    g.script.failure = Status{Errc::device_failed}.poisoning();
    CHECK(session.wait(g.submit(session)).code() == Errc::device_failed);
    CHECK(session.poisoned());
    CHECK(session.observer().begun == 1);
    CHECK(session.observer().ended == 1);
    CHECK(session.wait_all().code() == Errc::device_failed);
    CHECK(session.observer().ended == 1);
    CHECK(session.rounds() == 0);
  };
  check(static_cast<ScriptedPlatform*>(nullptr));
  check(static_cast<QueuedPlatform*>(nullptr));
}

TEST_CASE("A session that a completion closes while it is being closed is closed once") {
  TwoPorts g;
  {
    auto session = open_pipelined<QueuedPlatform, 2>(g.graph, {&g.script});
    REQUIRE(session.submit_round(bind(g.x, g.hx), bind(g.y, g.hy), [&](Status) noexcept { (void)session.close(); }));
    (void)g.script.take();
    CHECK(session.close().ok());
    CHECK(g.script.take() == "await deliver wait unload unload release");
  }
  CHECK(g.script.take().empty());
}

TEST_CASE("A direct round that fails alone does not count, and later ones do") {
  TwoPorts g;
  auto session = open_pipelined<QueuedPlatform, 2>(g.graph, {&g.script});
  g.script.fail_on = "copy_out";
  g.script.failure = Status{Errc::out_of_resources};
  CHECK(g.run(session).code() == Errc::out_of_resources);
  CHECK_FALSE(session.poisoned());
  g.script.fail_on.clear();
  CHECK(session.wait_all().ok());
  CHECK(session.rounds() == 0);
  CHECK(g.run(session).ok());
  CHECK(session.wait(g.submit(session)).ok());
  CHECK(session.rounds() == 2);

  g.script.fail_on = "wait";
  g.script.failure = Status{Errc::device_failed}.poisoning();
  CHECK(g.run(session).code() == Errc::device_failed);
  CHECK(session.poisoned());
  CHECK(session.rounds() == 2);
  CHECK(session.wait_all().code() == Errc::device_failed);
  CHECK(g.run(session).code() == Errc::poisoned);
}

TEST_CASE("A device that is lost while a session waits after a refused step poisons the session, of any kind") {
  const Status lost = Status{Errc::device_failed}.poisoning();
  for (const char* const step : {"copy_in", "copy_out"}) {
    const auto check = [&](auto open, auto run, bool tells) {
      TwoPorts g;
      auto session = open(g);
      REQUIRE(g.run(session).ok());
      g.script.fail_on = step;
      g.script.failure = Status{Errc::out_of_resources};
      g.script.found_by_wait = lost;
      CHECK(run(g, session) == (tells ? lost : g.script.failure));
      CHECK(session.poisoned());
      g.script.fail_on.clear();
      (void)g.script.take();
      const Status later = g.run(session);
      CHECK(later.code() == Errc::poisoned);
      CHECK(test::says(session.explain(later), "The failure: "));
      CHECK(g.script.take().empty());  // such a platform is only asked to wait and to release
      CHECK(session.rounds() == 1);
    };
    const auto one = [](auto& g) { return rondo::open<ScriptedPlatform>(g.graph, {&g.script}); };
    const auto queued = [](auto& g) { return open_pipelined<QueuedPlatform, 2>(g.graph, {&g.script}); };
    const auto unqueued = [](auto& g) { return open_pipelined<ScriptedPlatform, 2>(g.graph, {&g.script}); };
    const auto shaped = [](auto& g) { return open_shaped<ScriptedPlatform>(g.graph, {&g.script}); };
    const auto whole = [](auto& g, auto& session) { return g.run(session); };
    const auto in_steps = [](auto& g, auto& session) {
      return session.begin_round(bind(g.x, g.hx), bind(g.y, g.hy)).launch().finish().status();
    };
    const auto submitted = [](auto& g, auto& session) { return session.wait(g.submit(session)); };
    check(one, whole, true);
    check(one, in_steps, true);
    check(queued, whole, true);
    check(queued, in_steps, true);
    check(shaped, whole, true);
    check(unqueued, submitted, false);
    check(shaped, submitted, false);
  }
}

TEST_CASE("A binding that is refused leaves the rounds in flight alone") {
  TwoPorts g;
  auto session = open_pipelined<QueuedPlatform, 3>(g.graph, {&g.script});
  auto other = open_pipelined<QueuedPlatform, 3>(g.graph, {&g.script});
  const auto device = other.platform().allocate(Bytes{512}, Bytes{512});
  {
    DynamicBindings unbound(session);
    DynamicBindings foreign(other);
    const std::int64_t extents[] = {4}, strides[] = {8};
    REQUIRE(foreign.bind(g.x.key.tensor(), device, StridedLayout(4, extents, strides, 1)).ok());
    REQUIRE(foreign.bind(g.y.key.tensor(), g.hy.data(), Bytes{16}).ok());
    REQUIRE(g.submit(session));
    CHECK(session.submit_round(unbound).submitted().code() == Errc::unbound_tensor);
    CHECK(session.submit_round(foreign).submitted().code() == Errc::wrong_tensor);
    CHECK(session.in_flight() == 1);
    CHECK(session.wait_all().ok());
  }
  CHECK(other.platform().release(device).ok());
}

TEST_CASE("A round copies device memory with strides among its own copies, beside rounds in flight") {
  TwoPorts g;
  auto session = open_pipelined<QueuedPlatform, 3>(g.graph, {&g.script});
  const auto device = session.platform().allocate(Bytes{512}, Bytes{512});
  {
    DynamicBindings on_host(session), on_device(session);
    Floats apart(8, 3);
    const std::int64_t extents[] = {4}, strides[] = {8};
    const StridedLayout layout(4, extents, strides, 1);
    REQUIRE(on_host.bind(g.x.key.tensor(), g.hx.data(), Bytes{16}).ok());
    REQUIRE(on_host.bind(g.y.key.tensor(), apart.data(), layout).ok());
    const Floats ones(128, 1);
    REQUIRE(session.platform().copy_in(device, ones.data(), Bytes{512}).ok());
    REQUIRE(on_device.bind(g.x.key.tensor(), device, layout).ok());
    REQUIRE(on_device.bind(g.y.key.tensor(), device.offset(Bytes{256}), layout).ok());
    for (int times = 0; times < 2; ++times) {
      REQUIRE(session.submit_round(on_host));
      CHECK(g.try_submit(session));
      (void)g.script.take();
      REQUIRE(session.try_submit_round(on_device));
      CHECK(g.script.take() == "copy_on_device launch copy_on_device commit");
      CHECK(session.in_flight() == 3);
      CHECK(session.wait_all().ok());
      CHECK(apart == Floats{1, 3, 1, 3, 1, 3, 1, 3});
    }
  }
  CHECK(session.platform().release(device).ok());
}

TEST_CASE("A round whose memory cannot be copied on the device is refused, and poisons if that is lost") {
  TwoPorts g;
  auto session = open_pipelined<QueuedPlatform, 3>(g.graph, {&g.script});
  const auto device = session.platform().allocate(Bytes{512}, Bytes{512});
  DynamicBindings bindings(session);
  const std::int64_t extents[] = {4}, strides[] = {8};
  REQUIRE(bindings.bind(g.x.key.tensor(), device, StridedLayout(4, extents, strides, 1)).ok());
  REQUIRE(bindings.bind(g.y.key.tensor(), g.hy.data(), Bytes{16}).ok());
  g.script.fail_on = "copy_on_device";
  g.script.failure = Status{Errc::timed_out};
  CHECK(session.submit_round(bindings).submitted().code() == Errc::timed_out);
  CHECK_FALSE(session.poisoned());
  g.script.failure = Status{Errc::device_failed}.poisoning();
  CHECK(session.submit_round(bindings).submitted().code() == Errc::device_failed);
  CHECK(session.poisoned());
  auto direct = open<QueuedPlatform>(g.graph, {&g.script});
  DynamicBindings of_direct(direct);
  REQUIRE(of_direct.bind(g.x.key.tensor(), device, StridedLayout(4, extents, strides, 1)).ok());
  REQUIRE(of_direct.bind(g.y.key.tensor(), g.hy.data(), Bytes{16}).ok());
  CHECK(direct.run_round(of_direct).code() == Errc::device_failed);
  CHECK(direct.poisoned());
  g.script.fail_on.clear();
  CHECK(session.close().ok());
  CHECK(session.platform().release(device).ok());
}

TEST_CASE("A round that binds device memory of the caller, and no other, runs alone where rounds overlap") {
  TwoPorts g;
  auto session = open_pipelined<OverlappingPlatform, 2>(g.graph, {&g.script});
  auto device = session.allocate(g.x);
  REQUIRE(session.upload(device, g.hx).ok());
  const auto runs_alone = [&](auto&&... pairs) {
    (void)g.script.take();
    CHECK(session.wait(session.submit_round(pairs...)).ok());
    return says(g.script.take(), "alone");
  };
  for (int slot = 0; slot < 2; ++slot) {
    CHECK(runs_alone(bind(g.x, device), bind(g.y, g.hy)));
    CHECK(runs_alone(bind(g.y, g.hy), bind(g.x, device)));
  }
  for (int slot = 0; slot < 2; ++slot) {
    CHECK_FALSE(runs_alone(bind(g.x, g.hx), bind(g.y, g.hy)));
    CHECK_FALSE(runs_alone(bind(g.y, g.hy), bind(g.x, g.hx)));
  }
  // An input that is held is there for all slots, and only read.
  CHECK(runs_alone(bind(g.x, device), bind(g.y, g.hy)));
  REQUIRE(session.hold(g.x).ok());
  for (int slot = 0; slot < 2; ++slot) CHECK_FALSE(runs_alone(bind(g.x, g.hx), bind(g.y, g.hy)));
  REQUIRE(session.release_hold(g.x).ok());
  for (int slot = 0; slot < 2; ++slot) CHECK(runs_alone(bind(g.x, device), bind(g.y, g.hy)));
}

TEST_CASE("All slots share the workspace unless rounds overlap") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto t = graph.workspace<float>("t", {4096});
  const auto y = graph.output<float>("y", {4});
  graph.add<Scale>(x, t, 1.0F);
  graph.add<Scale>(t, y, 1.0F);
  Script script;
  auto session = open_pipelined<QueuedPlatform, 3>(graph, {&script});
  CHECK(session.arena_bytes().value < 2 * 4096 * sizeof(float));
  CHECK(open_pipelined<OverlappingPlatform, 3>(graph, {&script}).arena_bytes().value > 3 * 4096 * sizeof(float));
}

TEST_CASE("A session of several slots shows the args of the first, and tells what was wrong outside of its rounds") {
  TwoPorts g;
  const auto sum = g.graph.resident<float>("sum", {4});
  g.graph.add<Accumulate>(g.x, sum);
  auto session = open_pipelined<QueuedPlatform, 2>(g.graph, {&g.script});
  const Floats three(3);
  const Status refused = session.upload(sum, three);
  CHECK(refused.code() == Errc::wrong_size);
  CHECK(says(session.explain(refused).c_str(), "'sum'", "takes 16 bytes", "12 were bound"));
  REQUIRE(session.upload(sum, g.hx).ok());
  auto device = session.allocate(g.y);
  REQUIRE(session.wait(session.submit_round(bind(g.x, g.hx), bind(g.y, device))).ok());
  const args::ArgsTable& args = session.args();
  CHECK(std::count(args.words(), args.words() + args.image().size() / sizeof(ArgWord),
                   static_cast<ArgWord>(device.span().data().address())) == 1);
}

TEST_CASE("A shape that is new is set up for each slot that its round may take") {
  TaskGraph graph;
  const auto n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<Scale>(x, y, 2.0F);
  auto session = open_shaped<A2A3Sim, DefaultPolicies, launch::Lru<8>, 2>(graph);
  for (const std::size_t size : {4U, 8U, 12U, 4U, 8U}) {
    CAPTURE(size);
    const Floats hx(size, 1);
    Floats hy(size);
    REQUIRE(session.wait(session.submit_round(bind(x, hx), bind(y, hy))).ok());
    CHECK(hy == Floats(size, 2));
  }
}

namespace {

struct Symbolic {
  TaskGraph graph;
  Dim n = graph.dim("n");
  Input<float> x = graph.input<float>("x", {n});
  Workspace<float> t = graph.workspace<float>("t", {n});
  Output<float> y = graph.output<float>("y", {n});
  Script script;
};
template <class P>
using Shapes = ShapedSession<P, DefaultPolicies, launch::Lru<8>, 2>;

}  // namespace

TEST_CASE("Each slot of a session of shapes has its own inputs and outputs, also workspace that an output shows") {
  Symbolic g;
  g.graph.add<Scale>(g.x, g.t, 2.0F);
  g.graph.make_view(g.y, g.t);
  Shapes<QueuedPlatform> session(g.graph, {&g.script});
  for (const std::size_t size : {4U, 4096U, 4U}) {  // the second one moves the first
    const Floats ones(size, 1), twos(size, 2);
    Floats first(size), second(size);
    for (int times = 0; times < 2; ++times) {
      REQUIRE(session.submit_round(bind(g.x, ones), bind(g.y, first)));
      REQUIRE(session.submit_round(bind(g.x, twos), bind(g.y, second)));
      REQUIRE(session.wait_all().ok());
      CHECK(first == Floats(size, 2));
      CHECK(second == Floats(size, 4));
    }
  }
}

TEST_CASE("A shape without inputs and outputs in the arena has slots, too") {
  TaskGraph graph;
  const auto n = graph.dim("n");
  const auto x = graph.host_input<float>("x", {n});
  const auto t = graph.workspace<float>("t", {n});
  const auto sum = graph.resident<float>("sum", {1});
  graph.add<Scale>(x, t, 1.0F);
  graph.add<Accumulate>(t, sum);
  Shapes<A2A3Sim> session(graph);
  REQUIRE(session.upload(sum, Floats(1)).ok());
  const Floats hx(1024);
  for (int times = 0; times < 3; ++times) REQUIRE(session.submit_round(bind(x, hx)));
  CHECK(session.wait_all().ok());
  CHECK(session.arena_bytes().value >= 1024 * sizeof(float));
  CHECK(session.arena_bytes().value < 2 * 1024 * sizeof(float));
}

TEST_CASE("What is reserved is for the slots of a session, too: new shapes do not allocate") {
  Symbolic g;
  const auto sum = g.graph.resident<float>("sum", {1});
  g.graph.add<Scale>(g.x, g.t, 2.0F);
  g.graph.add<Accumulate>(g.t, sum);
  g.graph.add<Scale>(g.t, g.y, 2.0F);
  Shapes<QueuedPlatform> session(g.graph, {&g.script});
  REQUIRE(session.upload(sum, Floats{1}).ok());
  session.reserve(Bytes{1 << 16});
  const Bytes reserved = session.arena_bytes();
  (void)g.script.take();
  Floats x[2], y[2];
  for (const std::size_t size : {4U, 400U, 4U, 2000U, 400U}) {
    for (int slot = 0; slot < 2; ++slot) {
      x[slot] = Floats(size, 1), y[slot] = Floats(size);
      REQUIRE(session.submit_round(bind(g.x, x[slot]), bind(g.y, y[slot])));
    }
    REQUIRE(session.wait_all().ok());
    CHECK(y[0] == Floats(size, 4));
    CHECK(y[1] == Floats(size, 4));
  }
  CHECK(g.script.take().find("allocate") == std::string::npos);
  CHECK(session.arena_bytes() == reserved);
  Floats total(1);
  REQUIRE(session.download(sum, total).ok());
  CHECK(total[0] == 1 + 10 * 2);
  const Floats hx(1 << 16, 1);
  Floats hy(1 << 16);
  REQUIRE(session.run_round(bind(g.x, hx), bind(g.y, hy)).ok());
  CHECK(hy == Floats(1 << 16, 4));
  CHECK(session.arena_bytes() > reserved);
}

TEST_CASE("A session of shapes reserves what it is told to, and is usable after what it cannot") {
  Symbolic g;
  g.graph.add<Scale>(g.x, g.t, 2.0F);
  g.graph.add<Scale>(g.t, g.y, 2.0F);
  Shapes<A2A3Sim> session(g.graph);
  const Floats hx(1 << 16, 1);
  Floats hy(1 << 16);
  REQUIRE(session.run_round(bind(g.x, hx), bind(g.y, hy)).ok());
  const Bytes wanted{session.arena_bytes().value + 4096};
  session.reserve(wanted);
  CHECK(session.arena_bytes() >= wanted);
  CHECK(session.arena_bytes().value < wanted.value + 4096);
  const Raised refused = raised([&] { session.reserve(Bytes{(std::uint64_t{1} << 62) + 1}); });
  CHECK(refused.code == Errc::out_of_memory);
  CHECK(says(refused.text, "the most is 2^62"));
  CHECK_FALSE(session.poisoned());
  CHECK(session.run_round(bind(g.x, hx), bind(g.y, hy)).ok());
  CHECK(hy == Floats(1 << 16, 4));
  const Status negative = session.run_round(with_symbols({{g.n, -4}}), bind(g.x, hx), bind(g.y, hy));
  CHECK(negative.code() == Errc::invalid_argument);
  CHECK(says(session.explain(negative).c_str(), "with_symbols: give each"));
}

TEST_CASE("A session of shapes whose arena cannot be moved in time is lost") {
  Symbolic g;
  const auto w = g.graph.resident<float>("w", {4});
  g.graph.add<Scale>(g.x, g.t, 2.0F);
  g.graph.add<Scale>(g.t, g.y, 2.0F);
  Shapes<QueuedPlatform> session(g.graph, {&g.script});
  REQUIRE(session.upload(w, Floats(4)).ok());
  g.script.fail_on = "wait";
  g.script.failure = Status{Errc::timed_out};
  CHECK(raised([&] { session.reserve(Bytes{1 << 20}); }).code == Errc::timed_out);
  CHECK(session.poisoned());
  g.script.fail_on.clear();
}

TEST_CASE("A direct round of a session of shapes that fails alone does not count; one that poisons does") {
  Symbolic g;
  g.graph.add<Scale>(g.x, g.t, 2.0F);
  g.graph.add<Scale>(g.t, g.y, 2.0F);
  Shapes<QueuedPlatform> session(g.graph, {&g.script});
  const Floats hx(4, 1);
  Floats hy(4);
  const auto run = [&] { return session.run_round(bind(g.x, hx), bind(g.y, hy)); };
  REQUIRE(run().ok());
  g.script.fail_on = "copy_out";
  g.script.failure = Status{Errc::out_of_resources};
  CHECK(run().code() == Errc::out_of_resources);
  g.script.fail_on.clear();
  CHECK(session.wait_all().ok());
  CHECK(run().ok());
  CHECK(session.rounds() == 2);
  g.script.fail_on = "wait";
  g.script.failure = Status{Errc::device_failed}.poisoning();
  CHECK(run().code() == Errc::device_failed);
  CHECK(session.poisoned());
  CHECK(session.wait_all().code() == Errc::device_failed);
}

TEST_CASE("Of the awaited rounds in flight one that is dropped resumes nobody, and every other its own waiter") {
  TwoPorts g;
  for (int times = 0; times < 4; ++times) {  // sessions number their rounds from different numbers on
    for (std::size_t dropped = 0; dropped < 3; ++dropped) {
      CAPTURE(dropped);
      auto session = open_pipelined<QueuedPlatform, 3>(g.graph, {&g.script});
      using Awaited = decltype(session.round(bind(g.x, g.hx), bind(g.y, g.hy)));
      for (int round = 0; round < 2; ++round) REQUIRE(session.wait(g.submit(session)).ok());
      std::optional<Awaited> rounds[3];
      Waiter waiters[3];
      for (std::size_t i = 0; i < 3; ++i) {
        rounds[i].emplace(session, bind(g.x, g.hx), bind(g.y, g.hy));
        REQUIRE(rounds[i]->await_suspend(Handle{&waiters[i]}));
      }
      REQUIRE(session.in_flight() == 3);
      rounds[dropped].reset();
      CHECK(session.wait_all().ok());
      for (std::size_t i = 0; i < 3; ++i) CHECK(waiters[i].resumed == (i == dropped ? 0 : 1));
    }
  }
}

TEST_CASE("Rounds that wait for a slot take their turn, whichever of them are dropped meanwhile") {
  TwoPorts g;
  auto session = open_pipelined<QueuedPlatform, 2>(g.graph, {&g.script});
  using Awaited = decltype(session.round(bind(g.x, g.hx), bind(g.y, g.hy)));
  REQUIRE(g.submit(session));
  REQUIRE(g.submit(session));
  std::optional<Awaited> rounds[6];
  Waiter waiters[6];
  std::string order;
  const auto wait = [&](std::size_t i) {
    waiters[i].then = [&order, i] { order += std::to_string(i); };
    rounds[i].emplace(session, bind(g.x, g.hx), bind(g.y, g.hy));
    REQUIRE(rounds[i]->await_suspend(Handle{&waiters[i]}));
  };
  for (std::size_t i = 0; i < 4; ++i) wait(i);
  rounds[3].reset();  // the last
  wait(4);
  rounds[0].reset();  // the first
  wait(5);
  rounds[2].reset();  // one in between
  CHECK(session.in_flight() == 2);
  CHECK(session.wait_all().ok());
  CHECK(order == "145");
}

TEST_CASE("A round that is awaited where the one before it was can be dropped like any other") {
  TwoPorts g;
  auto session = open_pipelined<QueuedPlatform, 2>(g.graph, {&g.script});
  using Awaited = decltype(session.round(bind(g.x, g.hx), bind(g.y, g.hy)));
  std::optional<Awaited> round;
  Waiter waiter;
  waiter.then = [&] {  // as in the loop of a coroutine
    round.emplace(session, bind(g.x, g.hx), bind(g.y, g.hy));
    (void)round->await_suspend(Handle{&waiter});
  };
  round.emplace(session, bind(g.x, g.hx), bind(g.y, g.hy));
  REQUIRE(round->await_suspend(Handle{&waiter}));
  g.script.rounds_end = true;
  CHECK(session.poll() == 1);
  CHECK(waiter.resumed == 1);
  round.reset();
  CHECK(session.wait_all().ok());
  CHECK(waiter.resumed == 1);
}

namespace {

/// y = p + 1; for p = 1 only once the gate is open.
struct Next {
  static inline std::atomic<bool> gate{false};
  static constexpr std::string_view name = "next";
  static constexpr auto core = CoreType::vector;
  static void run(In<std::int32_t> p, Out<std::int32_t> y) noexcept {
    if (p[0] == 1) gate.wait(false);
    y[0] = p[0] + 1;
  }
};
struct Decode {
  TaskGraph graph;
  HostInput<std::int32_t> p = graph.host_input<std::int32_t>("p", {1});
  Output<std::int32_t> y = graph.output<std::int32_t>("y", {1});
  TaskId task = graph.add<Next>(p, y);
};
struct NeverRewrites : DefaultPolicies {
  using Update = update::NoUpdate;
};

}  // namespace

TEST_CASE("A host input waits for the round that writes its memory, however it is bound") {
  Decode g;
  auto session = open_pipelined<A2A3Sim, 3>(g.graph);
  std::int32_t first = 1, token = 0, second = 0;
  DynamicBindings bindings(session);
  const auto prebound = session.prebind(bind(g.p, token), bind(g.y, second));
  const auto bind_number = [&](TensorKey key, std::int32_t& value) {
    REQUIRE(bindings.bind(key.tensor(), &value, Bytes{4}).ok());
  };
  for (int how = 0; how < 3; ++how) {
    CAPTURE(how);
    first += 10;
    second = 0;
    REQUIRE(session.submit_round(bind(g.p, first), bind(g.y, token)));
    if (how == 0) REQUIRE(session.submit_round(bind(g.p, token), bind(g.y, second)));
    if (how == 1) REQUIRE(session.submit_round(prebound));
    bind_number(g.p.key, token);
    bind_number(g.y.key, second);
    if (how == 2) REQUIRE(session.submit_round(bindings));
    REQUIRE(session.wait_all().ok());
    CHECK(second == first + 2);
  }
}

TEST_CASE("Bindings that a completion changes while a round is tried are those that are compared") {
  Decode g;
  auto session = open_pipelined<A2A3Sim, 2>(g.graph);
  std::int32_t first = 1, other = 5, ignored = 0, token = 0, result = 0;
  DynamicBindings bindings(session);
  const auto bind_number = [&](TensorKey key, std::int32_t& value) {
    (void)bindings.bind(key.tensor(), &value, Bytes{4});
  };
  bind_number(g.p.key, other);
  bind_number(g.y.key, result);
  bool is_rebound = false;
  REQUIRE(session.submit_round(bind(g.p, other), bind(g.y, ignored), [&](Status) noexcept {
    bind_number(g.p.key, token);
    is_rebound = true;
  }));
  REQUIRE(session.submit_round(bind(g.p, first), bind(g.y, token)));  // waits at the gate
  while (!is_rebound) CHECK(!session.try_submit_round(bindings));
  Next::gate = true;
  Next::gate.notify_all();
  while (!session.try_submit_round(bindings)) {
  }
  REQUIRE(session.wait_all().ok());
  CHECK(result == first + 2);
}

TEST_CASE("An input is held in all slots only where the update strategy rewrites addresses") {
  TwoPorts g;
  auto session = open_pipelined<A2A3Sim, 2, NeverRewrites>(g.graph);
  for (const float value : {1.0F, 2.0F}) {
    g.hx.assign(4, value);
    REQUIRE(g.submit(session));
    REQUIRE(session.wait_all().ok());
  }
  CHECK(session.hold(g.x) == Status::of_tensor(Errc::unsupported, 0));
}

TEST_CASE("A round may not write where an input is held, in whichever slot it runs") {
  TwoPorts g;
  auto session = open_pipelined<A2A3Sim, 2>(g.graph);
  auto a = session.allocate(g.x), b = session.allocate(g.x);
  REQUIRE(session.upload(a, Floats(4, 1)).ok());
  REQUIRE(session.upload(b, Floats(4, 1)).ok());
  REQUIRE(session.submit_round(bind(g.x, a), bind(g.y, b)));
  REQUIRE(session.submit_round(bind(g.x, b), bind(g.y, a)));
  REQUIRE(session.wait_all().ok());
  REQUIRE(session.hold(g.x).ok());  // at b
  for (int slot = 0; slot < 2; ++slot) {
    CAPTURE(slot);
    CHECK(session.submit_round(bind(g.x, g.hx), bind(g.y, b)).submitted().code() == Errc::overlapping);
    REQUIRE(g.submit(session));
    REQUIRE(session.wait_all().ok());
  }
}
