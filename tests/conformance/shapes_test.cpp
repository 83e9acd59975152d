// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Sessions over symbolic graphs: rounds of many shapes, each with its own result.

#include "kernels.hpp"
#include "platforms.hpp"

#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/memory_report.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rondo;

namespace {

using Floats = std::vector<float>;

/// y[r] = sum over columns of x[r][c] * w[c]
struct Weigh {
  static constexpr std::string_view name = "weigh";
  static constexpr auto core = CoreType::cube;
  static void run(Block b, In<float, 2> x, In<float> w, Out<float> y) noexcept {
    for (std::size_t r = b.index; r < y.size(); r += b.count) {
      y[r] = 0;
      for (std::size_t c = 0; c < w.size(); ++c) y[r] += x(r, c) * w[c];
    }
  }
};
/// total += the sum of x
struct Total {
  static constexpr std::string_view name = "total";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> total) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) total[0] += x[i];
  }
};
struct Copy {
  static constexpr std::string_view name = "copy";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};

/// Copies what is not negative.
struct Picky {
  static constexpr std::string_view name = "picky";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) {
    if (x[0] < 0) throw std::invalid_argument("below zero");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};

constexpr std::size_t columns = 3;

struct Weighing {
  Weighing() {
    graph.add<Weigh>(Blocks{min(ceil_div(n, 4), 20)}, x, w, t);
    graph.add<Total>(t, total);
    graph.add<Copy>(t, y);
  }
  TaskGraph graph;
  Dim n = graph.dim("n");
  Input<float> x = graph.input<float>("x", {n, columns});
  Output<float> y = graph.output<float>("y", {n});
  Resident<float> w = graph.resident<float>("w", {columns});
  Resident<float> total = graph.resident<float>("total", {1});
  Workspace<float> t = graph.workspace<float>("t", {n});
};

/// A round of `rows` rows, its result checked.
template <class Session>
void run_checked(Session& session, const Weighing& m, std::size_t rows, float seed, float& total) {
  Floats x(rows * columns), y(rows, -1), expected(rows);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = seed + static_cast<float>(i % 7);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) expected[r] += x[columns * r + c] * static_cast<float>(c + 1);
    total += expected[r];
  }
  const Status status = session.run_round(bind(m.x, x), bind(m.y, y));
  CAPTURE(std::string(session.explain(status).c_str()));
  REQUIRE(status.ok());
  REQUIRE(y == expected);
}

template <class Session>
void upload(Session& session, const Weighing& m) {
  REQUIRE(session.upload(m.w, Floats{1, 2, 3}).ok());
  REQUIRE(session.upload(m.total, Floats{0}).ok());
}

}  // namespace

TEST_CASE_TEMPLATE("Rounds of many shapes cycle through a small cache, each with its own result, residents kept", P,
                   A2A3Sim, A5SimOn<Pool>, A2A3SimOn<Model>, A2A3SimOn<platform::sim::Checked<Inline>>, A2A3OverStandIn,
                   A5OverStandIn) {
  const Weighing m;
  ShapedSession<P, DefaultPolicies, launch::Lru<5>> session(m.graph, busy_options<P>());
  upload(session, m);
  float total = 0;
  for (int round = 0; round < 60; ++round) {
    run_checked(session, m, 1 + static_cast<std::size_t>(round * 7 % 11), static_cast<float>(round % 5), total);
    CHECK(session.entries() <= 5);
  }
  Floats sum(1);
  REQUIRE(session.download(m.total, sum).ok());
  CHECK(sum[0] == total);
}

TEST_CASE("A thousand shapes through a cache of a hundred") {
  const Weighing m;
  ShapedSession<A2A3Sim, DefaultPolicies, launch::Lru<100>> session(m.graph);
  upload(session, m);
  session.reserve(Bytes{64 * 1024});
  const Bytes arena = session.arena_bytes();
  CHECK(arena == Bytes{64 * 1024});
  float total = 0;
  for (int round = 0; round < 2500; ++round) {
    run_checked(session, m, 1 + static_cast<std::size_t>(round) % 1000, 1, total);
    total = 0;
  }
  CHECK(session.entries() == 100);
  CHECK(session.arena_bytes() == arena);
}

TEST_CASE_TEMPLATE("An arena that grows keeps the residents; a larger shape in between is as good as any", P, A2A3Sim,
                   A2A3OverStandIn, A5OverStandIn) {
  const Weighing m;
  auto session = open_shaped<P>(m.graph);
  upload(session, m);
  float total = 0;
  std::uint64_t before = 0;
  for (const std::size_t rows : {4U, 40U, 4U, 400U, 40U, 4000U, 4U, 400U}) {
    run_checked(session, m, rows, 1, total);
    CHECK(session.arena_bytes().value >= before);
    before = session.arena_bytes().value;
  }
  Floats sum(1);
  REQUIRE(session.download(m.total, sum).ok());
  CHECK(sum[0] == doctest::Approx(total));
}

TEST_CASE_TEMPLATE("What is prepared is found, and what is reserved does not grow", P, A2A3Sim, A2A3OverStandIn,
                   A5OverStandIn) {
  const Weighing m;
  auto session = open_shaped<P>(m.graph);
  upload(session, m);
  session.prepare({{m.n, 128}});
  session.prepare({{m.n, 16}});
  session.prepare({{m.n, 16}});
  CHECK(session.entries() == 2);
  const Bytes arena = session.arena_bytes();
  float total = 0;
  run_checked(session, m, 128, 1, total);
  run_checked(session, m, 16, 1, total);
  CHECK(session.entries() == 2);
  CHECK(session.arena_bytes() == arena);
  CHECK_THROWS_AS(session.prepare({}), Error);
  CHECK_THROWS_AS(session.prepare({{m.n * 2, 4}}), Error);
  CHECK_THROWS_AS(session.prepare({{m.n, -4}}), Error);
  CHECK(session.entries() == 2);
}

TEST_CASE_TEMPLATE("Zero rows are a shape: nothing is computed, nothing fails", P, A2A3Sim, A2A3OverStandIn,
                   A5OverStandIn) {
  const Weighing m;
  auto session = open_shaped<P>(m.graph);
  upload(session, m);
  float total = 0;
  for (const std::size_t rows : {3U, 0U, 3U, 0U, 1U}) run_checked(session, m, rows, 1, total);
  Floats none;
  CHECK(session.run_round(with_symbols({{m.n, 0}}), bind(m.x, none), bind(m.y, none)).ok());
  Floats sum(1);
  REQUIRE(session.download(m.total, sum).ok());
  CHECK(sum[0] == total);
}

TEST_CASE_TEMPLATE("A round whose tasks have all nothing to do launches none of them", P, A2A3Sim, A5SimOn<Pool>,
                   A2A3SimOn<Model>, A2A3SimOn<platform::sim::Checked<Inline>>, NullPlatform) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add_raw(
      "never", CoreType::vector, +[](ArgWord*) { FAIL("a task with nothing to do ran"); }, reads(x), writes(y));
  auto session = open_shaped<P>(graph, busy_options<P>());
  Floats none;
  for (int round = 0; round < 3; ++round) CHECK(session.run_round(bind(x, none), bind(y, none)).ok());
}

TEST_CASE_TEMPLATE("Sizes that fit no values of the symbols are refused with names and values, and nothing has changed",
                   P, A2A3Sim, A2A3OverStandIn, A5OverStandIn) {
  const Weighing m;
  auto session = open_shaped<P>(m.graph);
  upload(session, m);
  float total = 0;
  run_checked(session, m, 4, 1, total);
  Floats x(12), y(3), odd(10);
  const auto refused = [&](Status status, Errc code, std::string_view a, std::string_view b) {
    const Error::Text text = session.explain(status);
    CAPTURE(std::string(text.c_str()));
    CHECK(status.code() == code);
    CHECK(std::string_view(text.c_str()).find(a) != std::string_view::npos);
    CHECK(std::string_view(text.c_str()).find(b) != std::string_view::npos);
    CHECK(session.entries() == 1);
  };
  refused(session.run_round(bind(m.x, x), bind(m.y, y)), Errc::wrong_size, "'y' takes 4 elements, 3", "n = 4");
  refused(session.run_round(bind(m.x, odd), bind(m.y, y)), Errc::wrong_size, "'x'", "bind a multiple of 3");
  refused(session.run_round(bind(m.x, x)), Errc::unbound_tensor, "'y'", "not bound");
  refused(session.run_round(bind(m.x, x), bind(m.x, x)), Errc::bound_twice, "'x'", "twice");
  refused(session.run_round(with_symbols({{m.n, -1}}), bind(m.x, x), bind(m.y, y)), Errc::invalid_argument,
          "with_symbols", "not negative");
  run_checked(session, m, 4, 1, total);
}

TEST_CASE("What is refused between rounds is not explained with the text of an earlier round") {
  const Weighing m;
  auto session = open_shaped<A2A3Sim>(m.graph);
  upload(session, m);
  auto array = session.allocate(m.y, Shape{5});
  DynamicBindings bindings(session);
  const Floats x(12);
  Floats y(3);
  const auto check = [&](Status of_round, Status later) {
    CHECK(of_round == later);
    CHECK(std::string_view(session.explain(later).c_str()) == describe(later.code()));
  };
  const auto run = [&] {
    const Status status = session.run_round(bind(m.x, x), bind(m.y, y));
    REQUIRE(std::string_view(session.explain(status).c_str()).find("'y' takes 4") != std::string_view::npos);
    return status;
  };
  Status status = run();
  check(status, session.upload(array, y));
  status = run();
  check(status, session.download(array, y));
  status = session.run_round(with_symbols({{m.n, -1}}), bind(m.x, x), bind(m.y, y));
  check(status, bindings.state_symbol(1, 4));
  // What is not refused leaves the text as it is.
  status = run();
  CHECK(session.upload(array, Floats(5)).ok());
  CHECK(std::string_view(session.explain(status).c_str()).find("'y' takes 4") != std::string_view::npos);
}

TEST_CASE_TEMPLATE("Shapes are said where the number of elements does not tell them", P, A2A3Sim, A2A3OverStandIn,
                   A5OverStandIn) {
  TaskGraph graph;
  const Dim rows = graph.dim("rows");
  const Dim cols = graph.dim("cols");
  const auto x = graph.input<float>("x", {rows, cols});
  const auto w = graph.workspace<float>("w", {cols});
  const auto y = graph.output<float>("y", {max(rows, cols)});
  graph.add_raw("ones", CoreType::vector, +[](ArgWord* args) { *reinterpret_cast<float*>(args[0]) = 1; }, writes(w));
  graph.add_raw(
      "shape", CoreType::vector,
      +[](ArgWord* args) {
        *reinterpret_cast<float*>(args[2]) =
            *reinterpret_cast<const float*>(args[0]) * *reinterpret_cast<const float*>(args[1]);
      },
      reads(x), reads(w), writes(y));
  auto session = open_shaped<P>(graph);
  Floats hx(12, 5), y4(4), y6(6);
  REQUIRE(session.run_round(bind(x, hx, {3, 4}), bind(y, y4)));
  REQUIRE(session.run_round(bind(x, hx, {2, 6}), bind(y, y6)));
  CHECK(session.entries() == 2);
  REQUIRE(session.run_round(bind(x, hx, {3, 4}), bind(y, y4)));
  CHECK(session.entries() == 2);
  CHECK(y4[0] == 5);
  const Status untold = session.run_round(bind(x, hx), bind(y, y4));
  CHECK(untold.code() == Errc::invalid_argument);
  CHECK(std::string_view(session.explain(untold).c_str()).find("with its shape") != std::string_view::npos);
  CHECK(session.run_round(bind(x, hx, {3, 5}), bind(y, y4)).code() == Errc::wrong_size);
  CHECK(session.run_round(bind(x, hx, {3, 4}), bind(y, y6)).code() == Errc::wrong_size);
  CHECK(session.run_round(bind(x, hx, {12}), bind(y, y6)).code() == Errc::wrong_size);
}

TEST_CASE_TEMPLATE("A resident that waits for its upload is asked for, whichever shape comes first", P, A2A3Sim,
                   A2A3OverStandIn, A5OverStandIn) {
  const Weighing m;
  auto session = open_shaped<P>(m.graph);
  Floats x(3 * columns), y(3);
  const Status early = session.run_round(bind(m.x, x), bind(m.y, y));
  CHECK(early.code() == Errc::uninitialized_read);
  Floats weights(columns);
  CHECK(session.download(m.w, weights).ok());
  CHECK(session.run_round(bind(m.x, x), bind(m.y, y)) == early);
  upload(session, m);
  CHECK(session.run_round(bind(m.x, x), bind(m.y, y)).ok());
}

TEST_CASE_TEMPLATE("A failure that poisons does so for every shape, known or new", P, A2A3Sim, A2A3OverStandIn,
                   A5OverStandIn) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<Picky>(x, y);
  auto session = open_shaped<P>(graph);
  Floats good(4, 1), bad(3, -1), five(5, 1), y4(4), y3(3), y5(5);
  REQUIRE(session.run_round(bind(x, good), bind(y, y4)));
  const Status failed = session.run_round(bind(x, bad), bind(y, y3));
  CHECK(failed.code() == failure_of_a_kernel<P>);
  CHECK(session.poisoned());
  CHECK(std::string(session.explain(failed).c_str()).find("below zero") != std::string::npos);
  for (const Status later :
       {session.run_round(bind(x, good), bind(y, y4)), session.run_round(bind(x, five), bind(y, y5))}) {
    CHECK(later.code() == Errc::poisoned);
    CHECK(std::string(session.explain(later).c_str()).find("below zero") != std::string::npos);
  }
  CHECK_THROWS_AS(session.prepare({{n, 9}}), Error);
  CHECK_THROWS_AS(session.reserve(Bytes{1 << 20}), Error);
}

namespace {
/// A planner that fails in a way of its own.
template <class Thrown>
struct Throws {
  static inline bool throws = false;
  static memory::Plan plan(const memory::Problem& problem) {
    if (throws) throw Thrown{};
    return memory::Greedy::plan(problem);
  }
};
struct Odd : std::runtime_error {
  Odd() : std::runtime_error("an odd number") {}
};
template <class Thrown>
struct PlannedBy : DefaultPolicies {
  using Plan = Throws<Thrown>;
};
template <class Thrown>
void check_throwing_planner(const char* told) {
  const Weighing m;
  auto session = open_shaped<A2A3Sim, PlannedBy<Thrown>>(m.graph);
  upload(session, m);
  float total = 0;
  run_checked(session, m, 4, 1, total);
  Floats x(8 * columns, 1), y(8);
  Throws<Thrown>::throws = true;
  const Status status = session.run_round(bind(m.x, x), bind(m.y, y));
  CHECK(status.code() == Errc::invalid_argument);
  CHECK(std::string(session.explain(status).c_str()).find(told) != std::string::npos);
  run_checked(session, m, 4, 2, total);  // a known shape goes on
  Throws<Thrown>::throws = false;
  run_checked(session, m, 8, 3, total);
}
}  // namespace

TEST_CASE("Whatever a planner throws, a round of a new shape returns a status, and the session goes on") {
  check_throwing_planner<Odd>("threw: an odd number");
  check_throwing_planner<int>("threw an exception");
}

TEST_CASE_TEMPLATE("Onboard a device that is lost while a session is set up further poisons it", P, A2A3OverStandIn,
                   A5OverStandIn) {
  for (const char* const step : {"reserve", "prepare", "upload", "a round"}) {
    for (const auto& [fault, code] : {std::pair{507015, Errc::device_failed}, {507046, Errc::timed_out}}) {
      CAPTURE(step);
      CAPTURE(fault);
      const Weighing m;
      auto session = open_shaped<P>(m.graph);
      if (step[0] != 'u') upload(session, m);
      std::string told;
      rondo_stand_in_fault("aclrtSynchronizeStreamWithTimeout", 1, fault);
      try {
        if (step[0] == 'r') session.reserve(Bytes{1 << 20});
        if (step[0] == 'p') session.prepare({{m.n, 40}});
      } catch (const Error& e) {
        CHECK(e.code() == code);
        told = e.what();
      }
      CHECK(told.empty() == (step[0] != 'r' && step[0] != 'p'));
      Floats x(40 * columns, 1), y(40);
      const auto round = [&] { return session.run_round(bind(m.x, x), bind(m.y, y)); };
      if (step[0] == 'u') CHECK(session.upload(m.w, Floats{1, 2, 3}).code() == code);
      if (step[0] == 'a') CHECK(round().code() == code);
      CHECK(session.poisoned());
      CHECK(round().code() == Errc::poisoned);
      (void)session.close();
      rondo_stand_in_reset();
    }
  }
}

TEST_CASE_TEMPLATE("A shape that the device cannot hold is refused, and the others go on", P, A2A3Sim, A2A3OverStandIn,
                   A5OverStandIn) {
  const Weighing m;
  typename P::Options options;
  options.device_memory = Bytes{8192};
  auto session = open_shaped<P>(m.graph, options);
  upload(session, m);
  float total = 0;
  run_checked(session, m, 4, 1, total);
  Floats x(4000 * columns), y(4000);
  const Status status = session.run_round(bind(m.x, x), bind(m.y, y));
  CHECK(status.code() == Errc::out_of_memory);
  CHECK(std::string_view(session.explain(status).c_str()).find("; n = 4000") != std::string_view::npos);
  CHECK_THROWS_AS(session.reserve(Bytes{1 << 20}), Error);
  CHECK_FALSE(session.poisoned());
  run_checked(session, m, 4, 1, total);
  Floats sum(1);
  REQUIRE(session.download(m.total, sum).ok());
  CHECK(sum[0] == total);
}

TEST_CASE_TEMPLATE("A shape beyond the limits of the chip is refused, and the others go on", P, A2A3Sim,
                   A2A3OverStandIn, A5OverStandIn) {
  if (P::Arch::max_blocks >= 37) return;  // a GPU takes as many
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<kernels::Scale>(Blocks{n}, x, y, 3.0F);
  auto session = open_shaped<P>(graph);
  const Floats few(2, 1.0F), many(37, 1.0F);
  Floats of_few(2), of_many(37);
  for (int i = 0; i < 2; ++i) {
    const Status status = session.run_round(bind(x, many), bind(y, of_many));
    CHECK(status.code() == Errc::limit_exceeded);
    const std::string text(session.explain(status).c_str());
    CHECK_MESSAGE(text.find("' has 37 blocks") != std::string::npos, text);
    CHECK_MESSAGE(text.find("; n = 37") != std::string::npos, text);
    REQUIRE(session.run_round(bind(x, few), bind(y, of_few)).ok());
    CHECK(of_few == Floats(2, 3));
  }
  CHECK_THROWS_AS(session.prepare({{n, 37}}), Error);
  CHECK(of_many == Floats(37));
}

TEST_CASE_TEMPLATE("Residents and workspaces of other kinds serve rounds of many shapes", P, A2A3Sim, A5SimOn<Pool>,
                   Host, A2A3OverStandIn, A5OverStandIn) {
  for (const MemoryKind kind : {MemoryKind::huge_pages, MemoryKind::peer, MemoryKind::mapped_host}) {
    if (!memory_kinds_of<P>().has(kind)) continue;
    CAPTURE(std::string(to_string(kind)));
    Weighing m;
    if (kind != MemoryKind::peer) m.graph.in_memory(m.total, kind);  // else it stays in the arena
    m.graph.in_memory(m.w, kind);
    m.graph.in_memory(m.t, kind);
    float total = 0;
    SUBCASE("one round at a time") {
      ShapedSession<P, DefaultPolicies, launch::Lru<2>> session(m.graph, busy_options<P>());
      upload(session, m);
      std::uint64_t bytes[2] = {};
      for (std::uint64_t& held : bytes) {
        // The last shape is larger than the arena, which moves with what it holds.
        for (const std::size_t rows : {5U, 9U, 5U, 4000U, 9U, 5U}) run_checked(session, m, rows, 1, total);
        held = session.memory_report().bytes(kind).value;
      }
      CHECK(bytes[0] == bytes[1]);  // nothing is left of shapes that were evicted
      CHECK(bytes[0] >= (columns + 9 + 5) * sizeof(float));
      Floats sum(1), w(columns);
      REQUIRE(session.download(m.total, sum).ok());
      REQUIRE(session.download(m.w, w).ok());
      CHECK(sum[0] == total);
      CHECK(w == Floats{1, 2, 3});
      CHECK(session.close().ok());
    }
    SUBCASE("rounds in flight") {
      auto session = open_shaped<P, DefaultPolicies, launch::Lru<64>, 3>(m.graph, busy_options<P>());
      upload(session, m);
      std::vector<Floats> in, out;
      for (const std::size_t rows : {3U, 500U, 3U, 3U, 500U, 2U, 500U}) {
        in.emplace_back(rows * columns, static_cast<float>(rows));
        out.emplace_back(rows, -1.0F);
      }
      for (std::size_t r = 0; r < in.size(); ++r) REQUIRE(session.submit_round(bind(m.x, in[r]), bind(m.y, out[r])));
      REQUIRE(session.wait_all().ok());
      for (const Floats& y : out) {
        CHECK(y == Floats(y.size(), 6 * static_cast<float>(y.size())));
        total += 6 * static_cast<float>(y.size() * y.size());
      }
      Floats sum(1);
      REQUIRE(session.download(m.total, sum).ok());
      CHECK(sum[0] == total);
      CHECK(session.close().ok());
    }
  }
}

TEST_CASE("A resident of symbolic size is refused when the session is opened") {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  (void)graph.resident<float>("r", {n});
  CHECK_THROWS_AS((void)open_shaped<A2A3Sim>(graph), Error);
}

TEST_CASE("Residents that take more memory than there are addresses are refused when the session is opened") {
  TaskGraph graph;
  for (const char* const name : {"a", "b", "c"}) (void)graph.resident<float>(name, {std::int64_t{1} << 59U});
  std::string told;
  try {
    auto session = open_shaped<A2A3Sim>(graph);
  } catch (const Error& error) {
    CHECK(error.code() == Errc::out_of_memory);
    told = error.what();
  }
  CHECK_MESSAGE(told.find("the most is 2^62") != std::string::npos, told);
}

namespace {

/// z = the number of rows of x
struct Rows {
  static constexpr std::string_view name = "rows";
  static constexpr auto core = CoreType::vector;
  static void run(In<float, 2> x, Out<float> z) noexcept { z[0] = static_cast<float>(x.extent(0)); }
};

}  // namespace

TEST_CASE_TEMPLATE("A shape that sizes do not tell is prepared for rounds that state it", P, A2A3Sim, A5SimOn<Pool>,
                   A2A3OverStandIn) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const Dim m = graph.dim("m");
  const auto x = graph.input<float>("x", {n, m});
  const auto z = graph.output<float>("z", {1});
  graph.add<Rows>(x, z);
  auto session = open_shaped<P>(graph);
  session.prepare({{n, 2}, {m, 6}});
  session.prepare({{n, 3}, {m, 4}});
  const Floats in(12);
  Floats out(1);
  CHECK(session.run_round(bind(x, in), bind(z, out)).code() == Errc::invalid_argument);
  for (const std::int64_t rows : {2, 3, 2, 12}) {
    REQUIRE(session.run_round(with_symbols({{n, rows}, {m, 12 / rows}}), bind(x, in), bind(z, out)).ok());
    CHECK(out[0] == static_cast<float>(rows));
  }
}

TEST_CASE_TEMPLATE("More memory than there are addresses cannot be reserved", P, A2A3Sim, A5SimOn<Pool>,
                   A2A3OverStandIn) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<Copy>(x, y);
  auto session = open_shaped<P, DefaultPolicies, launch::Lru<4>, 2>(graph);
  for (const std::uint64_t bytes : {~std::uint64_t{0}, (std::uint64_t{1} << 62U) + 1}) {
    std::string told;
    try {
      session.reserve(Bytes{bytes});
    } catch (const Error& error) {
      told = error.what();
    }
    CHECK_MESSAGE(told.find("the most is 2^62") != std::string::npos, told);
  }
  const Floats in(3, 5);
  Floats out(3);
  CHECK(session.run_round(bind(x, in), bind(y, out)).ok());
  CHECK(out == in);
}

namespace {

/// y = 2 x for some rows, and a resident of another size, in a session of many shapes.
struct WithResident {
  static constexpr std::size_t n = 1500;
  WithResident() {
    graph.zero(zeros);
    graph.add<kernels::Scale>(x, y, 2.0F);
    graph.add<kernels::Accumulate>(zeros, w);
  }
  template <class Session>
  Status run(Session& session, int count) const {
    const Floats in(static_cast<std::size_t>(count) * n, 1);
    Floats out(in.size());
    const Status status = session.run_round(bind(x, in), bind(y, out));
    if (status.ok()) CHECK(out == Floats(in.size(), 2));
    return status;
  }
  TaskGraph graph;
  Dim rows = graph.dim("rows");
  Input<float> x = graph.input<float>("x", {rows, n});
  Output<float> y = graph.output<float>("y", {rows, n});
  Resident<float> w = graph.resident<float>("w", {n});
  Workspace<float> zeros = graph.workspace<float>("zeros", {n});
};

}  // namespace

TEST_CASE("A device that is lost while a shape is set up poisons the session, as its message says") {
  for (const std::uint64_t call : {1U, 2U, 3U}) {
    CAPTURE(call);
    rondo_stand_in_reset();
    const WithResident g;
    auto session = open_shaped<A2A3OverStandIn>(g.graph);
    REQUIRE(session.upload(g.w, Floats(WithResident::n, 5)).ok());
    REQUIRE(g.run(session, 1).ok());
    rondo_stand_in_fault("device", call, 507899);
    const Status failed = g.run(session, 3);
    CHECK(failed.code() == Errc::device_failed);
    CHECK(failed.poisoned());
    CHECK(session.poisoned());
    rondo_stand_in_clear_faults();
    CHECK(g.run(session, 1).code() == Errc::poisoned);
  }
}

TEST_CASE("A larger shape whose arena cannot replace the old one leaves shapes and residents as they were") {
  for (const char* const call : {"aclrtFree", "aclrtMemcpyAsync"}) {
    CAPTURE(call);
    rondo_stand_in_reset();
    const WithResident g;
    auto session = open_shaped<A2A3OverStandIn>(g.graph);
    REQUIRE(session.upload(g.w, Floats(WithResident::n, 5)).ok());
    REQUIRE(g.run(session, 1).ok());
    const std::uint64_t before = rondo_stand_in_bytes("memory");
    rondo_stand_in_fault(call, 1, 107000);
    CHECK_FALSE(g.run(session, 300).ok());
    REQUIRE(rondo_stand_in_faults_left() == 0);
    rondo_stand_in_clear_faults();
    CHECK(rondo_stand_in_bytes("memory") == before);
    CHECK(g.run(session, 1).ok());
    Floats w(WithResident::n);
    REQUIRE(session.download(g.w, w).ok());
    CHECK(w == Floats(w.size(), 5));
    CHECK(g.run(session, 300).ok());
  }
}

TEST_CASE("After a move that leaves no arena, a round asks for the residents, and the arena is allocated anew") {
  rondo_stand_in_reset();
  const WithResident g;
  auto session = open_shaped<A2A3OverStandIn>(g.graph);
  const Floats five(WithResident::n, 5);
  REQUIRE(session.upload(g.w, five).ok());
  REQUIRE(g.run(session, 1).ok());
  rondo_stand_in_fault("aclrtMalloc", 0, 207001);
  CHECK(g.run(session, 300).code() == Errc::out_of_memory);
  rondo_stand_in_clear_faults();
  CHECK(session.arena_bytes() == Bytes{0});
  CHECK(g.run(session, 1).code() == Errc::uninitialized_read);
  REQUIRE(session.upload(g.w, five).ok());
  CHECK(g.run(session, 1).ok());
  CHECK(g.run(session, 300).ok());
}

TEST_CASE("A round that the runtime refuses does not count, and the next one does") {
  rondo_stand_in_reset();
  const WithResident g;
  auto session = open_shaped<A2A3OverStandIn>(g.graph);
  REQUIRE(session.upload(g.w, Floats(WithResident::n, 5)).ok());
  REQUIRE(g.run(session, 1).ok());
  rondo_stand_in_fault("aclrtMemcpyAsync", 1, 107000);
  const Status refused = g.run(session, 1);
  CHECK_FALSE(refused.ok());
  CHECK_FALSE(refused.poisoned());
  rondo_stand_in_clear_faults();
  CHECK(g.run(session, 1).ok());
  CHECK(session.rounds() == 2);
  CHECK(session.wait_all().ok());
}

namespace {

/// The addresses of its tensors.
struct Locate {
  static constexpr std::string_view name = "locate";
  static constexpr auto core = CoreType::vector;
  static inline std::uintptr_t from = 0;
  static inline std::uintptr_t to = 0;
  static void run(In<float> x, Out<float> y) noexcept {
    from = reinterpret_cast<std::uintptr_t>(&x[0]);
    to = reinterpret_cast<std::uintptr_t>(&y[0]);
    y[0] = x[0];
  }
};

}  // namespace

TEST_CASE_TEMPLATE("Tensors of every shape begin where the chip's tensors may begin", P, A2A3Sim, A2A3OverStandIn) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add<Locate>(x, y);
  const auto check = [&](auto session) {
    for (const std::size_t size : {std::size_t{7}, std::size_t{1000}, std::size_t{7}}) {
      const Floats in(size, 1);
      Floats out(size);
      REQUIRE(session.run_round(bind(x, in), bind(y, out)).ok());
      CHECK(Locate::from % P::Arch::tensor_alignment == 0);
      CHECK(Locate::to % P::Arch::tensor_alignment == 0);
    }
  };
  check(open_shaped<P>(graph));
  check(ShapedSession<P, DefaultPolicies, launch::Lru<4>, 2>(graph));
}
