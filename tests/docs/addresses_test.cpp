// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The programs that docs/addresses.md shows.

#include <rondo/launch/philox.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace {

struct Dropout {
  static constexpr std::string_view name = "dropout";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::In<std::uint64_t> random, rondo::Out<float> y) {
    const rondo::launch::Philox numbers(random[0], random[1]);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = numbers.uniform(i) < 0.5F ? 0 : 2 * x[i];
  }
};

/// As Auto, but every thousandth round writes all addresses again, whatever changed.
struct RewriteNowAndThen {
  static constexpr rondo::UpdateLevel highest = rondo::UpdateLevel::init;
  rondo::UpdateLevel decide(rondo::Changes changes) noexcept {
    return ++rounds % 1000 == 0 ? rondo::UpdateLevel::init : changes.level();
  }
  unsigned rounds = 0;
};
struct Policies : rondo::DefaultPolicies {
  using Update = RewriteNowAndThen;
};
static_assert(rondo::check_update_strategy<RewriteNowAndThen>());
/// The same on platforms whose kernels read a copy of the table on the device.
struct OnDevice : Policies {
  using Refresh = rondo::update::ByCostOnDevice<>;
};

/// What so many rounds leave of a thousand ones, one after the other.
template <class P>
std::vector<std::vector<float>> drop(std::uint64_t seed, int count) {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {1024});
  const auto random = graph.host_input<std::uint64_t>("random", {2});
  const auto y = graph.output<float>("y", {1024});
  graph.add<Dropout>(x, random, y);
  auto session = rondo::open<P>(graph);
  rondo::launch::RoundRandom rounds(seed, 1024);
  std::vector<float> hx(1024, 1), hy(1024);
  std::vector<std::vector<float>> results;
  for (int round = 0; round < count; ++round) {
    const auto start = rounds.next();
    const std::uint64_t words[] = {start.seed, start.offset};
    const rondo::Status status = session.run_round(bind(x, hx), bind(random, words), bind(y, hy));
    REQUIRE(status.ok());
    results.push_back(hy);
  }
  return results;
}

}  // namespace

TEST_CASE("Each round has random numbers of its own, the same in every run and on every chip") {
  const auto first = drop<rondo::A2A3Sim>(7, 20);
  CHECK(first == drop<rondo::A5SimOn<rondo::Pool>>(7, 20));
  CHECK(first != drop<rondo::A2A3Sim>(8, 20));
  CHECK(std::set(first.begin(), first.end()).size() == 20);
  for (const auto& y : first) {
    float sum = 0;
    for (const float v : y) sum += v;
    CHECK(sum > 850);
    CHECK(sum < 1200);
  }
}

TEST_CASE_TEMPLATE("A strategy of one's own repairs what a kernel did to its arguments", P, Policies, OnDevice) {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {4096});
  const auto y = graph.output<float>("y", {1});
  // Takes the next element each round, by moving the address that it was handed.
  const auto scribble = +[](rondo::ArgWord* args) {
    *reinterpret_cast<float*>(args[1]) = *reinterpret_cast<const float*>(args[0]);
    args[0] += rondo::ArgWord{sizeof(float)};
  };
  graph.add_raw("scribble", rondo::CoreType::vector, scribble, reads(x), writes(y));
  auto session = rondo::open<rondo::A2A3Sim, P>(graph);
  std::vector<float> hx(4096), hy(1);
  for (std::size_t i = 0; i < hx.size(); ++i) hx[i] = static_cast<float>(i);
  for (int round = 1; round <= 2500; ++round) {
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    const int moved = round < 1000 ? round - 1 : round % 1000;  // rounds since the address was written
    REQUIRE(hy[0] == static_cast<float>(moved));
  }
}
