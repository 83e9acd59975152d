// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Device memory that a session allocates for its tensors: of the right size on every platform, bound without a copy,
// and gone with its session at the latest.

#include "kernels.hpp"
#include "platforms.hpp"

#include <rondo/rondo.hpp>
#include <rondo/session/memory_report.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

using namespace rondo;

#define PLATFORMS A2A3Sim, A5SimPool, Host, toy::ToyPlatform, A2A3OverStandIn

namespace {

using Floats = std::vector<float>;
using A5SimPool = platform::Sim<arch::A5, platform::sim::Pool>;

struct Scaled {
  static constexpr std::size_t n = 9;
  Scaled() { graph.add<kernels::Scale>(x, y, 3.0F); }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {3, 3});
  Output<float> y = graph.output<float>("y", {3, 3});
};

static_assert(!std::is_copy_constructible_v<DeviceArray<float>> &&
              std::is_nothrow_move_constructible_v<DeviceArray<float>>);

/// Runs rounds over two arrays of a session whose tensors have so many elements.
template <class Session>
void check_rounds(Session& session, const Scaled& g, DeviceArray<float>& in, DeviceArray<float>& out) {
  CHECK(in.size() == Scaled::n);
  CHECK(in.span().data().address() % Session::Platform::Arch::tensor_alignment == 0);
  for (float value = 1; value < 4; ++value) {
    const Floats host(Scaled::n, value);
    Floats result(Scaled::n, -1);
    REQUIRE(session.upload(in, host).ok());
    REQUIRE(session.run_round(bind(g.x, in), bind(g.y, out)).ok());
    REQUIRE(session.download(out, result).ok());
    CHECK(result == Floats(Scaled::n, 3 * value));
    // The result of one round is the input of the next, and only that is copied which is bound as host memory.
    REQUIRE(session.run_round(bind(g.x, out), bind(g.y, result)).ok());
    CHECK(result == Floats(Scaled::n, 9 * value));
  }
}

/// Releases arrays in each stage of a round taken step by step. The round uses them until it has ended; from then on
/// the session holds them no more.
template <class Session>
void check_released_in_round(Session& session, const Scaled& g) {
  const Floats host(Scaled::n, 2);
  Floats result(Scaled::n);
  const auto held = [&] { return session.memory_report().bytes(MemoryKind::device).value; };
  REQUIRE(session.run_round(bind(g.x, host), bind(g.y, result)).ok());
  const std::uint64_t before = held();
  enum class Released { before_launch, after_launch, with_the_round_abandoned, with_the_session_closed };
  for (const auto when : {Released::before_launch, Released::after_launch, Released::with_the_round_abandoned,
                          Released::with_the_session_closed}) {
    CAPTURE(static_cast<int>(when));
    auto array = session.allocate(g.x);
    std::optional<DeviceArray<float>> destroyed(session.allocate(g.y));
    REQUIRE(session.upload(array, host).ok());
    const std::uint64_t with_both = held();
    REQUIRE(with_both > before);
    const auto release = [&] {
      CHECK(array.release().ok());
      CHECK(array.size() == 0);
      destroyed.reset();
      auto unused = session.allocate(g.x);  // no round can bind it any more
      CHECK(unused.release().ok());
      CHECK(held() >= with_both);
    };
    {
      auto begun = session.begin_round(bind(g.x, array), bind(g.y, *destroyed));
      if (when != Released::after_launch) release();
      if (when == Released::with_the_session_closed) {
        CHECK(session.close().ok());
      } else if (when != Released::with_the_round_abandoned) {
        auto launched = std::move(begun).launch();
        if (when == Released::after_launch) release();
        CHECK(std::move(launched).finish().status().ok());
      }
    }
    if (when == Released::with_the_session_closed) break;
    CHECK(held() == before);
    // Between rounds memory is released at once.
    REQUIRE(session.allocate(g.x).release().ok());
    CHECK(held() == before);
    REQUIRE(session.run_round(bind(g.x, host), bind(g.y, result)).ok());
    CHECK(result == Floats(Scaled::n, 6));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("An array that is released during a round taken step by step serves that round", P, PLATFORMS) {
  const Scaled g;
  SUBCASE("RoundSession") {
    auto session = open<P>(g.graph);
    check_released_in_round(session, g);
  }
  SUBCASE("PipelinedSession") {
    auto session = open_pipelined<P, 3>(g.graph);
    check_released_in_round(session, g);
  }
}

TEST_CASE_TEMPLATE("An input is not held in an array that was released", P, PLATFORMS) {
  Scaled g;
  g.graph.keep(g.x);
  auto session = open<P>(g.graph);
  const Floats host(Scaled::n, 2);
  Floats result(Scaled::n);
  {
    auto in = session.allocate(g.x);
    REQUIRE(session.upload(in, host).ok());
    REQUIRE(session.run_round(bind(g.x, in), bind(g.y, result)).ok());
  }
  const Status refused = session.hold(g.x);
  CHECK(refused == Status::of_tensor(Errc::unbound_tensor, index(g.x.key.tensor())));
  auto in = session.allocate(g.x);
  REQUIRE(session.upload(in, host).ok());
  REQUIRE(session.run_round(bind(g.x, in), bind(g.y, result)).ok());
  {
    const auto other = session.allocate(g.x);
  }  // which no round bound
  CHECK(session.hold(g.x).ok());
}

TEST_CASE_TEMPLATE("An input is not held in an array that was released during a round taken step by step", P,
                   PLATFORMS) {
  Scaled g;
  g.graph.keep(g.x);
  const auto check = [&](auto& session) {
    const Floats host(Scaled::n, 2);
    Floats result(Scaled::n);
    std::optional in(session.allocate(g.x));
    REQUIRE(session.upload(*in, host).ok());
    auto round = session.begin_round(bind(g.x, *in), bind(g.y, result)).launch();
    in.reset();
    REQUIRE(std::move(round).finish().status().ok());
    CHECK(session.hold(g.x).code() == Errc::unbound_tensor);
    REQUIRE(session.run_round(bind(g.x, host), bind(g.y, result)).ok());
    CHECK(session.hold(g.x).ok());
  };
  auto alone = open<P>(g.graph);
  check(alone);
  auto pipelined = open_pipelined<P, 3>(g.graph);
  check(pipelined);
}

TEST_CASE_TEMPLATE("An array that a completion releases while it is copied has no memory any more", P, PLATFORMS) {
  const Scaled g;
  auto session = open_pipelined<P, 3>(g.graph);
  Floats host(Scaled::n, 2), result(Scaled::n);
  auto array = session.allocate(g.x);
  const auto release_in_flight = [&] {
    array = session.allocate(g.x);
    REQUIRE(session.submit_round(bind(g.x, host), bind(g.y, result), [&](Status) noexcept { (void)array.release(); }));
  };
  release_in_flight();
  CHECK(session.upload(array, host).code() == Errc::null_memory);
  release_in_flight();
  CHECK(session.download(array, host).code() == Errc::null_memory);
}

TEST_CASE_TEMPLATE("Rounds of every kind of session bind the memory that their session allocates", P, PLATFORMS) {
  const Scaled g;
  SUBCASE("RoundSession") {
    auto session = open<P>(g.graph);
    auto in = session.allocate(g.x);
    auto out = session.allocate(g.y, {3, 3});
    check_rounds(session, g, in, out);
    const DeviceArray<float> moved = std::move(in);
    CHECK(in.size() == 0);  // NOLINT(bugprone-use-after-move)
    REQUIRE(session.run_round(bind(g.x, moved), bind(g.y, out)).ok());
    CHECK(session.close().ok());
  }
  SUBCASE("PipelinedSession") {
    auto session = open_pipelined<P, 3>(g.graph);
    auto in = session.allocate(g.x);
    auto out = session.allocate(g.y);
    check_rounds(session, g, in, out);
    const Floats host(Scaled::n, 2);
    Floats result(Scaled::n);
    for (int round = 0; round < 20; ++round) {
      auto mine = session.allocate(g.y);  // released while rounds are in flight: it waits for them
      REQUIRE(session.submit_round(bind(g.x, host), bind(g.y, mine)));
      REQUIRE(session.submit_round(bind(g.x, mine), bind(g.y, result)));
    }
    REQUIRE(session.wait_all().ok());
    CHECK(result == Floats(Scaled::n, 18));
    CHECK(session.close().ok());
  }
}

TEST_CASE_TEMPLATE("A session of many shapes allocates for the shape that is stated", P, PLATFORMS) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n, 4});
  const auto y = graph.output<float>("y", {n, 4});
  graph.add<kernels::Scale>(x, y, 2.0F);
  auto session = open_shaped<P>(graph);
  for (const std::int64_t rows : {3, 7, 3}) {
    auto in = session.allocate(x, {rows, 4});
    auto out = session.allocate(y, {rows, 4});
    const auto count = static_cast<std::size_t>(rows) * 4;
    REQUIRE(in.size() == count);
    const Floats host(count, static_cast<float>(rows));
    Floats result(count);
    REQUIRE(session.upload(in, host).ok());
    REQUIRE(session.run_round(bind(x, in), bind(y, out)).ok());
    REQUIRE(session.download(out, result).ok());
    CHECK(result == Floats(count, 2.0F * static_cast<float>(rows)));
  }
  auto none = session.allocate(x, {0, 4});
  Floats no_elements;
  CHECK(session.upload(none, no_elements).ok());
  CHECK(session.download(none, no_elements).ok());
  CHECK(session.run_round(bind(x, none), bind(y, no_elements)).ok());
  const auto code_of = [&](const Shape* shape) {
    try {
      (void)(shape == nullptr ? session.allocate(x) : session.allocate(x, *shape));
    } catch (const Error& error) {
      CHECK(std::string_view(error.what()).find("'x'") != std::string_view::npos);
      return error.code();
    }
    return Errc::ok;
  };
  CHECK(code_of(nullptr) == Errc::wrong_size);
  for (const Shape& shape : {Shape{4}, Shape{3, 5}, Shape{-1, 4}, Shape{3, 4, 1}}) {
    CHECK(code_of(&shape) == Errc::wrong_size);
  }
  for (const Shape& shape : {Shape{std::int64_t{1} << 62, 4}, Shape{std::int64_t{1} << 60, 4}}) {
    CHECK(code_of(&shape) == Errc::overflow);
  }
}

TEST_CASE_TEMPLATE("What is not a tensor of the session, or no longer a session, gets no memory", P, PLATFORMS) {
  const Scaled g, other;
  auto session = open<P>(g.graph);
  const auto code_of = [&](auto&& f) {
    try {
      (void)f();
    } catch (const Error& error) {
      return error.code();
    }
    return Errc::ok;
  };
  CHECK(code_of([&] { return session.allocate(other.x); }) == Errc::wrong_tensor);
  CHECK(code_of([&] { return session.allocate(g.x, {9}); }) == Errc::wrong_size);
  auto array = session.allocate(g.x);
  Floats few(4);
  CHECK(session.upload(array, few).code() == Errc::wrong_size);
  CHECK(session.download(array, few).code() == Errc::wrong_size);
  REQUIRE(session.close().ok());
  CHECK(code_of([&] { return session.allocate(g.x); }) == Errc::closed);
  CHECK(session.upload(array, few).code() == Errc::closed);
}

TEST_CASE_TEMPLATE("An array is empty once its session is gone, and rounds refuse it", P, PLATFORMS) {
  const Scaled g;
  std::optional<DeviceArray<float>> survivor;
  {
    auto session = open<P>(g.graph);
    auto released = session.allocate(g.x);
    CHECK(released.release().ok());
    CHECK(released.release().ok());
    CHECK(released.size() == 0);
    survivor.emplace(session.allocate(g.x));
    CHECK(survivor->span().size() == Scaled::n);
    auto replaced = session.allocate(g.y);
    replaced = session.allocate(g.y);  // the first one is released
  }
  CHECK(survivor->size() == 0);
  CHECK(survivor->span() == DeviceSpan<float>{});
  auto next = open<P>(g.graph);
  Floats y(Scaled::n);
  const Status refused = next.run_round(bind(g.x, *survivor), bind(g.y, y));
  CHECK(refused.code() == Errc::null_memory);
  CHECK(std::string_view(next.explain(refused).c_str()).find("'x'") != std::string_view::npos);
  Floats x(Scaled::n, 1);
  CHECK(next.upload(*survivor, x).code() == Errc::null_memory);
  CHECK(next.download(*survivor, x).code() == Errc::null_memory);
  CHECK(next.run_round(bind(g.x, x), bind(g.y, y)).ok());
}
