// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The programs that docs/addresses.md shows.

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/launch/philox.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>
#include <by_cost_on_device.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace {

struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};

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
  using Refresh = rondo::test::ByCostOnDevice<>;
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

TEST_CASE("Columns of a matrix in device memory are packed on the device") {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {64, 16});
  const auto random = graph.host_input<std::uint64_t>("random", {2});
  const auto y = graph.output<float>("y", {64, 16});
  graph.add<Dropout>(x, random, y);
  auto session = rondo::open<rondo::A2A3Sim>(graph);
  std::vector<float> wide(64 * 256, 1), hy(64 * 16);
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = i % 256 >= 5 && i % 256 < 21 ? 1 : -1000;
  const std::uint64_t words[] = {7, 0};
  const rondo::DevicePtr<std::byte> matrix = session.platform().allocate(rondo::Bytes{65536}, rondo::Bytes{64});
  rondo::Status status = session.platform().copy_in(matrix, wide.data(), rondo::Bytes{65536});

  rondo::DynamicBindings bindings(session);
  const std::int64_t extents[] = {64, 16}, strides[] = {1024, 4};  // 16 of 256 columns of floats; strides in bytes
  status = bindings.bind(x.key.tensor(), matrix.offset(rondo::Bytes{20}), rondo::StridedLayout(4, extents, strides, 2));
  REQUIRE(status.ok());
  REQUIRE(bindings.bind(random.key.tensor(), words, rondo::Bytes{16}).ok());
  REQUIRE(bindings.bind(y.key.tensor(), hy.data(), rondo::Bytes{4096}).ok());
  REQUIRE(session.run_round(bindings).ok());
  float sum = 0;
  for (const float v : hy) sum += v;
  CHECK(sum > 850);
  CHECK(sum < 1200);
  CHECK(std::string(bindings.why_copied(x.key.tensor())) ==
        "the device memory has strides, so it is packed on the device");
  CHECK(session.platform().release(matrix).ok());
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

TEST_CASE("An asynchronous round copies pinned memory") {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {1024});
  const auto y = graph.output<float>("y", {1024});
  graph.add<Twice>(x, y);
  auto session = rondo::open<rondo::A2A3Sim>(graph);
  rondo::PinnedArray<float, rondo::A2A3Sim> in(session.platform(), 1024), out(session.platform(), 1024);
  for (float& value : in) value = 3;
  auto round = session.begin_async_round(bind(x, in), bind(y, out)).launch();
  rondo::Status status = std::move(round).finish().status();
  REQUIRE(status.ok());
  CHECK(std::vector<float>(out.begin(), out.end()) == std::vector<float>(1024, 6));
}
