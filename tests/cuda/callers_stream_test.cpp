// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rounds on a stream that somebody else owns, without waiting for it, and as part of a graph that the owner captures.

#include "conformance/counting_loop.hpp"
#include "cuda/fixture.hpp"

#include <rondo/platform/cuda/runtime.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace rondo;
using namespace cuda_test;

namespace {

struct Owner {
  Owner() { REQUIRE(driver.create_stream(&stream, 1, 0) == 0); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() {
    const auto code = driver.destroy_stream(stream);
    CHECK((code == 0 || code == 719));  // 719: a kernel failed
  }
  [[nodiscard]] P::Options options() const {
    P::Options options;
    options.stream = stream;
    return options;
  }

  /// Ends a capture, and makes an executable graph of it.
  [[nodiscard]] void* end_capture() const {
    void* graph = nullptr;
    void* exec = nullptr;
    REQUIRE(cuStreamEndCapture(stream, &graph) == 0);
    REQUIRE(driver.instantiate(&exec, graph, 0) == 0);
    REQUIRE(driver.destroy_graph(graph) == 0);
    return exec;
  }
  void synchronise() const { REQUIRE(driver.synchronize(stream) == 0); }

  P keeper{P::Options{}};
  const platform::cuda::Calls& driver = platform::cuda::Runtime::instance().calls();
  void* stream = nullptr;
};

/// Device memory of floats, which the test reads without the platform's help.
class DeviceFloats {
 public:
  DeviceFloats(P& platform, float value) : platform_{platform}, at_{platform.allocate(bytes, Bytes{256})} {
    const Floats values(Graph::n, value);
    CHECK(rondo_cuda_stand_in_poke(at_.address(), values.data(), bytes.value));
  }
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;
  ~DeviceFloats() { CHECK(platform_.release(at_).ok()); }
  [[nodiscard]] DeviceSpan<float> span() const { return {at_.as<float>(), Graph::n}; }
  [[nodiscard]] Floats values() const {
    Floats values(Graph::n);
    CHECK(rondo_cuda_stand_in_peek(at_.address(), values.data(), bytes.value));
    return values;
  }

 private:
  static constexpr Bytes bytes{Graph::n * sizeof(float)};
  P& platform_;
  DevicePtr<std::byte> at_;
};

/// Device memory for all that the graph binds.
struct Memory {
  explicit Memory(P& platform) : x(platform, 2), other(platform, 5), w(platform, 1), y(platform, 0), s(platform, 10) {}
  [[nodiscard]] Status enqueue(auto& session, const Graph& g, DeviceFloats& from) const {
    return session.enqueue_round(bind(g.x, from.span()), bind(g.w, w.span()), bind(g.y, y.span()), bind(g.s, s.span()));
  }
  [[nodiscard]] Status refresh(auto& session, const Graph& g, DeviceFloats& from) const {
    return session.refresh_for_replay(bind(g.x, from.span()), bind(g.w, w.span()), bind(g.y, y.span()),
                                      bind(g.s, s.span()));
  }
  DeviceFloats x, other, w, y, s;
};

struct Copy {
  explicit Copy(std::size_t n)
      : x{graph.input<float>("x", {static_cast<std::int64_t>(n)})},
        y{graph.output<float>("y", {static_cast<std::int64_t>(n)})} {
    graph.add<kernels::Scale>(x, y, 2.0F);
  }
  TaskGraph graph;
  Input<float> x;
  Output<float> y;
};

}  // namespace

TEST_CASE("enqueued rounds run in order with the caller's stream, which nobody waits for") {
  const Clean clean;
  const Owner owner;
  const Graph g;
  auto session = open<P>(g.graph, owner.options());
  {
    PinnedArray<float, P> y(session.platform(), Graph::n);
    const Bytes size{Graph::n * sizeof(float)};
    const DevicePtr<std::byte> block = session.platform().allocate(size, Bytes{256});
    const DeviceSpan<float> s{block.as<float>(), Graph::n};
    Floats sum(Graph::n, 10);
    REQUIRE(rondo_cuda_stand_in_poke(block.address(), sum.data(), size.value));
    const auto enqueue = [&](float value) {
      Floats x(Graph::n, value);
      const Floats w(Graph::n, 1);
      const Status status =
          session.enqueue_round(bind(g.x, snapshot(x)), bind(g.w, snapshot(w)), bind(g.y, y), bind(g.s, s));
      x.assign(Graph::n, 1000);  // its bytes were taken
      return status;
    };
    REQUIRE(enqueue(1).ok());
    REQUIRE(session.wait_for_enqueued().ok());
    const auto syncs = calls("cuStreamSynchronize") + calls("cuStreamQuery");
    rondo_cuda_stand_in_hang();
    for (int r = 2; r <= 4; ++r) REQUIRE(enqueue(static_cast<float>(r)).ok());
    CHECK(y[0] == 6);
    rondo_cuda_stand_in_resume();
    REQUIRE(session.wait_for_enqueued().ok());
    CHECK(calls("cuStreamSynchronize") + calls("cuStreamQuery") == syncs);
    for (const float value : y) CHECK(value == 15);
    REQUIRE(rondo_cuda_stand_in_peek(block.address(), sum.data(), size.value));
    CHECK(sum == Floats(Graph::n, 10 + 1 + 2 + 3 + 4));
    CHECK(run(session, g, 5.0F).second);
    CHECK(session.rounds() == 5);

    // While the stream is in capture mode, a round that waits is not put there, and the capture takes no harm.
    void* graph = nullptr;
    REQUIRE(cuStreamBeginCapture_v2(owner.stream, 1) == 0);
    CHECK(run(session, g, 5.0F).first == Status{Errc::busy});
    CHECK(cuStreamEndCapture(owner.stream, &graph) == 0);
    CHECK(owner.driver.destroy_graph(graph) == 0);
    CHECK(enqueue(1).ok());
    CHECK(session.platform().release(block).ok());  // waits for the round
  }
  CHECK(session.close().ok());
  CHECK(misuses() == "");
}

TEST_CASE("a session whose enqueued round failed gives everything back when it closes") {
  const Clean clean;
  const Owner owner;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<kernels::Picky>(x, y);
  auto session = open<P>(graph, owner.options());
  {
    PinnedArray<float, P> hx(session.platform(), 4), hy(session.platform(), 4);
    for (float& value : hx) value = -1;  // which the kernel refuses
    rondo_cuda_stand_in_hang();
    REQUIRE(session.enqueue_round(bind(x, hx), bind(y, hy)).ok());
    rondo_cuda_stand_in_resume();
    CHECK(session.wait_for_enqueued().poisoned());
  }
  const auto freed = calls("cuMemFree");
  CHECK(session.close().ok());  // the failure was told before
  CHECK(calls("cuMemFree") > freed);
}

TEST_CASE("snapshots of any size are taken when a round is enqueued") {
  const Clean clean;
  const Owner owner;
  constexpr std::size_t n = 700'000;  // more than the pinned memory for snapshots has room for
  Copy g(n);
  auto session = open<P>(g.graph, owner.options());
  {
    PinnedArray<float, P> y(session.platform(), n);
    for (int r = 1; r <= 3; ++r) {
      Floats x(n);
      for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(static_cast<int>(i % 1000) * r);
      REQUIRE(session.enqueue_round(bind(g.x, snapshot(x)), bind(g.y, y)).ok());
      x.assign(n, -1);
    }
    REQUIRE(session.wait_for_enqueued().ok());
    bool is_right = true;
    for (std::size_t i = 0; i < n; ++i) is_right = is_right && y[i] == static_cast<float>(i % 1000 * 6);
    CHECK(is_right);
  }
}

TEST_CASE("a round is recorded in a capture of any mode, and its owner binds other memory before a replay") {
  const Clean clean;
  for (const int mode : {0, 1, 2}) {
    CAPTURE(mode);
    const Owner owner;
    Graph g;
    const auto sums = g.graph.workspace<float>("sums", {Graph::n});  // zeroed in each round
    g.graph.zero(sums);
    g.graph.add<kernels::Accumulate>(g.x, sums);
    auto session = open<P>(g.graph, owner.options());
    {
      Memory m(session.platform());
      REQUIRE(m.enqueue(session, g, m.other).ok());  // the table is in use when the capture begins
      CHECK(m.refresh(session, g, m.x) == Status{Errc::invalid_argument});  // nothing was recorded
      REQUIRE(cuStreamBeginCapture_v2(owner.stream, mode) == 0);
      const auto graphs = calls("cuGraphLaunch"), kernels = calls("cuLaunchKernel");
      REQUIRE(m.enqueue(session, g, m.x).ok());
      CHECK(calls("cuGraphLaunch") == graphs);
      CHECK(calls("cuLaunchKernel") - kernels == 4);
      CHECK(m.refresh(session, g, m.other) == Status{Errc::busy});
      REQUIRE(m.enqueue(session, g, m.x).ok());
      CHECK(m.enqueue(session, g, m.other) == Status{Errc::fixed_address});
      void* const exec = owner.end_capture();
      CHECK(m.y.values() == Floats(Graph::n, 18));
      CHECK(m.s.values() == Floats(Graph::n, 15));
      REQUIRE(owner.driver.launch_graph(exec, owner.stream) == 0);
      owner.synchronise();
      CHECK(m.y.values() == Floats(Graph::n, 9));
      CHECK(m.s.values() == Floats(Graph::n, 15 + 2 + 2));
      REQUIRE(m.refresh(session, g, m.other).ok());
      REQUIRE(owner.driver.launch_graph(exec, owner.stream) == 0);
      owner.synchronise();
      CHECK(m.y.values() == Floats(Graph::n, 18));
      CHECK(m.s.values() == Floats(Graph::n, 19 + 5 + 5));
      CHECK(owner.driver.destroy_exec(exec) == 0);

      // Another capture may have another binding.
      REQUIRE(cuStreamBeginCapture_v2(owner.stream, mode) == 0);
      REQUIRE(m.enqueue(session, g, m.x).ok());
      void* const again = owner.end_capture();
      REQUIRE(owner.driver.launch_graph(again, owner.stream) == 0);
      owner.synchronise();
      CHECK(m.y.values() == Floats(Graph::n, 9));
      CHECK(owner.driver.destroy_exec(again) == 0);
    }
    CHECK(session.close().ok());
    CHECK(misuses() == "");
  }
}

TEST_CASE("what cannot be recorded is refused, and the capture takes no harm") {
  const Clean clean;
  const Owner owner;
  Graph g;
  counting::Counting loops;
  auto session = open<P>(g.graph, owner.options());
  auto looped = open<P>(loops.graph, owner.options());
  {
    Memory m(session.platform());
    PinnedArray<counting::Int, P> in(looped.platform(), 1), out(looped.platform(), 1);
    const Floats x(Graph::n, 1);
    REQUIRE(cuStreamBeginCapture_v2(owner.stream, 0) == 0);
    CHECK(session.enqueue_round(bind(g.x, snapshot(x)), bind(g.w, m.w.span()), bind(g.y, m.y.span()),
                                bind(g.s, m.s.span())) ==
          Status::of_tensor(Errc::unsupported, index(g.x.key.tensor())));
    CHECK(looped.enqueue_round(bind(loops.x, in), bind(loops.y, out)) ==
          Status::of_task(Errc::unsupported, index(loops.loop)));
    CHECK(owner.driver.destroy_exec(owner.end_capture()) == 0);
  }
}

TEST_CASE("while another thread captures in the global mode, sessions open, run and close, and the capture is whole") {
  const Clean clean;
  const Owner owner;
  REQUIRE(cuStreamBeginCapture_v2(owner.stream, 0) == 0);
  std::vector<std::string> failed;
  const auto need = [&](bool holds, const char* what) {
    if (!holds) failed.emplace_back(what);
  };
  std::thread other([&] {
    try {
      Graph g;
      const auto copy = g.graph.workspace<float>("copy", {Graph::n});
      g.graph.add_call("copy", {reads(g.w), writes(copy)}, [](const LibraryCall& call) {
        return P::enqueue_copy(call.stream(), call.data<float>(1), call.data<float>(0), Graph::n * sizeof(float));
      });
      auto session = open<P>(g.graph);
      need(run(session, g, 1).second, "a round");
      need(session.platform().is_captured(), "the library call is captured");
      {
        auto x = session.allocate(g.x);
        const PinnedArray<float, P> pinned(session.platform(), 10);
        need(session.upload(x, Floats(Graph::n, 1)).ok(), "an upload");
      }
      need(session.close().ok(), "close");
      counting::Counting loops;
      auto looped = open<P>(loops.graph);
      need(loops.count_of(looped, 3) == 3, "a loop");
      P::Options options;
      options.timeout_ms = -1;
      auto in_flight = open_pipelined<P, 2>(g.graph, options);
      const Floats x(Graph::n, 1), w(Graph::n, 1);
      Floats y(Graph::n), s(Graph::n, 10);
      const auto ticket = in_flight.submit_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s));
      while (in_flight.poll() != 0) std::this_thread::yield();
      need(in_flight.wait(ticket).ok() && y == Floats(Graph::n, 6), "a round in flight");
    } catch (const Error& e) {
      failed.emplace_back(e.what());
    }
  });
  other.join();
  for (const std::string& what : failed) FAIL_CHECK(what);
  void* graph = nullptr;
  CHECK(cuStreamEndCapture(owner.stream, &graph) == 0);
  CHECK(owner.driver.destroy_graph(graph) == 0);
  CHECK(misuses() == "");
}

TEST_CASE("before a replay, what is bound to an input that was held when the round was recorded does not matter") {
  const Clean clean;
  const Owner owner;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {Graph::n});
  const auto w = graph.input<float>("w", {Graph::n});
  const auto y = graph.output<float>("y", {Graph::n});
  graph.keep(w);
  graph.add<kernels::Add>(x, w, y);
  auto session = open<P>(graph, owner.options());
  {
    PinnedArray<float, P> hx(session.platform(), Graph::n), first(session.platform(), Graph::n);
    PinnedArray<float, P> other(session.platform(), Graph::n), hy(session.platform(), Graph::n);
    const DeviceFloats dw(session.platform(), 7);
    for (std::size_t i = 0; i < Graph::n; ++i) hx[i] = 1, first[i] = 10, other[i] = 20;
    REQUIRE(session.enqueue_round(bind(x, hx), bind(w, first), bind(y, hy)).ok());
    REQUIRE(session.hold(w).ok());
    REQUIRE(cuStreamBeginCapture_v2(owner.stream, 1) == 0);
    REQUIRE(session.enqueue_round(bind(x, hx), bind(w, first), bind(y, hy)).ok());
    void* const exec = owner.end_capture();
    CHECK(session.refresh_for_replay(bind(x, hx), bind(w, other), bind(y, hy)).ok());
    CHECK(session.refresh_for_replay(bind(x, other), bind(w, first), bind(y, hy)).code() == Errc::fixed_address);
    hx[0] = 2;
    REQUIRE(owner.driver.launch_graph(exec, owner.stream) == 0);
    owner.synchronise();
    CHECK(hy[0] == 12);

    // No round has recorded a copy of it, so nothing but memory of the device can take its place.
    REQUIRE(session.release_hold(w).ok());
    CHECK(session.refresh_for_replay(bind(x, hx), bind(w, first), bind(y, hy)).code() == Errc::fixed_address);
    REQUIRE(session.refresh_for_replay(bind(x, hx), bind(w, dw.span()), bind(y, hy)).ok());
    REQUIRE(owner.driver.launch_graph(exec, owner.stream) == 0);
    owner.synchronise();
    CHECK(hy[0] == 9);
    CHECK(owner.driver.destroy_exec(exec) == 0);
  }
}

TEST_CASE("what a recorded round copies is held only after a round that has run") {
  const Clean clean;
  const Owner owner;
  TaskGraph graph;
  const auto w = graph.input<float>("w", {Graph::n});
  const auto y = graph.output<float>("y", {Graph::n});
  graph.keep(w);
  graph.add<kernels::Scale>(w, y, 2.0F);
  auto session = open<P>(graph, owner.options());
  {
    PinnedArray<float, P> hw(session.platform(), Graph::n), hy(session.platform(), Graph::n);
    for (float& value : hw) value = 4;
    REQUIRE(cuStreamBeginCapture_v2(owner.stream, 1) == 0);
    REQUIRE(session.enqueue_round(bind(w, hw), bind(y, hy)).ok());
    CHECK(owner.driver.destroy_exec(owner.end_capture()) == 0);
    CHECK(session.hold(w) == Status::of_tensor(Errc::unbound_tensor, index(w.key.tensor())));
    REQUIRE(session.enqueue_round(bind(w, hw), bind(y, hy)).ok());
    REQUIRE(session.hold(w).ok());
    for (float& value : hw) value = 5;
    REQUIRE(session.run_round(bind(w, hw), bind(y, hy)).ok());
    CHECK(hy[0] == 8);
  }
}

TEST_CASE("a device that failed poisons a session that learns of it before it enqueues a round") {
  const Clean clean;
  const Owner owner;
  const Copy g(4);
  auto session = open<P>(g.graph, owner.options());
  {
    const PinnedArray<float, P> x(session.platform(), 4);
    PinnedArray<float, P> y(session.platform(), 4);
    rondo_cuda_stand_in_fault("cuStreamGetCaptureInfo", 1, 719);
    const Status status = session.enqueue_round(bind(g.x, x), bind(g.y, y));
    CHECK(status.code() == Errc::device_failed);
    CHECK(status.poisoned());
    CHECK(session.poisoned());
    CHECK(session.enqueue_round(bind(g.x, x), bind(g.y, y)) == Status{Errc::poisoned}.poisoning());
  }
  (void)session.close();
}

TEST_CASE("a session closes in the capture in which a round that waits was refused") {
  const Clean clean;
  const Owner owner;
  const Graph g;
  int rounds = 0;
  SUBCASE("before the first round") {}
  SUBCASE("after the first round") { rounds = 1; }
  SUBCASE("with a plan of its copies") { rounds = 3; }
  auto session = open<P>(g.graph, owner.options());
  for (int r = 0; r < rounds; ++r) CHECK(run(session, g, 1).second);
  REQUIRE(cuStreamBeginCapture_v2(owner.stream, 1) == 0);
  CHECK(run(session, g, 2).first == Status{Errc::busy});
  CHECK(session.close().ok());
  CHECK(owner.driver.destroy_exec(owner.end_capture()) == 0);
  CHECK(misuses() == "");
}

TEST_CASE("rounds in flight run, and their session closes, while the owner captures the stream") {
  const Clean clean;
  const Owner owner;
  Copy g(Graph::n);
  for (const int mode : {0, 1, 2}) {
    CAPTURE(mode);
    auto session = open_pipelined<P, 2>(g.graph, owner.options());
    Floats x(Graph::n, 1), y(Graph::n), z(Graph::n);
    const auto before = session.submit_round(bind(g.x, x), bind(g.y, y));
    REQUIRE(cuStreamBeginCapture_v2(owner.stream, mode) == 0);
    CHECK(session.wait(before).ok());
    CHECK(y == Floats(Graph::n, 2));
    const auto during = session.submit_round(bind(g.x, x), bind(g.y, z));
    while (session.poll() != 0) std::this_thread::yield();
    CHECK(session.wait(during).ok());
    CHECK(z == Floats(Graph::n, 2));
    CHECK(session.close().ok());
    CHECK(owner.driver.destroy_exec(owner.end_capture()) == 0);
  }
  CHECK(misuses() == "");
}

namespace {

/// The owner's work: a kernel that runs until it is told to end, or for a minute, so that the test ends in any case.
struct UntilTold {
  static constexpr std::string_view name = "until_told";
  static constexpr auto core = CoreType::vector;
  static inline std::atomic<bool> is_told{false}, has_ended{false};
  static void run(In<float> x, Out<float> y) {
    for (int ms = 0; ms < 60'000 && !is_told; ++ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    y[0] = x[0];
    has_ended = true;
  }
};

}  // namespace

TEST_CASE("a session opens and closes without waiting for what is on the caller's stream") {
  const Clean clean;
  const Owner owner;
  Graph g;
  Graph zeroed;
  const auto kept = zeroed.graph.workspace<float>("kept", {Graph::n});
  zeroed.graph.zero(kept, Zeroed::once);
  zeroed.graph.add<kernels::Accumulate>(zeroed.x, kept);
  TaskGraph work;
  const auto x = work.input<float>("x", {1});
  const auto y = work.output<float>("y", {1});
  work.add<UntilTold>(x, y);
  UntilTold::is_told = UntilTold::has_ended = false;
  auto owners = open<P>(work, owner.options());
  {
    const PinnedArray<float, P> in(owners.platform(), 1);
    PinnedArray<float, P> out(owners.platform(), 1);
    REQUIRE(owners.enqueue_round(bind(x, in), bind(y, out)).ok());
    auto session = open<P>(g.graph, owner.options());
    auto another = open<P>(zeroed.graph, owner.options());
    CHECK(!UntilTold::has_ended);
    UntilTold::is_told = true;
    REQUIRE(owners.wait_for_enqueued().ok());
    const auto waits = calls("cuStreamSynchronize") + calls("cuStreamQuery");
    CHECK(session.close().ok());
    CHECK(another.close().ok());
    CHECK(calls("cuStreamSynchronize") + calls("cuStreamQuery") == waits);
  }
}
