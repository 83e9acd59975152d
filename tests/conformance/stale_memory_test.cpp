// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Sessions that check memory refuse rounds that would use what is gone, with the tensor's name and the cause, and run
// the next round with memory that is there.

#include "conformance/device_floats.hpp"
#include "conformance/kernels.hpp"
#include "conformance/platforms.hpp"

#include <rondo/memory/dlpack.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rondo;

namespace {

using Floats = std::vector<float>;
constexpr std::size_t n = 2048;  // floats; two pages

/// y = x + w, of which w stays on the device.
struct Graph {
  Graph() { graph.add<kernels::Add>(x, w, y); }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {n});
  Resident<float> w = graph.resident<float>("w", {n});
  Output<float> y = graph.output<float>("y", {n});
};
struct Shapes {
  Shapes() { graph.add<kernels::Add>(x, x, y); }
  TaskGraph graph;
  Dim size = graph.dim("size");
  Input<float> x = graph.input<float>("x", {size});
  Output<float> y = graph.output<float>("y", {size});
};

/// The address at which Locate found x.
std::atomic<std::uintptr_t> located{0};
struct Locate {
  static constexpr std::string_view name = "locate";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    located = reinterpret_cast<std::uintptr_t>(&x[0]);
    y[0] = x[0];
  }
};

template <class P>
struct Fixture {
  Fixture() { REQUIRE(session.upload(g.w, Floats(n, 2)).ok()); }
  Graph g;
  RoundSession<P, CheckedPolicies> session = open<P, CheckedPolicies>(g.graph);
  Floats x = Floats(n, 1), y = Floats(n);

  template <class... B>
  void runs(B&&... pairs) {
    const Status status = session.run_round(pairs...);
    CHECK_MESSAGE(status.ok(), std::string(session.explain(status).c_str()));
  }
  template <class... B>
  void refuses(const char* tensor, const char* cause, B&&... pairs) {
    const Status status = session.run_round(pairs...);
    CHECK(status.code() == Errc::stale_memory);
    CHECK(!status.poisoned());
    const std::string text = session.explain(status).c_str();
    CHECK_MESSAGE(text.find("tensor '" + std::string(tensor) + "'") != std::string::npos, text);
    CHECK_MESSAGE(text.find(cause) != std::string::npos, text);
    y.assign(n, 0);
    runs(bind(g.x, x), bind(g.y, y));
    CHECK(y == Floats(n, 3));
  }
};

}  // namespace

#define RONDO_TEST_PLATFORMS A2A3Sim, A5SimOn<Pool>, Host, A2A3OverStandIn, A5OverStandIn

TEST_CASE_TEMPLATE("A round that binds released device memory is refused", P, RONDO_TEST_PLATFORMS) {
  Fixture<P> f;
  std::optional<DeviceFloats<P>> memory(std::in_place, f.session.platform(), n, 5.0F);
  const DeviceSpan<float> span = memory->span();
  f.runs(bind(f.g.x, span), bind(f.g.y, f.y));
  CHECK(f.y == Floats(n, 7));
  const auto prebound = f.session.prebind(bind(f.g.x, span), bind(f.g.y, f.y));
  DynamicBindings dynamic(f.session);
  REQUIRE(dynamic.bind(f.g.x.key.tensor(), span.data().template as<std::byte>(), Bytes{4 * n}).ok());
  REQUIRE(dynamic.bind(f.g.y.key.tensor(), static_cast<void*>(f.y.data()), Bytes{4 * n}).ok());
  f.runs(prebound);
  f.runs(dynamic);
  memory.reset();
  f.refuses("x", "was released", bind(f.g.x, span), bind(f.g.y, f.y));
  f.refuses("x", "was released", bind(f.g.y, f.y), bind(f.g.x, span));
  f.refuses("x", "was released", bind(f.g.x, DeviceSpan<float>(span.data(), n)), bind(f.g.y, f.y));
  f.refuses("x", "was released", prebound);
  f.refuses("x", "was released", dynamic);
  CHECK(f.session.prebind(bind(f.g.x, span), bind(f.g.y, f.y)).status().code() == Errc::stale_memory);
  CHECK(f.session.begin_round(bind(f.g.x, span), bind(f.g.y, f.y)).failure().code() == Errc::stale_memory);

  // A host that takes the addresses for other memory makes no difference to what was bound before.
  if constexpr (is_over_stand_in<P>) {
    const auto kept = f.session.prebind(bind(f.g.x, f.x), bind(f.g.y, f.y));
    memory::Registry& registry = memory::Registry::instance();
    const memory::Space space = f.session.platform().memory_space();
    registry.note_allocated(space, span.data().address(), Bytes{4 * n});
    f.refuses("x", "allocated again", prebound);
    f.runs(kept);
    DeviceFloats<P> held(f.session.platform(), n, 1.0F);
    f.runs(bind(f.g.x, held.span()), bind(f.g.y, f.y));
    std::optional<DeviceFloats<P>> out(std::in_place, f.session.platform(), n);
    const DeviceSpan<float> to = out->span();
    const auto to_device = f.session.prebind(bind(f.g.x, f.x), bind(f.g.y, to));
    REQUIRE(f.session.hold(f.g.x).ok());
    f.runs(to_device);
    out.reset();
    registry.note_allocated(space, to.data().address(), Bytes{4 * n});
    f.refuses("y", "allocated again", to_device);
    REQUIRE(f.session.release_hold(f.g.x).ok());
    registry.note_released(space, to.data().address(), nullptr);
    registry.forget_released(space, to.data().address());
    registry.note_released(space, span.data().address(), nullptr);
    registry.forget_released(space, span.data().address());
  }
}

TEST_CASE_TEMPLATE("A held input, and the arena itself, are refused when their memory was released", P,
                   RONDO_TEST_PLATFORMS) {
  Fixture<P> f;
  const auto older = f.session.prebind(bind(f.g.x, f.x), bind(f.g.y, f.y));
  std::optional<DeviceFloats<P>> memory(std::in_place, f.session.platform(), n, 5.0F);
  f.runs(bind(f.g.x, memory->span()), bind(f.g.y, f.y));
  REQUIRE(f.session.hold(f.g.x).ok());
  f.runs(bind(f.g.x, f.x), bind(f.g.y, f.y));
  CHECK(f.y == Floats(n, 7));
  f.y.assign(n, 0);
  f.runs(older);  // made before the memory that is held was allocated
  CHECK(f.y == Floats(n, 7));
  memory.reset();
  CHECK(f.session.run_round(bind(f.g.x, f.x), bind(f.g.y, f.y)).code() == Errc::stale_memory);
  REQUIRE(f.session.release_hold(f.g.x).ok());
  f.runs(bind(f.g.x, f.x), bind(f.g.y, f.y));

  const Bytes size = f.session.arena_bytes();
  std::optional<DeviceFloats<P>> arena(std::in_place, f.session.platform(), size.value / 4);
  REQUIRE(f.session.move_arena({arena->span().data().template as<std::byte>(), size.value}).ok());
  REQUIRE(f.session.upload(f.g.w, Floats(n, 2)).ok());
  f.runs(bind(f.g.x, f.x), bind(f.g.y, f.y));
  arena.reset();
  const Status status = f.session.run_round(bind(f.g.x, f.x), bind(f.g.y, f.y));
  CHECK(status == Status::of_tensor(Errc::stale_memory, 0));
}

TEST_CASE_TEMPLATE("An arena that is gone is told by the first tensor that lies in it", P, RONDO_TEST_PLATFORMS) {
  TaskGraph graph;
  const auto a = graph.host_input<float>("a", {16});
  const auto b = graph.host_input<float>("b", {16});
  const auto x = graph.input<float>("x", {16});
  const auto sum = graph.workspace<float>("sum", {16});
  const auto y = graph.output<float>("y", {16});
  graph.add<kernels::Add>(x, a, sum);
  graph.add<kernels::Add>(sum, b, y);
  auto session = open<P, CheckedPolicies>(graph);
  const Floats ones(16, 1);
  Floats result(16);
  const auto run = [&] { return session.run_round(bind(a, ones), bind(b, ones), bind(x, ones), bind(y, result)); };
  REQUIRE(run().ok());
  CHECK(result == Floats(16, 3));
  const Bytes size = session.arena_bytes();
  {
    const DeviceFloats<P> arena(session.platform(), size.value / 4);
    REQUIRE(session.move_arena({arena.span().data().template as<std::byte>(), size.value}).ok());
    REQUIRE(run().ok());
  }
  CHECK(run() == Status::of_tensor(Errc::stale_memory, index(x.key.tensor())));
}

TEST_CASE_TEMPLATE("What lay in an arena that moved is refused, and so is a prebinding from before", P,
                   RONDO_TEST_PLATFORMS) {
  Fixture<P> f;
  const auto own = f.session.pair(f.g.w);
  f.runs(bind(f.g.x, DeviceSpan<float>(own.device(), n)), bind(f.g.y, f.y));  // its own arena, as long as it is there
  CHECK(f.y == Floats(n, 4));
  const auto prebound = f.session.prebind(bind(f.g.x, f.x), bind(f.g.y, f.y));
  const Bytes size = f.session.arena_bytes();
  DeviceFloats<P> first(f.session.platform(), size.value / 4), second(f.session.platform(), size.value / 4);
  const auto move_to = [&](const DeviceFloats<P>& arena) {
    REQUIRE(f.session.move_arena({arena.span().data().template as<std::byte>(), size.value}).ok());
    REQUIRE(f.session.upload(f.g.w, Floats(n, 2)).ok());
  };
  move_to(first);
  const auto in_first = f.session.pair(f.g.w);
  f.refuses("x", "arena was at this address and has moved", bind(f.g.x, DeviceSpan<float>(own.device(), n)),
            bind(f.g.y, f.y));
  f.refuses("x", "prebinding was made before", prebound);
  f.runs(bind(f.g.x, DeviceSpan<float>(in_first.device(), n)), bind(f.g.y, f.y));
  move_to(second);
  f.refuses("x", "arena was at this address and has moved", bind(f.g.x, DeviceSpan<float>(in_first.device(), n)),
            bind(f.g.y, f.y));
  move_to(first);
  f.runs(bind(f.g.x, DeviceSpan<float>(in_first.device(), n)), bind(f.g.y, f.y));
}

TEST_CASE_TEMPLATE("The arena of another session is refused, open or closed", P, RONDO_TEST_PLATFORMS) {
  Fixture<P> f;
  DevicePtr<float> theirs;
  {
    Fixture<P> other;
    theirs = other.session.pair(other.g.w).device();
    f.refuses("y", "another session's arena", bind(f.g.x, f.x), bind(f.g.y, DeviceSpan<float>(theirs, n)));
    // What a session's user has allocated may be bound in another.
    DeviceFloats<P> shared(other.session.platform(), n, 5.0F);
    f.runs(bind(f.g.x, shared.span()), bind(f.g.y, f.y));
    CHECK(f.y == Floats(n, 7));
    const auto prebound = f.session.prebind(bind(f.g.x, f.x), bind(f.g.y, f.y));
    CHECK(other.session.run_round(prebound).code() == Errc::wrong_tensor);
  }
  // Of a real device, somebody else may have the addresses by now.
  if constexpr (!is_over_stand_in<P>) {
    f.refuses("y", "was released", bind(f.g.x, f.x), bind(f.g.y, DeviceSpan<float>(theirs, n)));
  }
}

TEST_CASE_TEMPLATE("A round that binds a pinned array that is gone is refused", P, RONDO_TEST_PLATFORMS) {
  Fixture<P> f;
  std::optional<PinnedArray<float, P>> x(std::in_place, f.session.platform(), n);
  const std::span<float> gone(x->data(), n);
  f.runs(bind(f.g.x, *x), bind(f.g.y, f.y));
  x.reset();
  f.refuses("x", "was released", bind(f.g.x, gone), bind(f.g.y, f.y));
  f.refuses("y", "was released", bind(f.g.x, f.x), bind(f.g.y, gone));
}

#if __has_include(<dlpack/dlpack.h>)
TEST_CASE_TEMPLATE("A prebinding of a tensor that went back to the library that lent it is refused", P,
                   RONDO_TEST_PLATFORMS) {
  Fixture<P> f;
  Floats theirs(n, 5);
  const auto lend = [&](std::int64_t first, std::int64_t extent, std::int64_t stride) {
    struct Lent {
      DLManagedTensor managed{};
      std::int64_t extent, stride;
    };
    auto* const lent = new Lent{{}, extent, stride};
    lent->managed.dl_tensor = {theirs.data() + first, {kDLCPU, 0},   1, {kDLFloat, 32, 1},
                               &lent->extent,         &lent->stride, 0};
    lent->managed.manager_ctx = lent;
    lent->managed.deleter = [](DLManagedTensor* self) { delete static_cast<Lent*>(self->manager_ctx); };
    return &lent->managed;
  };
  DLManagedTensor* const whole = lend(0, n, 1);
  const auto prebound = f.session.prebind(dlpack::bind(f.g.x, *whole), bind(f.g.y, f.y));
  const auto kept = f.session.prebind(bind(f.g.x, f.x), bind(f.g.y, f.y));
  f.runs(prebound);
  CHECK(f.y == Floats(n, 7));
  dlpack::give_back(whole);
  f.refuses("x", "went back to the library", prebound);
  f.runs(kept);
  // The library may lend the memory again.
  DLManagedTensor* const again = lend(0, n, 1);
  f.runs(dlpack::bind(f.g.x, *again), bind(f.g.y, f.y));
  const auto later = f.session.prebind(dlpack::bind(f.g.x, *again), bind(f.g.y, f.y));
  f.runs(later);
  f.refuses("x", "went back to the library", prebound);
  dlpack::give_back(lend(0, 0, 1));
  f.runs(later);
  dlpack::give_back(lend(n - 1, 2, 1 - std::int64_t{n}));  // the last element, and the first
  f.refuses("x", "went back to the library", later);
  dlpack::give_back(again);

  // What Rondo allocated stays Rondo's.
  PinnedArray<float, P> pinned(f.session.platform(), n);
  const auto own = f.session.prebind(bind(f.g.x, pinned), bind(f.g.y, f.y));
  dlpack::give_back(dlpack::export_tensor(std::span<float>(pinned.data(), n), {n}));
  f.runs(own);
}
#endif

TEST_CASE_TEMPLATE("Bindings known only at run time, and bindings made before, are checked as well", P,
                   RONDO_TEST_PLATFORMS) {
  Fixture<P> f;
  std::optional<PinnedArray<float, P>> x(std::in_place, f.session.platform(), n);
  const std::span<float> gone(x->data(), n);
  DynamicBindings dynamic(f.session);
  REQUIRE(dynamic.bind(f.g.x.key.tensor(), gone.data(), Bytes{4 * n}).ok());
  REQUIRE(dynamic.bind(f.g.y.key.tensor(), f.y.data(), Bytes{4 * n}).ok());
  f.runs(dynamic);
  const auto prebound = f.session.prebind(bind(f.g.x, f.x), bind(f.g.y, gone));
  f.runs(prebound);
  x.reset();
  f.refuses("x", "was released", dynamic);
  f.refuses("y", "was released", prebound);
}

TEST_CASE_TEMPLATE("A round that packs from memory that is gone is refused before it reads it", P,
                   RONDO_TEST_PLATFORMS) {
  Fixture<P> f;
  const std::int64_t count = n, apart = 8;
  const StridedLayout every_other(4, &count, &apart, 1);
  std::optional<PinnedArray<float, P>> x(std::in_place, f.session.platform(), 2 * n);
  float* const first = x->data();
  for (std::size_t i = 0; i < n; ++i) first[2 * i] = 5;
  StridedHost<const float> apart_in(first, {n}, {2});
  StridedHost<const float> backwards(first + 2 * n - 2, {n}, {-2});
  StridedHost<float> apart_out(first, {n}, {2});
  DynamicBindings dynamic(f.session);
  REQUIRE(dynamic.bind(f.g.x.key.tensor(), static_cast<const void*>(first), every_other).ok());
  REQUIRE(dynamic.bind(f.g.y.key.tensor(), static_cast<void*>(f.y.data()), Bytes{4 * n}).ok());
  f.runs(bind(f.g.x, apart_in), bind(f.g.y, f.y));
  CHECK(f.y == Floats(n, 7));
  f.runs(dynamic);
  f.runs(bind(f.g.x, backwards), bind(f.g.y, f.y));
  x.reset();
  f.refuses("x", "was released", bind(f.g.x, apart_in), bind(f.g.y, f.y));
  f.refuses("x", "was released", bind(f.g.x, backwards), bind(f.g.y, f.y));
  f.refuses("y", "was released", bind(f.g.x, f.x), bind(f.g.y, apart_out));
  f.refuses("x", "was released", dynamic);
  const Status begun = f.session.begin_round(dynamic).failure();
  CHECK(begun.code() == Errc::stale_memory);
  CHECK(std::string(f.session.explain(begun).c_str()).find("tensor 'x'") == 0);
  // Nor does it read what is bound no more, or not while the input is held.
  Floats there(2 * n, 5);
  REQUIRE(dynamic.bind(f.g.y.key.tensor(), static_cast<void*>(there.data()), every_other).ok());
  {
    DeviceFloats<P> held(f.session.platform(), n, 1.0F);
    f.runs(bind(f.g.x, held.span()), bind(f.g.y, f.y));
    REQUIRE(f.session.hold(f.g.x).ok());
    f.runs(dynamic);
    CHECK(there[2] == 3);
    REQUIRE(f.session.release_hold(f.g.x).ok());
  }
  REQUIRE(dynamic.bind(f.g.x.key.tensor(), static_cast<const void*>(f.x.data()), Bytes{4 * n}).ok());
  f.runs(dynamic);
  REQUIRE(dynamic.bind(f.g.y.key.tensor(), static_cast<void*>(f.y.data()), Bytes{4 * n}).ok());

  if constexpr (HasDeviceCopy<P>) {
    std::optional<DeviceFloats<P>> memory(std::in_place, f.session.platform(), 2 * n, 5.0F);
    const auto device = memory->span().data().template as<std::byte>();
    REQUIRE(dynamic.bind(f.g.x.key.tensor(), device, every_other).ok());
    f.y.assign(n, 0);
    f.runs(dynamic);
    CHECK(f.y == Floats(n, 7));
    memory.reset();
    f.refuses("x", "was released", dynamic);
  }
}

TEST_CASE_TEMPLATE("Strides do not hide that memory is another session's arena, or was the session's own", P,
                   RONDO_TEST_PLATFORMS) {
  if constexpr (HasDeviceCopy<P>) {
    Fixture<P> f, other;
    const std::int64_t count = n / 2, apart = 8;
    const StridedLayout every_other(4, &count, &apart, 1);
    const auto theirs = other.session.pair(other.g.w).device().template as<std::byte>();
    const auto before = f.session.pair(f.g.w).device().template as<std::byte>();
    TaskGraph half;
    const auto x = half.input<float>("x", {n / 2});
    const auto w = half.resident<float>("w", {n});
    const auto y = half.output<float>("y", {n / 2});
    half.add<kernels::Scale>(x, y, 2.0F);
    half.add<kernels::Scale>(w, half.workspace<float>("t", {n}), 2.0F);
    auto session = open<P, CheckedPolicies>(half);
    REQUIRE(session.upload(w, Floats(n, 2)).ok());
    Floats hy(n / 2);
    DynamicBindings dynamic(session);
    REQUIRE(dynamic.bind(y.key.tensor(), static_cast<void*>(hy.data()), Bytes{2 * n}).ok());
    const auto refuses = [&](DevicePtr<std::byte> first, const char* cause) {
      REQUIRE(dynamic.bind(x.key.tensor(), first, every_other).ok());
      const Status status = session.run_round(dynamic);
      CHECK(status.code() == Errc::stale_memory);
      const std::string text = session.explain(status).c_str();
      CHECK_MESSAGE(text.find(cause) != std::string::npos, text);
    };
    refuses(theirs, "another session's arena");
    refuses(before, "another session's arena");
    const auto own = session.pair(w).device().template as<std::byte>();
    REQUIRE(dynamic.bind(x.key.tensor(), own, every_other).ok());
    REQUIRE(session.run_round(dynamic).ok());
    CHECK(hy == Floats(n / 2, 4));
    const Bytes size = session.arena_bytes();
    DeviceFloats<P> elsewhere(session.platform(), size.value / 4);
    REQUIRE(session.move_arena({elsewhere.span().data().template as<std::byte>(), size.value}).ok());
    REQUIRE(session.upload(w, Floats(n, 2)).ok());
    refuses(own, "arena was at this address and has moved");
  }
}

TEST_CASE_TEMPLATE("An arena does not move into that of another session", P, RONDO_TEST_PLATFORMS) {
  Fixture<P> f, other;
  const DevicePtr<std::byte> theirs = other.session.pair(other.g.w).device().template as<std::byte>();
  const DevicePtr<std::byte> base{theirs.address() / 1024 * 1024};
  const Status status = f.session.move_arena({base, f.session.arena_bytes().value});
  CHECK(status.code() == Errc::stale_memory);
  CHECK(std::string(f.session.explain(status).c_str()).find("another session's arena") != std::string::npos);
  for (Fixture<P>* const each : {&f, &other}) {
    each->runs(bind(each->g.x, each->x), bind(each->g.y, each->y));
    CHECK(each->y == Floats(n, 3));
  }
  // Two sessions may take turns in memory of the caller's.
  const Bytes size = f.session.arena_bytes();
  DeviceFloats<P> shared(f.session.platform(), size.value / 4);
  for (Fixture<P>* const each : {&f, &other}) {
    REQUIRE(each->session.move_arena({shared.span().data().template as<std::byte>(), size.value}).ok());
    REQUIRE(each->session.upload(each->g.w, Floats(n, 2)).ok());
    each->runs(bind(each->g.x, each->x), bind(each->g.y, each->y));
    CHECK(each->y == Floats(n, 3));
  }
}

TEST_CASE_TEMPLATE("An arena does not move into that of a session of many shapes", P, RONDO_TEST_PLATFORMS) {
  TaskGraph graph;
  const Dim size = graph.dim("size");
  const auto x = graph.input<float>("x", {size});
  const auto y = graph.output<float>("y", {size});
  graph.add<Locate>(x, y);
  auto shaped = open_shaped<P, CheckedPolicies>(std::move(graph));
  Fixture<P> f;
  REQUIRE(shaped.run_round(bind(x, f.x), bind(y, f.y)).ok());
  const DevicePtr<std::byte> base{located / 1024 * 1024};
  CHECK(f.session.move_arena({base, f.session.arena_bytes().value}).code() == Errc::stale_memory);
  f.runs(bind(f.g.x, f.x), bind(f.g.y, f.y));
  CHECK(f.y == Floats(n, 3));
}

TEST_CASE_TEMPLATE("Rounds in flight and rounds of several shapes do not pack from memory that is gone either", P,
                   RONDO_TEST_PLATFORMS) {
  Graph g;
  auto pipelined = open_pipelined<P, 2, CheckedPolicies>(g.graph);
  REQUIRE(pipelined.upload(g.w, Floats(n, 2)).ok());
  Shapes s;
  auto shaped = open_shaped<P, CheckedPolicies>(std::move(s.graph));
  const std::int64_t count = n, apart = 8;
  const StridedLayout every_other(4, &count, &apart, 1);
  std::optional<PinnedArray<float, P>> pinned(std::in_place, pipelined.platform(), 2 * n);
  const void* const first = pinned->data();
  Floats y(n);
  DynamicBindings in_flight(pipelined);
  DynamicBindings of_shape(shaped);
  REQUIRE(in_flight.bind(g.x.key.tensor(), first, every_other).ok());
  REQUIRE(in_flight.bind(g.y.key.tensor(), static_cast<void*>(y.data()), Bytes{4 * n}).ok());
  REQUIRE(of_shape.bind(s.x.key.tensor(), first, every_other).ok());
  REQUIRE(of_shape.bind(s.y.key.tensor(), static_cast<void*>(y.data()), Bytes{4 * n}).ok());
  REQUIRE(pipelined.submit_round(in_flight));
  REQUIRE(pipelined.wait_all().ok());
  REQUIRE(shaped.run_round(of_shape).ok());
  pinned.reset();
  const Status refused = pipelined.submit_round(in_flight).submitted();
  CHECK(refused.code() == Errc::stale_memory);
  CHECK(std::string(pipelined.explain(refused).c_str()).find("tensor 'x'") == 0);
  const Status of_shaped = shaped.run_round(of_shape);
  CHECK(of_shaped.code() == Errc::stale_memory);
  CHECK(std::string(shaped.explain(of_shaped).c_str()).find("tensor 'x'") == 0);
  StridedHost<const float> apart_in(static_cast<const float*>(first), {n}, {2});
  const Status of_pair = shaped.run_round(bind(s.x, apart_in), bind(s.y, y));
  CHECK(of_pair.code() == Errc::stale_memory);
  CHECK(std::string(shaped.explain(of_pair).c_str()).find("tensor 'x'") == 0);
}

TEST_CASE_TEMPLATE("Of rounds of several shapes in flight, each refusal tells its own cause", P, RONDO_TEST_PLATFORMS) {
  Shapes s;
  auto session = open_shaped<P, CheckedPolicies, launch::Lru<64>, 2>(std::move(s.graph));
  Fixture<P> other;
  const DeviceSpan<float> theirs(other.session.pair(other.g.w).device(), n);
  std::optional<DeviceFloats<P>> memory(std::in_place, session.platform(), n, 5.0F);
  const DeviceSpan<float> gone = memory->span();
  const Floats x(n, 1);
  Floats y(n);
  REQUIRE(session.run_round(bind(s.x, x), bind(s.y, y)).ok());
  memory.reset();
  const auto refuses = [&](DeviceSpan<float> bound, const char* cause) {
    const Status status = session.submit_round(bind(s.x, bound), bind(s.y, y)).submitted();
    CHECK(status.code() == Errc::stale_memory);
    const std::string text = session.explain(status).c_str();
    CHECK_MESSAGE(text.find(cause) != std::string::npos, text);
  };
  for (int round = 0; round < 4; ++round) {  // in both slots
    refuses(gone, "was released");
    REQUIRE(session.submit_round(bind(s.x, x), bind(s.y, y)));
    refuses(theirs, "another session's arena");
    REQUIRE(session.wait_all().ok());
  }
}

TEST_CASE_TEMPLATE("Rounds in flight and rounds of several shapes are refused, too", P, RONDO_TEST_PLATFORMS) {
  Graph g;
  auto pipelined = open_pipelined<P, 2, CheckedPolicies>(g.graph);
  REQUIRE(pipelined.upload(g.w, Floats(n, 2)).ok());
  Shapes s;
  auto shaped = open_shaped<P, CheckedPolicies>(std::move(s.graph));
  const Floats x(n, 1);
  Floats y(n);
  for (int i = 0; i < 3; ++i) {
    std::optional<DeviceFloats<P>> memory(std::in_place, pipelined.platform(), n, 5.0F);
    const DeviceSpan<float> span = memory->span();
    const Status taken = pipelined.submit_round(bind(g.x, span), bind(g.y, y)).submitted();
    REQUIRE_MESSAGE(taken.ok(), std::string(pipelined.explain(taken).c_str()));
    REQUIRE(pipelined.wait_all().ok());
    memory.reset();
    const auto refused = pipelined.submit_round(bind(g.x, span), bind(g.y, y)).submitted();
    CHECK(refused.code() == Errc::stale_memory);
    CHECK(std::string(pipelined.explain(refused).c_str()).find("tensor 'x' (in, 2048 × float32): the memory was r") ==
          0);
    const Status begun = pipelined.begin_round(bind(g.x, span), bind(g.y, y)).failure();  // in either slot
    CHECK(begun == refused);
    CHECK(std::string(pipelined.explain(begun).c_str()).find("tensor 'x' (in, 2048 × float32): the memory was r") == 0);
    memory.emplace(shaped.platform(), n, 5.0F);
    REQUIRE(shaped.run_round(bind(s.x, memory->span()), bind(s.y, y)).ok());
    const DeviceSpan<float> here = memory->span();
    memory.reset();
    const Status status = shaped.run_round(bind(s.x, here), bind(s.y, y));
    CHECK(status.code() == Errc::stale_memory);
    CHECK(std::string(shaped.explain(status).c_str()).find("tensor 'x' (in, 2048 × float32): the memory was r") == 0);
    CHECK(shaped.run_round(bind(s.x, x), bind(s.y, y)).ok());
    CHECK(y == Floats(n, 2));
  }
}
