// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/search/storage_tokens.hpp>

#include <rondo/memory/check_plan.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>
#include <vector>

using namespace rondo::memory;
using rondo::search::StorageTokens;
using Offsets = std::vector<std::int64_t>;

TEST_CASE("a chain of equal buffers alternates between two tokens") {
  Problem chain;
  for (std::int64_t i = 0; i < 6; ++i) chain.buffers.push_back({.lower = i, .upper = i + 2, .size = 16});
  CHECK(StorageTokens::offsets(chain) == Offsets{0, 16, 0, 16, 0, 16});
}

TEST_CASE("the smallest free token that is large enough is taken, up to sixteen times the size") {
  const auto second = [](std::int64_t first, std::int64_t size) {
    // Two tokens of `first` and 40 bytes become free; then one of `size` asks.
    const Problem p{{{.lower = 0, .upper = 1, .size = first},
                     {.lower = 0, .upper = 1, .size = 40},
                     {.lower = 1, .upper = 2, .size = size}},
                    {}};
    return StorageTokens::offsets(p)[2];
  };
  CHECK(second(30, 20) == 0);
  CHECK(second(50, 20) == 50);
  CHECK(second(30, 35) == 30);
}

TEST_CASE("a token more than sixteen times too large is left alone, and one too small grows") {
  const Problem large{{{.lower = 0, .upper = 1, .size = 1700}, {.lower = 1, .upper = 2, .size = 100}}, {}};
  CHECK(StorageTokens::offsets(large)[1] == 1700);
  const Problem just_too_large{{{.lower = 0, .upper = 1, .size = 1601}, {.lower = 1, .upper = 2, .size = 100}}, {}};
  CHECK(StorageTokens::offsets(just_too_large)[1] == 1601);
  const Problem within{{{.lower = 0, .upper = 1, .size = 1600}, {.lower = 1, .upper = 2, .size = 100}}, {}};
  CHECK(StorageTokens::offsets(within)[1] == 0);
  const Problem grows{{{.lower = 0, .upper = 1, .size = 100},
                       {.lower = 0, .upper = 3, .size = 8},
                       {.lower = 1, .upper = 2, .size = 150}},
                      {}};
  CHECK(StorageTokens::offsets(grows) == Offsets{0, 150, 0});
  const Problem far_too_small{{{.lower = 0, .upper = 1, .size = 9}, {.lower = 1, .upper = 2, .size = 160}}, {}};
  CHECK(StorageTokens::offsets(far_too_small)[1] == 9);
}

TEST_CASE("an orphan, which nobody uses, gives its token back at once") {
  const Problem orphan{{{.lower = 3, .upper = 3, .size = 64}, {.lower = 3, .upper = 5, .size = 64}}, {}};
  CHECK(StorageTokens::offsets(orphan) == Offsets{0, 0});
}

TEST_CASE("tokens keep the largest alignment of their owners and lie above buffers of fixed offset") {
  const Problem p{{{.lower = 0, .upper = 1, .size = 3},
                   {.lower = 0, .upper = 1, .size = 5, .alignment = 8},
                   {.lower = 0, .upper = 1, .size = 2, .fixed_offset = 4}},
                  {}};
  CHECK(StorageTokens::offsets(p) == Offsets{6, 16, 4});
}

TEST_CASE("buffers that conflict explicitly never share a token") {
  const Problem p{{{.lower = 0, .upper = 1, .size = 8}, {.lower = 1, .upper = 2, .size = 8}}, {{0, 1}}};
  CHECK(StorageTokens::offsets(p) == Offsets{0, 8});
}

namespace {
struct ByTokens : rondo::DefaultPolicies {
  using Plan = StorageTokens;
};
}  // namespace

TEST_CASE("As a planner it validates the problem, and its plan names it and its bound") {
  const Problem chain{{{.lower = 0, .upper = 2, .size = 16}, {.lower = 1, .upper = 3, .size = 16}}, {}};
  const Plan plan = StorageTokens::plan(chain);
  CHECK(check_plan(chain, plan).ok());
  CHECK(plan.arena == 32);
  CHECK(plan.optimal());
  CHECK(std::string_view{plan.planner} == "storage tokens");
  CHECK_THROWS_AS((void)StorageTokens::plan({{{.size = -1}}, {}}), rondo::Error);
}

TEST_CASE("A session whose policies name it shares its tokens and computes as any other") {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto y = graph.output<float>("y", {16});
  const auto t = graph.workspace<float>("t", {16});
  const auto u = graph.workspace<float>("u", {16});
  graph.add<rondo::test::Scale>(x, t, 2.0F);
  graph.add<rondo::test::Scale>(t, u, 2.0F);
  graph.add<rondo::test::Scale>(u, y, 3.0F);
  auto session = rondo::open<rondo::A5Sim, ByTokens>(graph);
  CHECK(session.arena_bytes() == rondo::Bytes{128});  // four tensors of 64 bytes
  for (float round = 1; round < 4; ++round) {
    const std::vector<float> in(16, round);
    std::vector<float> out(16);
    REQUIRE(session.run_round(bind(x, in), bind(y, out)).ok());
    CHECK(out == std::vector<float>(16, 12 * round));
  }
}
