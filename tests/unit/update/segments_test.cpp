// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <count_traffic.hpp>
#include <random.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/update/refresher_impl.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

// How much of the table a segment copy moves, and in how many copies.

using namespace rondo;
using namespace rondo::test;
using update::Mechanism;
using update::detail::Pieces;
using update::detail::Segment;

namespace {

using P = A2A3SimOn<Inline, test::CountTraffic>;
using SegmentCopy = update::Refresher<P, update::Auto, update::Always<Mechanism::segment_copy>>;

/// 64 inputs, each a base of its own, and one arena.
struct Bases {
  static constexpr std::uint32_t count = 64;
  Bases() {
    for (std::uint32_t i = 0; i < count; ++i) inputs.push_back(graph.input<float>("x" + std::to_string(i), {16}));
  }
  template <class... Args>
  void add(Args... args) {
    graph.add_raw("task", CoreType::vector, &no_kernel, args...);
  }
  [[nodiscard]] SegmentCopy make(P& platform) {
    frozen = freeze(graph);
    for (const graph::TensorRecord& tensor : frozen.view().tensors) {
      const bool is_input = tensor.direction == Direction::in;
      sources.push_back(is_input ? args::Source{3 + static_cast<std::uint32_t>(sources.size()), 0}
                                 : args::Source{2, 64 * sources.size()});
    }
    for (std::uint32_t b = 0; b < 3 + count; ++b) addresses.push_back(0x1'0000'0000 + 0x1000 * std::uint64_t{b});
    return SegmentCopy{platform, frozen.view(), {{3, 3 + count}, sources, addresses}};
  }

  TaskGraph graph{Edges::explicit_};
  std::vector<Input<float>> inputs;
  FrozenGraph frozen = freeze(TaskGraph{});
  std::vector<args::Source> sources;
  std::vector<std::uint64_t> addresses;
};

/// The most that one moved base makes a refresh copy, as a share of the table.
double largest_share(Bases& bases) {
  P platform{{}};
  auto refresher = bases.make(platform);
  std::uint64_t slots = 0;
  std::uint64_t most = 0;
  for (std::uint32_t id = 3; id < 3 + Bases::count; ++id) {
    refresher.set_base(id, 0x7'0000'0000 + 64 * id);
    REQUIRE(refresher.refresh().ok());
    slots += refresher.refreshed().slots;
    most = std::max(most, refresher.refreshed().bytes);
  }
  std::uint64_t uses = 0;
  for (std::uint32_t id = 3; id < 3 + Bases::count; ++id) uses += refresher.table().uses(id);
  REQUIRE(slots == uses);
  return static_cast<double>(most) / static_cast<double>(refresher.table().shape().size());
}

}  // namespace

TEST_CASE("One base of 64 over 400 slots moves at most a tenth of the table, in whatever order tasks use the bases") {
  SUBCASE("tasks of one address, the bases in turn") {
    Bases bases;
    for (std::uint32_t s = 0; s < 400; ++s) bases.add(reads(bases.inputs[s % 64]));
    CHECK(largest_share(bases) <= 0.10);
  }
  SUBCASE("tasks of one address, in random order") {
    Bases bases;
    std::vector<std::uint32_t> order;
    for (std::uint32_t s = 0; s < 400; ++s) order.push_back(s % 64);
    std::shuffle(order.begin(), order.end(), rondo::test::make_random(3));
    for (const std::uint32_t b : order) bases.add(reads(bases.inputs[b]));
    CHECK(largest_share(bases) <= 0.10);
  }
  SUBCASE("tasks of two addresses, one of them in the arena") {
    Bases bases;
    const auto w = bases.graph.resident<float>("w", {16});
    for (std::uint32_t s = 0; s < 200; ++s) bases.add(reads(w), reads(bases.inputs[s * 7 % 64]));
    CHECK(largest_share(bases) <= 0.10);
  }
  SUBCASE("layers of two tasks that share a base, beside one that few others use") {
    Bases bases;
    for (std::uint32_t s = 0; s < 100; ++s) {
      const auto& cache = bases.inputs[s % 50];
      const auto& own = bases.inputs[50 + s % 14];
      bases.add(reads(own), reads(cache));
      bases.add(reads(cache), reads(cache));
    }
    // The 14 that others share with it lie apart: theirs is the price.
    P platform{{}};
    auto refresher = bases.make(platform);
    for (std::uint32_t id = 3; id < 3 + 50; ++id) {
      refresher.set_base(id, 0x7'0000'0000 + 64 * id);
      REQUIRE(refresher.refresh().ok());
      CHECK(refresher.refreshed().bytes * 10 <= refresher.table().shape().size());
    }
  }
}

TEST_CASE("Bases that lie further apart than a copy is worth are copied apart, as far as there are pieces") {
  Bases bases;
  for (std::uint32_t b = 0; b < Bases::count; ++b) {
    for (std::uint32_t s = 0; s < 200; ++s) bases.add(reads(bases.inputs[b]));  // 1,600 bytes for each base
  }
  P platform{{}};
  auto refresher = bases.make(platform);
  const std::uint64_t worth = update::RefreshCosts{}.copy / update::RefreshCosts{}.copied_byte;
  const auto refresh = [&](std::vector<std::uint32_t> moved) {
    const auto before = platform.traffic();
    for (const std::uint32_t b : moved) refresher.set_base(3 + b, refresher.base(3 + b) + 64);
    REQUIRE(refresher.refresh().ok());
    CHECK(platform.traffic().bytes_in - before.bytes_in == refresher.refreshed().bytes);
    return std::pair{platform.traffic().copies_in - before.copies_in, refresher.refreshed().bytes};
  };
  CHECK(worth == 50'000);
  CHECK(refresh({0}) == std::pair<std::uint64_t, std::uint64_t>{1, 1600});
  CHECK(refresh({63, 0}) == std::pair<std::uint64_t, std::uint64_t>{2, 3200});
  CHECK(refresh({0, 32}).first == 1);  // 49,600 bytes between them
  CHECK(refresh({0, 1, 34, 35}) == std::pair<std::uint64_t, std::uint64_t>{2, 6400});
}

TEST_CASE("Pieces hold every segment, in few copies that are never dearer than one over all of them") {
  auto random = rondo::test::make_random(17);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t worth = random() % 3 == 0 ? 0 : random() % 500;
    Pieces pieces{worth};
    std::vector<Segment> added;
    for (std::size_t n = random() % 12; n > 0; --n) {
      const std::uint64_t begin = random() % 10'000;
      added.push_back({begin, begin + 4 + random() % 200});
      pieces.add(added.back());
    }
    const auto all = pieces.all();
    REQUIRE(all.size() <= Pieces::most);
    REQUIRE(all.empty() == added.empty());
    if (added.empty()) continue;
    std::uint64_t end = 0;
    for (const Segment& piece : all) {
      REQUIRE(piece.begin % 64 == 0);
      REQUIRE(piece.end % 32 == 0);
      REQUIRE(piece.begin < piece.end);
      REQUIRE((&piece == all.data() || piece.begin > end + worth));
      end = piece.end;
    }
    for (const Segment& s : added) {
      REQUIRE(std::any_of(all.begin(), all.end(),
                          [&](const Segment& piece) { return piece.begin <= s.begin && s.end <= piece.end; }));
    }
    const std::uint64_t hull = all.back().end - all.front().begin;
    REQUIRE(pieces.bytes() + worth * (all.size() - 1) <= hull);
  }
}

TEST_CASE(
    "A piece too many joins the two that lie nearest, and a segment joins all pieces that it is worth a copy from") {
  const auto join = [](std::uint64_t worth, std::vector<Segment> added) {
    Pieces pieces{worth};
    for (const Segment& s : added) pieces.add(s);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
    for (const Segment& piece : pieces.all()) found.emplace_back(piece.begin, piece.end);
    return found;
  };
  using Found = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  // Five, whose gaps are least before the second, the third, the fourth, the last.
  CHECK(join(0, {{0, 64}, {640, 704}, {3200, 3264}, {6400, 6464}, {9600, 9664}}) ==
        Found{{0, 704}, {3200, 3264}, {6400, 6464}, {9600, 9664}});
  CHECK(join(0, {{9600, 9664}, {0, 64}, {3200, 3264}, {3840, 3904}, {6400, 6464}}) ==
        Found{{0, 64}, {3200, 3904}, {6400, 6464}, {9600, 9664}});
  CHECK(join(0, {{0, 64}, {3200, 3264}, {6400, 6464}, {7040, 7104}, {9600, 9664}}) ==
        Found{{0, 64}, {3200, 3264}, {6400, 7104}, {9600, 9664}});
  CHECK(join(0, {{0, 64}, {3200, 3264}, {6400, 6464}, {9600, 9664}, {9984, 10048}}) ==
        Found{{0, 64}, {3200, 3264}, {6400, 6464}, {9600, 10048}});
  // Of equal gaps the first.
  CHECK(join(0, {{0, 64}, {128, 192}, {256, 320}, {384, 448}, {512, 576}}) ==
        Found{{0, 192}, {256, 320}, {384, 448}, {512, 576}});
  // Exactly as far as a copy is worth, and one step further, on either side.
  CHECK(join(64, {{0, 64}, {128, 192}}) == Found{{0, 192}});
  CHECK(join(63, {{0, 64}, {128, 192}}) == Found{{0, 64}, {128, 192}});
  CHECK(join(64, {{128, 192}, {0, 64}}) == Found{{0, 192}});
  CHECK(join(63, {{128, 192}, {0, 64}}) == Found{{0, 64}, {128, 192}});
  // Between three others, which it joins, and one that stays.
  CHECK(join(64, {{0, 64}, {256, 320}, {512, 576}, {1280, 1344}, {128, 448}}) == Found{{0, 576}, {1280, 1344}});
  CHECK(join(0, {{70, 80}}) == Found{{64, 96}});
  Pieces pieces{0};
  pieces.add({0, 64});
  pieces.add({128, 256});
  CHECK(pieces.bytes() == 192);
}
