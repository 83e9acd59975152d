// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rounds on a stream that somebody else owns, without waiting for it.

#include "cuda/fixture.hpp"

#include <rondo/platform/cuda/runtime.hpp>

#include <doctest/doctest.h>

#include <cstddef>

using namespace rondo;
using namespace cuda_test;

namespace {

struct Owner {
  Owner() { REQUIRE(driver.create_stream(&stream, 1, 0) == 0); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { CHECK(driver.destroy_stream(stream) == 0); }
  [[nodiscard]] P::Options options() const {
    P::Options options;
    options.stream = stream;
    return options;
  }

  P keeper{P::Options{}};
  const platform::cuda::Calls& driver = platform::cuda::Runtime::instance().calls();
  void* stream = nullptr;
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

    // While the stream is in capture mode, no round is put there, and the capture takes no harm.
    void* graph = nullptr;
    REQUIRE(cuStreamBeginCapture_v2(owner.stream, 1) == 0);
    CHECK(enqueue(1) == Status{Errc::busy});
    CHECK(cuStreamEndCapture(owner.stream, &graph) == 0);
    CHECK(owner.driver.destroy_graph(graph) == 0);
    CHECK(enqueue(1).ok());
    CHECK(session.platform().release(block).ok());  // waits for the round
  }
  CHECK(session.close().ok());
  CHECK(misuses() == "");
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
