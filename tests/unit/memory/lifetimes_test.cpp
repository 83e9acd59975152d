// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/memory/lifetimes.hpp>

#include <random.hpp>
#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>
#include <rondo/graph/deal.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/memory/lay_out.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;
using memory::Concurrency;
using memory::Lifetimes;

namespace {

/// y = x + 1, element by element.
struct Next {
  static constexpr std::string_view name = "next";
  static constexpr auto core = CoreType::vector;
  static constexpr InPlace in_place{.out = 1, .in = 0};
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + 1;
  }
};

/// y = b + the sum of a; in place of b.
struct AddInPlace {
  static constexpr std::string_view name = "add_in_place";
  static constexpr auto core = CoreType::vector;
  static constexpr InPlace in_place{.out = 2, .in = 1};
  static void run(In<float> a, In<float> b, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) {
      float sum = b[i];
      for (std::size_t k = 0; k < a.size(); ++k) sum += a[k];
      y[i] = sum;
    }
  }
};

Lifetimes lives_of(const TaskGraph& graph, Concurrency concurrency = Concurrency::sequential) {
  return memory::find_lifetimes<arch::A5>(freeze(graph).view(), concurrency);
}

template <Concurrency C>
std::uint64_t arena_of(const FrozenGraph& graph) {
  return memory::Layout<FrozenGraph, arch::A5, memory::Greedy, C>(graph).arena_bytes().value;
}

template <class H>
const memory::Buffer& buffer(const Lifetimes& lives, H handle) {
  return lives.problem.buffers[lives.buffer_of[index(handle.key.tensor())]];
}

template <class H>
memory::Span alive(const Lifetimes& lives, H handle) {
  return {buffer(lives, handle).lower, buffer(lives, handle).upper};
}

template <class A, class B>
bool share(const Lifetimes& lives, A a, B b) {
  return lives.buffer_of[index(a.key.tensor())] == lives.buffer_of[index(b.key.tensor())];
}

template <class A, class B>
bool conflict(const Lifetimes& lives, A a, B b) {
  const std::pair pair = std::minmax(lives.buffer_of[index(a.key.tensor())], lives.buffer_of[index(b.key.tensor())]);
  for (const auto& [x, y] : lives.problem.conflicts) {
    if (std::pair(x, y) == std::pair(pair.first, pair.second)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("Inputs live from the copies in, outputs to the copies out, workspaces from writer to last reader") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto t = graph.workspace<float>("t", {8});
  const auto u = graph.workspace<float>("u", {8});
  const auto y = graph.output<float>("y", {8});
  const auto z = graph.inout<float>("z", {8});
  graph.add<Scale>(x, t, 2.0F);  // time 1
  graph.add<Scale>(t, u, 2.0F);  // 2
  graph.add<Scale>(t, y, 2.0F);  // 3
  graph.add<Accumulate>(u, z);   // 4; the copies out are 5
  const Lifetimes lives = lives_of(graph);
  CHECK(alive(lives, x) == memory::Span{0, 2});
  CHECK(alive(lives, t) == memory::Span{1, 4});
  CHECK(alive(lives, u) == memory::Span{2, 5});
  CHECK(alive(lives, y) == memory::Span{3, 6});
  CHECK(alive(lives, z) == memory::Span{0, 6});
  CHECK(lives.problem.conflicts.empty());
}

TEST_CASE("Residents, kept tensors and what no task touches live always, host inputs nowhere") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto w = graph.input<float>("w", {8});
  const auto r = graph.resident<float>("r", {8});
  const auto idle = graph.workspace<float>("idle", {8});
  const auto kept = graph.workspace<float>("kept", {8});
  const auto h = graph.host_input<float>("h", {8});
  const auto y = graph.output<float>("y", {8});
  graph.keep(w);
  graph.keep(kept);
  graph.add<Scale>(w, kept, 1.0F);
  graph.add<Scale>(kept, y, 1.0F);
  graph.add<Accumulate>(h, r);
  graph.add<Accumulate>(x, r);
  const Lifetimes lives = lives_of(graph);
  const memory::Span always{0, 6};
  CHECK(alive(lives, w) == always);
  CHECK(alive(lives, r) == always);
  CHECK(alive(lives, idle) == always);
  CHECK(alive(lives, kept) == always);
  CHECK(alive(lives, x) == memory::Span{0, 5});
  CHECK(lives.buffer_of[index(h.key.tensor())] == Lifetimes::no_buffer);
  CHECK(lives.problem.buffers.size() == 6);
  CHECK(alive(lives, y) == memory::Span{2, 6});
}

TEST_CASE("Between the last reader and the next writer of the whole a tensor's memory is free") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto t = graph.workspace<float>("t", {8});
  const auto y = graph.output<float>("y", {8});
  const auto z = graph.inout<float>("z", {8});
  graph.add<Scale>(x, t, 2.0F);  // 1
  graph.add<Accumulate>(t, z);   // 2: read for the last time
  graph.add<Accumulate>(x, z);   // 3
  graph.add<Accumulate>(x, z);   // 4
  graph.add<Scale>(z, t, 2.0F);  // 5: written anew
  graph.add<Scale>(t, y, 2.0F);  // 6
  CHECK(buffer(lives_of(graph), t).gaps == std::vector<memory::Span>{{3, 5}});
  CHECK(alive(lives_of(graph), t) == memory::Span{1, 7});
}

TEST_CASE("Two writers in a row, and a task that reads what it writes, leave no gap") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto t = graph.workspace<float>("t", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<Scale>(x, t, 2.0F);
  graph.add<Scale>(x, y, 2.0F);
  graph.add<Scale>(x, t, 2.0F);  // nobody has read the first value: perhaps both write a part
  graph.add<Scale>(t, y, 2.0F);
  graph.add<Scale>(x, y, 2.0F);
  graph.add<Accumulate>(y, t);  // updates
  graph.add<Accumulate>(t, y);
  CHECK(buffer(lives_of(graph), t).gaps.empty());
}

TEST_CASE("An output that reuses an input shares its buffer") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  graph.alias(y, x);
  graph.add<Scale>(x, y, 2.0F);
  const Lifetimes lives = lives_of(graph);
  CHECK(share(lives, x, y));
  CHECK(lives.problem.buffers.size() == 1);
  CHECK(alive(lives, x) == memory::Span{0, 3});
}

TEST_CASE("A task that reads an input through one argument and overwrites it through another leaves no gap") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  const auto z = graph.inout<float>("z", {8});
  graph.alias(y, x);
  const auto u = graph.output<float>("u", {8});
  graph.add<Accumulate>(x, z);                                               // 1: reads the input
  graph.add<Scale>(z, u, 2.0F);                                              // 2: does not
  graph.add_raw("over", CoreType::vector, &no_kernel, writes(y), reads(x));  // 3: the output stands first
  CHECK(buffer(lives_of(graph), x).gaps.empty());
  CHECK(alive(lives_of(graph), x) == memory::Span{0, 5});
}

TEST_CASE("A kernel that works in place writes over an input that is not used again") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto a = graph.workspace<float>("a", {8});
  const auto b = graph.workspace<float>("b", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<Next>(x, a);
  graph.add<Next>(a, b);
  graph.add<Next>(b, y);
  const Lifetimes lives = lives_of(graph);
  CHECK((share(lives, x, a) && share(lives, a, b) && share(lives, b, y)));
  CHECK(alive(lives, x) == memory::Span{0, 5});
  const Lifetimes parallel = lives_of(graph, Concurrency::parallel);
  CHECK((share(parallel, x, a) && share(parallel, a, b) && share(parallel, b, y)));
}

TEST_CASE("In place is out of place where the input is wanted later, kept, of another size, or handed over twice") {
  TaskGraph good;
  const auto u = good.input<float>("u", {8});
  const auto k = good.input<float>("k", {8});
  const auto l = good.input<float>("l", {16});
  const auto d = good.workspace<float>("d", {8});
  const auto e = good.workspace<float>("e", {8});
  const auto f = good.workspace<float>("f", {8});
  const auto z = good.inout<float>("z", {8});
  good.keep(k);
  good.add<Next>(u, d);
  good.add<Next>(k, e);
  good.add<Next>(l, f);
  for (const auto& t : {d, e, f}) good.add<Accumulate>(t, z);
  good.add<Accumulate>(u, z);
  const Lifetimes lives = lives_of(good);
  CHECK_FALSE(share(lives, u, d));
  CHECK_FALSE(share(lives, k, e));
  CHECK_FALSE(share(lives, l, f));
}

TEST_CASE("A view is overwritten in place only if it is its whole source, and the task does not take both") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto whole = graph.workspace<float>("whole", {16});
  const auto half = graph.workspace<float>("half", {8});
  const auto wide = graph.workspace<float>("wide", {16});
  const auto source = graph.workspace<float>("source", {16});
  const auto view = graph.workspace<float>("view", {16});
  const auto both = graph.workspace<float>("both", {16});
  const auto alone = graph.workspace<float>("alone", {16});
  const auto shown = graph.workspace<float>("shown", {16});
  const auto last = graph.inout<float>("last", {16});
  for (const auto& t : {whole, source, alone}) graph.add<Next>(x, t);
  graph.make_view(half, whole, 8);
  graph.make_view(view, source);
  graph.make_view(shown, alone);
  const auto next = graph.workspace<float>("next", {16});
  graph.add<Next>(half, wide);
  graph.add<AddInPlace>(source, view, both);
  graph.add<Next>(shown, next);
  for (const auto& t : {wide, both, next}) graph.add<Accumulate>(t, last);
  const Lifetimes lives = lives_of(graph);
  CHECK_FALSE(share(lives, whole, wide));
  CHECK_FALSE(share(lives, source, both));
  CHECK(share(lives, alone, next));
}

TEST_CASE("On a parallel schedule nobody writes over what an unordered task reads") {
  TaskGraph graph(Edges::derived);
  const auto x = graph.input<float>("x", {8});
  const auto a = graph.workspace<float>("a", {8});
  const auto z = graph.inout<float>("z", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<Accumulate>(x, z);  // may run after the next
  graph.add<Next>(x, a);
  graph.add<Scale>(a, y, 1.0F);
  CHECK(share(lives_of(graph), x, a));
  CHECK_FALSE(share(lives_of(graph, Concurrency::parallel), x, a));
}

TEST_CASE("On a parallel schedule tensors of unordered tasks conflict though their lifetimes do not") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto a = graph.workspace<float>("a", {8});
  const auto b = graph.workspace<float>("b", {8});
  const auto y = graph.output<float>("y", {8});
  const auto z = graph.output<float>("z", {8});
  graph.add<Scale>(x, a, 1.0F);
  graph.add<Scale>(a, y, 1.0F);
  graph.add<Scale>(x, b, 1.0F);
  graph.add<Scale>(b, z, 1.0F);
  CHECK_FALSE(in_use_together(buffer(lives_of(graph), a), buffer(lives_of(graph), b)));
  CHECK(conflict(lives_of(graph, Concurrency::parallel), a, b));
  graph.add_edge(TaskId{1}, TaskId{2});  // now a is read before b is written
  CHECK_FALSE(conflict(lives_of(graph, Concurrency::parallel), a, b));
}

TEST_CASE("On a parallel schedule a gap is free for those only whose users stand within it on every schedule") {
  const auto build = [](bool ordered) {
    TaskGraph graph;
    const auto x = graph.input<float>("x", {8});
    const auto t = graph.workspace<float>("t", {8});
    const auto g = graph.workspace<float>("g", {8});
    const auto z = graph.inout<float>("z", {8});
    const auto y = graph.output<float>("y", {8});
    graph.add<Scale>(x, t, 1.0F);
    graph.add<Accumulate>(t, z);
    graph.add<Scale>(z, g, 1.0F);
    graph.add<Accumulate>(g, z);
    if (ordered) {
      graph.add<Scale>(z, t, 1.0F);
    } else {
      graph.add<Scale>(x, t, 1.0F);  // may run as soon as t has been read, beside g
    }
    graph.add<Scale>(t, y, 1.0F);
    return lives_of(graph, Concurrency::parallel).problem.conflicts.size();
  };
  CHECK(build(false) > build(true));
}

TEST_CASE("Nothing shares where the order is unknown") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto a = graph.workspace<float>("a", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<Next>(x, a);
  graph.add<Next>(a, y);
  const Lifetimes lives = lives_of(graph, Concurrency::unordered);
  CHECK(lives.problem.buffers.size() == 3);
  CHECK(in_use_together(buffer(lives, x), buffer(lives, y)));
}

TEST_CASE_TEMPLATE("Buffers have the chip's granule, guard and alignment", Chip, arch::A2A3, arch::A5) {
  TaskGraph graph;
  (void)graph.resident<std::int8_t>("r", {33});
  const Lifetimes lives = memory::find_lifetimes<Chip>(freeze(graph).view(), Concurrency::sequential);
  CHECK(lives.problem.buffers[0].size == 64 + Chip::block_guard);
  CHECK(lives.problem.buffers[0].alignment == 64);
}

TEST_CASE("A graph whose tensors pass 2^62 bytes together is refused at the tensor that does it") {
  TaskGraph graph;
  (void)graph.input<std::int8_t>("half", {std::int64_t{1} << 61});
  (void)graph.input<std::int8_t>("more", {std::int64_t{1} << 60});
  (void)graph.input<std::int8_t>("straw", {std::int64_t{1} << 61});
  (void)graph.input<std::int8_t>("after", {1});
  const Raised r = raised([&] { (void)lives_of(graph); });
  CAPTURE(r.text);
  CHECK(r.code == Errc::overflow);
  CHECK(says(r.text, "'straw'", "2^62", "smaller tensors"));
}

TEST_CASE("One tensor of 2^63-1 bytes is refused as well") {
  TaskGraph graph;
  (void)graph.input<std::int8_t>("whole", {std::numeric_limits<std::int64_t>::max()});
  CHECK(raised([&] { (void)lives_of(graph); }).code == Errc::overflow);
}

TEST_CASE("A graph without tensors has no lifetimes") {
  CHECK(lives_of(TaskGraph{}, Concurrency::parallel).problem.buffers.empty());
}

TEST_CASE("In lanes, tensors share memory where edges or lanes order all their users, and nowhere else") {
  // Four chains x -> a -> b -> y, dealt to two lanes: on a lane the second chain may use what the first one leaves.
  TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  std::vector<Workspace<float>> a, b;
  for (int i = 0; i < 4; ++i) {
    a.push_back(graph.workspace<float>("a" + std::to_string(i), {64}));
    b.push_back(graph.workspace<float>("b" + std::to_string(i), {64}));
    graph.add<Scale>(x, a.back(), 2.0F);
    graph.add<Scale>(a.back(), b.back(), 2.0F);
    graph.add<Scale>(b.back(), graph.output<float>("y" + std::to_string(i), {64}), 2.0F);
  }
  const std::vector<double> ns(12, 1e5);
  graph::LaneRules rules{arch::chip_of<arch::A5>, 2};
  rules.task_ns = ns;
  const FrozenGraph dealt = deal(freeze(graph), rules);
  REQUIRE(dealt.view().lanes != nullptr);
  const graph::Lanes& lanes = *dealt.view().lanes;
  const Lifetimes lives = memory::find_lifetimes<arch::A5>(dealt.view(), Concurrency::in_lanes);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      if (i == j) continue;
      CAPTURE(i);
      CAPTURE(j);
      const bool on_one_lane = lanes.lane_of[3 * i] == lanes.lane_of[3 * j];
      const memory::Buffer& one = buffer(lives, a[i]);
      const memory::Buffer& other = buffer(lives, b[j]);
      const bool apart = memory::in_use_together(one, other) || conflict(lives, a[i], b[j]);
      CHECK(apart != on_one_lane);
    }
  }
  // The same graph without lanes is planned as one that runs in order, and with them no order is taken for granted.
  const FrozenGraph plain = freeze(graph);
  CHECK(memory::find_lifetimes<arch::A5>(plain.view(), Concurrency::in_lanes).problem.buffers ==
        memory::find_lifetimes<arch::A5>(plain.view(), Concurrency::sequential).problem.buffers);
  CHECK(memory::find_lifetimes<arch::A5>(dealt.view(), Concurrency::sequential).problem.buffers ==
        memory::find_lifetimes<arch::A5>(plain.view(), Concurrency::sequential).problem.buffers);
  CHECK(memory::find_lifetimes<arch::A5>(plain.view(), Concurrency::in_lanes).problem.conflicts.empty());
  const std::uint64_t one = arena_of<Concurrency::in_lanes>(plain);
  const std::uint64_t two = arena_of<Concurrency::in_lanes>(dealt);
  CHECK(one == arena_of<Concurrency::sequential>(plain));
  CHECK(two < arena_of<Concurrency::parallel>(plain));
  CHECK(one < two);
}

TEST_CASE("In lanes, random graphs put no two tensors at one place that tasks may use at the same time") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    auto random = rondo::test::make_random(seed);
    TaskGraph graph;
    const auto x = graph.input<float>("x", {16});
    std::vector<Workspace<float>> spaces;
    for (int i = 0; i < 30; ++i) {
      const auto t = graph.workspace<float>("t" + std::to_string(i), {16});
      if (spaces.empty() || random() % 3 == 0) {
        graph.add<Next>(x, t);
      } else {
        graph.add<Next>(spaces[random() % spaces.size()], t);
      }
      // Now and then one that was read is written anew, so that its memory is free in between.
      if (random() % 4 == 0) graph.add<Next>(x, spaces.empty() ? t : spaces[random() % spaces.size()]);
      spaces.push_back(t);
    }
    graph.add<Next>(spaces.back(), graph.output<float>("y", {16}));
    FrozenGraph frozen = freeze(graph);
    const std::vector<double> ns(frozen.view().tasks.size(), 1e5);
    graph::LaneRules rules{arch::chip_of<arch::A5>, 2 + seed % 5};
    rules.task_ns = ns;
    const FrozenGraph dealt = deal(std::move(frozen), rules);
    const graph::GraphView view = dealt.view();
    REQUIRE(view.lanes != nullptr);
    const memory::Layout<FrozenGraph, arch::A5, memory::Greedy, Concurrency::in_lanes> layout(dealt);
    // By offset, so that tensors that were merged count as one: their tasks are ordered as well.
    std::vector<std::vector<std::uint32_t>> users(view.tensors.size());
    for (std::uint32_t t = 0; t < view.tasks.size(); ++t) {
      for (const graph::ArgRecord& arg : view.args_of(view.tasks[t])) {
        if (arg.is_address()) users[arg.tensor].push_back(t);
      }
    }
    std::uint64_t shared = 0, wrong = 0;
    for (std::size_t p = 0; p < users.size(); ++p) {
      for (std::size_t q = p + 1; q < users.size(); ++q) {
        if (layout.offsets()[p] != layout.offsets()[q]) continue;
        ++shared;
        for (const std::uint32_t a : users[p]) {
          for (const std::uint32_t b : users[q]) {
            wrong += a == b || view.lanes->precedes(a, b) || view.lanes->precedes(b, a) ? 0 : 1;
          }
        }
      }
    }
    CHECK(wrong == 0);
    CHECK(shared != 0);

    // The conflicts are those pairs that time keeps apart and lanes do not.
    const Lifetimes lives = memory::find_lifetimes<arch::A5>(view, Concurrency::in_lanes);
    const std::size_t buffers = lives.problem.buffers.size();
    std::vector<std::vector<std::uint32_t>> tasks(buffers);
    for (std::size_t t = 0; t < users.size(); ++t) {
      if (lives.buffer_of[t] == Lifetimes::no_buffer) continue;
      for (const std::uint32_t task : users[t]) tasks[lives.buffer_of[t]].push_back(task);
    }
    std::vector<memory::Conflict> expected;
    for (std::uint32_t p = 0; p < buffers; ++p) {
      for (std::uint32_t q = p + 1; q < buffers; ++q) {
        if (in_use_together(lives.problem.buffers[p], lives.problem.buffers[q])) continue;
        bool ordered = true;
        for (const std::uint32_t a : tasks[p]) {
          for (const std::uint32_t b : tasks[q]) {
            ordered = ordered && (view.lanes->precedes(a, b) || view.lanes->precedes(b, a));
          }
        }
        if (!ordered) expected.emplace_back(p, q);
      }
    }
    std::vector<memory::Conflict> found = lives.problem.conflicts;
    std::sort(found.begin(), found.end());
    CHECK(found == expected);
  }
}
