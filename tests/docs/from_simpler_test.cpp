// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The program that docs/from_simpler.md shows.

#include "docs/blocks.hpp"

#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <vector>

namespace {

extern "C" void kernel_add_scalar(std::int64_t* args) {  // as for simpler: x, bits of a float, z, number of elements
  const auto* x = reinterpret_cast<const float*>(args[0]);
  auto* z = reinterpret_cast<float*>(args[2]);
  const auto a = std::bit_cast<float>(static_cast<std::uint32_t>(args[1]));
  for (std::int64_t i = 0; i < args[3]; ++i) z[i] = x[i] + a;
}

std::vector<float> add_one(const std::vector<float>& hx) {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {hx.size()});
  const auto z = graph.output<float>("z", {hx.size()});
  graph.add_raw("add_scalar", rondo::CoreType::vector, &kernel_add_scalar, reads(x), 1.0F, writes(z),
                static_cast<std::int64_t>(hx.size()));
  auto session = rondo::open<rondo::A2A3Sim>(graph);
  std::vector<float> hz(hx.size());
  if (auto status = session.run_round(bind(x, hx), bind(z, hz)); !status)
    throw rondo::Error(status.code(), session.explain(status));
  return hz;
}

}  // namespace

TEST_CASE("A kernel that was written for simpler's simulator runs as it is") {
  CHECK(add_one({1, 2, 3}) == std::vector<float>{2, 3, 4});
}

TEST_CASE("docs/from_simpler.md shows this file") {
  docs::check_blocks("docs/from_simpler.md", "tests/docs/from_simpler_test.cpp", 1);
}
