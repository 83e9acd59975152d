// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The program of docs/runtimes.md.

#include <rondo/orchestrated.hpp>
#include <rondo/platform/sim/pool.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace {

struct Scale {
  static constexpr std::string_view name = "scale";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y, float a) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = a * x[i];
  }
};

struct Accumulate {
  static constexpr std::string_view name = "accumulate";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += x[i];
  }
};

struct MyPolicies : rondo::DefaultPolicies {
  using Runtime = rondo::runtime::TensorMapRingBuffer;
};

}  // namespace

TEST_CASE("An orchestration adds as many tasks as the round says") {
  rondo::TaskGraph interface;
  const auto x = interface.input<float>("x", {1024});
  const auto y = interface.inout<float>("y", {1024});
  const auto steps = interface.input<std::int32_t>("steps", {});
  auto session = rondo::open<rondo::A2A3SimOn<rondo::Pool>, MyPolicies>(interface, [=](auto& round) {
    for (std::int32_t i = 0; i < round.value(steps); ++i) {
      const auto scope = round.scope();
      const auto t = round.template workspace<float>({1024});
      round.template add<Scale>(x, t, 2.0F);
      round.template add<Accumulate>(t, y);
    }
  });

  const std::vector<float> hx(1024, 1.5F);
  std::vector<float> hy(1024, 1);
  float expected = 1;
  for (const std::int32_t count : {3, 0, 5}) {
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy), bind(steps, count)).ok());
    expected += static_cast<float>(count) * 3;
    CHECK(hy == std::vector<float>(1024, expected));
  }
}
