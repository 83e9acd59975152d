// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Tensors that share memory must not be seen to: random graphs give the same results with every planner, on every
// engine, round after round, as with each tensor in a place of its own.

#include "platforms.hpp"
#include "scale.hpp"

#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>
#include <rondo/search/planners.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace rondo;

namespace {

using Word = std::uint32_t;
using Words = std::vector<Word>;

/// Works in place: element by element.
struct Scramble {
  static constexpr std::string_view name = "scramble";
  static constexpr auto core = CoreType::vector;
  static constexpr InPlace in_place{.out = 1, .in = 0};
  static void run(In<Word> x, Out<Word> y, Word k) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i % x.size()] * 2654435761U + k;
  }
};

/// Does not: element i needs element n-1-i.
struct Reverse {
  static constexpr std::string_view name = "reverse";
  static constexpr auto core = CoreType::cube;
  static void run(In<Word> x, Out<Word> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[(x.size() - 1 - i) % x.size()] ^ 0x9E3779B9U;
  }
};

/// Two inputs; works in place on the second.
struct Combine {
  static constexpr std::string_view name = "combine";
  static constexpr auto core = CoreType::vector;
  static constexpr InPlace in_place{.out = 2, .in = 1};
  static void run(In<Word> a, In<Word> b, Out<Word> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = b[i % b.size()] * 31 + a[(i * 7) % a.size()];
  }
};

struct Fold {
  static constexpr std::string_view name = "fold";
  static constexpr auto core = CoreType::vector;
  static void run(In<Word> x, InOut<Word> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = y[i] * 3 + x[(i + 1) % x.size()];
  }
};

/// Two inputs, an inout, a resident, two outputs, and workspaces that are written again once they have been read.
struct RandomGraph {
  static constexpr std::int64_t sizes[] = {40, 40, 40, 40, 64, 24};

  explicit RandomGraph(std::uint32_t seed) : random{rondo::test::make_random(seed)} {
    a = graph.input<Word>("a", {sizes[0]});
    b = graph.input<Word>("b", {sizes[1]});
    state = graph.inout<Word>("state", {sizes[0]});
    sum = graph.resident<Word>("sum", {sizes[0]});
    y = graph.output<Word>("y", {sizes[0]});
    z = graph.output<Word>("z", {sizes[1]});
    const std::size_t count = 3 + random() % 8;
    for (std::size_t i = 0; i < count; ++i) {
      spaces.push_back(graph.workspace<Word>("t" + std::to_string(i), {sizes[random() % std::size(sizes)]}));
    }
    written.assign(count, false);
    const std::size_t tasks = 5 + random() % 25;
    for (std::size_t i = 0; i < tasks; ++i) add_task();
    with_source([&](auto from) { graph.add<Reverse>(from, y); });
    with_source([&](auto from) { graph.add<Combine>(a, from, z); });
    graph.add<Fold>(state, sum);
  }

  void with_source(auto&& use) {
    switch (random() % 6) {
      case 0: return use(a);
      case 1: return use(b);
      case 2: return use(state);
      case 3: return use(sum);
      default: break;
    }
    const std::size_t i = random() % spaces.size();
    written[i] ? use(spaces[i]) : use(a);
  }

  void add_task() {
    const std::size_t to = random() % spaces.size();
    with_source([&](auto from) {
      if constexpr (decltype(from)::direction == Direction::workspace) {
        if (from.key == spaces[to].key) return;
      }
      switch (random() % 5) {
        case 0: graph.add<Reverse>(from, spaces[to]); break;
        case 1: graph.add<Combine>(b, from, spaces[to]); break;
        case 2:
          if (!written[to]) return;
          graph.add<Fold>(from, spaces[to]);
          break;
        default: graph.add<Scramble>(from, spaces[to], static_cast<Word>(random())); break;
      }
      written[to] = true;
    });
  }

  std::mt19937 random;
  TaskGraph graph;
  Input<Word> a, b;
  InputOutput<Word> state;
  Resident<Word> sum;
  Output<Word> y, z;
  std::vector<Workspace<Word>> spaces;
  std::vector<bool> written;
};

template <class Planner>
struct Planned : DefaultPolicies {
  using Plan = Planner;
};

/// All that three rounds leave behind; `bytes`: the arena.
template <class P, class Planner>
Words run(const RandomGraph& g, std::uint64_t& bytes) {
  auto session = open<P, Planned<Planner>>(g.graph, busy_options<P>());
  bytes = session.arena_bytes().value;
  Words sum(RandomGraph::sizes[0], 5);
  REQUIRE(session.upload(g.sum, sum).ok());
  Words state(RandomGraph::sizes[0], 7), all;
  for (Word round = 1; round <= 3; ++round) {
    Words a(RandomGraph::sizes[0], round), b(RandomGraph::sizes[1], 11 * round), y(RandomGraph::sizes[0]),
        z(RandomGraph::sizes[1]);
    REQUIRE(session.run_round(bind(g.a, a), bind(g.b, b), bind(g.state, state), bind(g.y, y), bind(g.z, z)).ok());
    for (const Words* words : {&y, &z, &state}) all.insert(all.end(), words->begin(), words->end());
  }
  REQUIRE(session.download(g.sum, sum).ok());
  all.insert(all.end(), sum.begin(), sum.end());
  return all;
}

template <class P_, class Planner_>
struct Case {
  using P = P_;
  using Planner = Planner_;
};

}  // namespace

TEST_CASE_TEMPLATE("Random graphs give the same with shared memory as with none", T, Case<A2A3Sim, memory::Greedy>,
                   Case<A2A3Sim, memory::PortsLast<memory::Greedy>>, Case<A5SimOn<Pool>, memory::Greedy>,
                   Case<A5SimOn<Pool>, search::Fast>, Case<A5SimOn<platform::sim::Model>, search::Best<50>>,
                   Case<A2A3SimOn<platform::sim::Checked<Inline>>, memory::Greedy>,
                   Case<A2A3OverStandIn, memory::Greedy>, Case<A5OverStandIn, search::Best<50>>) {
  std::uint64_t shared = 0, apart = 0;
  for (std::uint32_t seed = 1; seed <= (sanitized ? 20 : 60); ++seed) {
    CAPTURE(seed);
    const RandomGraph g(seed);
    std::uint64_t mine = 0, reference = 0;
    const Words expected = run<A2A3Sim, memory::Disjoint>(g, reference);
    REQUIRE(run<typename T::P, typename T::Planner>(g, mine) == expected);
    shared += mine;
    apart += reference;
  }
  CAPTURE(shared);
  CAPTURE(apart);
  constexpr bool is_as_tight = T::P::Arch::tensor_alignment <= arch::A2A3::tensor_alignment;
  if (std::is_same_v<typename T::Planner, memory::Greedy> && is_as_tight) CHECK(shared <= apart);
  constexpr std::uint64_t least =
      memory::detail::call_of<typename T::Planner>.ports_last ? 5 : 10;  // percent that it saves
  if (T::P::concurrency == memory::Concurrency::sequential) CHECK(shared * 100 < apart * (100 - least));
}
