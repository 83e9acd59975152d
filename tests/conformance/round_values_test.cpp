// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Values that the session writes by itself: where random numbers start, steps, scalars of the host, descriptors.

#include "platforms.hpp"

#include <rondo/args/formatted.hpp>
#include <rondo/args/kernel_args.hpp>
#include <rondo/graph/instantiate.hpp>
#include <rondo/launch/round_values.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/in_flight.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace rondo;

namespace {

using Words = std::vector<std::uint64_t>;
using Floats = std::vector<float>;

/// As a tensor map would be: bigger than a word, depends on address and shape, and tells how often it was made.
struct Map {
  std::uint64_t address = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t number = 0;
  static inline std::uint64_t made = 0;
  static Map make(std::uint64_t address, const Shape& shape) noexcept {
    return {address, static_cast<std::uint64_t>(shape.extent(0)), static_cast<std::uint64_t>(shape.extent(1)), ++made};
  }
};

/// Tells all that it was handed.
struct Tell {
  static constexpr std::string_view name = "tell";
  static constexpr auto core = CoreType::vector;
  static void run(In<float, 2> x, Out<std::uint64_t> told, launch::RandomStart random, launch::Step step,
                  launch::HostScalar<float> rate, launch::Descriptor<Map> map, launch::HostScalar<std::int8_t> small) {
    told[0] = random.seed;
    told[1] = random.offset;
    told[2] = step.number;
    told[3] = static_cast<std::uint64_t>(rate.value * 100);
    told[4] = map.address == reinterpret_cast<std::uint64_t>(x.data()) ? 1 : 0;
    told[5] = map.rows * 1000 + map.columns;
    told[6] = map.number;
    told[7] = static_cast<std::uint64_t>(static_cast<std::int64_t>(small.value));
  }
};
struct Draw {
  static constexpr std::string_view name = "draw";
  static constexpr auto core = CoreType::vector;
  static void run(launch::RandomStart random, Out<std::uint32_t> numbers) noexcept {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = random.philox()[i];
  }
};
struct StepOnly {
  static constexpr std::string_view name = "step_only";
  static constexpr auto core = CoreType::vector;
  static void run(launch::Step step, Out<std::uint64_t> y) noexcept { y[0] = step.number; }
};

/// The same for kernels whose arguments a format lays out, with a scalar in the tiling data.
template <class Name>
struct TellLaidOut {
  static constexpr std::string_view name = Name::name;
  static constexpr auto core = CoreType::vector;
  static constexpr auto args = "{i3*}{o0*}{#.32b0}{i1*}{i0*}{i2*}{t}{i5*}{i4}"_args;
  static void run(In<float, 2> x, Out<std::uint64_t> told, launch::RandomStart random, launch::Step step,
                  std::int64_t factor, launch::HostScalar<float> rate, launch::Descriptor<Map> map,
                  launch::HostScalar<std::int8_t> small) {
    Tell::run(x, told, random, step, rate, map, small);
    told[2] *= static_cast<std::uint64_t>(factor);
    told[7] += Name::added;
  }
};
struct WideName {
  static constexpr std::string_view name = "tell_wide";
  static constexpr std::uint64_t added = 1000;
};
struct NarrowName {
  static constexpr std::string_view name = "tell_narrow";
  static constexpr std::uint64_t added = 0;
};
using TellWide = TellLaidOut<WideName>;
struct TellNarrow : TellLaidOut<NarrowName> {
  using Wide = TellWide;
};

struct Telling {
  Telling() { graph.add<Tell>(x, told, random, step, rate, map, small); }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {3, 4});
  Output<std::uint64_t> told = graph.output<std::uint64_t>("told", {8});
  launch::Value<launch::RandomStart> random = launch::random(graph, "random", 42, 10);
  launch::Value<launch::Step> step = launch::step(graph, "step", 7);
  launch::Value<launch::HostScalar<float>> rate = launch::scalar(graph, "rate", 0.25F);
  launch::Value<launch::Descriptor<Map>> map = launch::descriptor<Map>(graph, "map", x);
  launch::Value<launch::HostScalar<std::int8_t>> small = launch::scalar(graph, "small", std::int8_t{-1});
};

struct WithValues : DefaultPolicies {
  using Values = launch::RoundValues<>;
};
struct OnlySteps : DefaultPolicies {
  using Values = launch::RoundValues<graph::ValueKind::step>;
};

}  // namespace

#define RONDO_TEST_ENGINES \
  A2A3Sim, A5SimOn<Pool>, A2A3SimOn<Model>, A2A3SimOn<platform::sim::Checked<Inline>>, A2A3OverStandIn, A5OverStandIn

TEST_CASE_TEMPLATE("A kernel uses values of all kinds together, on every engine", P, RONDO_TEST_ENGINES) {
  const Telling g;
  auto session = open<P, WithValues>(g.graph, busy_options<P>());
  const Floats x(12, 1);
  Words told(8);
  std::uint64_t first = 0;
  for (std::uint64_t round = 0; round < 5; ++round) {
    if (round == 2) CHECK(session.values().set(g.rate, 0.75F).ok());
    if (round == 3) CHECK(session.values().set(g.small, 5).ok());
    const Status status = session.run_round(bind(g.x, x), bind(g.told, told));
    CAPTURE(std::string(session.explain(status).c_str()));
    REQUIRE(status.ok());
    if (round == 0) first = told[6];
    CHECK(told ==
          Words{42, 3 * round, 7 + round, round < 2 ? 25U : 75U, 1, 3004, first, round < 3 ? ~std::uint64_t{0} : 5U});
  }
}

TEST_CASE_TEMPLATE("Values reach kernels whose arguments a format lays out, and the wide ones of them", P,
                   RONDO_TEST_ENGINES) {
  Telling g;
  const auto told_narrow = g.graph.output<std::uint64_t>("told_narrow", {8});
  const auto told_wide = g.graph.output<std::uint64_t>("told_wide", {8});
  g.graph.add<TellNarrow>(g.x, told_narrow, g.random, g.step, std::int64_t{10}, g.rate, g.map, g.small);
  g.graph.add<TellWide>(g.x, told_wide, g.random, g.step, std::int64_t{3}, g.rate, g.map, g.small);
  auto session = open<P, WithValues>(g.graph, busy_options<P>());
  const Floats x(12, 1);
  Words told(8), narrow(8), wide(8);
  for (std::uint64_t round = 0; round < 5; ++round) {
    if (round == 2) CHECK(session.values().set(g.rate, 0.75F).ok());
    if (round == 3) CHECK(session.values().set(g.small, 5).ok());
    const Status status =
        session.run_round(bind(g.x, x), bind(g.told, told), bind(told_narrow, narrow), bind(told_wide, wide));
    CAPTURE(std::string(session.explain(status).c_str()));
    REQUIRE(status.ok());
    CHECK(told[1] == 3 * round);
    Words expected = told;
    expected[2] = told[2] * 10;
    CHECK(narrow == expected);
    expected[2] = told[2] * 3;
    expected[7] = told[7] + 1000;
    CHECK(wide == expected);
  }
}

TEST_CASE_TEMPLATE("Values are operands of kernels whose format comes from elsewhere", P, RONDO_TEST_ENGINES) {
  TaskGraph graph;
  const auto y = graph.output<std::uint64_t>("y", {2});
  const auto step = launch::step(graph, "step", 7);
  const auto rate = launch::scalar(graph, "rate", 2.0);
  args::Operands io;
  io.input(step).dynamic_input(rate).output(y);
  args::add_formatted(
      graph, "formatted", CoreType::vector,
      +[](ArgWord* words) {
        auto* const to = reinterpret_cast<std::uint64_t*>(words[1]);
        to[0] = *reinterpret_cast<const std::uint64_t*>(words[0]);
        to[1] = static_cast<std::uint64_t>(*reinterpret_cast<const double*>(words[2]) * 10);
      },
      "{i0*}{o0*}{i1*}", io);
  auto session = open<P, WithValues>(graph, busy_options<P>());
  Words hy(2);
  for (std::uint64_t round = 0; round < 4; ++round) {
    if (round == 2) CHECK(session.values().set(rate, 2.5).ok());
    const Status status = session.run_round(bind(y, hy));
    CAPTURE(std::string(session.explain(status).c_str()));
    REQUIRE(status.ok());
    CHECK(hy == Words{7 + round, round < 2 ? 20U : 25U});
  }
}

TEST_CASE_TEMPLATE("Values and formats in rounds in flight and in shapes", P, A2A3Sim, A5SimOn<Pool>, A2A3OverStandIn) {
  Telling g;
  const auto told_narrow = g.graph.output<std::uint64_t>("told_narrow", {8});
  g.graph.add<TellNarrow>(g.x, told_narrow, g.random, g.step, std::int64_t{1}, g.rate, g.map, g.small);
  auto in_flight = open_pipelined<P, 3, WithValues>(g.graph, busy_options<P>());
  const Floats x(12, 1);
  std::vector<Words> told(7, Words(8)), narrow(7, Words(8));
  for (std::size_t r = 0; r < told.size(); ++r) {
    (void)in_flight.submit_round(bind(g.x, x), bind(g.told, told[r]), bind(told_narrow, narrow[r]));
  }
  REQUIRE(in_flight.wait_all().ok());
  CHECK(narrow == told);
  CHECK(narrow[6][2] == 7 + 6);

  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto rows_of_x = graph.input<float>("x", {n, 4});
  const auto y = graph.output<std::uint64_t>("y", {8});
  graph.add<TellNarrow>(rows_of_x, y, launch::random(graph, "random", 42, 8), launch::step(graph, "step"),
                        std::int64_t{1}, launch::scalar(graph, "rate", 0.25F),
                        launch::descriptor<Map>(graph, "map", rows_of_x),
                        launch::scalar(graph, "small", std::int8_t{1}));
  auto shaped = open_shaped<P, WithValues>(graph, busy_options<P>());
  for (std::uint64_t round = 0; round < 6; ++round) {
    const std::size_t rows = round % 3 + 1;
    const Floats hx(rows * 4, 1);
    Words hy(8);
    REQUIRE(shaped.run_round(bind(rows_of_x, hx), bind(y, hy)).ok());
    CHECK(hy[1] == 2 * round);
    CHECK(hy[2] == round);
    CHECK(hy[4] == 1);
    CHECK(hy[5] == rows * 1000 + 4);
  }
  // The wide kernel takes over at 2^31 elements, with the arguments of the narrow one.
  for (const std::int64_t rows : {std::int64_t{1} << 28, std::int64_t{1} << 29}) {
    const std::int64_t values[] = {rows};
    const FrozenGraph frozen = freeze(instantiate(graph, values));
    const graph::TaskRecord& task = frozen.view().tasks[0];
    const bool is_wide = rows == std::int64_t{1} << 29;
    CHECK(frozen.view().name(task.name) == (is_wide ? "tell_wide" : "tell_narrow"));
    CHECK((task.entry == &detail::kernel_entry<TellWide>) == is_wide);
  }
}

TEST_CASE("A descriptor is made anew when its tensor is elsewhere, and only then") {
  const Telling g;
  auto session = open<A2A3Sim, WithValues>(g.graph);
  const Floats x(12, 1);
  const Bytes bytes{sizeof(float) * 12};
  const auto block = session.platform().allocate(bytes, Bytes{64});
  const DeviceSpan<const float> at_device{block.as<const float>(), 12};
  Words told(8);
  const std::uint64_t before = Map::made;
  const auto made_by = [&](const auto& pair) {
    REQUIRE(session.run_round(pair, bind(g.told, told)));
    CHECK(told[4] == 1);
    return Map::made - before;
  };
  CHECK(made_by(bind(g.x, x)) == 1);
  CHECK(made_by(bind(g.x, x)) == 1);
  CHECK(made_by(bind(g.x, at_device)) == 2);
  CHECK(made_by(bind(g.x, at_device)) == 2);
  CHECK(made_by(bind(g.x, x)) == 3);
  const Bytes arena = session.arena_bytes();
  const auto elsewhere = session.platform().allocate(arena, Bytes{1024});
  REQUIRE(session.move_arena({elsewhere, arena.value}).ok());
  CHECK(made_by(bind(g.x, x)) == 4);
  REQUIRE(session.close().ok());
  CHECK(session.platform().release(block).ok());
  CHECK(session.platform().release(elsewhere).ok());
}

TEST_CASE_TEMPLATE("Values that have not changed are not brought to the device again", P, A2A3Sim, A2A3OverStandIn) {
  TaskGraph graph;
  const auto rate = launch::scalar(graph, "rate", 2.0);
  const auto y = graph.output<float>("y", {1});
  graph.add_raw("hold", CoreType::vector, +[](ArgWord* args) { *reinterpret_cast<float*>(args[0]) = 1; }, writes(y));
  auto session = open<P, WithValues>(graph);
  Floats hy(1);
  REQUIRE(session.run_round(bind(y, hy)));
  CHECK(session.refreshed().level == UpdateLevel::host_input);
  REQUIRE(session.run_round(bind(y, hy)));
  CHECK(session.refreshed().level == UpdateLevel::none);
  REQUIRE(session.values().set(rate, 3.0).ok());
  REQUIRE(session.run_round(bind(y, hy)));
  CHECK(session.refreshed().level == UpdateLevel::host_input);
}

TEST_CASE_TEMPLATE("No two rounds share random numbers, and a seed gives the same ones again", P, A2A3Sim,
                   A5SimOn<Pool>) {
  TaskGraph graph;
  const auto numbers = graph.output<std::uint32_t>("numbers", {10});
  graph.add<Draw>(launch::random(graph, "random", 5, 10), numbers);
  const auto draw = [&](int rounds) {
    auto session = open<P, WithValues>(graph, busy_options<P>());
    std::vector<std::vector<std::uint32_t>> drawn;
    for (int round = 0; round < rounds; ++round) {
      drawn.emplace_back(10);
      REQUIRE(session.run_round(bind(numbers, drawn.back())));
    }
    return drawn;
  };
  const auto once = draw(20);
  CHECK(once == draw(20));
  std::set<std::uint32_t> all;
  for (const auto& round : once) all.insert(round.begin(), round.end());
  CHECK(all.size() == 200);
  const launch::Philox expected(5, 3 * 4);
  for (std::size_t i = 0; i < 10; ++i) CHECK(once[4][i] == expected[i]);
}

TEST_CASE("A run that goes on where another ended gets the numbers that it would have got") {
  TaskGraph graph;
  const auto numbers = graph.output<std::uint32_t>("numbers", {4});
  graph.add<Draw>(launch::random(graph, "random", 5, 4, 3), numbers);
  auto session = open<A2A3Sim, WithValues>(graph);
  std::vector<std::uint32_t> drawn(4);
  REQUIRE(session.run_round(bind(numbers, drawn)));
  CHECK(drawn[0] == launch::Philox(5, 3)[0]);
  CHECK_THROWS_AS((void)launch::random(graph, "many", 5, std::uint64_t{1} << 35), Error);
}

TEST_CASE_TEMPLATE("A refused round takes no numbers", P, A2A3Sim, A2A3OverStandIn) {
  TaskGraph graph;
  const auto y = graph.output<std::uint64_t>("y", {1});
  graph.add<StepOnly>(launch::step(graph, "step"), y);
  auto session = open<P, OnlySteps>(graph);
  Words hy(1), wrong(2);
  REQUIRE(session.run_round(bind(y, hy)));
  CHECK(session.run_round(bind(y, wrong)).code() == Errc::wrong_size);
  REQUIRE(session.run_round(bind(y, hy)));
  CHECK(hy[0] == 1);
  const auto prebound = session.prebind(bind(y, hy));
  REQUIRE(session.run_round(prebound));
  CHECK(hy[0] == 2);
  auto round = session.begin_round(bind(y, hy));
  REQUIRE(std::move(round).launch().finish().status().ok());
  CHECK(hy[0] == 3);
}

TEST_CASE_TEMPLATE("Rounds in flight are counted together", P, A2A3Sim, A5SimOn<Pool>, A2A3OverStandIn) {
  const Telling g;
  auto session = open_pipelined<P, 3, WithValues>(g.graph, busy_options<P>());
  constexpr std::size_t rounds = 11;
  const Floats x(12, 1);
  std::vector<Words> told(rounds, Words(8));
  for (std::size_t r = 0; r < rounds; ++r) {
    if (r == 6) CHECK(session.values().set(g.rate, 0.5F).ok());
    (void)session.submit_round(bind(g.x, x), bind(g.told, told[r]));
  }
  REQUIRE(session.wait_all().ok());
  for (std::size_t r = 0; r < rounds; ++r) {
    CHECK(told[r][1] == 3 * r);
    CHECK(told[r][2] == 7 + r);
    CHECK(told[r][3] == (r < 6 ? 25 : 50));
    CHECK(told[r][4] == 1);
  }
}

TEST_CASE_TEMPLATE("Shapes are counted together, and a descriptor knows each shape", P, A2A3Sim, A5SimOn<Pool>,
                   A2A3OverStandIn) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n, 4});
  const auto told = graph.output<std::uint64_t>("told", {8});
  const auto rate = launch::scalar(graph, "rate", 0.25F);
  graph.add<Tell>(x, told, launch::random(graph, "random", 42, 8), launch::step(graph, "step"), rate,
                  launch::descriptor<Map>(graph, "map", x), launch::scalar(graph, "small", std::int8_t{1}));
  auto session = open_shaped<P, WithValues>(graph, busy_options<P>());
  for (std::uint64_t round = 0; round < 12; ++round) {
    if (round == 5) CHECK(session.values().set(rate, 0.5F).ok());
    const std::size_t rows = std::size_t{1} << (round % 4 * 2);
    const Floats hx(rows * 4, 1);
    Words htold(8);
    REQUIRE(session.run_round(bind(x, hx), bind(told, htold)).ok());
    CHECK(htold[1] == 2 * round);
    CHECK(htold[2] == round);
    CHECK(htold[3] == (round < 5 ? 25 : 50));
    CHECK(htold[4] == 1);
    CHECK(htold[5] == rows * 1000 + 4);
  }
}

TEST_CASE("Values that nobody would write are refused when the session opens, by name") {
  const Telling g;
  const auto refused = [&](auto call, std::string_view name) {
    try {
      call();
      FAIL("was not refused");
    } catch (const Error& error) {
      CHECK(error.code() == Errc::unsupported);
      CHECK(std::string_view(error.what()).find(name) != std::string_view::npos);
      CHECK(std::string_view(error.what()).find("launch::RoundValues") != std::string_view::npos);
    }
  };
  refused([&] { (void)open<A2A3Sim>(g.graph); }, "'random'");
  refused([&] { (void)open<A2A3Sim, OnlySteps>(g.graph); }, "'random'");
  TaskGraph other;
  const auto foreign = launch::scalar(other, "foreign", 1.0F);
  auto session = open<A2A3Sim, WithValues>(g.graph);
  CHECK(session.values().set(foreign, 2.0F).code() == Errc::wrong_tensor);
  TaskGraph third;
  CHECK_THROWS_AS((void)launch::descriptor<Map>(third, "map", g.x), Error);
}
