// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What a cache of launches can get wrong, one case for each: what must not be mistaken for each other, what must be
// told apart at its limits, and what is said where nothing can be done.

#include "platforms.hpp"

#include <rondo/graph/instantiate.hpp>
#include <rondo/launch/round_values.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>

#include <malloc.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace rondo;

namespace {

using Floats = std::vector<float>;

struct AddWide {
  static constexpr std::string_view name = "add_wide";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y, float a) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + a;
  }
};
/// Indexes with 32 bits.
struct AddNarrow {
  static constexpr std::string_view name = "add_narrow";
  static constexpr auto core = CoreType::vector;
  using Wide = AddWide;
  static void run(In<float> x, Out<float> y, float a) noexcept {
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(y.size()); ++i) {
      y[static_cast<std::size_t>(i)] = x[static_cast<std::size_t>(i)] + a;
    }
  }
};
struct Double {
  static constexpr std::string_view name = "double";
  static constexpr auto core = CoreType::vector;
  static constexpr InPlace in_place{.out = 1, .in = 0};
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};
struct Tell {
  static constexpr std::string_view name = "tell";
  static constexpr auto core = CoreType::vector;
  static void run(launch::RandomStart a, launch::RandomStart b, Out<std::uint64_t> told) noexcept {
    told[0] = a.offset;
    told[1] = b.offset;
    told[2] = a.seed;
    told[3] = b.seed;
  }
};

struct WithValues : DefaultPolicies {
  using Values = launch::RoundValues<graph::ValueKind::random>;
};

/// y = x + 1, of n elements
struct OfOneSize {
  OfOneSize() { graph.add<AddNarrow>(x, y, 1.0F); }
  TaskGraph graph;
  Dim n = graph.dim("n");
  Input<float> x = graph.input<float>("x", {n});
  Output<float> y = graph.output<float>("y", {n});
};

template <class Session>
bool says(const Session& session, Status status, std::string_view a, std::string_view b = "") {
  const Error::Text text = session.explain(status);
  INFO(std::string(text.c_str()));
  const std::string_view view = text.c_str();
  return view.find(a) != std::string_view::npos && view.find(b) != std::string_view::npos;
}

}  // namespace

TEST_CASE("From 2^31 elements on the kernel with wide indices runs, below that the narrow one") {
  const OfOneSize g;
  const auto kernel_at = [&](std::int64_t n) {
    const std::int64_t values[] = {n};
    const FrozenGraph frozen = freeze(instantiate(g.graph, values));
    const graph::TaskRecord& task = frozen.view().tasks[0];
    // The extents are whole in any case.
    std::int64_t count = 0;
    for (const graph::ArgRecord& arg : frozen.view().args_of(task)) {
      if (arg.kind == graph::ArgRecord::Kind::extent) count = arg.bits;
    }
    CHECK(count == n);
    CHECK((task.entry == &detail::kernel_entry<AddWide>) == (frozen.view().name(task.name) == "add_wide"));
    return std::string(frozen.view().name(task.name));
  };
  const std::int64_t limit = std::int64_t{1} << 31;
  CHECK(kernel_at(7) == "add_narrow");
  CHECK(kernel_at(limit - 1) == "add_narrow");
  CHECK(kernel_at(limit) == "add_wide");
  CHECK(kernel_at(limit + 1) == "add_wide");
  CHECK(kernel_at(2 * limit) == "add_wide");
  // A graph of plain sizes knows at once.
  TaskGraph plain;
  plain.add<AddNarrow>(plain.input<float>("x", {limit}), plain.output<float>("y", {limit}), 1.0F);
  plain.add<AddNarrow>(plain.input<float>("a", {4}), plain.output<float>("b", {4}), 1.0F);
  CHECK(plain.name(plain.tasks()[0].name) == "add_wide");
  CHECK(plain.name(plain.tasks()[1].name) == "add_narrow");
}

TEST_CASE("Shapes on both sides of 2^31 elements are told apart, and have their own blocks") {
  OfOneSize g;
  auto session = open_shaped<NullPlatform>(g.graph);
  float memory = 0;
  const std::uint64_t limit = std::uint64_t{1} << 31;
  for (const std::uint64_t n : {limit - 1, limit, limit + 1, 2 * limit, limit - 1, 2 * limit}) {
    CHECK(session.run_round(bind(g.x, std::span<const float>(&memory, n)), bind(g.y, std::span<float>(&memory, n))));
  }
  CHECK(session.entries() == 4);
}

TEST_CASE_TEMPLATE("Scalars of rank 0 go beside symbolic tensors", P, A2A3Sim, A5SimOn<Pool>, A2A3OverStandIn) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto scalar = graph.input<float>("scalar", {});
  const auto y = graph.output<float>("y", {n});
  const auto twice = graph.output<float>("twice", {});
  graph.add<Double>(x, y);
  graph.add<Double>(scalar, twice);
  auto session = open_shaped<P>(graph, busy_options<P>());
  for (const std::size_t size : {3U, 5U, 3U}) {
    const Floats hx(size, 2), hs{static_cast<float>(size)};
    Floats hy(size), ht(1);
    REQUIRE(session.run_round(bind(x, hx), bind(scalar, hs), bind(y, hy), bind(twice, ht)));
    CHECK(hy == Floats(size, 4));
    CHECK(ht[0] == 2 * hs[0]);
  }
}

TEST_CASE_TEMPLATE("An output reuses its input's memory for every shape", P, A2A3Sim, A5SimOn<Pool>, A2A3OverStandIn) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.alias(y, x);
  graph.add<Double>(x, y);
  auto session = open_shaped<P>(graph, busy_options<P>());
  for (const std::size_t size : {3U, 50U, 3U, 50U}) {
    Floats memory(size, 3);
    REQUIRE(session.run_round(bind(x, memory), bind(y, memory)));
    CHECK(memory == Floats(size, 6));
    Floats other(size);
    CHECK(session.run_round(bind(x, memory), bind(y, other)).code() == Errc::alias_broken);
  }
}

TEST_CASE("Two sequences of random numbers in one graph each advance by what they declare") {
  TaskGraph graph;
  const auto told = graph.output<std::uint64_t>("told", {4});
  graph.add<Tell>(launch::random(graph, "a", 1, 4), launch::random(graph, "b", 2, 17), told);
  auto session = open<A2A3Sim, WithValues>(graph);
  std::vector<std::uint64_t> htold(4);
  for (std::uint64_t round = 0; round < 4; ++round) {
    REQUIRE(session.run_round(bind(told, htold)));
    CHECK(htold == std::vector<std::uint64_t>{round, 5 * round, 1, 2});
  }
}

TEST_CASE("A full cache takes no more of the host's memory, however many shapes come") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(RONDO_TEST_SANITIZED)
  constexpr std::size_t slack = ~std::size_t{0};  // malloc is another
#else
  constexpr std::size_t slack = 64 * 1024;
#endif
  const OfOneSize g;
  ShapedSession<A2A3Sim, DefaultPolicies, launch::Lru<50>> session(g.graph);
  session.reserve(Bytes{64 * 1024});
  Floats x(800), y(800);
  const auto cycle = [&] {
    for (std::size_t n = 1; n <= 400; ++n) {
      x.assign(n, static_cast<float>(n));
      y.assign(n, -1);
      REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)));
      REQUIRE(y == Floats(n, static_cast<float>(n) + 1));
    }
    return mallinfo2().uordblks;
  };
  const std::size_t once = cycle();
  const std::size_t twice = cycle();
  CHECK(twice <= once + slack);
  CHECK(session.entries() == 50);
}

TEST_CASE_TEMPLATE("Values of symbols that a round records are part of its key", P, A2A3Sim, A2A3OverStandIn) {
  // Nothing that is bound tells n: y shows n elements of x after its first 16.
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const Dim m = graph.dim("m");
  const auto x = graph.input<float>("x", {64});
  const auto t = graph.workspace<float>("t", {n});
  const auto y = graph.output<float>("y", {m});
  graph.make_view(t, x, n * 16);
  graph.add<Double>(t, y);
  auto session = open_shaped<P>(graph);
  Floats hx(64);
  for (std::size_t i = 0; i < hx.size(); ++i) hx[i] = static_cast<float>(i);
  for (const std::int64_t value : {2, 1, 3, 2, 1, 3}) {
    const auto size = static_cast<std::size_t>(value);
    Floats hy(size, -1);
    const Status status = session.run_round(with_symbols({{n, value}}), bind(x, hx), bind(y, hy));
    CAPTURE(std::string(session.explain(status).c_str()));
    REQUIRE(status.ok());
    for (std::size_t i = 0; i < size; ++i) CHECK(hy[i] == 2 * hx[16 * size + i]);
  }
  CHECK(session.entries() == 3);
  {
    Floats hy(2, -1);  // the same sizes, another value
    REQUIRE(session.run_round(with_symbols({{n, 3}, {m, 2}}), bind(x, hx), bind(y, hy)).ok());
    CHECK(hy[1] == 2 * hx[49]);
    CHECK(session.entries() == 4);
    const Status contradiction = session.run_round(with_symbols({{n, 3}, {m, 5}}), bind(x, hx), bind(y, hy));
    CHECK(contradiction.code() == Errc::wrong_size);
    CHECK(says(session, contradiction, "'y' takes 5 elements, 2", "n = 3, m = 5"));
    const Status twice = session.run_round(with_symbols({{n, 3}, {n, 2}}), bind(x, hx), bind(y, hy));
    CHECK(twice.code() == Errc::invalid_argument);
    CHECK(says(session, twice, "at most one value"));
    const Status foreign = session.run_round(with_symbols({{n * 2, 3}}), bind(x, hx), bind(y, hy));
    CHECK(foreign.code() == Errc::invalid_argument);
    CHECK(says(session, foreign, "own symbols"));
    const Status untold = session.run_round(bind(x, hx), bind(y, hy));
    CHECK(says(session, untold, "do not tell symbol 'n'", "with_symbols({{symbol, value}})"));
  }
}

TEST_CASE("What contradicts, is not bound, negative, too large or overflows is told with symbols and values") {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const Dim m = graph.dim("m");
  const auto x = graph.input<float>("x", {n, m});
  const auto y = graph.output<float>("y", {n});
  const auto rest = graph.workspace<float>("rest", {n - 2});
  const auto huge = graph.workspace<float>("huge", {n * n * n, n * n * n});
  graph.add<Double>(graph.input<float>("in", {n}), y);
  (void)rest;
  (void)huge;
  A2A3Sim::Options options;
  options.device_memory = Bytes{1 << 20};
  auto session = open_shaped<A2A3Sim>(graph, options);
  const auto in = Input<float>{{TensorId{4}, graph.tag()}};
  const auto run = [&](std::size_t rows, std::size_t columns, std::size_t ys, bool said) {
    Floats hx(rows * columns), hy(ys), hin(rows);
    const auto r = static_cast<std::int64_t>(rows);
    return said ? session.run_round(bind(x, hx, {r, static_cast<std::int64_t>(columns)}),
                                    bind(y, hy, {static_cast<std::int64_t>(ys)}), bind(in, hin))
                : session.run_round(bind(x, hx), bind(y, hy), bind(in, hin));
  };
  REQUIRE(run(3, 4, 3, true).ok());
  {
    const Status contradiction = run(3, 4, 5, true);
    CHECK(contradiction.code() == Errc::invalid_argument);
    CHECK(says(session, contradiction, "symbol 'n' is 3", "'y' says 5"));
  }
  {
    const Status negative = run(1, 4, 1, true);
    CHECK(negative.code() == Errc::invalid_argument);
    CHECK(says(session, negative, "'rest' has a negative extent", "n = 1, m = 4"));
  }
  {
    const Status too_large = run(9, 4, 9, true);
    CHECK(too_large.code() == Errc::out_of_memory);
    CHECK(says(session, too_large, "n = 9"));
  }
  {
    const Status overflow = run(3000, 1, 3000, true);
    CHECK(overflow.code() == Errc::overflow);
    CHECK(says(session, overflow, "'huge' is 2^63 bytes or more", "n = 3000"));
  }
  {
    Floats nothing;
    const Status unbound = session.run_round(bind(x, nothing), bind(y, nothing), bind(in, nothing));
    CHECK(unbound.code() == Errc::invalid_argument);
    CHECK(says(session, unbound, "do not tell symbol 'm'"));
  }
  CHECK(session.entries() == 1);
  CHECK(run(3, 4, 3, true).ok());
}
