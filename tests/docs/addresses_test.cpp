// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The programs that docs/addresses.md shows.

#include <rondo/launch/philox.hpp>
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
