// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/platform/null.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

using namespace rondo;

namespace {

struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) {
    if (x[0] == 7) throw std::runtime_error("seven");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};

/// Records what it is told about its threads, and what runs in between.
struct Awake : A5SimOn<Pool> {
  using A5SimOn<Pool>::A5SimOn;
  static inline std::vector<char> told;

  void keep_awake(bool awake) noexcept {
    told.push_back(awake ? 'a' : 's');
    A5SimOn<Pool>::keep_awake(awake);
  }
};

}  // namespace

TEST_CASE("run_rounds keeps the platform's threads awake between its rounds, and no longer") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<Twice>(x, y);
  std::vector<float> hx(8), hy(8);
  auto session = open<Awake>(graph);
  const auto binding = session.prebind(bind(x, hx), bind(y, hy));
  REQUIRE(session.run_rounds(2, binding, [](RoundIndex) noexcept { Awake::told.push_back('r'); }).ok());
  CHECK(Awake::told == std::vector<char>{'a', 'r', 'r', 's'});
}

TEST_CASE_TEMPLATE("run_rounds runs as many as asked, refills before each, and stops at the first that fails", P,
                   A2A3Sim, A5SimOn<Pool>, A2A3SimOn<Model>) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<Twice>(x, y);
  std::vector<float> hx(8), hy(8), seen;
  auto session = open<P>(graph);
  const auto binding = session.prebind(bind(x, hx), bind(y, hy));
  const auto refill = [&](RoundIndex round) noexcept {
    seen.push_back(hy[0]);  // what the round before gave
    hx[0] = static_cast<float>(index(round));
  };
  CHECK(session.run_rounds(0, binding, refill).ok());
  CHECK(seen.empty());
  CHECK(session.run_rounds(5, binding, refill).ok());
  CHECK(session.rounds() == 5);
  CHECK(seen == std::vector<float>{0, 0, 2, 4, 6});
  CHECK(hy[0] == 8);

  const Status status = session.run_rounds(100, binding, refill);
  CHECK(status.code() == Errc::kernel_failed);
  CHECK(session.rounds() == 7);
  CHECK(seen.size() == 8);
  CHECK(session.run_rounds(1, binding, refill).code() == Errc::poisoned);
}
